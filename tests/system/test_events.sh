#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# events -f: each operation is there as soon as it has happened, in colour on a terminal, as a line of JSON with --json.
. "$(dirname "$0")/lib.sh"
need script
scratch
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=deny
CONF

# written by readers that stay open: what comes has been flushed
TERM=xterm NO_COLOR='' script -qfc 'mountwatch events -f' "$TOP/colour" >/dev/null 2>&1 </dev/null &
mountwatch events -f >"$TOP/plain" &
mountwatch events -f --json >"$TOP/json" &
# they are there when the daemon has answered something that was asked later
has() { grep -qF -- "$1" "$2"; }
# by a process that lives on: one that is gone at once need not be known
say() { run sh -c 'true >"$0/kept"; sleep 0.2' "$WATCHED"; has kept "$TOP/colour" && has kept "$TOP/plain" && has kept "$TOP/json"; }
note "each of them gets it while the stream goes on"
wait_for say
for f in colour plain json; do wait_for has kept "$TOP/$f"; done

note "colour on a terminal only"
grep -qF $'\e[1;31mcreated \e[0m' "$TOP/colour" || fail "no violation in red: $(cat -v "$TOP/colour")"
grep -qF $'\e[1;33mrefused\e[0m' "$TOP/colour" || fail "not how it ended: $(cat -v "$TOP/colour")"
! grep -q $'\e' "$TOP/plain" || fail "escape sequences in a file"
grep -qE '^[0-9-]+ [0-9:]+  case  created   .*/kept  by sh -c .* \(pid [0-9]+\)  refused  session [0-9a-f]{16}$' "$TOP/plain" || fail "$(cat "$TOP/plain")"

note "a line of JSON for each"
python3 - "$TOP/json" <<'PY' || fail "$(cat "$TOP/json")"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert rows and all(r["op"] == "create" and r["action"] == "denied" and r["path"].endswith("/kept") and r["violation"] for r in rows), rows
assert all(r["process"]["cmdline"][0] == "sh" and r["session"] for r in rows), rows
PY

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/fleet: its rules and its dashboard use numbers that there are; alerts reach another machine's journal by systemd-journal-remote.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/journald.sh"
FLEET=$HERE/../../docs/fleet
scratch
journald_start
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
CONF

note "rules and dashboard name numbers that there are"
mw metrics >"$TOP/metrics" || fail metrics
python3 - "$TOP/metrics" "$FLEET/dashboard.json" "$FLEET/mountwatch.rules.yml" <<'PY' || fail "docs/fleet"
import json, re, sys
text = open(sys.argv[1]).read()
# families without a sample now have a name all the same
have = {"%s%s" % (n, "_total" if t == "counter" else "") for n, t in re.findall(r"^# TYPE (\S+) (\w+)$", text, re.M)}
board = json.load(open(sys.argv[2]))
exprs = [t["expr"] for p in board["panels"] for t in p["targets"]]
assert len(exprs) >= 10 and all(p["title"] for p in board["panels"]), exprs
used = set(re.findall(r"mountwatch_\w+", " ".join(exprs) + json.dumps(board["templating"])))
used |= set(re.findall(r"\bmountwatch_\w+", " ".join(l for l in open(sys.argv[3]) if "expr:" in l)))
assert used <= have, "no such numbers: %s" % sorted(used - have)
PY
if command -v promtool >/dev/null; then
    status 0 promtool check rules "$FLEET/mountwatch.rules.yml"
else
    note "the rules are not checked: no promtool"
fi

note "an alert on this machine"
mountwatch run --label fleet --fail-on never -- mkdir "$WATCHED/made" >/dev/null 2>&1
session_over
id=$(field last session.id)
summary_is_there() { [ -n "$(entries "MOUNTWATCH_SESSION=$id" MOUNTWATCH_KIND=summary)" ]; }
wait_for summary_is_there

REMOTE=
for f in /usr/lib/systemd /lib/systemd; do [ ! -x $f/systemd-journal-remote ] || REMOTE=$f; done
[ -n "$REMOTE" ] || skip "the rest needs systemd-journal-remote"
# found JOURNALCTL-ARGUMENT...: both alerts, with their fields
found() {
    journalctl "$@" --no-pager -q -t mountwatch "MOUNTWATCH_SESSION=$id" -o json >"$TOP/found" 2>/dev/null
    python3 - "$TOP/found" "$WATCHED/made" <<'PY'
import json, sys
e = {x["MOUNTWATCH_KIND"]: x for x in map(json.loads, open(sys.argv[1]))}
assert e["violation"]["MOUNTWATCH_PATH"] == sys.argv[2] and e["violation"]["MOUNTWATCH_LABEL"] == "fleet", e
assert e["summary"]["MOUNTWATCH_VERDICT"] == "dirty" and e["summary"]["_HOSTNAME"], e
PY
}

note "by a pipe"
status 0 sh -c "journalctl -D '$J' -q -t mountwatch -o export | '$REMOTE/systemd-journal-remote' -o '$TOP/piped.journal' -"
found --file "$TOP/piped.journal" || fail "not in the collected journal: $(cat "$TOP/found")"

note "by HTTP, the whole journal, with systemd-journal-upload"
mkdir "$TOP/remote"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$REMOTE/systemd-journal-remote" --listen-http="127.0.0.1:$port" --output="$TOP/remote" >"$TOP/remote.log" 2>&1 &
remote=$!
upload() { "$REMOTE/systemd-journal-upload" -u "http://127.0.0.1:$port" -D "$J" --follow=no --save-state="$TOP/upload.state" >"$TOP/upload.log" 2>&1; }
wait_for upload
wait_for found -D "$TOP/remote"

note "by HTTP, alerts alone, from where it was"
if command -v curl >/dev/null; then
    mkdir "$TOP/remote2"
    kill $remote
    wait $remote 2>/dev/null
    "$REMOTE/systemd-journal-remote" --listen-http="127.0.0.1:$port" --output="$TOP/remote2" >"$TOP/remote.log" 2>&1 &
    remote=$!
    send() {
        journalctl -D "$J" -q -t mountwatch --cursor-file="$TOP/cursor" -o export >"$TOP/export" && [ -s "$TOP/export" ] &&
            curl -s --noproxy '*' --retry 20 --retry-connrefused --retry-delay 1 --fail --data-binary @- -H 'Content-Type: application/vnd.fdo.journal' "http://127.0.0.1:$port/upload" <"$TOP/export"
    }
    send || fail "the receiver does not take it: $(cat "$TOP/remote.log")"
    wait_for found -D "$TOP/remote2"
    ! send || fail "sent twice"
else
    note "not tried: no curl"
fi
kill $remote
wait $remote 2>/dev/null
daemon_stop || fail "the daemon"
journald_stop

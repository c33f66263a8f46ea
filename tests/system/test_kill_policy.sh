#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill: who changes a watch is ended before it has happened (guarded), or after the first change; KillScope= says who all is meant.
. "$(dirname "$0")/lib.sh"
. "$HERE/undo.sh"
scratch ext4
echo one >"$WATCHED/a" && echo two >"$WATCHED/b"
mkdir "$WATCHED/all" && echo three >"$WATCHED/all/c"
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=kill
Preserve=yes
CONF
remember start
sleep 1000 &
bystander=$!
gone() { [ ! -e "/proc/$1" ] || [ "$(awk '{ print $3 }' <(sed 's/^.*) /x x /' "/proc/$1/stat"))" = Z ]; }

note "the process, not its session"
status 7 mw run --fail-on never -- bash -c 'rm "$1/a"; [ $? = 137 ] || exit 1; exit 7' x "$WATCHED"
unchanged start "$WATCHED" "guarded"
is dirty "$(field last session.verdict)" verdict
python3 - "$TOP/report.json" <<'PY' || fail "rows: $(cat "$TOP/report.json")"
import json, os, sys
rows = {(o["op"], os.path.basename(o["path"])): o["action"] for o in json.load(open(sys.argv[1]))["operations"]}
assert rows == {("delete", "a"): "killed"}, rows
PY
for attempt in 'echo x >"$1/a"' 'echo x >>"$1/a"' 'mv "$1/a" "$1/c"' 'chmod 600 "$1/a"' 'mkdir "$1/d"' 'truncate -s 0 "$1/a"' 'ln "$1/a" "$1/h"'; do
    quietly mw run --fail-on never -- bash -c "$attempt" x "$WATCHED"
    quietly mw undo
    unchanged start "$WATCHED" "$attempt"
done

note "the session"
daemon_stop
sed -i 's/^Preserve=yes/Preserve=yes\nKillScope=session/' "$CONF"
daemon_again
mw run --fail-on never -- bash -c 'sleep 1000 & echo $! >"$2/other"; rm "$1/a"; sleep 1000' x "$WATCHED" "$WORK" 2>/dev/null
is 137 $? "status of the run"
wait_for gone "$(<"$WORK/other")"
session_over last
is killed "$(field last session.state)" state
unchanged start
! gone $bystander || fail "a bystander was killed"

note "tagged late"
bash -c 'mountwatch session start >"$2/id"; rm "$1/a"; sleep 1000; rm "$1/b"' x "$WATCHED" "$WORK" 2>/dev/null &
wait $!
is 137 $? "status of the late one"
session_over "$(<"$WORK/id")"
[ -e "$WATCHED/b" ] || fail "the second change has happened"
status 0 mw undo "$(<"$WORK/id")"
unchanged start "$WATCHED" "after a late kill"
! gone $bystander || fail "a bystander was killed"

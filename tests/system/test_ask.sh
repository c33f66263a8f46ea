#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ask: the process waits, somebody answers; a deadline refuses; a waiting process can be interrupted and killed.
. "$(dirname "$0")/lib.sh"
scratch ext4
echo one >"$WATCHED/a"
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=ask
CONF
N=0
# ask_run NAME COMMAND...: a session in the background; its status comes to $WORK/NAME.rc
ask_run() {
    local name=$1
    shift
    (
        mountwatch run --label "$name" --fail-on never -- "$@" >"$WORK/$name.out" 2>"$WORK/$name.err"
        echo $? >"$WORK/$name.rc"
    ) &
}
rc_of() { wait_for test -s "$WORK/$1.rc"; cat "$WORK/$1.rc"; }
held_ids() { mountwatch decide --json | python3 -c 'import json, sys
for h in json.load(sys.stdin)["held"]: print(h["id"])'; }
one_waits() { [ "$(held_ids | wc -l)" = 1 ]; }
none_waits() { [ "$(held_ids | wc -l)" = 0 ]; }
waiting() { wait_for one_waits; N=$(held_ids); }

note "allow-once"
ask_run once sh -c 'rm "$1/a" && touch "$1/b"' x "$WATCHED"
waiting
[ -e "$WATCHED/a" ] || fail "not held"
status 0 mw status
matches "decide $N" "$OUT" "status shows the command to type"
status 0 mw decide
matches 'delete .*watched/a' "$OUT" "the list"
status 2 mw decide "$N"
status 2 mw decide "$N" perhaps
status 0 mw decide "$N" allow-once
waiting # the next one asks again
status 1 mw decide 999999 deny
status 0 mw decide "$N" deny
is 1 "$(rc_of once)" "the second one was refused"
[ ! -e "$WATCHED/a" ] && [ ! -e "$WATCHED/b" ] || fail "not what was decided"
session_over
python3 - "$(field last operations >/dev/null; echo "$TOP/report.json")" <<'PY' || fail "actions: $(cat "$TOP/report.json")"
import json, os, sys
rows = {(o["op"], os.path.basename(o["path"])): o["action"] for o in json.load(open(sys.argv[1]))["operations"]}
assert rows == {("delete", "a"): "held", ("create", "b"): "denied"}, rows
PY
status 1 mw decide "$N" deny

note "allow-session"
ask_run session sh -c 'touch "$1/c" && touch "$1/d" && rm "$1/c"' x "$WATCHED"
waiting
status 0 mw decide "$N" allow-session
is 0 "$(rc_of session)" "all the rest is let"
[ -e "$WATCHED/d" ] && [ ! -e "$WATCHED/c" ] || fail "not let"

note "kill"
ask_run kill sh -c 'exec rm "$1/d"' x "$WATCHED"
waiting
status 0 mw decide "$N" kill
is 137 "$(rc_of kill)" "killed"
[ -e "$WATCHED/d" ] || fail "the killed one has done it"

note "Ctrl-C of the waiting process"
ask_run interrupt sh -c 'echo $$ >"$2/pid"; exec rm "$1/d"' x "$WATCHED" "$WORK"
waiting
kill -INT "$(<"$WORK/pid")"
is 130 "$(rc_of interrupt)" "interrupted"
wait_for none_waits
[ -e "$WATCHED/d" ] || fail "the interrupted one has done it"

note "nobody else waits"
touch "$WATCHED/theirs" && rm "$WATCHED/theirs" || fail "a bystander"

note "the deadline refuses"
daemon_stop
sed -i '1i [Daemon]\nHoldDeadline=1' "$CONF"
daemon_again
ask_run deadline rm "$WATCHED/d"
is 1 "$(rc_of deadline)" "refused in time"
[ -e "$WATCHED/d" ] || fail "let by the deadline"
session_over
grep -q denied <(report last rows >/dev/null; cat "$TOP/report.json") || fail "the report says nothing of it"

note "tagged late"
bash -c 'mountwatch session start >"$2/id"; echo more >>"$1/d"; echo $? >"$2/late.rc"' x "$WATCHED" "$WORK" 2>/dev/null &
is 1 "$(rc_of late)" "an open of a late session, refused by the deadline"
is '' "$(cat "$WATCHED/d")" content

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# config check names file, line and reason; a broken file never replaces the running configuration.
. "$(dirname "$0")/lib.sh"
scratch
mkdir "$MNT/other"
daemon_start - <<CONF
[Watch first]
Path=$WATCHED
Policy=record
CONF

refused() { # WANT-IN-MESSAGE < FILE
    cat >"$TOP/bad.conf"
    status 1 mw config check "$TOP/bad.conf"
    matches "bad.conf:?[0-9]*" "$ERR$OUT" "message"
    matches "$1" "$ERR$OUT" "message"
}
note "check"
status 0 mw config check "$CONF"
refused 'bad.conf:3:.*Pfad' <<<"[Watch x]
Path=$WATCHED
Pfad=$WATCHED"
refused 'bad.conf:3:.*gentle' <<<"[Watch x]
Path=$WATCHED
Policy=gentle"
refused '[Pp]ath' <<<"[Watch x]
Policy=record"
refused 'relative/path|absolute' <<<"[Watch x]
Path=relative/path"
refused 'Wotch' <<<"[Wotch x]
Path=$WATCHED"
refused '' <<<"this is no configuration"
refused 'PreserveMax|12Q' <<<"[Watch x]
Path=$WATCHED
PreserveMax=12Q"
head -c 100000 /dev/urandom >"$TOP/bad.conf"
status 1 mw config check "$TOP/bad.conf"
status 1 mw config check "$TOP/nowhere.conf"
matches 'nowhere.conf' "$ERR$OUT"
status 1 mw config check "$TOP"

note "a broken file is refused by reload, and the running configuration stays"
cat >"$CONF" <<CONF
[Watch second]
Path=$MNT/other
Policy=nonsense
CONF
status 1 mw reload
matches 'mountwatch.conf:3' "$ERR"
matches 'nonsense' "$ERR"
mw watch list | grep -q first || fail "the first watch is gone"
! mw watch list | grep -q second || fail "the broken one is there"

note "a good one is taken: while a session runs, too"
mkfifo "$TOP/up" "$TOP/go"
mountwatch run --fail-on never -- bash -c 'touch "$1/a"; echo >"$3"; read x <"$4"; touch "$1/b" "$2/c"' x "$WATCHED" "$MNT/other" "$TOP/up" "$TOP/go" 2>/dev/null &
run=$!
read -r _ <"$TOP/up"
cat >"$CONF" <<CONF
[Watch first]
Path=$WATCHED
Policy=record

[Watch second]
Path=$MNT/other
Policy=record
CONF
status 0 mw reload
mw watch list | grep -q second || fail "the second watch is not there"
armed() { mw watch list --json | python3 -c 'import json,sys
d = json.load(sys.stdin)
ws = d if isinstance(d, list) else d["watches"]
sys.exit(not all(w["state"] == "armed" for w in ws))'; }
wait_for armed
echo x >"$TOP/go"
wait $run
session_over last
has_op last 'create a'
has_op last 'create b'
ROOT=$MNT/other has_op last 'create c'

note "drop-ins"
mkdir "$CONF.d"
printf '[Watch third]\nPath=%s\n' "$WORK" >"$CONF.d/10-third.conf"
status 0 mw reload
mw watch list | grep -q third || fail "the third watch is not there"
printf '[Watch third]\nPolicy=nonsense\n' >"$CONF.d/20-bad.conf"
status 1 mw reload
matches '20-bad.conf:2' "$ERR"
rm -r "$CONF.d"

note "SIGHUP is a reload, and no end"
kill -HUP "$DAEMON"
gone() { ! mw watch list | grep -q third; }
wait_for gone
daemon_alive

note "a daemon does not start on a broken file"
printf '[Watch x]\nPath=%s\nPolicy=nonsense\n' "$WATCHED" >"$TOP/bad.conf"
status 1 mountwatchd --config "$TOP/bad.conf" --socket "$TOP/s2" --state-dir "$TOP/state2"
matches 'bad.conf:3' "$ERR"
status 1 mountwatchd --config "$TOP/nowhere.conf" --socket "$TOP/s2" --state-dir "$TOP/state2"
note "unknown keys and sections are warnings at start"
daemon_stop || fail stop
daemon_start - <<CONF
[Watch first]
Path=$WATCHED
Colour=blue
[Nonsense]
a=b
CONF
grep -q Colour "$LOG" || fail "no warning"
note "a second daemon on the same socket or store"
quietly mountwatchd --config "$CONF" --socket "$MOUNTWATCH_SOCKET" --state-dir "$TOP/state3" &
second=$!
wait $second
daemon_alive

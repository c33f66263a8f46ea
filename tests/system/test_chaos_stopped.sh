#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The daemon is stopped, as under a debugger, for longer than the deadline, while opens and guarded calls are held: its watchdog ends
# it, the kernel lets the opens go and the keepers of the guarded runs the calls. Nobody stays blocked, and the sessions say so.
. "$(dirname "$0")/lib.sh"
. "$HERE/held.sh"
need python3
scratch
echo old >"$WATCHED/asked"
echo old >"$WATCHED/late"
echo old >"$WATCHED/read"
echo old >"$WATCHED/guarded"
daemon_start - <<CONF
[Daemon]
HoldDeadline=5
[Watch case]
Path=$WATCHED
Policy=ask
CONF
dog() { pgrep -P "$DAEMON" -x mountwatch-dog; }
the_dog=$(dog) || fail "no watchdog beside the daemon"

note "the watchdog has nothing of the daemon's but what it needs"
is 6 "$(find "/proc/$the_dog/fd" -mindepth 1 | wc -l)" "descriptors ($(ls -l "/proc/$the_dog/fd"))"
is 0000000000000000 "$(awk '/^CapEff/ { print $2 }' "/proc/$the_dog/status")" capabilities
[ "$(ps -o sid= -p "$the_dog")" != "$(ps -o sid= -p "$DAEMON")" ] || fail "it is in the daemon's session"

member asked --no-guard -- sh -c 'echo new >"$1"' x "$WATCHED/asked"
member late --no-guard -- sh -c 'echo new >"$1"' x "$WATCHED/late"
member guarded -- rm "$WATCHED/guarded"
asked=$(id_of asked) late=$(id_of late) guarded=$(id_of guarded)
go asked
held 1
note "an open of a member is held, then the daemon is stopped, then others come"
kill -STOP "$DAEMON"
go late
go guarded
bystander reader cat "$WATCHED/read"
all_end reader asked late guarded
is 0 "$(status_of reader)" "status of the bystander"
is old "$(cat "$TOP/reader.out")" "what it read"
note "the watchdog has ended the daemon"
wait "$DAEMON" 2>/dev/null
is 137 $? "status of the daemon"
DAEMON=
wait_for never_ran kill -0 "$the_dog"
grep -q "its watchdog ends it" "$LOG" || fail "nobody was told"

daemon_again
session_over "$asked"
session_over "$late"
session_over "$guarded"
note "the sessions say what was not enforced"
for id in "$asked" "$late" "$guarded"; do
    is incomplete "$(field "$id" session.verdict)" "verdict of $id"
    has_loss "$id" daemon-restart
    has_loss "$id" not-enforced
done

note "a daemon that is stopped for less than that goes on"
member short --no-guard -- sh -c 'echo new >"$1"' x "$WATCHED/asked"
kill -STOP "$DAEMON"
go short
sleep 2
kill -CONT "$DAEMON"
all_end short
daemon_alive

note "a watchdog that somebody ends is replaced"
the_dog=$(dog)
kill -9 "$the_dog"
another() { local d; d=$(dog) && [ "$d" != "$the_dog" ]; }
wait_for another
daemon_alive

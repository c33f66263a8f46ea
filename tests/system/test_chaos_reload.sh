#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Reload and stop while calls are held. A reload that leaves the watch alone leaves them waiting; one that takes the watch away lets
# them go; SIGTERM lets everything go, and the next daemon goes on with the sessions.
. "$(dirname "$0")/lib.sh"
. "$HERE/held.sh"
need python3
scratch
mkdir "$WATCHED/sub"
for f in one two three four five guarded; do echo old >"$WATCHED/$f"; done
config() { printf '[Watch case]\nPath=%s\nPolicy=%s\n' "$WATCHED" "$1" >"$CONF"; }
the_held() { mountwatch decide --json | grep -o '"id": *[0-9]*' | grep -o '[0-9]*'; }
# shellcheck disable=SC2016 # for the inner shell
writer() { member "$1" --no-guard -- sh -c 'echo new >"$1"' x "$WATCHED/$1"; }
config ask
daemon_again

note "a reload with nothing new"
writer one
go one
held 1
status 0 mountwatch reload
held_is 1 || fail "it does not wait any more"
is_blocked one || fail "it was answered"
status 0 mountwatch decide "$(the_held)" deny
all_end one
is old "$(cat "$WATCHED/one")" "what was refused"

note "a reload that changes the policy: what waits is still somebody's to decide"
writer two
id=$(id_of two)
go two
held 1
config deny
status 0 mountwatch reload
held_is 1 || fail "it does not wait any more"
status 0 mountwatch decide "$(the_held)" allow-once
all_end two
is new "$(cat "$WATCHED/two")" "what was allowed"
session_over "$id"

note "a reload that takes the watch away: what waits goes on, and nobody is asked any more"
config ask
status 0 mountwatch reload
writer three
id=$(id_of three)
go three
held 1
printf '[Watch other]\nPath=%s\n' "$WORK" >"$CONF"
status 0 mountwatch reload
all_end three
held_is 0 || fail "somebody is still to be asked"
is new "$(cat "$WATCHED/three")" "what was let"
session_over "$id"
is False "$(field "$id" session.complete)" complete
has_loss "$id" reload

note "SIGTERM while an open and a guarded call are held"
config ask
status 0 mountwatch reload
writer four
member guarded -- rm "$WATCHED/guarded"
four=$(id_of four) guarded=$(id_of guarded)
go four
go guarded
held 2
daemon_stop || fail "stop"
all_end four guarded
is new "$(cat "$WATCHED/four")" "what was let"
[ ! -e "$WATCHED/guarded" ] || fail "the guarded call was not let"
daemon_again
for id in "$four" "$guarded"; do
    session_over "$id"
    is incomplete "$(field "$id" session.verdict)" "verdict of $id"
    has_loss "$id" daemon-restart
    has_loss "$id" not-enforced
done

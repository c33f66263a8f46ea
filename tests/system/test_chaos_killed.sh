#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill -9 of the daemon while opens and guarded calls are held: the kernel lets the opens go, the keepers of the guarded runs answer
# their calls, further calls of both go on, and the next daemon says what was not enforced.
. "$(dirname "$0")/lib.sh"
. "$HERE/held.sh"
need python3
scratch
for f in asked guarded read; do echo old >"$WATCHED/$f"; done
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=ask
CONF
# shellcheck disable=SC2016 # for the inner shells
member asked --no-guard -- sh -c 'echo new >"$1/asked"; echo new >"$1/further"' x "$WATCHED"
# shellcheck disable=SC2016
member guarded -- sh -c 'rm "$1/guarded" 2>/dev/null; mkdir "$1/further.d"' x "$WATCHED"
asked=$(id_of asked) guarded=$(id_of guarded)
go asked
go guarded
held 2
is_blocked asked && is_blocked guarded || fail "they do not wait"
note "both are held; the daemon is killed"
bystander reader cat "$WATCHED/read"
daemon_kill
all_end asked guarded reader
is 0 "$(status_of reader)" "status of the bystander"
is 0 "$(status_of asked)" "status of the one whose open was held"
is new "$(cat "$WATCHED/asked")" "what it has written"
note "what somebody would have been asked is refused by the keeper, what comes later is let"
[ -e "$WATCHED/guarded" ] || fail "the guarded removal was let"
is 0 "$(status_of guarded)" "status of the guarded one"
[ -d "$WATCHED/further.d" ] || fail "a later call of the guarded one did not go on"

daemon_again
for id in "$asked" "$guarded"; do
    session_over "$id"
    is incomplete "$(field "$id" session.verdict)" "verdict of $id"
    has_loss "$id" daemon-restart
    has_loss "$id" not-enforced
done
held_is 0 || fail "the next daemon holds something"

note "a session that goes on is held by the next daemon again"
# shellcheck disable=SC2016
member on --no-guard -- sh -c 'echo >"$2"; read -r x <"$3"; echo new >"$1/read"' x "$WATCHED" "$TOP/on2.up" "$TOP/on2.go"
mkfifo "$TOP/on2.up" "$TOP/on2.go"
id=$(id_of on)
go on
read -r _ <"$TOP/on2.up"
daemon_kill
daemon_again
stands() { mountwatch session list --json | grep -q "$id" && held_stands; }
held_stands() { grep -q fanotify "/proc/$DAEMON/fdinfo/"* && cat "/proc/$DAEMON"/task/*/comm | grep -qx hold; }
wait_for stands
go on2
held 1
status 0 mountwatch decide "$(mountwatch decide --json | grep -o '"id": *[0-9]*' | grep -o '[0-9]*')" deny
all_end on
is old "$(cat "$WATCHED/read")" "what was refused"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill -9 of the daemon in the middle of a session: the command goes on unharmed, the next daemon finds the session and its
# processes again, nothing stored is lost, the session is incomplete and says why and from when to when.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start
mkfifo "$TOP/go" "$TOP/up"

mountwatch run --label survivor --fail-on never -- bash -c '
    (echo >"$3"; read x <"$2"; touch "$1/child-after"; echo >"$3") &
    read x <"$2.2"; touch "$1/after"; (touch "$1/new-after"); wait; exit 3' x "$WATCHED" "$TOP/go" "$TOP/up" 2>"$TOP/report" &
run=$!
mkfifo "$TOP/go.2"
read -r _ <"$TOP/up"
# by the session's own hand and before the kill
id=$(field last session.id)
pid=$(field last session.rootPid)
mountwatch run --label before --fail-on never -- touch "$WATCHED/before" 2>/dev/null
session_over last
before=$(field last session.id)

# a daemon answers before its watches are placed again; until then the session's loss goes on
armed() { mw watch list --json | grep -q '"armed"'; }
daemon_kill
kill -0 $run || fail "run ended with the daemon"
kill -0 "$pid" || fail "the command ended with the daemon"
touch "$WATCHED/unseen"
daemon_again
wait_for armed

note "what was stored is there"
has_op "$before" 'create before'
is True "$(field "$before" session.complete)" "an ended session stays complete"
note "the session and its processes are found again"
is active "$(field "$id" session.state)" state
echo x >"$TOP/go"
read -r _ <"$TOP/up"
echo x >"$TOP/go.2"
wait $run
is 3 $? "status of run"
session_over "$id"
has_op "$id" 'create child-after'
has_op "$id" 'create after'
has_op "$id" 'create new-after'
has_no_op "$id" 'create unseen'
is False "$(field "$id" session.complete)" complete
is incomplete "$(field "$id" session.verdict)" verdict
is daemon-restart "$(field "$id" session.losses.0.reason)" reason
[ "$(field "$id" session.losses.0.at)" != None ] || fail "no time in the loss"


note "three times in a row, with a change stored each time"
mountwatch run --label thrice --fail-on never -- bash -c 'for i in 1 2 3; do read x <"$2"; touch "$1/t$i"; echo >"$3"; done' \
    x "$WATCHED" "$TOP/go" "$TOP/up" 2>/dev/null &
run=$!
is_thrice() { [ "$(field last session.label)" = thrice ]; }
wait_for is_thrice
id=$(field last session.id)
for i in 1 2 3; do
    echo x >"$TOP/go"
    read -r _ <"$TOP/up"
    has_op "$id" "create t$i"
    daemon_kill
    daemon_again
    wait_for armed
done
wait $run
session_over "$id"
for i in 1 2 3; do has_op "$id" "create t$i"; done

note "a session whose processes ended while nobody looked"
mountwatch run --label gone --fail-on never -- sh -c 'echo >"$1"; read x <"$2"' x "$TOP/up" "$TOP/go" 2>/dev/null &
run=$!
read -r _ <"$TOP/up"
id=$(field last session.id)
daemon_kill
echo x >"$TOP/go"
wait $run
quietly daemon_again
session_over "$id"
is False "$(field "$id" session.complete)" complete

note "SIGTERM leaves sessions as they are; the next daemon goes on with them"
mountwatch run --label term --fail-on never -- sh -c 'echo >"$2"; read x <"$3"; touch "$1/after-term"' x "$WATCHED" "$TOP/up" "$TOP/go" 2>/dev/null &
run=$!
read -r _ <"$TOP/up"
id=$(field last session.id)
daemon_stop || fail "stop"
daemon_again
wait_for armed
echo x >"$TOP/go"
wait $run
is 0 $? "status of run"
session_over "$id"
has_op "$id" 'create after-term'

note "no folder of a session is left among the cgroups"
root=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
if [ -n "$root" ]; then
    left() { find "$root" -type d -name "mountwatch-*" 2>/dev/null | grep -E "mountwatch-($before|$id)"; }
    wait_for never_ran left
fi

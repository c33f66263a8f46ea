#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# session kill, freeze and thaw act on the whole tree, and on nothing else.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start
state_of() { awk '{ print $3 }' <(sed 's/^.*) /x x /' "/proc/$1/stat" 2>/dev/null); }

sleep 1000 &
bystander=$!
mountwatch run --label tree --fail-on never -- bash -c '
    setsid sleep 1000 & echo $! >"$1/p1"
    (setsid bash -c "sleep 1000 & echo \$! >\"$1/p2\"; trap \"\" TERM; while :; do sleep 1000; done" d "$1" &)
    while [ ! -s "$1/p2" ]; do sleep 0.02; done
    touch "$1/ready"; wait' x "$WORK" 2>"$TOP/err" &
run=$!
wait_for test -e "$WORK/ready"
p1=$(<"$WORK/p1") p2=$(<"$WORK/p2")
id=$(field last session.id)

note "freeze"
# a frozen task of cgroup v2 stays in S and its group says so; one stopped by a signal is in T
ticks() { awk '{ print $14 + $15 }' <(sed 's/^.*) /x x /' "/proc/$1/stat"); }
status 0 mw session freeze "$id"
frozen() {
    local g
    case $(state_of "$1") in T) return 0 ;; esac
    g=$(awk -F: '$1 == 0 { print $3 }' "/proc/$1/cgroup")
    grep -qs 'frozen 1' "$(findmnt -nt cgroup2 -o TARGET | head -n 1)$g/cgroup.events"
}
wait_for frozen "$p1"
wait_for frozen "$p2"
status 0 mw session list
matches "$id +frozen " "$OUT" "the list says so"
! frozen $bystander || fail "a bystander was frozen"
note "thaw"
status 0 mw session thaw "$id"
thawed() { never_ran frozen "$1"; }
wait_for thawed "$p1"
wait_for thawed "$p2"
status 0 mw session list
matches "$id +active " "$OUT" "the list says so"

note "kill"
status 0 mw session kill "$id"
wait $run
is 137 $? "status of run"
session_over "$id"
is killed "$(field "$id" session.state)" state
gone() { [ ! -e "/proc/$1" ] || [ "$(state_of "$1")" = Z ]; }
wait_for gone "$p1"
wait_for gone "$p2"
! gone $bystander || fail "a bystander was killed"

note "a frozen session can be killed"
mountwatch run --fail-on never -- sh -c 'touch "$1/ready2"; exec sleep 1000' x "$WORK" 2>/dev/null &
run=$!
wait_for test -e "$WORK/ready2"
id=$(field last session.id)
status 0 mw session freeze "$id"
status 0 mw session kill "$id"
wait $run
is 137 $? "status of run"

note "not there"
status 1 mw session kill "$id"
status 1 mw session freeze 0123456789abcdef
status 2 mw session kill

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# freeze: on its first change a session stops, all of it; thaw lets it go on, kill ends it, and undo removes what had happened.
. "$(dirname "$0")/lib.sh"
. "$HERE/undo.sh"
scratch ext4
echo one >"$WATCHED/a" && echo two >"$WATCHED/b"
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=freeze
Preserve=yes
CONF
group_of() { awk -F: '$1 == 0 { print $3 }' "/proc/$1/cgroup"; }
# what is asked of the group: cgroup.events says it only when the one that waits for us in its call has come out of there
is_frozen() {
    case $(awk '{ print $3 }' <(sed 's/^.*) /x x /' "/proc/$1/stat")) in T) return 0 ;; esac
    grep -qsx 1 "$(findmnt -nt cgroup2 -o TARGET | head -n 1)$(group_of "$1")/cgroup.freeze"
}
# a session of two processes: one works, and one only waits
# shellcheck disable=SC2016 # for the inner shell
worker='sleep 1000 & echo $! >"$2/$3.other"; echo $$ >"$2/$3.pid"; eval "$4"; echo done >"$2/$3.done"; kill $!'
start() { # NAME SCRIPT
    mountwatch run --label "$1" --fail-on never -- bash -c "$worker" x "$WATCHED" "$WORK" "$1" "$2" 2>"$WORK/$1.err" &
    run=$!
    wait_for test -s "$WORK/$1.pid"
    other=$(<"$WORK/$1.other")
    id=$(field last session.id)
}
remember start

note "guarded: before the first change"
start one 'cat "$1/a" >/dev/null; rm "$1/a"; rm "$1/b"'
wait_for is_frozen "$other"
[ -e "$WATCHED/a" ] && [ -e "$WATCHED/b" ] || fail "not held"
status 0 mw decide
matches "session thaw $id" "$OUT" "what to type"
status 0 mw status
matches "session thaw $id" "$OUT" "what to type"
n=$(mw decide --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["held"][0]["id"])')
status 1 mw decide "$n" allow-once
matches 'thaw' "$ERR" "it is not asked"
status 1 mw undo "$id"
note "thaw"
status 0 mw session thaw "$id"
wait_for test -e "$WORK/one.done"
wait $run
is 0 $? "status of the thawed run"
[ ! -e "$WATCHED/a" ] && [ ! -e "$WATCHED/b" ] || fail "not thawed"
session_over "$id"
is dirty "$(field "$id" session.verdict)" verdict
grep -q '"frozen"' "$TOP/report.json" || fail "no row says frozen: $(cat "$TOP/report.json")"
status 0 mw undo "$id"
unchanged start

note "kill"
start two 'rm "$1/a"; rm "$1/b"'
wait_for is_frozen "$other"
status 0 mw session kill "$id"
wait $run
is 137 $? "status of the killed run"
session_over "$id"
quietly mw undo "$id"
unchanged start "$WATCHED" "after a kill"

note "tagged late: at most the first change"
bash -c 'mountwatch session start >"$2/id"; rm "$1/a"; sleep 0.2; rm "$1/b"' x "$WATCHED" "$WORK" 2>/dev/null &
late=$!
wait_for test -s "$WORK/id"
id=$(<"$WORK/id")
wait_for is_frozen $late
[ -e "$WATCHED/b" ] || fail "the second change has happened"
status 0 mw session kill "$id"
wait $late
session_over "$id"
is killed "$(field "$id" session.state)" state
status 0 mw undo "$id"
unchanged start "$WATCHED" "after a late freeze"

note "a bystander goes on"
touch "$WATCHED/theirs" && rm "$WATCHED/theirs" || fail "a bystander"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# session start and stop in a shell: the shell and what it starts from then on is tagged, before and after is not.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start

cat >"$TOP/shell" <<'SH'
echo before >"$1/before"
id=$(mountwatch session start --label here) || exit 1
echo in >"$1/builtin"
touch "$1/command"
mountwatch session list >"$2/list" || exit 2
mountwatch session stop --fail-on never >"$2/stop" 2>"$2/stop.err" || exit 3
echo after >"$1/after"
echo "$id"
SH
note "start, stop"
id=$(bash "$TOP/shell" "$WATCHED" "$WORK") || fail "the shell ended with $?: $(cat "$WORK"/*)"
matches '^[0-9a-f]{16}$' "$id" id
grep -q "$id" "$WORK/list" || fail "not listed"
grep -q builtin "$WORK/stop" "$WORK/stop.err" || fail "stop prints no report"
session_over "$id"
expect_ops "$id" <<'OPS'
create builtin
create command
OPS
expect_ops "$id" untagged <<<''
is here "$(field "$id" session.label)" label
is stopped "$(field "$id" session.state)" state
expect_complete "$id"

note "a shell that ends leaves no session behind"
id=$(bash -c 'mountwatch session start; true')
session_over "$id"

note "no session to stop"
status 1 mw session stop
status 1 mw session stop 0123456789abcdef
matches '0123456789abcdef' "$ERR"
status 1 mw report 0123456789abcdef
status 1 mw session stop "$id"

note "stop by id, from outside; what goes on is untagged"
mkfifo "$TOP/go"
bash -c 'mountwatch session start >"$1/id"; read x <"$2"; touch "$3/untagged"; read x <"$2"' x "$WORK" "$TOP/go" "$WATCHED" &
wait_for test -s "$WORK/id"
id=$(cat "$WORK/id")
status 0 mw session stop "$id"
echo x >"$TOP/go"
wait_for test -e "$WATCHED/untagged"
echo x >"$TOP/go"
wait $!
expect_ops "$id" <<<''

note "--fail-on of stop"
daemon_stop || fail "stop"
daemon_start - <<CONF
[Watch w]
Path=$WATCHED
Policy=alert
CONF
# shellcheck disable=SC2016
status 120 bash -c 'mountwatch session start >/dev/null; touch "$1/v"; mountwatch session stop --fail-on violation' x "$WATCHED"
# shellcheck disable=SC2016
status 0 bash -c 'mountwatch session start >/dev/null; touch "$1/w"; mountwatch session stop' x "$WATCHED"

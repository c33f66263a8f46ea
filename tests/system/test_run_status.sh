#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The exit status of `run`: the command's own, 128+N for a signal, 120 when only the session fails, 125 when the command was
# not started, 126 and 127 as env(1).
. "$(dirname "$0")/lib.sh"
scratch
daemon_start - <<CONF
[Watch w]
Path=$WATCHED
Policy=alert
Allow=fine/**
CONF
mkdir "$WATCHED/fine"

note "the command's own"
status 0 mw run -- true
status 1 mw run -- false
status 42 mw run -- sh -c 'exit 42'
status 255 mw run -- sh -c 'exit 255'

note "a signal"
status 137 mw run -- sh -c 'kill -9 $$'
status 143 mw run -- sh -c 'kill -TERM $$'
status 139 mw run -- sh -c 'kill -SEGV $$'

note "not found, not executable"
status 127 mw run -- no-such-command-here
matches 'no-such-command-here' "$ERR"
touch "$WORK/plain"
status 126 mw run -- "$WORK/plain"
status 126 mw run -- "$WORK"

note "a violation"
status 120 mw run -- touch "$WATCHED/a"
matches "$WATCHED" "$ERR" report
is "" "$OUT" "standard output"
status 0 mw run -- touch "$WATCHED/fine/a"
status 0 mw run --fail-on never -- touch "$WATCHED/b"
status 120 mw run --fail-on violation -- touch "$WATCHED/c"
note "the command's own failure comes first"
status 7 mw run -- sh -c "touch '$WATCHED/d'; exit 7"
note "a policy of one's own can be stricter only for watches that are laxer"
status 0 mw run --policy record -- touch "$WATCHED/fine/b"
status 120 mw run --policy record -- touch "$WATCHED/e"

note "usage"
status 125 mw run
status 125 mw run --no-such-option -- true
matches 'no-such-option' "$ERR"
[ "$(wc -l <<<"$ERR")" -le 3 ] || fail "an error is not the whole help: $ERR"
status 2 mw no-such-verb
status 2 mw report --no-such-option
status 0 mw --help
status 0 mw run --help

note "no daemon"
status 125 mw --socket "$TOP/nobody" run -- touch "$WORK/started"
[ ! -e "$WORK/started" ] || fail "the command was started without a daemon"
matches 'nobody' "$ERR"
status 125 mw --socket "$TOP/nobody" status

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# session mark: what follows is done for this test; a change before the next mark never slips under it.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
CONF
mw run --fail-on never -- sh -c '
    echo 0 >"$1/none"
    mountwatch session mark "tests/test_a.py::test_one"
    echo 1 >"$1/one"; touch "$1/both"
    mountwatch session mark "tests/test_a.py::test_two[x y]"
    rm "$1/both"; touch "$1/both"
    mountwatch session mark ""
    rm "$1/none"' x "$WATCHED" 2>"$TOP/report"
session_over last
got=$(report last rows | awk -F'\t' '$1 !~ /^metadata/ { print $1 ": " $5 }' | sort)
is "create both: tests/test_a.py::test_one
create both: tests/test_a.py::test_two[x y]
create none: -
create one: tests/test_a.py::test_one
delete both: tests/test_a.py::test_two[x y]
delete none: -" "$got" "tests"
grep -q 'test_two' "$TOP/report" || fail "the report names no test"

note "outside a session"
status 1 mw session mark hello
note "too long"
# shellcheck disable=SC2016
mw run --fail-on never -- sh -c 'mountwatch session mark "$(head -c 100000 /dev/zero | tr "\0" x)"' >"$TOP/out" 2>&1
daemon_alive
note "in the outer session when the inner one has ended"
mw run --label o --fail-on never -- sh -c 'mountwatch run --fail-on never -- true 2>/dev/null; mountwatch session mark m; touch "$1/m"' x "$WATCHED" 2>/dev/null

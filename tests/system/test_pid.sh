#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# session start --pid: tags a process that is there already, with its present descendants, whoever their parent is by now.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start
mkfifo "$TOP/a" "$TOP/b" "$TOP/c" "$TOP/up"

# a root with a child, a grandchild, and threads of its own
bash -c '
    bash -c "
        (echo g >\"$4\"; read x <\"$3\"; touch \"$1/grandchild\") &
        echo c >\"$4\"; read x <\"$2\"; touch \"$1/child\"; wait" c "$1" "$3" "$4" "$5" &
    echo r >"$5"; read x <"$2"; touch "$1/root"; (touch "$1/new child"); wait' x "$WATCHED" "$TOP/a" "$TOP/b" "$TOP/c" "$TOP/up" &
root=$!
exec 9<>"$TOP/up"
for _ in 1 2 3; do read -r _ <&9; done
exec 9>&-

id=$(mw session start --pid $root --label late) || fail "start --pid"
for p in a b c; do echo x >"$TOP/$p"; done
wait $root
session_over "$id"
expect_ops "$id" <<'OPS'
create root
create child
create grandchild
create new child
OPS
expect_complete "$id"
expect_ops "$id" untagged <<<''

note "not these"
status 1 mw session start --pid 1
status 1 mw session start --pid 4194303
status 2 mw session start --pid x
status 2 mw session start --pid -5
sleep 0 &
gone=$!
wait $gone
status 1 mw session start --pid $gone
matches "$gone" "$ERR"
status 1 mw session start --pid "$DAEMON"
daemon_alive

note "a process that is in a session already gets one inside it"
sleep 100 &
first=$(mw session start --pid $!)
second=$(mw session start --pid $!)
[ "$first" != "$second" ] || fail "the same session twice"
kill $!
session_over "$second"
session_over "$first"

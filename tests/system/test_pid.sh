#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# session start --pid: tags a process that is there already, with its present descendants, whoever their parent is by now.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start
mkfifo "$TOP/a" "$TOP/b" "$TOP/c" "$TOP/up"

# a root with a child, a grandchild, and threads of its own
cat >"$TOP/tree.sh" <<'SH'
case $1 in
root)
    bash "$0" child "$2" "$3" &
    echo root >"$3/up"; read -r _ <"$3/a"; touch "$2/root"; (touch "$2/new child"); wait ;;
child)
    bash "$0" grandchild "$2" "$3" &
    echo child >"$3/up"; read -r _ <"$3/b"; touch "$2/child"; wait ;;
grandchild)
    echo grandchild >"$3/up"; read -r _ <"$3/c"; touch "$2/grandchild" ;;
esac
SH
exec 9<>"$TOP/up"
bash "$TOP/tree.sh" root "$WATCHED" "$TOP" &
root=$!
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

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What overflowed is said: a daemon that does not get to read loses process events, and every open session is incomplete
# with that reason; what changed is found all the same.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start
mkfifo "$TOP/go" "$TOP/up"

mountwatch run --label flood --fail-on never -- bash -c 'echo >"$3"; read x <"$2"; python3 "$4" "$1" "$(cat "$5")"; (touch "$1/child"); touch "$1/after"' \
    x "$WATCHED" "$TOP/go" "$TOP/up" "$TOP/flood.py" "$TOP/inodes" 2>"$TOP/report" &
run=$!
cat >"$TOP/flood.py" <<'PY'
# forks until the kernel has dropped messages for the stopped daemon
import os, sys
inodes = sys.argv[2].split()
def drops():
    n = 0
    for line in open("/proc/net/netlink").readlines()[1:]:
        f = line.split()
        if f[9] in inodes:
            n += int(f[8])
    return n
before = drops()
for i in range(400000):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    if i % 500 == 0 and drops() > before:
        break
else:
    sys.exit("no message was dropped")
open(sys.argv[1] + "/flooded", "w").close()
PY
read -r _ <"$TOP/up"
id=$(field last session.id)
find "/proc/$DAEMON/fd" -lname 'socket:*' -printf '%l\n' | tr -dc '0-9\n' >"$TOP/inodes"
kill -STOP "$DAEMON"
echo x >"$TOP/go"
flooded() { [ -e "$WATCHED/flooded" ] || ! kill -0 $run; }
for ((i = 0; i < 9000; i++)); do flooded && break; sleep 0.02; done
kill -CONT "$DAEMON"
wait $run
session_over "$id"
if [ ! -e "$WATCHED/flooded" ]; then
    skip "no process event could be made to drop: the buffer holds more than 400,000 processes"
fi
is False "$(field "$id" session.complete)" complete
is incomplete "$(field "$id" session.verdict)" verdict
field "$id" session.losses | grep -q process-events || fail "losses: $(field "$id" session.losses)"
grep -qi incomplete "$TOP/report" || fail "the report does not say so"
sort -u <(report "$id" operations) <(report "$id" untagged) >"$TOP/seen"
for f in flooded child after; do grep -qx "create $f" "$TOP/seen" || fail "$f is lost for good"; done

note "the next session is whole again"
run touch "$WATCHED/next"
session_over last
expect_complete last
has_op last 'create next'

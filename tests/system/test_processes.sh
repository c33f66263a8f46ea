#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Membership is acquired at fork and outlives the first process, its number, its session and its group.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start

note "daemons that outlive the run: double fork, setsid, nohup, reparented, renamed"
mkfifo "$TOP/go"
cat >"$TOP/daemon.py" <<'PY'
import ctypes, os, sys
go, watched = sys.argv[1:]
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
for fd in range(3):
    os.close(fd)
    os.open("/dev/null", os.O_RDWR)
ctypes.CDLL(None).prctl(15, b"a) b (c", 0, 0, 0)
open(go).read()
open(watched + "/daemon", "w").write("x")
if os.fork() == 0:
    os.execvp("touch", ["touch", watched + "/grandchild"])
os.wait()
PY
run sh -c 'python3 "$2" "$3" "$1"; touch "$1/early"' x "$WATCHED" "$TOP/daemon.py" "$TOP/go"
is lingering "$(field last session.state)" state
echo x >"$TOP/go"
session_over last
expect_ops last <<'OPS'
create early
create daemon
create grandchild
OPS
expect_complete last
is 'touch '"$WATCHED"'/grandchild' "$(report last rows | awk -F'\t' '/^create grandchild/ { print $6 }')" "command line"

note "short-lived processes are named, by what they were when they wrote"
run bash -c 'for i in {1..200}; do touch "$1/s$i"; done; exec -a odd-name sh -c "echo x >\"$1/by-exec\""' x "$WATCHED"
session_over last
is 200 "$(report last rows | grep -c "^create s[0-9]*	.*	exact	")" "rows of the session, exact"
# a command line must be read while its process lives; under load one in a hundred may be missed, and is left out then
named=$(report last rows | grep -c "^create s[0-9]*	.*	touch $WATCHED/s")
[ "$named" -ge 198 ] || fail "only $named of 200 have the command line of touch"
matches 'odd-name' "$(report last rows | grep '^create by-exec')" "argv[0]"

note "a recycled pid is another process"
set_next_pid() { echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; }
if [ -w /proc/sys/kernel/ns_last_pid ]; then
    again=
    for _ in {1..50}; do
        # a member of the session that ends at once, and a stranger that gets its number
        run bash -c '(echo "$BASHPID" >"$2/pid"; touch "$1/member")' x "$WATCHED" "$WORK"
        pid=$(<"$WORK/pid")
        rm -f "$WATCHED/member" "$WATCHED/stranger"
        set_next_pid "$pid"
        bash -c 'echo "$$" >"$2/stranger"; [ "$$" = "$3" ] && touch "$1/stranger"' x "$WATCHED" "$WORK" "$pid"
        if [ "$(<"$WORK/stranger")" = "$pid" ]; then
            again=$pid
            break
        fi
    done
    if [ -n "$again" ]; then
        session_over last
        has_op last 'create member'
        has_no_op last 'create stranger'
    else
        note "(the number could not be had again in 50 tries)"
    fi
    note "and inside one session: each with its own command line"
    run bash -c '
        for i in {1..40}; do
            (echo "$BASHPID" >"$2/pid"; exec touch "$1/a$i")
            # a file event has a number and no time: it must have been read before the number is given away
            mountwatch session mark again
            echo $(($(<"$2/pid") - 1)) >/proc/sys/kernel/ns_last_pid
            (exec touch "$1/b$i")
        done' x "$WATCHED" "$WORK"
    session_over last
    # a command line is read while its process lives; one that is not had is left out, and never somebody else's
    report last rows | awk -F'\t' '/^create / { split($1, o, " "); if ($6 !~ "^touch .*/" o[2] "$") print }' >"$TOP/odd"
    is 80 "$(report last rows | grep -c '^create [ab][0-9]')" "rows"
    ! grep -q $'\ttouch ' "$TOP/odd" || fail "rows with another's command line: $(cat "$TOP/odd")"
    [ "$(wc -l <"$TOP/odd")" -le 1 ] || fail "rows without their command line: $(cat "$TOP/odd")"
else
    note "(ns_last_pid cannot be set here: recycled pids were not tried)"
fi

note "threads: the process is the author"
run python3 -c 'import sys, threading
t = threading.Thread(target=lambda: open(sys.argv[1] + "/thread", "w").write("x")); t.start(); t.join()' "$WATCHED"
session_over last
expect_ops last <<<'create thread'

note "exec from another thread than the first; vfork; posix_spawn"
run python3 -c 'import os, sys, threading
p = os.posix_spawnp("touch", ["touch", sys.argv[1] + "/spawned"], os.environ); os.waitpid(p, 0)
threading.Thread(target=lambda: os.execvp("touch", ["touch", sys.argv[1] + "/by-thread-exec"])).start()
threading.Event().wait()' "$WATCHED"
session_over last
expect_ops last <<'OPS'
create spawned
create by-thread-exec
OPS

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a terminal the command is what the terminal talks to: it reads, Ctrl-C reaches it, it can be stopped and continued.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
CONF

cat >"$TOP/terminal.py" <<'PY'
import os, pty, select, signal, sys, time

def talk(argv, steps):
    """Runs argv on a pseudo-terminal; each step is (text awaited, bytes typed). Returns status and all that was printed."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(argv[0], argv)
    seen, mark, end = b"", 0, time.monotonic() + 30
    steps = list(steps)
    while True:
        if steps and steps[0][0] in seen[mark:]:
            mark = len(seen)
            os.write(fd, steps.pop(0)[1])
        ready, _, _ = select.select([fd], [], [], 1)
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            sys.exit("hung; seen so far: %r" % seen)
        if ready:
            try:
                data = os.read(fd, 4096)
            except OSError:
                data = b""
            if not data:
                break
            seen += data
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), seen

what = sys.argv[1]
if what == "read":
    code, seen = talk(["mountwatch", "run", "--", "sh", "-c", "echo ready; read x; echo got-$x; test -t 0 && test -t 1"], [(b"ready", b"word\n")])
    assert code == 0 and b"got-word" in seen, (code, seen)
elif what == "interrupt":
    code, seen = talk(["mountwatch", "run", "--", "sh", "-c", "touch '%s/before'; echo ready; exec sleep 100" % sys.argv[2]], [(b"ready", b"\x03")])
    assert code == 130 and b"before" in seen, (code, seen)
elif what == "handled":
    code, seen = talk(["mountwatch", "run", "--", "bash", "-c", "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"], [(b"ready", b"\x03")])
    assert code == 5 and b"caught" in seen, (code, seen)
elif what == "shell":
    # an interactive shell with job control: stop, continue, status
    code, seen = talk(["bash", "--norc", "-i"], [
        (b"# ", b"PS1='>'; mountwatch run --fail-on never -- sh -c 'echo rea''dy; read x; echo got-$x'\n"),
        (b"ready\r\n", b"\x1a"), (b"Stopped", b"fg; echo status-$?\n"), (b"mountwatch run", b"word\n"), (b"status-0", b"exit\n")])
    assert b"got-word" in seen, seen
PY
for what in read interrupt handled shell; do
    note "$what"
    python3 "$TOP/terminal.py" $what "$WATCHED" || fail "$what"
done

note "SIGTERM to mountwatch reaches the command"
mkfifo "$TOP/pipe"
mountwatch run --fail-on never -- bash -c 'trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done' >"$TOP/pipe" 2>/dev/null &
pid=$!
read -r _ <"$TOP/pipe"
kill -TERM $pid
wait $pid
is 9 $? "status after SIGTERM"

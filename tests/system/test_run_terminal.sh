#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a terminal the command is what the terminal talks to: it reads, Ctrl-C reaches it, it can be stopped and continued.
. "$(dirname "$0")/lib.sh"
export TERM=xterm NO_COLOR=''
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
elif what == "violation":
    # told while the command runs, for only then is there an answer to its question; once, although there are two
    code, seen = talk(["mountwatch", "run", "--", "sh", "-c", ": >'%s/early'; read x; : >'%s/late'; read y" % (sys.argv[2], sys.argv[2])],
                      [(b"early, by sh -c", b"word\n"), (b"word", b"word\n")])
    assert code == 120, (code, seen)
    during, after = seen.split(b"DIRTY", 1)
    assert b"sh created early on case\x1b[0m\r\n" in during and b"(pid " in during, seen
    assert during.count(b"mountwatch:") == 3 and b"late on case" not in during, seen # the third begins the report
elif what == "denied":
    code, seen = talk(["mountwatch", "run", "--policy", "deny", "--", "sh", "-c", "true >'%s/refused'; read x" % sys.argv[2]],
                      [(b"refused, by sh -c", b"word\n")])
    assert b"sh tried to create refused on case; refused" in seen and not os.path.exists(sys.argv[2] + "/refused"), seen
elif what == "raw":
    # a program that has the terminal for itself is not written over
    code, seen = talk(["mountwatch", "run", "--fail-on", "never", "--", "sh", "-c",
                       "stty -icanon -opost; : >'%s/raw'; until mountwatch events --session last | grep -q raw; do sleep 0.05; done; "
                       "sleep 0.5; stty icanon opost; echo coo''ked; read x" % sys.argv[2]],
                      [(b"raw, by sh", b"word\n")])
    assert seen.index(b"raw, by sh") > seen.index(b"cooked"), seen
elif what == "file":
    # the report alone, when nobody looks
    code, seen = talk(["sh", "-c", "mountwatch run -- sh -c 'rm \"$0/early\"; sleep 0.3' '%s' 2>'%s.err'" % (sys.argv[2], sys.argv[2])], [])
    text = open(sys.argv[2] + ".err").read()
    assert code == 120 and text.startswith("mountwatch: DIRTY"), (code, text)
PY
for what in read interrupt handled shell violation denied raw file; do
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

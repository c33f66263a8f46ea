#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A change belongs to the process that wrote: not to the one that opened, and not to the one that closes.
. "$(dirname "$0")/lib.sh"
for fs in tmpfs ext4; do
    note "$fs"
    scratch $fs
    for f in inherited passed kept out; do echo old >"$WATCHED/$f"; done
    daemon_start

    note "a descriptor that was opened before the session, written by it"
    exec 7>>"$WATCHED/inherited" 8>>"$WATCHED/kept"
    mkfifo "$TOP/up" "$TOP/go" 2>/dev/null
    (read -r _ <"$TOP/up"; echo by-us >&8; echo x >"$TOP/go") &
    run sh -c 'echo by-session >&7; echo x >"$1"; read x <"$2"' x "$TOP/up" "$TOP/go"
    exec 7>&- 8>&-
    session_over last
    expect_ops last <<<'modify inherited'
    has_op last 'modify kept' untagged
    has_no_op last 'modify inherited' untagged

    note "a descriptor that the session opened, written by another: over a socket, both ways"
    cat >"$TOP/pass.py" <<'PY'
import array, os, socket, sys
def give(s, fd): socket.send_fds(s, [b"x"], [fd])
def take(s): return socket.recv_fds(s, 10, 1)[1][0]
side, path, watched = sys.argv[1:]
if side == "outside":
    l = socket.socket(socket.AF_UNIX); l.bind(path); l.listen(1); print("up", flush=True)
    s, _ = l.accept()
    fd = take(s); os.write(fd, b"outside wrote\n"); os.close(fd); s.send(b"d"); s.recv(1)
    fd = os.open(watched + "/passed", os.O_WRONLY | os.O_APPEND); give(s, fd); os.close(fd); s.recv(1)
else:
    s = socket.socket(socket.AF_UNIX); s.connect(path)
    fd = os.open(watched + "/out", os.O_WRONLY | os.O_APPEND); give(s, fd); s.recv(1); os.close(fd); s.send(b"n")
    fd = take(s); os.write(fd, b"inside wrote\n"); os.close(fd); s.send(b"d")
PY
    rm -f "$TOP/sock"
    python3 "$TOP/pass.py" outside "$TOP/sock" "$WATCHED" >"$TOP/up" &
    outside=$!
    wait_for grep -q up "$TOP/up"
    run python3 "$TOP/pass.py" inside "$TOP/sock" "$WATCHED"
    wait $outside
    session_over last
    expect_ops last <<<'modify passed'
    has_op last 'modify out' untagged
    expect_complete last

    note "a descriptor of a removed file, and of one that was renamed meanwhile"
    run bash -c 'exec 5>>"$1/gone"; rm "$1/gone"; echo x >&5; exec 6>>"$1/kept"; mv "$1/kept" "$1/moved"; echo x >&6' x "$WATCHED"
    session_over last
    has_op last 'create gone'
    has_op last 'delete gone'
    has_op last 'rename kept -> moved'
    has_op last 'modify moved'

    note "written by a child after its parent has closed and ended"
    run bash -c 'exec 5>>"$1/moved"; (sleep 0.1; echo late >&5) & exec 5>&-' x "$WATCHED"
    session_over last
    expect_ops last <<<'modify moved'
    daemon_stop || fail stop
    umount "$MNT" || fail "the mount is held"
    rm -rf "$STATE"
done

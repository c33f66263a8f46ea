#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Any name of a watched object counts: hard links from outside the watch, symbolic links, other mounts of the same filesystem.
. "$(dirname "$0")/lib.sh"
for fs in tmpfs ext4; do
    note "$fs"
    scratch $fs
    echo old >"$WATCHED/f"
    echo old >"$WATCHED/g"
    mkdir "$WATCHED/d"
    ln "$WATCHED/f" "$WORK/hard"
    ln -s "$WATCHED/g" "$WORK/soft"
    ln -s "$WATCHED/d" "$WORK/softdir"
    mkdir "$WORK/bind"
    mount_for --bind "$WATCHED/d" "$WORK/bind"
    daemon_start
    note "written through a hard link outside the watch, a symbolic link, a linked folder, a bind mount, /proc"
    run bash -c '
        echo new >>"$2/hard"
        echo new >>"$2/soft"
        echo new >"$2/softdir/via-softdir"
        echo new >"$2/bind/via-bind"
        cd "$1/d" && echo new >"/proc/self/cwd/via-proc"
        cd "$2/bind" && mv via-proc moved' x "$WATCHED" "$WORK"
    session_over last
    expect_ops last <<'OPS'
modify f
modify g
create d/via-softdir
create d/via-bind
create d/via-proc
rename d/via-proc -> d/moved
OPS
    expect_complete last

    note "links made and removed inside"
    run bash -c '
        ln "$2/hard" "$1/again"
        ln -s nowhere "$1/dangling"
        rm "$1/f"
        echo x >>"$2/hard"
        rm "$1/again"
        echo y >>"$2/hard"' x "$WATCHED" "$WORK"
    session_over last
    has_op last 'create again'
    has_op last 'create dangling'
    has_op last 'delete f'
    has_op last 'delete again'
    has_op last 'modify again'
    has_no_op last 'modify f'

    note "an outside file that is linked in from outside"
    echo o >"$WORK/out"
    run bash -c 'ln "$2/out" "$1/in"; echo x >>"$2/out"; ln -f "$2/hard" "$2/elsewhere"; echo z >"$2/not-watched"' x "$WATCHED" "$WORK"
    session_over last
    has_op last 'create in'
    report last operations | grep -q not-watched && fail "a file outside the watch is reported"
    expect_complete last

    note "a private mount of the filesystem, in a namespace of its own"
    run "$HERE/../private" bash -c 'mkdir "$2/x" && mount --bind "$1" "$2/x" && cd "$2/x" && touch private && mkdir dir && mv private dir/moved' \
        x "$WATCHED" "$WORK"
    session_over last
    expect_ops last <<'OPS'
create private
create dir
rename private -> dir/moved
OPS
    if [ -e /bin/busybox ] || command -v chroot >/dev/null; then
        note "a chroot"
        mkdir -p "$WATCHED/jail"
        run python3 -c 'import os,sys
os.chroot(sys.argv[1]); os.chdir("/")
open("/in-jail", "w").write("x"); os.rename("/in-jail", "/renamed")' "$WATCHED/jail"
        session_over last
        expect_ops last <<'OPS'
create jail/in-jail
rename jail/in-jail -> jail/renamed
OPS
    fi
    daemon_stop || fail stop
    umount "$WORK/bind" && umount "$MNT" || fail "a mount is held"
    rm -rf "$STATE"
done

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Moves across the border of a subtree watch: in is a create with `from`, out is a delete with `to`; one row for a folder, and
# what lies below a folder that came in is watched like any other.
. "$(dirname "$0")/lib.sh"
for fs in tmpfs ext4; do
    note "$fs"
    scratch $fs
    mkdir -p "$WORK/dir/sub/deep" "$WATCHED/leaving/sub"
    touch "$WORK/file" "$WORK/dir/f" "$WORK/dir/sub/deep/g" "$WATCHED/out" "$WATCHED/leaving/f" "$WATCHED/old" "$WORK/over"
    daemon_start

    note "in"
    run bash -c '
        mv "$2/file" "$1/file"
        mv "$2/dir" "$1/dir"
        echo x >>"$1/dir/f"
        echo x >>"$1/dir/sub/deep/g"
        touch "$1/dir/sub/new"
        mkdir "$1/dir/sub/deep/d2"; touch "$1/dir/sub/deep/d2/h"' x "$WATCHED" "$WORK"
    session_over last
    expect_ops last <<OPS
create file from $WORK/file
create dir from $WORK/dir
modify dir/f
modify dir/sub/deep/g
create dir/sub/new
create dir/sub/deep/d2
create dir/sub/deep/d2/h
OPS
    expect_complete last

    note "out"
    run bash -c '
        mv "$1/out" "$2/out"
        mv "$1/leaving" "$2/left"
        echo x >"$2/left/f"; touch "$2/left/sub/unseen"; rm "$2/out"' x "$WATCHED" "$WORK"
    session_over last
    expect_ops last <<OPS
delete out to $WORK/out
delete leaving to $WORK/left
OPS
    expect_complete last

    note "out and in again"
    run bash -c 'mv "$1/dir" "$2/d"; touch "$2/d/outside"; mv "$2/d" "$1/dir2"; touch "$1/dir2/sub/inside"' x "$WATCHED" "$WORK"
    session_over last
    expect_ops last <<OPS
delete dir to $WORK/d
create dir2 from $WORK/d
create dir2/sub/inside
OPS

    note "in, over an existing file"
    run mv "$WORK/over" "$WATCHED/old"
    session_over last
    report last operations | grep -qx "create old from $WORK/over replaced" || fail "rows: $(report last operations)"

    note "inside: a folder that is renamed takes its names along"
    run bash -c 'mv "$1/dir2" "$1/dir3"; touch "$1/dir3/sub/x"; mv "$1/dir3/sub" "$1/sub"; touch "$1/sub/deep/y"; rm -r "$1/dir3"' x "$WATCHED"
    session_over last
    expect_ops last <<'OPS'
rename dir2 -> dir3
create dir3/sub/x
rename dir3/sub -> sub
create sub/deep/y
delete dir3/f
delete dir3/outside
delete dir3
OPS
    daemon_stop || fail stop
    umount "$MNT" || fail "the mount is held"
    rm -rf "$STATE"
done

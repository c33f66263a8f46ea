#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Content can change by any call; failed calls, opens without a write, and metadata are no content change.
. "$(dirname "$0")/lib.sh"
cat >"$TOP/files.py" <<'PY'
import ctypes, errno, mmap, os, sys
top = sys.argv[1]
p = lambda n: os.path.join(top, n)
libc = ctypes.CDLL(None, use_errno=True)
def failing(want, f, *a, **k):
    try:
        f(*a, **k)
    except OSError as e:
        assert e.errno in want, e
        return
    raise SystemExit("%s did not fail" % (a,))
what = sys.argv[2]
if what == "changes":
    with open(p("append"), "a") as f: f.write("x")
    with open(p("trunc"), "w"): pass
    os.truncate(p("truncate"), 1)
    fd = os.open(p("ftruncate"), os.O_RDWR); os.ftruncate(fd, 2); os.close(fd)
    fd = os.open(p("fallocate"), os.O_RDWR); os.posix_fallocate(fd, 0, 100000); os.close(fd)
    fd = os.open(p("pwrite"), os.O_WRONLY); os.pwrite(fd, b"x", 0); os.close(fd)
    fd = os.open(p("writev"), os.O_WRONLY); os.writev(fd, [b"x", b"y"]); os.close(fd)
    fd = os.open(p("mmap"), os.O_RDWR); m = mmap.mmap(fd, 10); m[0:3] = b"new"; m.close(); os.close(fd)
    src = os.open(p("source"), os.O_RDONLY)
    fd = os.open(p("sendfile"), os.O_WRONLY); os.sendfile(fd, src, 0, 5); os.close(fd)
    fd = os.open(p("copyrange"), os.O_WRONLY); os.copy_file_range(src, fd, 5, 0, 0); os.close(fd)
    r, w = os.pipe(); os.write(w, b"pipe"); fd = os.open(p("splice"), os.O_WRONLY); os.splice(r, fd, 4); os.close(fd)
elif what == "nothing":
    with open(p("append"), "a"): pass                       # an open without a write
    fd = os.open(p("append"), os.O_RDWR); os.write(fd, b""); os.close(fd)
    fd = os.open(p("mmap"), os.O_RDWR); m = mmap.mmap(fd, 10); m[0:1]; m.close(); os.close(fd)
    open(p("append")).read()
    os.listdir(top)
    os.stat(p("append"))
    failing([errno.ENOENT], os.unlink, p("missing"))
    failing([errno.ENOENT], os.rename, p("missing"), p("x"))
    failing([errno.EEXIST], os.mkdir, p("dir"))
    failing([errno.ENOTEMPTY], os.rmdir, p("dir"))
    failing([errno.ENOTDIR, errno.EEXIST], os.mkdir, p("append/x"))
    failing([errno.EEXIST], os.open, p("append"), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    failing([errno.EEXIST], os.link, p("append"), p("trunc"))
    failing([errno.EISDIR], os.open, p("dir"), os.O_WRONLY)
    failing([errno.EISDIR], os.truncate, p("dir"), 0)
    fd = os.open(p("append"), os.O_RDONLY); failing([errno.EBADF], os.write, fd, b"x"); os.close(fd)
    failing([errno.EBADF, errno.EINVAL], os.ftruncate, os.open(p("append"), os.O_RDONLY), 0)
    os.rename(p("append"), p("append"))                      # onto itself
    os.link(p("append"), p("hard")); os.rename(p("append"), p("hard")); os.unlink(p("hard")); os.rename  # both names of one file
elif what == "metadata":
    os.chmod(p("append"), 0o600); os.utime(p("trunc")); os.setxattr(p("splice"), "user.x", b"1") if len(sys.argv) > 3 else None
    os.chown(p("pwrite"), 1, 1)
elif what == "tmpfile":
    fd = os.open(top, os.O_TMPFILE | os.O_RDWR)
    os.write(fd, b"nameless")
    here = os.open("/", os.O_RDONLY)  # a folder makes it linkat(), which follows
    os.link("/proc/self/fd/%d" % fd, p("linked-in"), src_dir_fd=here, follow_symlinks=True)
    os.write(fd, b"more"); os.close(fd)
    fd = os.open(top, os.O_TMPFILE | os.O_RDWR); os.write(fd, b"never linked"); os.close(fd)
elif what == "exchange":
    AT = -100
    assert libc.renameat2(AT, p("append").encode(), AT, p("pwrite").encode(), 2) == 0, ctypes.get_errno()
elif what == "noreplace":
    assert libc.renameat2(-100, p("append").encode(), -100, p("trunc").encode(), 1) == -1
    assert libc.renameat2(-100, p("append").encode(), -100, p("fresh").encode(), 1) == 0
elif what == "replace":
    os.rename(p("writev"), p("splice"))
    os.rename(p("dir"), p("dir2"))
PY
for fs in tmpfs ext4 xfs; do
    command -v mkfs.$fs >/dev/null || [ $fs = tmpfs ] || { note "(no mkfs.$fs)"; continue; }
    note "$fs"
    scratch $fs
    files=(append trunc truncate ftruncate fallocate pwrite writev mmap sendfile copyrange splice)
    for f in "${files[@]}" source; do echo 0123456789 >"$WATCHED/$f"; done
    mkdir "$WATCHED/dir" && touch "$WATCHED/dir/in"
    daemon_start
    note "every call that changes content"
    run python3 "$TOP/files.py" "$WATCHED" changes || fail "$(cat "$TOP/report")"
    session_over last
    printf 'modify %s\n' "${files[@]}" >"$TOP/want"
    expect_ops last <"$TOP/want"
    expect_complete last

    note "metadata is no content change"
    run python3 "$TOP/files.py" "$WATCHED" metadata || fail "$(cat "$TOP/report")"
    session_over last
    expect_ops last <<<''
    for f in append trunc pwrite; do
        report last operations all | grep -qx "metadata $f" || fail "no metadata $f"
    done

    note "nothing happened"
    run python3 "$TOP/files.py" "$WATCHED" nothing || fail "$(cat "$TOP/report")"
    session_over last
    # the one file with two names: made a link, and took it away
    report last operations | grep -vxE 'create hard|delete hard' >"$TOP/odd"
    [ ! -s "$TOP/odd" ] || fail "operations of nothing: $(cat "$TOP/odd")"

    note "O_TMPFILE: nothing until it gets a name"
    run python3 "$TOP/files.py" "$WATCHED" tmpfile || fail "$(cat "$TOP/report")"
    session_over last
    expect_ops last <<<'create linked-in'

    note "RENAME_EXCHANGE, RENAME_NOREPLACE, replacing renames"
    run python3 "$TOP/files.py" "$WATCHED" exchange || fail "$(cat "$TOP/report")"
    session_over last
    expect_ops last <<'OPS'
rename append -> pwrite
rename pwrite -> append
OPS
    run python3 "$TOP/files.py" "$WATCHED" noreplace || fail "$(cat "$TOP/report")"
    session_over last
    expect_ops last <<<'rename append -> fresh'
    run python3 "$TOP/files.py" "$WATCHED" replace || fail "$(cat "$TOP/report")"
    session_over last
    expect_ops last <<'OPS'
rename writev -> splice replaced
rename dir -> dir2
OPS
    daemon_stop || fail stop
    umount "$MNT" || fail "the mount is held"
    rm -rf "$STATE"
done

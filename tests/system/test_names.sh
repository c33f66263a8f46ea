#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names are bytes, of any length that the kernel takes.
. "$(dirname "$0")/lib.sh"
for fs in tmpfs ext4; do
    note "$fs"
    scratch $fs
    daemon_start
    cat >"$TOP/names.py" <<'PY'
import os, sys
top = os.fsencode(sys.argv[1])
for name in (b"caf\xe9", b"\xff\xfe", b"new\nline", b"tab\tquote\"back\\slash", b" ", b"-rf", b"\x01\x7f\x1b[31m", "\u65e5\u672c".encode(), b"a" * 255, b"\\x41", b"\xed\xa0\x80"):
    open(top + b"/" + name, "w").write("x")
os.rename(top + b"/caf\xe9", top + b"/caf\xe8")
os.unlink(top + b"/\xff\xfe")
os.mkdir(top + b"/\x80dir")
open(top + b"/\x80dir/in", "w").close()
PY
    note "not UTF-8, control characters, 255 bytes"
    run python3 "$TOP/names.py" "$WATCHED"
    session_over last
    report last operations >"$TOP/ops"
    python3 - "$TOP/report.json" <<'PY' || fail "names differ"
import base64, json, os, sys
rows = json.load(open(sys.argv[1]))["operations"]
def raw(r, f): return base64.b64decode(r[f + "Raw"]) if f + "Raw" in r else os.fsencode(r[f])
created = {os.path.basename(raw(r, "path")) for r in rows if r["op"] == "create"}
want = {b"caf\xe9", b"\xff\xfe", b"new\nline", b"tab\tquote\"back\\slash", b" ", b"-rf", b"\x01\x7f\x1b[31m", "\u65e5\u672c".encode(), b"a" * 255, b"\\x41", b"\xed\xa0\x80", b"\x80dir", b"in"}
assert created == want, (created - want, want - created)
assert [(os.path.basename(raw(r, "from")), os.path.basename(raw(r, "path"))) for r in rows if r["op"] == "rename"] == [(b"caf\xe9", b"caf\xe8")]
for r in rows:
    if r["op"] == "create" and raw(r, "path").endswith(b"caf\xe9"):
        assert r["path"].endswith("caf\\xe9") and "pathRaw" in r, r
    if r["op"] == "create" and raw(r, "path").endswith(b"-rf"):
        assert "pathRaw" not in r, r
PY
    note "the report for people prints no control characters of a name"
    mw report last >"$TOP/people" 2>&1
    ! grep -q $'\x1b\[31m' "$TOP/people" || fail "an escape sequence of a name reaches the terminal"
    status 0 mw blame "$WATCHED/"$'caf\xe8'
    mw events --session "$(field last session.id)" >"$TOP/events" || fail events
    ! grep -q $'\x1b\[31m' "$TOP/events" || fail "an escape sequence reaches the terminal by events"

    note "deeper than PATH_MAX"
    cat >"$TOP/deep.py" <<'PY'
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
name = "d" * 200
for i in range(30):
    os.mkdir(name, dir_fd=fd)
    new = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
    os.close(fd)
    fd = new
f = os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=fd)
os.write(f, b"x"); os.close(f)
os.rename("bottom", "renamed", src_dir_fd=fd, dst_dir_fd=fd)
os.unlink("renamed", dir_fd=fd)
PY
    run python3 "$TOP/deep.py" "$WATCHED"
    session_over last
    deep=$(python3 -c 'print("/".join(["d" * 200] * 30))')
    has_op last "create $deep/bottom"
    has_op last "rename $deep/bottom -> $deep/renamed"
    has_op last "delete $deep/renamed"
    expect_complete last
    daemon_alive
    note "removed again"
    run rm -rf "$WATCHED/$(printf 'd%.0s' {1..200})"
    session_over last
    is 30 "$(report last operations | grep -c '^delete ')" "folders deleted"
    daemon_stop || fail stop
    umount "$MNT" || fail "the mount is held"
    rm -rf "$STATE"
done

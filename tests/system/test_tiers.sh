#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Filesystems without name events by a filesystem mark: FUSE, overlay, a btrfs subvolume. Marks on each directory there,
# and the coverage says so.
. "$(dirname "$0")/lib.sh"
tried=0
tier() { mw watch list --json | python3 -c 'import json,sys
d = json.load(sys.stdin)
print((d if isinstance(d, list) else d["watches"])[0]["tier"])'; }
cat >"$TOP/work.sh" <<'SH'
cd "$1" || exit 9
echo x >new
echo x >>old
mkdir -p made/below/deeper
echo x >made/below/deeper/f
mv old renamed
rm gone
rm -r tree/a
mv tree moved
echo x >moved/b/in
chmod 600 renamed
ln -s nowhere sym
SH
exercise() { # NAME PATH
    local name=$1 path=$2
    tried=$((tried + 1))
    note "$name"
    mkdir -p "$path/tree/a" "$path/tree/b"
    echo 1 >"$path/old"
    touch "$path/gone" "$path/tree/a/f" "$path/tree/b/g"
    daemon_start - <<CONF
[Watch it]
Path=$path
Policy=record
CONF
    mountwatch run --fail-on never -- bash -c 'mountwatch watch list --json >"$2"; exec bash "$3" "$1"' x "$path" "$TOP/during.json" "$TOP/work.sh" 2>"$TOP/report" ||
        fail "$(cat "$TOP/report")"
    session_over last
    export ROOT=$path
    expect_ops last <<'OPS'
create new
modify old
create made
create made/below
create made/below/deeper
create made/below/deeper/f
rename old -> renamed
delete gone
delete tree/a/f
delete tree/a
rename tree -> moved
create moved/b/in
create sym
OPS
    python3 - "$TOP/during.json" "$3" <<'PY' || fail "coverage"
import json, sys
d = json.load(open(sys.argv[1]))
w = (d if isinstance(d, list) else d["watches"])[0]
assert w["state"] == "armed", w
assert w["tier"] == sys.argv[2], w
if w["tier"] != "filesystem":
    assert w["reason"], w
PY
    daemon_stop || fail stop
    rm -rf "$STATE"
}

scratch ext4
if command -v bindfs >/dev/null && [ -e /dev/fuse ]; then
    mkdir "$WORK/src" "$TOP/fuse"
    if bindfs "$WORK/src" "$TOP/fuse" 2>"$TOP/err"; then
        MOUNTS+=("$TOP/fuse")
        exercise "FUSE (bindfs)" "$TOP/fuse" directories
    else
        note "(bindfs does not mount here: $(cat "$TOP/err"))"
    fi
else
    note "(no bindfs or no /dev/fuse)"
fi
mkdir "$WORK/lower" "$WORK/upper" "$WORK/ovl" "$TOP/overlay"
touch "$WORK/lower/from-lower"
if mount -t overlay -o "lowerdir=$WORK/lower,upperdir=$WORK/upper,workdir=$WORK/ovl" overlay "$TOP/overlay" 2>/dev/null; then
    MOUNTS+=("$TOP/overlay")
    exercise overlay "$TOP/overlay" directories
else
    note "(no overlay here)"
fi
if command -v mkfs.btrfs >/dev/null; then
    mkdir "$TOP/btrfs" "$TOP/subvol"
    mount_image btrfs "$TOP/btrfs" 300M
    exercise "btrfs, top volume" "$TOP/btrfs" filesystem
    btrfs -q subvolume create "$TOP/btrfs/vol" 2>/dev/null || btrfs subvolume create "$TOP/btrfs/vol" >/dev/null
    mount_for -t btrfs -o subvol=vol "$(findmnt -nro SOURCE "$TOP/btrfs" | sed 's/\[.*//')" "$TOP/subvol" || fail "cannot mount the subvolume"
    exercise "btrfs, a subvolume" "$TOP/subvol" directories
fi
[ $tried -gt 0 ] || skip "neither FUSE nor overlay nor btrfs here"

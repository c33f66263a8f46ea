# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2317,SC2046,SC2086 # functions are called by name; lists of words
# What the tests in the guest stand on: the service runs, one of each filesystem is mounted and watched.
#
#   for_each_kind CHECK     calls CHECK with $KIND, $M (the mount, which is the watch) and $S (the same folder on the server)
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LAB=/srv/lab
mkdir -p $LAB
TOP=$(mktemp -d /run/mwvm.XXXXXX)
chmod 755 "$TOP"
. "$HERE/filesystems.sh"
# shellcheck disable=SC2034 # for guest.sh
KINDS=${VM_KINDS:-ext4 xfs btrfs btrfs-subvol overlay cifs nfs4 nfs3 sshfs squash}
BAD=0

# those that have a server; the others are here to be compared with
is_share() { case $1 in cifs | nfs4 | nfs3 | sshfs | squash) true ;; *) false ;; esac; }
fail() {
    echo "FAIL: $*"
    BAD=$((BAD + 1))
}
skip() {
    echo "$*"
    exit 77
}
finish() { exit $((BAD > 0)); }
note() { echo "- $*"; }
wait_for() {
    local i
    for ((i = 0; i < 600; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    fail "this did not come: $*"
    return 1
}

# configure POLICY [LINE...]: a watch for each mount
configure() {
    local kind m policy=$1
    shift
    while IFS=$'\t' read -r kind m _; do
        printf '[Watch %s]\nPath=%s\nPolicy=%s\n' "$kind" "$m" "$policy"
        printf '%s\n' "$@"
    done <"$LAB/mounts" >/etc/mountwatch/mountwatch.conf
    systemctl -q is-active mountwatch && { mountwatch reload || fail reload; }
    return 0
}

for_each_kind() { # CHECK [KIND...]
    local check=$1 only=${*:2}
    while IFS=$'\t' read -r KIND M S <&3; do
        [ -z "$only" ] || [[ " $only " == *" $KIND "* ]] || continue
        note "$KIND"
        "$check"
    done 3<"$LAB/mounts"
}

# what the server holds, a line for each object: all that a refused session must not have changed
state() { # DIR
    (cd "$1" && find . -mindepth 1 \( -type d -printf '%p %y %m %U %G\n' \) -o -printf '%p %y %m %U %G %T@ %s %l\n' | LC_ALL=C sort
        find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2)
}
# the same without times: what undo must bring back on every server
content() { state "$1" | awk '$2 ~ /^[fl]$/ { $6 = "" } 1'; }

# the client has never heard of what is there
cold() {
    sync
    echo 3 >/proc/sys/vm/drop_caches
}
# plant DIR: what the session of worker.py finds
plant() {
    rm -rf "${1:?}"/* "$1"/.??*
    mkdir -p "$1/tree/a" "$1/tree/b"
    local f
    for f in old over emptied bytrunc target inplace mapped gone mode touched opened tree/a/f tree/b/g; do echo "this is $f" >"$1/$f"; done
    sqlite3 "$1/music.db" 'create table t(x); insert into t values(1);'
    chmod 644 "$1"/* && chmod 755 "$1/tree"
}
field() { python3 "$HERE/../system/report.py" "$1" / field "$2"; }

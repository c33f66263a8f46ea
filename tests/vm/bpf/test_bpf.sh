#!/bin/bash
# SPDX-License-Identifier: MIT
# test_bpf.sh: in the guest (vmlab.sh run KERNEL test_bpf.sh mountwatch mountwatchd calls filesystems.sh [lib/*.so]). A session that was tagged
# late makes every call of calls.c under deny, with a cold cache: each is refused before the filesystem is asked.
set -u
cd "$(dirname "$0")" || exit 1
HERE=$PWD
# shellcheck source=/dev/null
. ./filesystems.sh
export LD_LIBRARY_PATH=$PWD PATH=$PWD:$PATH
export MOUNTWATCH_SOCKET=/run/mw.socket
failed=0

say() { echo "$*"; }
fail() {
    echo "    $*"
    bad=1
}

# what calls.c expects
names='write readwrite empty append readtrunc trunc source victim move over target leave swap1 swap2 swap3 swap4 mode owner times xattr readcreat'

lay_out() { # on the other side of the mount
    mkdir -p "$1/w/emptydir" "$1/w/build" "$1/out"
    for n in $names; do echo "content of $n" >"$1/w/$n"; done
    echo arrives >"$1/out/arrive"
}

picture() { (cd "$1" && find w out -printf '%p %y %m %U %G %s %T@ %l\n' | grep -v '^w/build' | sort && find w -type f -not -path 'w/build*' -exec md5sum {} + | sort -k 2); }

drop_caches() { sync && echo 3 >/proc/sys/vm/drop_caches; }

try() { # KIND
    local kind=$1 pid id before d
    bad=0
    if ! lab_mount "$kind"; then
        say "skip  $kind: cannot be mounted"
        return
    fi
    lay_out "$S"
    printf '[Watch nas]\nPath=%s/w\nPolicy=deny\nAllow=build/**\n' "$M" >mw.conf
    mountwatchd --config "$PWD/mw.conf" --socket "$MOUNTWATCH_SOCKET" --state-dir "$PWD/state-$kind" >"daemon-$kind.log" 2>&1 &
    d=$!
    for _ in $(seq 100); do [ -S "$MOUNTWATCH_SOCKET" ] && mountwatch status >/dev/null 2>&1 && break; sleep 0.1; done
    grep -q 'guard in the kernel is loaded' "daemon-$kind.log" || fail "$(grep 'in the kernel' "daemon-$kind.log")"
    before=$(picture "$S")
    rm -f go && mkfifo go
    bash -c 'read -r _ <go; calls "$1" "$2" >expected.out 2>calls.err; echo $? >calls.rc
        echo allowed >"$1/build/out" || echo "Allow= was refused" >>calls.err' - "$M/w" "$M/out" &
    pid=$!
    id=$(mountwatch session start --pid $pid 2>start.err | tr -d '\n')
    [ -s start.err ] && fail "session start: $(cat start.err)"
    drop_caches
    echo >go
    wait $pid
    [ "$(cat calls.rc)" = 0 ] || fail "not refused: $(head -n 40 calls.err)"
    [ -s calls.err ] && [ "$(cat calls.rc)" = 0 ] && fail "$(cat calls.err)"
    # a bystander on the same mount
    (echo x >"$M/w/bystander" && rm "$M/w/bystander") || fail "a bystander was refused"
    mountwatch session stop "$id" >/dev/null 2>&1
    mountwatch report --json "$id" >report.json 2>report.err
    sort expected.out | sed "s|$M|M|" >expected
    tr -d '\n' <report.json | grep -oE '"op": *"[a-z]+"[^{}]*"action": *"denied"[^{}]*' |
        sed -E 's/.*"op": *"([a-z]+)".*"path": *"([^"]*)".*"count": *([0-9]+).*/\1 \2 \3/; s/\\//g' |
        sed "s|$M|M|" | sort >got.counted
    sed 's/ [0-9]*$//' got.counted >got
    awk '$NF != 1' got.counted | grep . && fail "counted more than once"
    diff expected got >diff.out || fail "the report: $(cat diff.out)"
    grep -q '"exe": *"[^"]*/calls"' report.json || fail "the report does not name the program"
    # the times of the watched directory are the bystander's
    [ "$(echo "$before" | grep -v '^w d ')" = "$(picture "$S" | grep -v '^w d ')" ] ||
        fail "the tree has changed: $(diff <(echo "$before") <(picture "$S"))"
    kill $d && wait $d 2>/dev/null
    [ $bad = 0 ] || { cp report.json "${VMLAB_OUT:-.}/report-$kind.json"; sed 's/^/    | /' "daemon-$kind.log" | tail -n 15; }
    lab_umount "$kind" # leaves for /
    cd "$HERE" || exit 1
    if [ $bad = 0 ]; then say "ok    $kind: $(wc -l <expected) attempts, each refused and told once"; else say "FAIL  $kind" && failed=1; fi
}

uname -r
for k in ${KINDS:-tmpfs ext4 cifs nfs4 nfs3 sshfs overlay btrfs-subvol}; do try "$k"; done
exit $failed

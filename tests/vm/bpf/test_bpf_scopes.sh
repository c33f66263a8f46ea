#!/bin/bash
# SPDX-License-Identifier: MIT
# test_bpf_scopes.sh: in the guest, with the same files as test_bpf.sh. What the kernel takes for a watch and for a session: each scope, other
# mount namespaces, sessions in sessions, sessions with a seccomp guard, and a filesystem that is unmounted meanwhile.
set -u
cd "$(dirname "$0")" || exit 1
HERE=$PWD
export LD_LIBRARY_PATH=$HERE PATH=$HERE:$PATH MOUNTWATCH_SOCKET=/run/mw.socket
W=/srv/scopes
failed=0 daemon=

check() { # TEXT COMMAND...
    local text=$1
    shift
    if "$@"; then echo "ok    $text"; else echo "FAIL  $text" && failed=1; fi
}
# called by check()
# shellcheck disable=SC2317
all_refused() { ! grep "^calls:" "$1"; }
# shellcheck disable=SC2317
refuses() { ! tagged "$@" 2>/dev/null; }
# shellcheck disable=SC2317
lets() { tagged "$@"; }

daemon_start() { # config on stdin
    cat >mw.conf
    rm -rf state
    mountwatchd --config "$HERE/mw.conf" --socket "$MOUNTWATCH_SOCKET" --state-dir "$HERE/state" >daemon.log 2>&1 &
    daemon=$!
    for _ in $(seq 100); do mountwatch status >/dev/null 2>&1 && return; sleep 0.1; done
}
daemon_stop() {
    kill "$daemon" && wait "$daemon" 2>/dev/null
}

# COMMAND... in a session that is tagged late; its id is in $HERE/id
# shellcheck disable=SC2317
tagged() {
    local pid rc
    rm -f go && mkfifo go
    bash -c 'read -r _ <go && exec "$@"' - "$@" &
    pid=$!
    mountwatch session start --pid "$pid" >id 2>start.err
    echo >go
    wait "$pid"
    rc=$?
    mountwatch session stop "$(cat id)" >/dev/null 2>&1
    return "$rc"
}
rows() { # of the report of session $1: "op path", refused ones
    mountwatch report --json "$1" | tr -d '\n' | grep -oE '"op": *"[a-z]+"[^{}]*"action": *"denied"[^{}]*' |
        sed -E 's/.*"op": *"([a-z]+)".*"path": *"([^"]*)".*"count": *([0-9]+).*/\1 \2 \3/; s/\\//g' | sort
}
lay_out() {
    rm -rf "$W/w" "$W/out" && mkdir -p "$W/w/emptydir" "$W/w/a/b/c" "$W/out"
    for n in write readwrite empty append readtrunc trunc source victim move over target leave swap1 swap2 swap3 swap4 mode owner times \
        xattr readcreat; do echo "content of $n" >"$W/w/$n"; done
    echo arrives >"$W/out/arrive"
}

uname -r
mkdir -p $W && mount -t tmpfs scopes $W && lay_out

daemon_start <<<"[Watch all]
Path=$W
Policy=deny"
check 'filesystem scope: the root of the mount' refuses sh -c "echo >$W/new"
check 'filesystem scope: deep below' refuses sh -c "echo >$W/w/a/b/c/new"
check 'elsewhere nothing is refused' lets sh -c 'echo >/tmp/elsewhere'
daemon_stop

daemon_start <<<"[Watch file]
Path=$W/w/write
Policy=deny"
check 'file scope: the file' refuses sh -c "echo x >>$W/w/write"
check 'file scope: its -wal' refuses sh -c "echo x >$W/w/write-wal"
check 'file scope: the file beside it is let' lets sh -c "echo x >>$W/w/append"
check 'file scope: the report' [ "$(rows last | wc -l)" = 0 ]
daemon_stop

lay_out
daemon_start <<<"[Watch nas]
Path=$W/w
Policy=deny
Allow=a/b/**
Allow=empty"
check 'Allow= of a directory' lets sh -c "mkdir $W/w/a/b/d && echo >$W/w/a/b/d/new"
check 'Allow= of a name' lets sh -c "echo >$W/w/empty"
check 'what lies above an allowed directory' refuses sh -c "echo >$W/w/a/new"
check 'out of an allowed directory' refuses mv "$W/w/a/b/d/new" "$W/w/a/moved"
check 'beside the watch' lets sh -c "echo >$W/out/new"
check 'in another mount namespace, by another path' refuses unshare -m sh -c "mount --bind $W/w /mnt && echo >/mnt/new"
check 'in a chroot' refuses chroot / sh -c "echo >$W/w/new"
check 'a bystander meanwhile' lets true
check 'the watch cannot be moved away' refuses mv "$W/w" "$W/out/w"
daemon_stop

for engine in auto bpf none; do
    lay_out
    daemon_start <<<"[Daemon]
GuardEngine=$engine

[Watch nas]
Path=$W/w
Policy=deny"
    mountwatch run -- calls "$W/w" "$W/out" >expected.out 2>calls.err
    sort expected.out >expected
    # the seccomp guard knows which is the new name of an exchange
    [ $engine != auto ] || sed -i "s|^rename $W/w/swap1|rename $W/w/swap2|; s|^rename $W/w/swap3|rename $W/w/swap4|" expected
    sort -o expected expected
    rows last >got
    case $engine in
    none) check 'GuardEngine=none: nothing guards names' grep -q 'was not refused' calls.err ;;
    *)
        check "mountwatch run with GuardEngine=$engine: refused, told once" diff <(sed 's/$/ 1/' expected) got
        check "mountwatch run with GuardEngine=$engine: all were" all_refused calls.err
        ;;
    esac
    daemon_stop
done

lay_out
daemon_start <<<"[Watch nas]
Path=$W/w
Policy=deny"
rm -f go && mkfifo go
bash -c 'read -r _ <go' &
pid=$!
mountwatch session start --pid "$pid" >id 2>/dev/null
check 'unmounting while a session is live' umount $W
echo >go
wait "$pid"
mountwatch session stop "$(cat id)" >/dev/null 2>&1
daemon_stop
[ $failed = 0 ] || tail -n 20 daemon.log
exit $failed

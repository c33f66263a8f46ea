#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An independent Varlink client: systemd's varlinkctl, from the Debian suite that has it, in a folder of its own. It reads the
# description with systemd's own parser and makes calls.
. "$(dirname "$0")/lib.sh"
need mmdebstrap
suite=trixie
root=${MW_CACHE:-/var/tmp/mountwatch-tests}/varlinkctl-$suite

if [ ! -x "$root/usr/bin/varlinkctl" ]; then
    note "getting varlinkctl"
    list=$(find /etc/apt/sources.list.d -name debian.sources 2>/dev/null | head -n 1)
    [ -n "$list" ] || skip "no list of Debian's packages here"
    key=$(awk '/^Signed-By:/ { print $2; exit }' "$list")
    from=$(awk '/^URIs:/ { print $2; exit }' "$list")
    mkdir -p "$(dirname "$root")"
    rm -rf --one-file-system "$root.new"
    mmdebstrap --variant=extract --mode=root --include=systemd "$suite" "$root.new" "deb [signed-by=$key] $from $suite main" \
        >"$TOP/mmdebstrap.log" 2>&1 || skip "cannot get systemd of $suite: $(tail -n 1 "$TOP/mmdebstrap.log")"
    for d in bin sbin lib lib64; do [ -e "$root.new/$d" ] || ln -s "usr/$d" "$root.new/$d"; done
    rm -rf --one-file-system "$root"
    mv "$root.new" "$root"
fi

scratch
daemon_start
mkdir -p "$root/run/mountwatch"
mount_for --bind "$TOP" "$root/run/mountwatch"
ctl() { chroot "$root" /usr/bin/varlinkctl "$@"; }
address=unix:/run/mountwatch/socket

note "info"
status 0 ctl info $address
matches 'io.mountwatch' "$OUT" info
note "the description is one that systemd can read"
status 0 ctl introspect $address io.mountwatch
matches 'method StartSession' "$OUT" introspect
note "a session"
sleep 1000 &
pid=$!
status 0 ctl -j call $address io.mountwatch.StartSession "{\"pid\": $pid, \"label\": \"by varlinkctl\"}"
id=$(python3 -c 'import json,sys; print(json.loads(sys.argv[1])["session"]["id"])' "$OUT")
status 0 ctl -j call $address io.mountwatch.GetSession "{\"id\": \"$id\"}"
matches 'by varlinkctl' "$OUT" GetSession
status 0 ctl -j call $address io.mountwatch.StopSession "{\"id\": \"$id\"}"
matches '"stopped"' "$OUT" StopSession
note "a stream"
mw run --fail-on never -- touch "$WATCHED/a" "$WATCHED/b" 2>/dev/null
status 0 ctl --more -j call $address io.mountwatch.GetOperations '{}'
matches 'watched/b' "$OUT" GetOperations
note "errors"
status 1 ctl call $address io.mountwatch.StopSession '{"id": "0123456789abcdef"}'
matches 'NoSuchSession' "$ERR" "error"
status 1 ctl call $address io.mountwatch.GetSession '{"id": 7}'
matches 'InvalidParameter' "$ERR" "error"
kill $pid

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A watch whose path is missing or not mounted waits for it; it is picked up when the mount appears, and again after a remount.
. "$(dirname "$0")/lib.sh"
scratch
mkdir "$MNT/share"
daemon_start - <<CONF
[Watch missing]
Path=$MNT/share/not/there
Policy=record
[Watch share]
Path=$MNT/share
Policy=record
CONF
state_is() { # WATCH STATE
    [ "$(mw watch list --json | python3 -c 'import json,sys
d = json.load(sys.stdin)
for w in d if isinstance(d, list) else d["watches"]:
    if w["name"] == sys.argv[1]: print(w["state"])' "$1")" = "$2" ]
}
mkfifo "$TOP/go" "$TOP/up"
# a shell that carries out one line after the other, in the session
mountwatch run --fail-on never -- bash -c 'while read -r line; do eval "$line"; echo >"$2"; done <"$1"' x "$TOP/go" "$TOP/up" 2>"$TOP/report" &
run=$!
exec 9>"$TOP/go"
in_session() {
    echo "$*" >&9
    read -r _ <"$TOP/up"
}
in_session true
id=$(field last session.id)
export ROOT=$MNT/share

note "missing path: waiting, and said"
wait_for state_is missing waiting
mw status | grep -qi waiting || fail "status does not say waiting"
wait_for state_is share armed

note "the mount appears: over what was there"
mount_image tmpfs "$MNT/share" 20M
in_session true
on_tmpfs() { mw watch list --json | grep -q tmpfs; }
wait_for on_tmpfs
wait_for state_is share armed
touched() { rm -f "$MNT/share/probe"; in_session "touch '$MNT/share/probe'"; report "$id" operations | grep -q 'create probe'; }
wait_for touched
in_session "touch '$MNT/share/on-first'"
has_op "$id" 'create on-first'

note "the missing path comes into being"
mkdir -p "$MNT/share/not/there"
mount_image tmpfs "$MNT/share/not/there" 20M
wait_for state_is missing armed

note "unmounted: no longer armed on what is gone"
umount "$MNT/share/not/there"
umount "$MNT/share"
in_session true
wait_for state_is missing waiting
# what was a mount point is not meant without its mount
wait_for state_is share waiting

note "mounted again"
mount_image ext4 "$MNT/share" 40M
on_ext4() { mw watch list --json | grep -q ext4; }
wait_for on_ext4
wait_for state_is share armed
in_session "touch '$MNT/share/on-second'"
has_op "$id" 'create on-second'

echo exit >&9
exec 9>&-
wait $run
session_over "$id"
note "what fell between is stated, not silent"
is False "$(field "$id" session.complete)" complete
field "$id" session.losses | grep -qE 'not-watched|unmount|remount|mount' || fail "losses: $(field "$id" session.losses)"

note "idle again after the session"
wait_for state_is share idle
umount "$MNT/share" || fail "the mount is held"
daemon_alive

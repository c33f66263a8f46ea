#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copies that take long, or do not fit. While a large file is copied only the open that it is copied for waits; when the store is full,
# ask and deny refuse and the others go on, and say that it was not preserved. MW_BIG=4096 for a file of 4 GiB.
. "$(dirname "$0")/lib.sh"
. "$HERE/held.sh"
need python3 fsfreeze
big=${MW_BIG:-256}
free=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
[ "$free" -gt $((big * 2 + 256)) ] || skip "a file of $big MiB needs more memory than is free"
scratch tmpfs $((big + 64))M
# a store of its own for the copies, so that it can be full, or stand still, without the daemon's database
store() { # FSTYPE SIZE
    mkdir -p "$STATE/preserve"
    mount_image "$1" "$STATE/preserve" "$2"
    chmod 700 "$STATE/preserve"
}
store ext4 $((big + 256))M
config() { printf '[Watch case]\nPath=%s\nPolicy=%s\nPreserve=yes\nPreserveMax=8G\nAllow=allowed/**\n' "$WATCHED" "$1" >"$CONF"; }
dd if=/dev/urandom of="$WATCHED/big" bs=1M count="$big" status=none
echo old >"$WATCHED/small"
before=$(sha256sum <"$WATCHED/big")
config alert
daemon_again

note "the store stands still in the middle of a copy of $big MiB: only the open it is for waits"
thaw() { fsfreeze -u "$STATE/preserve" 2>/dev/null; }
MOUNTS+=("$STATE/preserve")
fsfreeze -f "$STATE/preserve" || skip "cannot freeze a filesystem here"
trap 'rc=$?; thaw; (exit $rc); cleanup' EXIT
# shellcheck disable=SC2016 # for the inner shells
{
    member big --no-guard -- sh -c 'printf x | dd of="$1/big" conv=notrunc status=none' x "$WATCHED"
    member other --no-guard -- sh -c 'cat "$1/small" && head -c 1 "$1/big" >/dev/null && echo new >"$1/new"' x "$WATCHED"
    id=$(id_of big)
    go big
    copies() { cat "/proc/$DAEMON"/task/*/wchan 2>/dev/null | grep -q . && find "/proc/$DAEMON/fd" -lname "$WATCHED/big" | grep -q .; }
    wait_for copies
    go other
    bystander reader sh -c 'cat "$1/small"; printf y >>"$1/small"; echo z >"$1/made" && rm "$1/made"' x "$WATCHED"
}
all_end other reader
is_blocked big || fail "the open was let before its copy was made"
is 0 "$(status_of other)" "status of the other member"
is 0 "$(status_of reader)" "status of the bystander"
thaw
trap cleanup EXIT
all_end big
is 0 "$(status_of big)" "status of the one that waited"
session_over "$id"
[ "$(sha256sum <"$WATCHED/big")" != "$before" ] || fail "it has not written"

note "and undo brings it back"
status 0 mountwatch undo "$id"
is "$before" "$(sha256sum <"$WATCHED/big")" "content after undo"

note "the store is full: under alert it goes on, and the session says what is not preserved"
daemon_stop || fail "stop"
umount "$STATE/preserve"
rm -rf "$STATE"
store tmpfs 2M
dd if=/dev/urandom of="$WATCHED/big" bs=1M count=8 status=none
mkdir -p "$WATCHED/allowed"
cp "$WATCHED/big" "$WATCHED/allowed/big"
daemon_again
# shellcheck disable=SC2016
for guard in --no-guard --label=x; do
    status 0 mountwatch run $guard --fail-on never -- sh -c 'echo new >"$1/big"' x "$WATCHED"
    session_over last
    is new "$(cat "$WATCHED/big")" "what was written"
    has_loss last not-preserved
    is False "$(field last operations.0.preserved)" preserved
    dd if=/dev/urandom of="$WATCHED/big" bs=1M count=8 status=none
done

note "under ask and deny it is refused"
for policy in ask deny; do
    config $policy
    status 0 mountwatch reload
    # under deny: what is allowed, and cannot be preserved
    file=big
    [ $policy = ask ] || file=allowed/big
    before=$(sha256sum <"$WATCHED/$file")
    # shellcheck disable=SC2016
    for guard in --no-guard --label=x; do
        quietly mountwatch run $guard --fail-on never -- sh -c 'echo new >"$1"' x "$WATCHED/$file"
        session_over last
        is "$before" "$(sha256sum <"$WATCHED/$file")" "content under $policy ($guard)"
        has_loss last not-preserved
        [[ $(report last rows) == *denied* ]] || fail "no row says denied under $policy ($guard): $(report last rows)"
    done
done

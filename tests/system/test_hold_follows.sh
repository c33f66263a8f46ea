#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is held follows the watch while a session is active: a path that comes later, another filesystem mounted there, another path after
# a reload. And a guard that was promised and does not come: opens are held, and the session says since when.
. "$(dirname "$0")/lib.sh"
. "$HERE/held.sh"
need python3
scratch
config() { printf '[Watch case]\nPath=%s\nPolicy=deny\n' "$1" >"$CONF"; }
config "$MNT/later"
daemon_again

# a session that tries whenever it is told to, and says whether it could
mkfifo "$TOP/try" "$TOP/tried"
# shellcheck disable=SC2016 # for the inner shell
mountwatch run --no-guard --fail-on never --label trier -- sh -c '
    echo ready >"$2"
    while read -r path <"$1"; do
        if (: >>"$path") 2>/dev/null; then echo could; else echo refused; fi >"$2"
    done' x "$TOP/try" "$TOP/tried" 2>/dev/null &
read -r answer <"$TOP/tried"
try() { # PATH: the answer
    local answer
    echo "$1" >"$TOP/try"
    read -r answer <"$TOP/tried"
    echo "$answer"
}
refused() { [ "$(try "$1")" = refused ]; }

note "a path that comes while the session is active"
mkdir "$MNT/later"
wait_for refused "$MNT/later/x"

note "another filesystem is mounted there"
mount_image tmpfs "$MNT/later" 10M
wait_for refused "$MNT/later/y"
umount "$MNT/later"
wait_for refused "$MNT/later/x"

note "a reload gives the watch another path"
is could "$(try "$WATCHED/z")" "outside"
config "$WATCHED"
status 0 mountwatch reload
wait_for refused "$WATCHED/z"
is could "$(try "$MNT/later/x")" "what is watched no more"

note "a guard that was promised and does not come"
id=$(field last session.id)
: >"$WATCHED/file"
mkfifo "$TOP/go"
# shellcheck disable=SC2016
setsid sh -c 'read -r x <"$1"; echo new >"$2"' x "$TOP/go" "$WATCHED/file" 2>/dev/null &
pid=$!
wait_for test -d "/proc/$pid"
varlink io.mountwatch.StartSession "{\"pid\": $pid, \"guard\": true}" >"$TOP/started" || fail "$(<"$TOP/started")"
grep -q '"guard": *true' "$TOP/started" || fail "no guard was asked for: $(<"$TOP/started")"
is_told() { [[ $(field last session.losses) == *not-enforced* ]]; }
wait_for is_told

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A full disk under the store: the command is unharmed, the session says what is missing, the daemon goes on, and is whole
# again when there is room.
. "$(dirname "$0")/lib.sh"
scratch
mkdir "$STATE"
mount_image tmpfs "$STATE" 3M
daemon_start
mountwatch run --fail-on never -- touch "$WATCHED/before" 2>/dev/null
session_over last
before=$(field last session.id)

note "full"
dd if=/dev/zero of="$STATE/filler" bs=4k >/dev/null 2>&1
[ "$(df --output=avail "$STATE" | tail -n 1 | tr -d ' ')" = 0 ] || fail "the disk is not full"
mountwatch run --fail-on never -- bash -c 'for ((i = 0; i < 3000; i++)); do : >"$1/a-rather-long-name-to-fill-the-store-$i"; done; exit 4' x "$WATCHED" 2>"$TOP/err"
rc=$?
[ $rc = 4 ] || [ $rc = 125 ] || fail "run ended with $rc: $(cat "$TOP/err")"
daemon_alive
if [ $rc = 125 ]; then
    matches 'space|full|store' "$(cat "$TOP/err")" "the refusal"
    note "(refused to start)"
else
    grep -qiE 'incomplete' "$TOP/err" || fail "nothing says that the store is full: $(cat "$TOP/err")"
fi
mw status | grep -qiE 'space|store|full' || fail "status says nothing"
grep -qiE 'space|full' "$LOG" || fail "the log says nothing"

if [ $rc != 125 ]; then
    grep -q 'changes may have been missed (store)' "$LOG" || fail "no alert that the store is full"
fi

note "room again"
rm "$STATE/filler"
mountwatch run --fail-on never -- touch "$WATCHED/after" 2>"$TOP/err" || fail "$(cat "$TOP/err")"
session_over last
expect_complete last
expect_ops last <<<'create after'
has_op "$before" 'create before'

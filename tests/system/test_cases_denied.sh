#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every reproduction case under deny and kill, guarded: the watched tree is identical before and after, bystanders' changes
# aside, and whatever was attempted is in the report as refused. Where nothing is refused (a store through a mapping, under kill and
# freeze), at most the first change has happened, and undo takes it back.
. "$(dirname "$0")/lib.sh"
need python3
cases=${MW_CASES:-$HERE/../cases}

run_case() { # CASE POLICY
    scratch ext4 200M
    daemon_start - <<EOT
[Watch case]
Path=$WATCHED
Policy=record
Untagged=record
Preserve=yes
KillScope=session
EOT
    python3 "$HERE/denied_case.py" "$1" "$WATCHED" "$WORK" "$2"
    local rc=$?
    [ $rc = 0 ] || [ $rc = 77 ] || fail "$(basename "$1") under $2"
    daemon_stop
    umount -l "$MNT"
    rm -rf "$STATE"
}
for policy in deny kill freeze; do
    note "policy $policy"
    for case in "$cases"/[01]*; do run_case "$case" $policy; done
done

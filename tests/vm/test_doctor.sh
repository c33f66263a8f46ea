#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317,SC2046,SC2086 # functions are called by name; lists of words
# What doctor says of each filesystem is what its canary finds.
. "$(dirname "$0")/lib.sh"
configure alert Preserve=yes
proved() {
    mountwatch doctor "$KIND" >"$VMLAB_OUT/doctor.$KIND" 2>&1
    cat "$VMLAB_OUT/doctor.$KIND"
    mountwatch doctor --write "$KIND" >"$VMLAB_OUT/canary.$KIND" 2>&1
    rc=$?
    cat "$VMLAB_OUT/canary.$KIND"
    echo "    status $rc"
    ! find "$M" -mindepth 1 | grep -qi -e /canary -e /.*mountwatch || fail "$KIND: something is left behind: $(ls -A "$M")"
}
for_each_kind proved
finish

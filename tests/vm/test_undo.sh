#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317,SC2046,SC2086 # functions are called by name; lists of words
# undo on each filesystem brings back what a guarded session did.
. "$(dirname "$0")/lib.sh"
configure alert Preserve=yes
undone() {
    plant "$M"
    sync -f "$M"
    cold
    content "$S" >"$TOP/before"
    mountwatch run --fail-on never -- python3 "$HERE/worker.py" "$M" "$TOP/log" 2>"$TOP/said" || fail "$(cat "$TOP/said")"
    wait_for over
    mountwatch undo last >"$TOP/undo" 2>&1 || fail "$KIND: undo: $(tail -n 20 "$TOP/undo")"
    sync -f "$M"
    content "$S" >"$TOP/after"
    diff "$TOP/before" "$TOP/after" || fail "$KIND: not what it was"
    tail -n 2 "$TOP/undo" | sed 's/^/    /'
}
over() { mountwatch report last --json >"$TOP/r" && case $(field "$TOP/r" session.state) in active | lingering) false ;; esac; }
for_each_kind undone $(awk '$1 != "squash" { print $1 }' "$LAB/mounts")
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317,SC2046,SC2086 # functions are called by name; lists of words
# A session on each filesystem: the report has what was done and who did it, or the coverage said before that it would not.
. "$(dirname "$0")/lib.sh"
configure record Untagged=record
mountwatch status | tee "$VMLAB_OUT/status"
seen() {
    plant "$M"
    cold
    mountwatch run --fail-on never -- python3 "$HERE/worker.py" "$M" "$TOP/log" 2>"$TOP/said" || fail "$(cat "$TOP/said")"
    wait_for grep -q . "$TOP/log"
    wait_for over
    mountwatch report last --json >"$TOP/report.json"
    cp "$TOP/report.json" "$VMLAB_OUT/seen.$KIND.json"
    cp "$TOP/log" "$VMLAB_OUT/seen.$KIND.log"
    python3 "$HERE/compare.py" "$TOP/report.json" "$TOP/log" "$M" "$KIND" || fail "$KIND"
}
over() { mountwatch report last --json >"$TOP/r" && case $(field "$TOP/r" session.state) in active | lingering) false ;; esac; }
for_each_kind seen $(awk '$1 != "squash" { print $1 }' "$LAB/mounts")
finish

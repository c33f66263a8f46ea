#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh BUILD SECONDS TARGET...    fuzzes each target for that long, from its corpus.
# New inputs go to BUILD/corpus; what was found stays in BUILD/found, for tests/fuzz/corpus/TARGET after the fix.
set -u
build=$1 seconds=$2
shift 2
bad=0
mkdir -p "$build/found"
[ $# -gt 0 ] || { echo "no fuzz targets" >&2; exit 1; }
for target in "$@"; do
    mkdir -p "$build/corpus/$target" "tests/fuzz/corpus/$target"
    before=$(find "$build/corpus/$target" -type f | wc -l)
    # limits: an input is what one message or file can be; a leak or five seconds for one input is a finding
    if "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=65536 -timeout=5 -rss_limit_mb=1024 \
        -artifact_prefix="$build/found/$target-" -print_final_stats=1 -verbosity=0 \
        "$build/corpus/$target" "tests/fuzz/corpus/$target" >"$build/found/$target.log" 2>&1; then
        runs=$(awk '/number_of_executed_units/ { print $2 }' "$build/found/$target.log")
        new=$(($(find "$build/corpus/$target" -type f | wc -l) - before))
        printf '%-14s %10s runs, %d new inputs, nothing found\n' "$target" "$runs" "$new"
    else
        printf '%-14s FOUND SOMETHING:\n' "$target"
        tail -n 40 "$build/found/$target.log"
        bad=1
    fi
done
exit $bad

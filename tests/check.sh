#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check.sh MAKE PART...    runs `make check-PART` for each part and ends in one line with the sum.
# A part that ends without a count (it did not build, say) is one failure; the others run all the same.
set -u
make=$1
shift
export MW_COUNTS
MW_COUNTS=$(mktemp) || exit 2
trap 'rm -f "$MW_COUNTS"' EXIT
passed=0 failed=0 skipped=0
declare -A took row

for part in "$@"; do
    echo "== $part"
    before=$(wc -l <"$MW_COUNTS")
    start=$SECONDS
    $make "check-$part"
    rc=$?
    took[$part]=$((SECONDS - start))
    if [ "$(wc -l <"$MW_COUNTS")" = "$before" ]; then
        [ $rc = 0 ] && rc=1
        echo "$part 0 1 0" >>"$MW_COUNTS"
        echo "  FAIL  $part could not be run"
    fi
    read -r _ p f s <<<"$(tail -n 1 "$MW_COUNTS")"
    row[$part]=$(printf '%-12s %4d ok %4d failed %4d skipped %5d s' "$part" "$p" "$f" "$s" "${took[$part]}")
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done

echo
for part in "$@"; do echo "${row[$part]}"; done
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]

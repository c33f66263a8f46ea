#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh    what `make check-vm` calls: installs the build into a folder, and on each kernel boots a guest that has it, where
# every tests/vm/test_*.sh runs against the service under systemd. What the guest found is left in $B/vm/KERNEL.
#
#   VM_KERNELS   Debian suites whose kernels are booted (default: bookworm trixie-backports)
#   VM_KINDS     filesystems (default: all that filesystems.sh knows)
#   VM_TIMEOUT   seconds for one guest (default: 900)
#   TESTS        which tests (default: all)
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${B:-build}
passed=0 failed=0 skipped=0

finish() {
    if [ -n "${MW_COUNTS:-}" ]; then
        echo "vm $passed $failed $skipped" >>"$MW_COUNTS"
    else
        echo "vm: $passed passed, $failed failed, $skipped skipped"
    fi
    [ $failed = 0 ]
    exit
}
skip() {
    skipped=$((skipped + 1))
    echo "  skip  vm: $1"
    finish
}

[ "$(id -u)" = 0 ] || skip "not root"
for tool in qemu-system-x86_64 mmdebstrap busybox mke2fs cpio depmod xz zstd; do
    command -v "$tool" >/dev/null || skip "no $tool here (tests/vm/vmlab.sh deps installs what it needs)"
done
cd "$top" || exit 2
# shellcheck disable=SC2206 # lists of words
kernels=(${VM_KERNELS:-bookworm trixie-backports}) tests=(${TESTS:-tests/vm/test_*.sh})
stage=$(mktemp -d "${TMPDIR:-/tmp}/mwvm.XXXXXX") || exit 2
trap 'rm -rf "$stage"' EXIT
# outside of the checkout: gigabytes, and good for every checkout on the machine
"$here/vmlab.sh" build "${kernels[@]}" >"$stage/log" 2>&1 ||
    skip "no guest image could be made: $(tail -n 1 "$stage/log")"
make --no-print-directory B="$build" PREFIX=/usr DESTDIR="$stage/root" install >"$stage/log" 2>&1 || {
    failed=1
    tail -n 20 "$stage/log"
    finish
}
mkdir -p "$stage/tests/vm" "$stage/tests/system"
cp tests/run tests/private "$stage/tests/"
cp tests/system/report.py tests/system/varlink.py "$stage/tests/system/"
cp "$here"/*.py "$here"/lib.sh "$here"/filesystems.sh "${tests[@]}" "$stage/tests/vm/"

for kernel in "${kernels[@]}"; do
    out=$build/vm/$kernel
    rm -rf "$out" && mkdir -p "$out"
    printf 'VM_KINDS=%q\n' "${VM_KINDS:-}" >"$stage/environment"
    start=$SECONDS
    "$here/vmlab.sh" run -k "$kernel" -t "${VM_TIMEOUT:-900}" -o "$out" -c "$out/console" "$here/guest.sh" \
        "$stage/root" "$stage/tests" "$stage/environment" >"$out/log" 2>&1 </dev/null
    rc=$?
    echo "  on $kernel, $(sed -n 's/^kernel: //p' "$out/log"), $((SECONDS - start)) s:"
    sed '/^vm: /d; s/^/  /' "$out/log"
    if [[ $(grep '^vm: ' "$out/log") =~ ^vm:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
    else
        failed=$((failed + 1))
        echo "  FAIL  the guest ended with $rc"
    fi
    [ ! -s "$out/seen.tsv" ] || python3 "$here/table.py" "$out" >"$out/table" && sed 's/^/    /' "$out/table"
done
finish

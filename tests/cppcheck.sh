#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cppcheck over the programs. It is shown uthash's headers, whose macros are loops, and no others.
set -eu
cd "$(dirname "$0")/.."
command -v cppcheck >/dev/null || { echo "cppcheck is not installed"; exit 77; }
include=$(mktemp -d)
trap 'rm -rf "$include"' EXIT
for h in uthash.h utlist.h utarray.h utstring.h; do
    [ ! -e "/usr/include/$h" ] || ln -s "/usr/include/$h" "$include/$h"
done
cppcheck -q -j "$(nproc)" --std=c11 --library=gnu --enable=warning,performance,portability --inline-suppr \
    --suppressions-list=tests/cppcheck.suppress --suppress="*:$include/*" -i daemon/kernel/bpf --error-exitcode=1 \
    -D_GNU_SOURCE -D__linux__ -D__x86_64__ -I. -I"$include" common client daemon

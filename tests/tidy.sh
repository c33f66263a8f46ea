#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy over the programs, with the checks of .clang-tidy; each warning is an error.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v clang-tidy >/dev/null || { echo "clang-tidy is not installed"; exit 77; }
FLAGS="-std=gnu11 -D_GNU_SOURCE -I. $(pkg-config --cflags libsystemd json-c sqlite3 inih libcrypto libcurl)"
export FLAGS
# its count of suppressed warnings goes to stderr
# shellcheck disable=SC2016 # for the inner shell
find common client daemon -name '*.c' -not -name '*.bpf.c' -print0 |
    xargs -0 -n 3 -P "$(nproc)" sh -c 'clang-tidy --quiet "$@" -- $FLAGS 2>/dev/null' tidy

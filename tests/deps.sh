#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh GROUP...    installs what is missing of the groups build, demo, test, bench.
#
# On Debian and its children through apt-get, as root. Elsewhere it looks for the programs and headers, says which are
# missing, and fails only when something is that the group cannot do without.
set -eu

build='gcc libc6-dev linux-libc-dev make pkg-config libsystemd-dev libseccomp-dev libjson-c-dev libsqlite3-dev libinih-dev
    libbpf-dev uthash-dev libssl-dev libncurses-dev libcurl4-openssl-dev'
demo='python3 mount util-linux'
test="$demo libcmocka-dev openssl e2fsprogs xfsprogs btrfs-progs fuse3 bindfs procps coreutils findutils expect strace sqlite3
    clang libclang-rt-14-dev llvm clang-tidy clang-format cppcheck shellcheck mandoc groff man-db fatrace mmdebstrap tmux
    chromium zsh fish systemd systemd-journal-remote prometheus python3-prometheus-client
    xvfb dbus notification-daemon xdotool imagemagick"
bench="$demo fatrace inotify-tools auditd fapolicyd e2fsprogs procps strace"

# chromium draws the HTML report: with all it needs 450 MB, installed in 20 s; zsh and fish try their completions
# what may be absent: the part that wants it says that it did not run
optional='libbpf-dev openssl libclang-rt-14-dev llvm clang-tidy clang-format cppcheck shellcheck mandoc groff man-db fatrace inotify-tools auditd
    fapolicyd xfsprogs btrfs-progs fuse3 bindfs expect strace sqlite3 clang mmdebstrap
    chromium zsh fish tmux systemd systemd-journal-remote prometheus python3-prometheus-client
    xvfb dbus notification-daemon xdotool imagemagick'

is_optional() {
    for o in $optional; do
        [ "$o" != "$1" ] || return 0
    done
    return 1
}

packages() {
    for group in "$@"; do
        case $group in
        build) echo "$build" ;;
        demo) echo "$demo" ;;
        test) echo "$test" ;;
        bench) echo "$bench" ;;
        *) echo "deps: unknown group '$group'" >&2 && exit 2 ;;
        esac
    done | tr -s ' \n' '\n' | sort -u
}

on_debian() {
    missing=
    for p in $(packages "$@"); do
        case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) in
        *' installed') ;;
        *) missing="$missing $p" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    echo "deps: installing$missing"
    if [ "$(id -u)" != 0 ]; then
        echo "deps: that needs root: apt-get install --no-install-recommends$missing" >&2
        return 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    # runlevel 1: packages that bring a service do not start it here
    export RUNLEVEL=1
    log=$(mktemp)
    # a list that is old names versions that are gone, so look once more before giving up
    # shellcheck disable=SC2086 # a list of words
    if ! apt-get install -y -q --no-install-recommends $missing >"$log" 2>&1; then
        apt-get update -q >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
        known=
        for p in $missing; do
            if apt-cache show "$p" >/dev/null 2>&1; then
                known="$known $p"
            elif is_optional "$p"; then
                echo "deps: no package '$p' here: what needs it will be skipped"
            else
                echo "deps: no package '$p' here" >&2 && return 1
            fi
        done
        # shellcheck disable=SC2086
        apt-get install -y -q --no-install-recommends $known >"$log" 2>&1 || { tail -n 30 "$log" >&2 && return 1; }
    fi
    rm -f "$log"
}

# the program, or the header, that stands for a package on other distributions
stands_for() {
    case $1 in
    libc6-dev | linux-libc-dev) echo 'h:linux/fanotify.h' ;;
    libsystemd-dev) echo 'h:systemd/sd-event.h' ;;
    libseccomp-dev) echo 'h:seccomp.h' ;;
    libjson-c-dev) echo 'h:json-c/json.h' ;;
    libsqlite3-dev) echo 'h:sqlite3.h' ;;
    libssl-dev) echo 'h:openssl/evp.h' ;;
    libcurl4-openssl-dev) echo 'h:curl/curl.h' ;;
    libbpf-dev) echo 'h:bpf/libbpf.h' ;;
    libinih-dev) echo 'h:ini.h' ;;
    libncurses-dev) echo 'h:curses.h' ;;
    uthash-dev) echo 'h:uthash.h' ;;
    libcmocka-dev) echo 'h:cmocka.h' ;;
    util-linux) echo unshare ;;
    e2fsprogs) echo mkfs.ext4 ;;
    xfsprogs) echo mkfs.xfs ;;
    btrfs-progs) echo mkfs.btrfs ;;
    fuse3) echo fusermount3 ;;
    procps) echo ps ;;
    coreutils) echo timeout ;;
    findutils) echo find ;;
    libclang-rt-14-dev | llvm) echo llvm-symbolizer ;;
    inotify-tools) echo inotifywait ;;
    auditd) echo auditctl ;;
    man-db) echo man ;;
    prometheus) echo promtool ;;
    pkg-config) echo pkg-config ;;
    *) echo "$1" ;;
    esac
}

elsewhere() {
    bad=0
    for p in $(packages "$@"); do
        want=$(stands_for "$p")
        case $want in
        h:*) echo "#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <setjmp.h>
#include <${want#h:}>" | ${CC:-cc} -E -o /dev/null -x c - 2>/dev/null && continue ;;
        *) command -v "$want" >/dev/null 2>&1 && continue ;;
        esac
        if is_optional "$p"; then
            echo "deps: missing, can be done without: ${want#h:} (Debian: $p)"
        else
            echo "deps: missing: ${want#h:} (Debian: $p)" >&2
            bad=1
        fi
    done
    return $bad
}

if command -v apt-get >/dev/null 2>&1 && command -v dpkg-query >/dev/null 2>&1; then
    on_debian "$@"
else
    elsewhere "$@"
fi

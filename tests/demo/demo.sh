#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# demo.sh [BUILD]    a test suite that is green, and writes to the backups all the same. Needs root: a scratch mount, a daemon of
# its own, in a private mount namespace; nothing stays behind.
set -eu
if [ "$(id -u)" != 0 ]; then
    echo "demo: needs root, for a scratch mount and for the kernel's file events: sudo make demo" >&2
    exit 1
fi
if [ -z "${DEMO_NAMESPACE:-}" ]; then
    DEMO_NAMESPACE=1 exec "$(dirname "$0")/../private" bash "$0" "$@"
fi
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:-build}" && pwd)
top=$(mktemp -d "${TMPDIR:-/tmp}/mountwatch-demo.XXXXXX")
nas=$top/nas daemon=
export PATH=$bin:$PATH MOUNTWATCH_SOCKET=$top/socket
cleanup() {
    rc=$?
    trap - EXIT INT TERM
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    [ $rc = 0 ] || cat "$top/daemon.log" >&2 2>/dev/null || true
    umount -l "$nas" 2>/dev/null || true
    rm -rf --one-file-system "$top"
    exit $rc
}
trap cleanup EXIT
trap 'exit 130' INT TERM

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
type_it() { printf '\n  $ %s\n\n' "$*"; }

# the owner's NAS, as it was this morning
mkdir "$nas"
mount -t tmpfs -o size=50M demo-nas "$nas"
for day in 2024-05-01 2024-05-02 2024-05-03; do
    mkdir -p "$nas/Backups/v2-$day/photos"
    echo "snapshot of $day" >"$nas/Backups/v2-$day/MANIFEST"
    head -c 20000 /dev/zero >"$nas/Backups/v2-$day/photos/album.tar"
done
ln -s v2-2024-05-03 "$nas/Backups/latest"
cp -r "$here/suite" "$top/suite"

cat >"$top/mountwatch.conf" <<CONF
[Watch nas]
Path=$nas
Policy=alert
Preserve=yes
Allow=scratch/**
CONF

# names, kinds, owners, modes, times and content of all that is on the NAS
fingerprint() {
    (cd "$nas" && find . -printf '%p %y %U %G %m %s %T@ %l\n' | sort && find . -type f -exec sha256sum {} + | sort) | sha256sum
}
before=$(fingerprint)

say "1. The service watches a share ($nas):"
type_it mountwatchd --config mountwatch.conf
sed 's/^/      /' "$top/mountwatch.conf"
mountwatchd --config "$top/mountwatch.conf" --socket "$MOUNTWATCH_SOCKET" --state-dir "$top/state" >"$top/daemon.log" 2>&1 &
daemon=$!
for ((i = 0; i < 500; i++)); do
    mountwatch status >/dev/null 2>&1 && break
    kill -0 "$daemon" 2>/dev/null || { echo "demo: mountwatchd did not start" >&2; exit 1; }
    sleep 0.02
done
mountwatch status >/dev/null

say "2. A test suite runs under mountwatch. It overrides two of the three settings of the backup module; the third is the real NAS:"
type_it mountwatch run -- python3 -m unittest
cd "$top/suite"
rc=0
BACKUP_NAS=$nas/Backups mountwatch run --label 'unit tests' -- python3 -m unittest -q || rc=$?

say "3. The tests passed. The exit status says what they did besides:"
type_it "echo \$?"
echo "$rc"
[ $rc = 120 ] || { echo "demo: 120 was expected" >&2; exit 1; }

say "4. Weeks later somebody finds a strange snapshot, and asks who made it:"
strange=$(find "$nas/Backups" -maxdepth 1 -name 'v2-*' -newer "$top/mountwatch.conf" | sort | tail -n 1)
type_it "mountwatch blame $strange"
mountwatch blame "$strange"

say "5. Preserve=yes kept what the run changed. It is put back, and the fakes go to quarantine:"
type_it "mountwatch undo last"
mountwatch undo last
[ "$(fingerprint)" = "$before" ] || { echo "demo: the share is not as it was" >&2; exit 1; }
say "   Every name, owner, mode, time and byte on the share is as before. The fakes can still be looked at:"
type_it "mountwatch quarantine list"
mountwatch quarantine list

say "6. The same run where nothing may change. It is refused before it happens, and the tests say why they fail:"
type_it "mountwatch run --policy deny -- python3 -m unittest"
rc=0
BACKUP_NAS=$nas/Backups mountwatch run --policy deny --label 'unit tests' -- python3 -m unittest -q 2>"$top/refused" || rc=$?
grep -m 3 -E 'PermissionError|Operation not permitted' "$top/refused" || { cat "$top/refused"; echo "demo: nothing was refused" >&2; exit 1; }
grep -A 12 '^mountwatch:' "$top/refused" | head -n 14
[ "$(fingerprint)" = "$before" ] || { echo "demo: the share has changed" >&2; exit 1; }
say "   The share is bit for bit what it was; the command's own status: $rc"
say "That was all: the scratch mount and the service end now."

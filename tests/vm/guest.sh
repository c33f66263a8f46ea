#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # functions are called by name
# guest.sh    in the guest: installs what run.sh brought, mounts one of each filesystem, starts the service and runs the tests.
set -u
here=$PWD
# shellcheck source=/dev/null
. ./environment
export VM_KINDS VMLAB_OUT
echo "kernel: $(uname -r)"
# /lib is a symlink here
tar -C root -cf - . | tar -C / --keep-directory-symlink --no-overwrite-dir -xf -
systemd-sysusers 2>/dev/null
systemctl daemon-reload
. tests/vm/lib.sh
KINDS_UP=
for kind in $KINDS; do
    if lab_mount "$kind" >"$VMLAB_OUT/mount.$kind" 2>&1; then
        KINDS_UP="$KINDS_UP $kind"
        printf '%s\t%s\t%s\n' "$kind" "$M" "$S" >>"$LAB/mounts"
    else
        echo "  skip  $kind cannot be mounted: $(tail -n 1 "$VMLAB_OUT/mount.$kind")"
    fi
done
export KINDS_UP
configure record
if ! systemctl start mountwatch; then
    journalctl -q -u mountwatch
    echo "  FAIL  the service does not start"
    exit 1
fi
MW_TIMEOUT=${VM_TEST_TIMEOUT:-200} tests/run vm script "$here"/tests/vm/test_*.sh
rc=$?
journalctl -q -o short-monotonic -u mountwatch >"$VMLAB_OUT/journal"
dmesg | grep -iE 'BUG|WARNING|hung task|mountwatch' | head -n 20
exit $rc

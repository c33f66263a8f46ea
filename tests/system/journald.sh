# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A journald of the test's own, for a daemon that logs to it: sourced after lib.sh; scratch and journald_start before daemon_start.
#
#   journald_start           its files are in $J
#   entries ARGUMENT...      journalctl on them
#   journald_stop
JOURNALD=
for f in /usr/lib/systemd/systemd-journald /lib/systemd/systemd-journald; do [ ! -x $f ] || JOURNALD=$f; done
[ -n "$JOURNALD" ] || skip "needs systemd-journald (package systemd)"
need journalctl
[ -s /etc/machine-id ] || skip "journald needs /etc/machine-id"
J=/run/log/journal JD=

journald_start() {
    mkdir -p /run/systemd /run/log
    mount_image tmpfs /run/systemd 10M
    mount_image tmpfs /run/log 100M
    mkdir /run/systemd/journal $J
    if [ -e /etc/systemd/journald.conf ]; then
        printf '[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nRateLimitIntervalSec=0\n' >"$TOP/journald.conf"
        mount_for --bind "$TOP/journald.conf" /etc/systemd/journald.conf
    fi
    "$JOURNALD" >"$TOP/journald.log" 2>&1 &
    JD=$!
    wait_for test -S /run/systemd/journal/socket
    : >"$LOG"
    # what systemd tells a service whose stderr is the journal; here it is a file, so that we see what goes there all the same
    # shellcheck disable=SC2034 # for daemon_start
    MW_DAEMON_PREFIX="env JOURNAL_STREAM=$(stat -c %d:%i "$LOG")"
}

entries() { journalctl -D $J --no-pager -q "$@"; }

journald_stop() {
    kill "$JD"
    wait "$JD" 2>/dev/null
    true
}

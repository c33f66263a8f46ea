#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Without a session nothing is asked of the kernel: no fanotify mark, no process event, no wake-up, little memory.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start - <<CONF
[Watch a]
Path=$WATCHED
[Watch b]
Path=$MNT
[Watch waiting]
Path=$MNT/nowhere
CONF
marks() { cat "/proc/$DAEMON"/task/*/fdinfo/* 2>/dev/null | grep -c 'fanotify sdev\|fanotify mnt_id\|fanotify ino'; }
no_marks() { [ "$(marks)" = 0 ]; }

switches() { awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$1/status"; }

settled() {
    note "no mark"
    wait_for no_marks
    note "no wake-up: ten seconds of the whole process, the watchdog apart"
    local dog before
    dog=$(pgrep -P "$DAEMON" -x mountwatch-dog) || fail "no watchdog beside the daemon"
    # it looks once more after the last hold
    sleep 2
    before=$(switches "$dog")
    if command -v strace >/dev/null; then
        strace -f -c -q -o "$TOP/strace" -p "$DAEMON" &
        local tracer=$!
        wait_for grep -q 'TracerPid:.[1-9]' "/proc/$DAEMON/status"
        sleep "${MW_IDLE_SECONDS:-10}"
        kill -INT $tracer
        wait $tracer
        # what ends the trace itself interrupts the one call that waits
        local calls
        calls=$(awk '/total$/ { print $(NF - 1) == "total" ? $3 : $4 }' "$TOP/strace")
        calls=$(awk '$NF == "total" { print $4 }' "$TOP/strace")
        awk 'NR > 2 && NF >= 5 && $NF !~ /^(total|epoll_wait|epoll_pwait2|poll|ppoll|futex|restart_syscall|read)$/ && $1 ~ /^[0-9]/' "$TOP/strace" >"$TOP/odd"
        [ ! -s "$TOP/odd" ] || fail "system calls while idle: $(cat "$TOP/strace")"
        [ "${calls:-0}" -le 8 ] || fail "$calls calls while idle: $(cat "$TOP/strace")"
    else
        note "(no strace: not traced)"
        sleep "${MW_IDLE_SECONDS:-10}"
    fi
    is "$before" "$(switches "$dog")" "wake-ups of the watchdog"
    note "memory"
    local rss
    rss=$(awk '/VmRSS/ { print $2 }' "/proc/$DAEMON/status")
    echo "  $rss KiB"
    grep -q libasan "/proc/$DAEMON/maps" || [ "$rss" -lt 8192 ] || fail "$rss KiB resident"
}
settled
note "after a session it is as before"
run touch "$WATCHED/a"
session_over last
settled

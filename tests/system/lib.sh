# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What a system test stands on: a scratch filesystem and a daemon of its own, in a private mount namespace; all of it is
# gone when the test ends, however it ends. No pid namespace: the kernel reports process events to the initial one only.
#
#   . "$(dirname "$0")/lib.sh"
#   scratch tmpfs            $MNT is mounted, $WATCHED and $WORK are empty folders in it
#   daemon_start             a watch named `case` on $WATCHED with Policy=record, Untagged=record; or the config on stdin: daemon_start -
#   mw run -- touch "$WATCHED/a"
#   expect_ops last <<<'create a'
set -u

if [ -z "${MW_NAMESPACE:-}" ]; then
    [ "$(id -u)" = 0 ] || { echo "not root"; exit 77; }
    MW_NAMESPACE=1 exec "$(dirname "${BASH_SOURCE[0]}")/../private" bash "$0" "$@"
fi

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=$(cd "${MW_BIN:-$HERE/../../build}" && pwd) || exit 1
# not under /tmp where that is a mount of the machine's own choosing; readable for the tests that are another user
TOP=$(mktemp -d "${TMPDIR:-/tmp}/mwtest.XXXXXX") && chmod 755 "$TOP" || exit 1
CONF=$TOP/mountwatch.conf STATE=$TOP/state LOG=$TOP/daemon.log
export MOUNTWATCH_SOCKET=$TOP/socket
# the system's own programs: one of root's home cannot be run by the user that some tests become
export PATH=$BIN:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
# a sanitizer's finding must not look like an exit status that a test expects
export ASAN_OPTIONS=exitcode=99:detect_leaks=${MW_LEAKS:-1} UBSAN_OPTIONS=print_stacktrace=1
DAEMON=
MOUNTS=()

cleanup() {
    local rc=$?
    trap - EXIT INT TERM
    # a daemon that ends leaves its sessions and their cgroups to the next one, and here none comes
    if [ -n "$DAEMON" ]; then
        kill -CONT "$DAEMON" 2>/dev/null
        mountwatch session list --json 2>/dev/null | grep -oE '"id": *"[0-9a-f]{16}"' | grep -oE '[0-9a-f]{16}' |
            while read -r id; do mountwatch session stop "$id" >/dev/null 2>&1; done
        daemon_stop || rc=1
    fi
    # shellcheck disable=SC2046 # a list of numbers
    kill -9 $(jobs -p) 2>/dev/null
    local m
    for ((m = ${#MOUNTS[@]} - 1; m >= 0; m--)); do umount -l "${MOUNTS[m]}" 2>/dev/null; done
    if [ $rc != 0 ] && [ $rc != 77 ] && [ -s "$LOG" ]; then
        echo "--- the daemon said:"
        tail -n 30 "$LOG"
    fi
    rm -rf --one-file-system "$TOP"
    exit $rc
}
trap cleanup EXIT
trap 'exit 130' INT TERM

fail() {
    echo "FAIL: $*"
    exit 1
}
skip() {
    echo "$*"
    exit 77
}
need() {
    local tool
    for tool in "$@"; do command -v "$tool" >/dev/null || skip "needs $tool"; done
}
note() { echo "- $*"; }

# is WANT GOT WHAT
is() { [ "$1" = "$2" ] || fail "${3:-value}: expected '$1', got '$2'"; }
# matches PATTERN TEXT WHAT
matches() { [[ $2 =~ $1 ]] || fail "${3:-text}: '$2' does not match '$1'"; }

# status WANT COMMAND...: output in $OUT and $ERR
status() {
    local want=$1 got
    shift
    "$@" >"$TOP/out" 2>"$TOP/err"
    got=$?
    OUT=$(<"$TOP/out") ERR=$(<"$TOP/err")
    [ $got = "$want" ] || fail "'$*' ended with $got, expected $want: $ERR $OUT"
}

# wait_for COMMAND...: until it succeeds; the bound is for a test that would hang, and is no measurement
wait_for() {
    local i
    for ((i = 0; i < 1500; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    fail "this did not come: $*"
}
never_ran() { ! "$@"; }

## filesystems

scratch() { # [FSTYPE [SIZE]]
    local fs=${1:-tmpfs} size=${2:-300M}
    mkdir -p "$TOP/fs"
    mount_image "$fs" "$TOP/fs" "$size"
    MNT=$TOP/fs WATCHED=$TOP/fs/watched WORK=$TOP/fs/work
    mkdir -p "$WATCHED" "$WORK"
    chmod 755 "$MNT" "$WATCHED" "$WORK"
}

mount_image() { # FSTYPE DIR SIZE [OPTIONS]
    local image=$TOP/image${#MOUNTS[@]} options=${4:+,$4}
    if [ "$1" = tmpfs ]; then
        mount -t tmpfs -o "size=$3$options" scratch "$2" || fail "cannot mount a tmpfs"
    else
        need "mkfs.$1"
        truncate -s "$3" "$image" && "mkfs.$1" -q "$image" >/dev/null || fail "mkfs.$1"
        mount -t "$1" -o "loop$options" "$image" "$2" 2>/dev/null || skip "cannot mount $1 from a loop device here"
    fi
    MOUNTS+=("$2")
}

mount_for() { # what umount at the end should know of
    MOUNTS+=("${!#}")
    mount "$@"
}

## the daemon

write_config() {
    if [ "${1:-}" = - ]; then
        cat >"$CONF"
    else
        printf '[Watch case]\nPath=%s\nPolicy=record\nUntagged=record\n' "$WATCHED" >"$CONF"
    fi
}

daemon_start() { # [-]
    write_config "${1:-}"
    daemon_again
}

daemon_again() { # with the configuration and the store that are there
    # shellcheck disable=SC2086 # a list of words
    ${MW_DAEMON_PREFIX:-} mountwatchd --config "$CONF" --socket "$MOUNTWATCH_SOCKET" --state-dir "$STATE" >>"$LOG" 2>&1 &
    DAEMON=$!
    local i
    for ((i = 0; i < 1500; i++)); do
        mountwatch status >/dev/null 2>&1 && return 0
        kill -0 "$DAEMON" 2>/dev/null || { wait "$DAEMON"; DAEMON=''; fail "mountwatchd did not start"; }
        sleep 0.02
    done
    fail "mountwatchd does not answer"
}

daemon_stop() {
    local rc
    kill -TERM "$DAEMON" 2>/dev/null
    wait "$DAEMON"
    rc=$?
    DAEMON=
    # the tests that kill it say so by daemon_kill
    [ $rc = 0 ] || { echo "mountwatchd ended with $rc"; return 1; }
}

daemon_kill() {
    kill -9 "$DAEMON"
    wait "$DAEMON" 2>/dev/null
    DAEMON=
}

daemon_alive() { kill -0 "$DAEMON" 2>/dev/null && mountwatch status >/dev/null || fail "the daemon is gone"; }

## sessions and reports

mw() { mountwatch "$@"; }
# the command of a session, without its report and never 120
run() { mountwatch run --fail-on never -- "$@" 2>"$TOP/report"; }
# when the exit status is not what the test is about
quietly() { "$@" >/dev/null 2>&1 || true; }

report() { # ID [ARGUMENT...]
    local id=$1
    shift
    mountwatch report "$id" --json >"$TOP/report.json" || fail "no report of $id"
    python3 "$HERE/report.py" "$TOP/report.json" "${ROOT:-$WATCHED}" "$@"
}
# field ID PATH: one value of the report, `session.verdict`
field() { report "$1" field "$2"; }

is_over() { case $(field "${1:-last}" session.state) in active | lingering) return 1 ;; esac; }
session_over() { wait_for is_over "${1:-last}"; }

# expect_ops ID [untagged]: the rows of a report but for metadata are exactly these lines
expect_ops() {
    local want got
    want=$(sort -u)
    got=$(report "$1" "${2:-operations}" | sort -u)
    [ "$want" = "$got" ] && return 0
    diff <(echo "$want") <(echo "$got") | sed 's/^</missing:/; s/^>/extra:  /' | grep -E '^(missing|extra)'
    fail "the ${2:-operations} of $1 differ"
}
# has_op ID LINE [untagged]
has_op() { report "$1" "${3:-operations}" | grep -qxF -- "$2" || fail "no '$2' among the ${3:-operations} of $1: $(report "$1" "${3:-operations}")"; }
has_no_op() { ! report "$1" "${3:-operations}" | grep -qxF -- "$2" || fail "'$2' is among the ${3:-operations} of $1"; }
expect_complete() {
    is "True" "$(field "$1" session.complete)" "complete ($(field "$1" session.losses))"
}

# raw varlink: varlink METHOD JSON
varlink() { python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" call "$@"; }

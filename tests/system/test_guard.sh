#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The guard of a run: who it works for, what it lets, and that nobody's calls fail when daemon, client or both are gone.
. "$(dirname "$0")/lib.sh"
scratch tmpfs
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=deny
CONF
fill() { rm -rf "${WATCHED:?}"/*; mkdir "$WATCHED/d"; for i in a b d/c; do echo "$i" >"$WATCHED/$i"; done; chmod -R a+rwX "$MNT"; }
listing() { (cd "$WATCHED" && find . -type f -exec sha256sum {} + | sort && find . -printf '%p %M %U %T@\n' | sort); }
unchanged() { [ "$BEFORE" = "$(listing)" ] || fail "$1: the watch has changed: $(diff <(echo "$BEFORE") <(listing))"; }
seccomp_of() { awk '/^Seccomp:/ { print $2 }' /proc/self/status; }
export -f seccomp_of
fill
BEFORE=$(listing)

note "root"
run sh -c 'rm -f "$1/a"; mv "$1/b" "$1/n"; mkdir "$1/m"; ln -s a "$1/l"; chmod 0 "$1/a"; echo x >>"$1/d/c"; : >"$1/o"' x "$WATCHED" 2>/dev/null
unchanged root
status 1 mountwatch run --fail-on never -- rm "$WATCHED/a"
matches 'Operation not permitted' "$ERR" "the command's own words"

note "an ordinary user, who gets no new privileges by it"
if command -v setpriv >/dev/null; then
    cp "$BIN/mountwatch" "$TOP/client" && chmod 755 "$TOP/client" && chmod 666 "$MOUNTWATCH_SOCKET"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$TOP/client" run --fail-on never -- \
        sh -c 'grep NoNewPrivs /proc/self/status; rm -f "$1/a" "$1/d/c"' x "$WATCHED" >"$TOP/out" 2>/dev/null
    matches 'NoNewPrivs:[[:space:]]*1' "$(<"$TOP/out")" "no_new_privs"
    unchanged "a user"
fi

note "a storm of short-lived processes"
mkdir "$WATCHED/many" && for i in $(seq 120); do : >"$WATCHED/many/$i"; done
run sh -c 'for i in $(seq 120); do rm -f "$1/many/$i" 2>/dev/null & done; wait' x "$WATCHED"
is 120 "$(find "$WATCHED/many" -type f | wc -l)" "files left"
rm -r "$WATCHED/many"
BEFORE=$(listing)

note "elsewhere everything goes on as ever"
status 0 mountwatch run -- sh -c 'echo x >"$1/f" && mv "$1/f" "$1/g" && chmod 600 "$1/g" && rm "$1/g" && mkdir -p "$1/h/i" && rm -r "$1/h"' x "$WORK"

note "a run inside a run, and without a guard"
mountwatch run --fail-on never -- mountwatch run --fail-on never -- rm -f "$WATCHED/a" 2>/dev/null
unchanged nested
is 0 "$(mountwatch run --no-guard -- bash -c seccomp_of 2>/dev/null)" "filters with --no-guard"
is 2 "$(mountwatch run -- bash -c seccomp_of 2>/dev/null)" "filters with a guard"

if command -v strace >/dev/null; then
    note "a traced command still runs"
    run strace -f -o "$TOP/trace" -e trace=unlinkat rm -f "$WATCHED/a" 2>/dev/null
    grep -q 'EPERM' "$TOP/trace" || fail "the trace: $(<"$TOP/trace")"
    unchanged traced
fi

note "a command that wants to supervise calls itself is told about --no-guard"
status 0 mountwatch run -- python3 - <<'PY'
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]
NUMBER = {"x86_64": 317, "aarch64": 277, "riscv64": 277}
import os
allow = Instruction(6, 0, 0, 0x7fff0000)
libc.prctl(38, 1, 0, 0, 0)
libc.syscall(NUMBER[os.uname().machine], 1, 8, ctypes.byref(Program(1, ctypes.pointer(allow))))
PY
matches '--no-guard' "$ERR" "the hint"

keepers() { pgrep -x mw-keeper -P "$1" 2>/dev/null; }
note "nothing stays behind"
mountwatch run -- sleep 0.1 2>/dev/null &
client=$!
wait "$client"
[ -z "$(keepers "$client")" ] || fail "a keeper is left"

note "the client is killed while its command goes on, then the daemon as well: calls are let, and none fails"
mountwatch run -- sh -c 'echo $$ >"$2/pid"; until [ -e "$2/go" ]; do sleep 0.05; done; rm "$1/b" && mkdir "$1/e" && echo done >"$2/done"' \
    x "$WATCHED" "$WORK" >/dev/null 2>&1 &
client=$!
wait_for test -s "$WORK/pid"
kill -9 "$client"
wait "$client" 2>/dev/null
daemon_kill
: >"$WORK/go"
wait_for test -s "$WORK/done"
[ ! -e "$WATCHED/b" ] && [ -d "$WATCHED/e" ] || fail "the command's calls did not come through"

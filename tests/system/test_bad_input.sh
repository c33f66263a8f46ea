#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a broken or hostile client can send gets its own clear error, and the daemon goes on.
. "$(dirname "$0")/lib.sh"
need setpriv python3
scratch
daemon_start
raw() { python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" raw; }

note "not a message: the connection is closed"
for text in '' 'hello\0' '{\0' '\0' '[]\0' '{"method":5}\0' '{"method":"a.b.C"' '{"method":"io.mountwatch.GetStatus","more":"yes"}\0' \
    '{"method":"io.mountwatch.GetStatus","surprise":1}\0' '{"parameters":{}}\0' '\xff\xfe\0' '{"method":"io.mountwatch.GetStatus","parameters":[]}\0' \
    '{"method":"io.mountwatch.GetStatus","parameters":5}\0' '{"method":"io.mountwatch.GetStatus","more":true,"oneway":true}\0'; do
    # shellcheck disable=SC2059
    got=$(printf "$text" | raw) || fail "no answer and not closed: $text"
    is closed "$got" "answer to $text"
done
depth=$(python3 -c 'print("["*5000 + "]"*5000)')
got=$(printf '{"method":"io.mountwatch.GetStatus","parameters":{"x":%s}}\0' "$depth" | raw) || fail "deep nesting"
daemon_alive

note "a hundred megabytes"
got=$(python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" flood 104857600)
matches '^closed' "$got" "answer to a message without an end"
daemon_alive

note "unknown things have names"
reply() { # WANT METHOD [JSON]
    local got
    got=$(varlink "$2" "${3:-{\}}")
    matches "$1" "$got" "answer to $2 ${3:-}"
}
reply 'org.varlink.service.MethodNotFound .*"method": "Nothing"|org.varlink.service.MethodNotFound' io.mountwatch.Nothing
reply 'org.varlink.service.InterfaceNotFound .*io.nowhere' io.nowhere.Nothing
reply 'org.varlink.service.InvalidParameter .*extra' io.mountwatch.GetStatus '{"extra": 1}'
reply 'org.varlink.service.InvalidParameter .*label' io.mountwatch.StartSession '{"label": 5}'
reply 'org.varlink.service.InvalidParameter .*pid' io.mountwatch.StartSession '{"pid": "one"}'
reply 'org.varlink.service.InvalidParameter .*policy' io.mountwatch.StartSession '{"policy": "gentle"}'
reply 'org.varlink.service.InvalidParameter .*command' io.mountwatch.StartSession '{"command": [1]}'
reply 'org.varlink.service.InvalidParameter .*id' io.mountwatch.KillSession
reply 'org.varlink.service.InvalidParameter .*exitStatus' io.mountwatch.FinishSession '{"id": "x", "exitStatus": "0"}'
reply 'org.varlink.service.ExpectedMore' io.mountwatch.GetOperations
reply 'io.mountwatch.NoSuchSession .*"id": "nope"' io.mountwatch.GetSession '{"id": "nope"}'
reply 'io.mountwatch.NoSuchSession' io.mountwatch.KillSession '{"id": "../../etc"}'
reply 'io.mountwatch.NotInSession' io.mountwatch.MarkSession '{"text": "x"}'
daemon_alive

note "processes that cannot be tagged"
reply 'io.mountwatch.(NotPermitted|NoSuchProcess)' io.mountwatch.StartSession '{"pid": 1}'
reply 'io.mountwatch.NoSuchProcess .*4194303' io.mountwatch.StartSession '{"pid": 4194303}'
reply 'io.mountwatch.NoSuchProcess|InvalidParameter' io.mountwatch.StartSession '{"pid": 0}'
reply 'io.mountwatch.NoSuchProcess|InvalidParameter' io.mountwatch.StartSession '{"pid": -1}'
reply 'io.mountwatch.NoSuchProcess|InvalidParameter' io.mountwatch.StartSession '{"pid": 9223372036854775807}'
reply 'io.mountwatch.NotPermitted .*kernel thread|io.mountwatch.NoSuchProcess' io.mountwatch.StartSession '{"pid": 2}'
daemon_alive

note "a foreign uid"
as() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
sleep 1000 &
mine=$!
got=$(as python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" call io.mountwatch.StartSession "{\"pid\": $mine}")
matches 'io.mountwatch.NotPermitted' "$got" "a foreign process"
id=$(mw session start --pid $mine)
for method in StopSession KillSession FreezeSession ThawSession GetSession; do
    got=$(as python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" call io.mountwatch.$method "{\"id\": \"$id\"}")
    matches 'io.mountwatch.(NotPermitted|NoSuchSession)' "$got" "$method of a foreign session"
done
got=$(as python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" call io.mountwatch.MarkSession "{\"id\": \"$id\", \"text\": \"x\"}")
matches 'io.mountwatch.(NotPermitted|NoSuchSession)' "$got" "MarkSession of a foreign session"
got=$(as python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" call io.mountwatch.Reload)
matches 'io.mountwatch.NotPermitted' "$got" "Reload by a user"
got=$(as python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" call io.mountwatch.ListSessions '{"all": true}')
! grep -q "$id" <<<"$got" || fail "a foreign session is listed"
kill -0 $mine || fail "the process was killed"
note "a user's own session works"
chmod 777 "$WATCHED"
# the tree that is tested may lie where only root looks
cp "$BIN/mountwatch" "$TOP/mountwatch"
as "$TOP/mountwatch" run --fail-on never -- touch "$WATCHED/by-user" 2>"$TOP/err" || fail "a user's run: $(cat "$TOP/err")"
is 65534 "$(field last session.uid)" uid
session_over last
has_op last 'create by-user'

note "many connections of one user do not shut others out"
as python3 - "$MOUNTWATCH_SOCKET" >"$TOP/many" <<'PY' &
import socket, sys, time
held = []
for i in range(2000):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(2)
    try:
        s.connect(sys.argv[1])
    except OSError:
        break
    held.append(s)
print("connected", len(held), flush=True)
time.sleep(1000)
PY
wait_for grep -q connected "$TOP/many"
daemon_alive
kill $!
note "a client that asks and never reads"
python3 - "$MOUNTWATCH_SOCKET" >"$TOP/deaf" <<'PY' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.settimeout(2)
n = 0
try:
    while n < 20000:
        s.sendall(b'{"method":"io.mountwatch.GetStatus"}\0' * 10)
        n += 10
except OSError:
    pass
print("asked", n, flush=True)
time.sleep(1000)
PY
wait_for grep -q asked "$TOP/deaf"
daemon_alive
rss=$(awk '/VmRSS/ { print $2 }' "/proc/$DAEMON/status")
[ -n "${MW_SAN:-}" ] || grep -q asan <(tr '\0' '\n' <"/proc/$DAEMON/maps") || [ "$rss" -lt 65536 ] || fail "the daemon has grown to $rss KiB"

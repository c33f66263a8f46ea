#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A Varlink client that knows only the specification can use everything the description promises.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start
note "introspection"
info=$(varlink org.varlink.service.GetInfo)
python3 -c 'import json,sys
i = json.loads(sys.argv[1])
assert {"vendor", "product", "version", "url", "interfaces"} == set(i), i
assert set(i["interfaces"]) == {"org.varlink.service", "io.mountwatch"}, i' "$info" || fail "GetInfo: $info"
varlink org.varlink.service.GetInterfaceDescription '{"interface": "io.mountwatch"}' |
    python3 -c 'import json,sys; sys.stdout.write(json.load(sys.stdin)["description"])' >"$TOP/idl"
cmp "$TOP/idl" "$HERE/../../common/io.mountwatch.varlink" || fail "the description differs from the file"
varlink org.varlink.service.GetInterfaceDescription '{"interface": "io.nowhere"}' | grep -q InterfaceNotFound || fail "InterfaceNotFound"

note "pipelined calls are answered in order, oneway ones not at all"
got=$(printf '%s\0' '{"method":"org.varlink.service.GetInfo"}' '{"method":"io.mountwatch.ListSessions","oneway":true}' \
    '{"method":"io.mountwatch.Nothing","oneway":true}' '{"method":"io.mountwatch.ListSessions"}' '{"method":"io.mountwatch.Nothing"}' \
    '{"method":"io.mountwatch.GetStatus", "parameters" : null}' | python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" raw)
is "vendor sessions error storeBytes closed" "$(grep -oE '"(vendor|error|storeBytes|sessions": \[\]\})|^closed' <<<"$got" | tr -d '"' | sed 's/: .*//' | tr '\n' ' ' | sed 's/ $//')" "answers"

note "a session by hand"
sleep 1000 &
id=$(varlink io.mountwatch.StartSession "{\"pid\": $!, \"label\": \"by hand\", \"command\": [\"sleep\"]}" | python3 -c 'import json,sys; print(json.load(sys.stdin)["session"]["id"])')
varlink io.mountwatch.ListSessions | grep -q "$id" || fail "not listed"
varlink io.mountwatch.StopSession "{\"id\": \"$id\"}" | grep -q '"stopped"' || fail "StopSession"
kill $!

note "operations as they come"
python3 - "$MOUNTWATCH_SOCKET" "$WATCHED" >"$TOP/stream" <<'PY' || fail "stream: $(cat "$TOP/stream")"
import json, os, socket, subprocess, sys
def call(s, method, **more):
    s.sendall(json.dumps({"method": method, "parameters": more.pop("parameters", {}), **more}).encode() + b"\0")
def take(s, buf):
    while b"\0" not in buf[0]:
        data = s.recv(65536)
        if not data:
            raise EOFError
        buf[0] += data
    m, buf[0] = buf[0].split(b"\0", 1)
    return json.loads(m)
s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1]); buf = [b""]
call(s, "io.mountwatch.GetOperations", parameters={"follow": True, "watch": "case"}, more=True)
p = subprocess.run(["mountwatch", "run", "--fail-on", "never", "--", "sh", "-c", 'for i in 1 2 3; do touch "$1/$i"; done', "x", sys.argv[2]], stderr=subprocess.DEVNULL)
seen, processes = [], {}
while len(seen) < 3:
    m = take(s, buf)
    assert m.get("continues") is True, m
    for q in m["parameters"]["processes"]: processes[q["id"]] = q
    for o in m["parameters"]["operations"]:
        assert o["process"] in processes, (o, processes)
        if o["op"] == "create": seen.append(o["path"])
assert [os.path.basename(x) for x in seen] == ["1", "2", "3"], seen
s.close()
PY
daemon_alive

if command -v varlinkctl >/dev/null; then
    note "varlinkctl"
    varlinkctl info "$MOUNTWATCH_SOCKET" | grep -q io.mountwatch || fail "varlinkctl info"
    varlinkctl introspect "$MOUNTWATCH_SOCKET" io.mountwatch >/dev/null || fail "varlinkctl introspect"
    varlinkctl call "$MOUNTWATCH_SOCKET" io.mountwatch.GetStatus '{}' >/dev/null || fail "varlinkctl call"
fi

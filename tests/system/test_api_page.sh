#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each request of mountwatch-api(7) gets a reply of the shape that the page shows.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start - <<CONF
[Watch nas]
Path=$WATCHED
Policy=alert
CONF
mkfifo "$TOP/go"
# what the page's session is: a process that makes what the page asks about
bash -c 'read x <"$1"; mkdir -p "$2/Backups/v2-2031-01-01"; exec sleep 1000' x "$TOP/go" "$WATCHED" &
python3 - "$HERE/../../docs/man/mountwatch-api.7" "$MOUNTWATCH_SOCKET" $! "$WATCHED" "$TOP/go" <<'PY' || fail "the page and the service differ"
import json, os, re, socket, sys, time
page, path, pid, watched, go = sys.argv[1:]
text = re.sub(r",?\\\[u2026\]", "", open(page).read())
blocks, current = [], None
for line in text.split("\n"):
    if line.startswith(("--> ", "<-- ")):
        current = [line[:3], line[4:]]
        blocks.append(current)
    elif current and line.startswith("    "):
        current[1] += line[4:]
    else:
        current = None
assert len(blocks) >= 2 * 14, "only %d examples" % (len(blocks) // 2)

s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect(path)
data = b""
def reply():
    global data
    while b"\0" not in data:
        more = s.recv(1 << 20)
        assert more, "the service has hung up"
        data += more
    m, data = data.split(b"\0", 1)
    return json.loads(m)

def compare(want, got, where):
    assert type(want) is type(got), (where, want, got)
    if isinstance(want, dict):
        for key in want:
            assert key in got, "%s has no %s: %s" % (where, key, got)
            compare(want[key], got[key], where + "." + key)
    elif isinstance(want, list) and want and got:
        compare(want[0], got[0], where + "[]")

session = "3f9a6c1be2d07754"
for (a, call), (b, want) in zip(blocks[::2], blocks[1::2]):
    assert (a, b) == ("-->", "<--"), (call, want)
    name = json.loads(call)["method"]
    call = call.replace("4711", pid).replace("3f9a6c1be2d07754", session).replace("/mnt/nas", watched)
    if name.endswith("GetOperations") or name.endswith("Blame"):
        if os.path.exists(go):
            open(go, "w").write("x\n")
            os.unlink(go)
            while not os.path.exists(watched + "/Backups/v2-2031-01-01"):
                time.sleep(0.02)
    if name.endswith("FollowAlerts"):  # it does not end by itself
        f = socket.socket(socket.AF_UNIX)
        f.settimeout(20)
        f.connect(path)
        f.sendall(call.encode() + b"\0")
        compare(json.loads(want), json.loads(f.recv(1 << 20).split(b"\0")[0]), name)
        f.close()
        continue
    s.sendall(call.encode() + b"\0")
    got = reply()
    rows = got
    while got.get("continues"):
        got = reply()
        rows = rows if rows["parameters"]["operations"] else got
    want = json.loads(want)
    assert want.get("error") == rows.get("error"), (call, rows)
    compare(want.get("parameters", {}), rows.get("parameters") or {}, name)
    if name.endswith("StartSession") and "error" not in rows:
        session = rows["parameters"]["session"]["id"]
PY

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# FollowAlerts: the first violation at once, the rest together, the end; what waits and what is frozen; 27,000 changes; who sees what;
# a follower that does not read.
. "$(dirname "$0")/lib.sh"
scratch ext4
mkdir "$WATCHED/ask" "$WATCHED/freeze" "$WATCHED/plain"
daemon_start - <<CONF
[Daemon]
AlertInterval=1
[Watch plain]
Path=$WATCHED/plain
Policy=alert
Untagged=alert
[Watch ask]
Path=$WATCHED/ask
Policy=ask
[Watch freeze]
Path=$WATCHED/freeze
Policy=freeze
CONF
follow() { # NAME [COMMAND...]: what comes is in $TOP/NAME
    local name=$1
    shift
    "$@" python3 "$HERE/varlink.py" "$MOUNTWATCH_SOCKET" follow io.mountwatch.FollowAlerts >"$TOP/$name" &
    wait_for test -s "$TOP/$name" # the lists come first
}
# seen NAME EXPRESSION: one that was told is so: `a` an alert, `m` the message that it came in. Prints how many are.
cat >"$TOP/seen.py" <<'PY'
import json, sys
n = 0
for line in open(sys.argv[1]):
    if line.endswith("\n"):
        m = json.loads(line)
        a = m.get("alert") or {"kind": None, "session": None}
        n += bool(eval("(" + sys.argv[2] + ")", {"a": a, "m": m, "get": a.get}))
print(n)
sys.exit(n == 0)
PY
seen() { python3 "$TOP/seen.py" "$TOP/$1" "$2"; }
last() { mountwatch session list --all --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
for s in d["sessions"] if isinstance(d, dict) else d:
    if s.get("label") == sys.argv[1]: print(s["id"])' "$1"; }
follow all
is '{"frozen": [], "held": []}' "$(head -n 1 "$TOP/all")" "the lists come first"

note "first, then together, then all"
mkfifo "$TOP/step"
# shellcheck disable=SC2016 # for the inner shell
mountwatch run --label steps --fail-on never -- sh -c '
    cd "$1/plain" && mkdir first && read -r x <"$2" && for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo >c$i; done && rm c12 && read -r x <"$2"' \
    x "$WATCHED" "$TOP/step" >/dev/null 2>&1 &
wait_for seen all 'a["kind"] == "violation"'
seen all "a['kind'] == 'violation' and a['label'] == 'steps' and a['severity'] == 'created' and a['total'] == a['fresh'] == 1 and
    a['paths'] == ['$WATCHED/plain/first'] and a['watch'] == 'plain' and a['action'] == 'alerted' and a['user'] == 'root' and
    [p['cmdline'] for p in a['processes']][0] == ['mkdir', 'first'] and a['cwd'] == '$WATCHED/plain' and
    a['next'] == 'mountwatch report ' + a['session']" >/dev/null || fail "the first: $(cat "$TOP/all")"
echo >"$TOP/step"
wait_for seen all 'a["kind"] == "update" and get("total") >= 14'
seen all "a['kind'] == 'update' and a['severity'] == 'removed' and a['paths'][0] == '$WATCHED/plain/c12' and len(a['paths']) == 10 and
    a['counts']['delete'] == 1 and a['processes'][0]['cmdline'] == ['rm', 'c12']" >/dev/null || fail "the update: $(cat "$TOP/all")"
echo >"$TOP/step"
wait_for seen all 'a["kind"] == "summary"'
seen all "a['kind'] == 'summary' and a['verdict'] == 'dirty' and a['complete'] and 'watch' not in a" >/dev/null ||
    fail "the summary: $(cat "$TOP/all")"
is 1 "$(seen all "a['kind'] == 'violation'")" "alerts of the first change"

note "a clean session is not told"
before=$(wc -l <"$TOP/all")
mountwatch run --label clean -- true >/dev/null 2>&1 || fail "run"
session_over
mountwatch run --label after --fail-on never -- mkdir "$WATCHED/plain/after" >/dev/null 2>&1
wait_for seen all "a['kind'] == 'summary' and get('label') == 'after'"
is 2 $(($(wc -l <"$TOP/all") - before)) "messages"

note "what waits, and what a policy froze"
echo x >"$WATCHED/ask/f"
mountwatch run --label asks --fail-on never -- rm "$WATCHED/ask/f" >/dev/null 2>&1 &
wait_for seen all "a['kind'] == 'violation' and get('label') == 'asks'"
seen all "get('label') == 'asks' and a['action'] == 'held' and a['severity'] == 'removed' and a['next'] == 'mountwatch decide' and
    a['paths'] == ['$WATCHED/ask/f']" >/dev/null || fail "the one that waits: $(cat "$TOP/all")"
wait_for seen all "len(m.get('held') or []) == 1"
status 0 mountwatch decide "$(mountwatch decide --json | grep -oE '"id": *[0-9]+' | grep -oE '[0-9]+')" deny
wait_for seen all "a['kind'] == 'summary' and get('label') == 'asks' and a['refused'] == a['total'] == 1 and a['action'] == 'denied'"
nothing_waits() { [ "$(tail -n 1 "$TOP/all")" != "" ] && python3 -c '
import json, sys
lists = [m for m in map(json.loads, open(sys.argv[1])) if "held" in m]
sys.exit(lists[-1] != {"held": [], "frozen": []})' "$TOP/all"; }
wait_for nothing_waits
mountwatch run --label cold --fail-on never -- mkdir "$WATCHED/freeze/d" >/dev/null 2>&1 &
wait_for seen all "len(m.get('frozen') or []) == 1"
wait_for seen all "a['kind'] == 'violation' and get('label') == 'cold' and a['action'] == 'frozen' and a['next'].startswith('mountwatch session thaw')"
status 0 mountwatch session thaw "$(last cold)"
wait_for seen all "a['kind'] == 'summary' and get('label') == 'cold'"
wait_for nothing_waits

note "who sees what"
as() { setpriv --reuid 65534 --clear-groups -- "$@"; }
chmod 777 "$WATCHED/plain" "$WORK"
follow theirs as
echo >"$WATCHED/plain/untagged"
wait_for seen all "a['kind'] and not get('session') and '$WATCHED/plain/untagged' in a['paths']"
mountwatch run --label ours --fail-on never -- mkdir "$WATCHED/plain/ours" >/dev/null 2>&1
as mountwatch run --label nobody --fail-on never -- mkdir "$WATCHED/plain/theirs" >/dev/null 2>&1
wait_for seen theirs "a['kind'] == 'summary' and get('label') == 'nobody'"
is "$(seen theirs 'a["kind"]')" "$(seen theirs "get('label') == 'nobody'")" "alerts of one's own among all"
wait_for seen all "a['kind'] == 'summary' and get('label') == 'nobody'"

note "27,000 changes are at most five messages"
mountwatch run --label burst --fail-on never -- python3 - "$WATCHED/plain" <<'PY' >/dev/null 2>&1
import os, sys
os.chdir(sys.argv[1])
open("store", "w").close()
for d in range(18):
    os.mkdir("d%d" % d)
    for i in range(1000):
        os.link("store", "d%d/%d" % (d, i))
for d in range(9):
    for i in range(1000):
        os.unlink("d%d/%d" % (d, i))
PY
wait_for seen all "a['kind'] == 'summary' and get('label') == 'burst'"
seen all "a['kind'] == 'summary' and get('label') == 'burst' and a['total'] >= 27000 and a['counts']['delete'] == 9000" >/dev/null ||
    fail "the burst: $(grep burst "$TOP/all")"
n=$(seen all "get('label') == 'burst'")
[ "$n" -le 5 ] || fail "$n messages of the burst"
echo "  $n messages"

note "without more there is nothing to follow"
status 1 varlink io.mountwatch.FollowAlerts
matches 'ExpectedMore' "$OUT"

note "one that does not read misses alerts, is told, and holds nobody up"
python3 - "$MOUNTWATCH_SOCKET" "$WATCHED/plain" <<'PY' || fail "the slow follower"
import json, os, socket, subprocess, sys, tempfile
def follow():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    s.sendall(b'{"method":"io.mountwatch.FollowAlerts","more":true}\0')
    return s
def messages(s):
    data = b""
    while True:
        more = s.recv(1 << 20)
        assert more, "hung up"
        data += more
        while b"\0" in data:
            m, data = data.split(b"\0", 1)
            yield json.loads(m)["parameters"]
slow = follow()
quick = messages(follow())
next(quick)
# long names make large alerts; a session each, so that each is told
base = sys.argv[2] + "".join("/" + "n" * 250 for _ in range(12))
os.makedirs(base)
n, missed = 0, 0
script = 'i=0; while [ $i -lt 10 ]; do mkdir "$1/$2$i"; i=$((i+1)); done'
while n < 30:
    label = "slow%d" % n
    subprocess.run(["mountwatch", "run", "--label", label, "--fail-on", "never", "--", "sh", "-c", script, "x", base, label],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        a = next(quick).get("alert") or {}
        if a.get("label") == label and a["kind"] == "summary":
            break
    n += 1
got = 0
for m in messages(slow):
    got += "alert" in m
    missed += m.get("missed", 0)
    if missed:
        break
assert got > 0 and missed > 0, (got, missed)
PY
daemon_alive

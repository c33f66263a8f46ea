#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# overload.sh [COUNT]    8 spinning processes and a session of COUNT (20,000) short-lived touch, cp, mv and rm: every operation
# is attributed, exact, and none is lost. fatrace, when installed, watches the same mount meanwhile and is counted the same way.
. "$(dirname "$0")/lib.sh"
COUNT=${1:-${MW_OVERLOAD:-20000}}
ROUNDS=$((COUNT / 4))
scratch tmpfs 500M
daemon_start
for _ in {1..8}; do (while :; do :; done) & done

tracer=
if command -v fatrace >/dev/null; then
    # at the same events: create, write, delete, move; its process names are what it could still find
    (cd "$MNT" && exec fatrace -c -f '+D<>CW' -o "$TOP/fatrace.log" 2>"$TOP/fatrace.err") &
    tracer=$!
    sleep 1
fi
cat >"$TOP/load.sh" <<'SH'
for ((i = 0; i < $2; i++)); do
    touch "$1/a$i"
    cp "$1/a$i" "$1/b$i"
    mv "$1/b$i" "$1/c$i"
    rm "$1/a$i"
done
SH
start=$SECONDS
mountwatch run --fail-on never -- bash "$TOP/load.sh" "$WATCHED" $ROUNDS 2>"$TOP/report" || fail "$(tail -n 5 "$TOP/report")"
took=$((SECONDS - start))
session_over last
if [ -n "$tracer" ]; then
    sleep 2
    kill -INT $tracer
    wait $tracer
fi
mountwatch report last --json >"$TOP/report.json" || fail "no report"
python3 - "$TOP/report.json" "$TOP/fatrace.log" "$WATCHED" $ROUNDS $took <<'PY'
import collections, json, os, sys
report, log, watched, rounds, took = sys.argv[1:6]
rounds = int(rounds)
doc = json.load(open(report))
want = collections.Counter()
for i in range(rounds):
    want["create", "a%d" % i, "touch"] += 1
    want["create", "b%d" % i, "cp"] += 1
    want["rename", "c%d" % i, "mv"] += 1
    want["delete", "a%d" % i, "rm"] += 1
named = {k[:2]: k for k in want}
got = collections.Counter()
inexact = unnamed = 0
for row in doc["operations"]:
    if row["op"] == "metadata":
        continue
    argv = row["process"].get("cmdline") or ["?"]
    key = row["op"], os.path.basename(row["path"]), os.path.basename(argv[0])
    if key[2] == "?":  # gone before its command line was read: whose it is is known all the same
        unnamed += 1
        key = named.get(key[:2], key)
    got[key] += 1
    inexact += row["attribution"] != "exact"
missing, extra = want - got, got - want
print("mountwatch: %d operations of %d processes in %s s: %d missing, %d extra, %d not exact, %d without a command line, complete: %s" % (
    sum(got.values()), 4 * rounds, took, sum(missing.values()), sum(extra.values()), inexact, unnamed, doc["session"]["complete"]))
bad = sum(missing.values()) + sum(extra.values()) + inexact + (not doc["session"]["complete"]) + (unnamed > 4 * rounds / 1000)
for loss in doc["session"]["losses"]: print("  loss", json.dumps(loss))
for k in list(missing)[:5]: print("  missing", k)
for k in list(extra)[:5]: print("  extra", k)
others = [r for r in doc.get("untagged") or [] if r["op"] != "metadata"]
if others:
    print("  %d operations were given to nobody's session" % len(others))
    bad += 1
if os.path.exists(log):
    named = unnamed = 0
    seen = set()
    for line in open(log, errors="replace"):
        # touch(123): +  /path        unknown(123): when the process was gone
        who, _, rest = line.partition("): ")
        name, _, pid = who.rpartition("(")
        if not rest.rstrip().partition("  ")[2].strip().startswith(watched):
            if watched not in rest:
                continue
        if name in ("touch", "cp", "mv", "rm"):
            named += 1
            seen.add(pid)
        elif name == "unknown" or name == "":
            unnamed += 1
    total = named + unnamed
    print("fatrace:    %d events, %d without a process name (%.1f %%)" % (total, unnamed, 100.0 * unnamed / total if total else 0))
else:
    print("fatrace:    not run: not installed")
sys.exit(bool(bad))
PY
rc=$?
[ -z "$tracer" ] || [ -s "$TOP/fatrace.log" ] || echo "fatrace said: $(cat "$TOP/fatrace.err")"
[ $rc = 0 ] || fail "operations were lost or have the wrong author"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317,SC2046,SC2086 # functions are called by name; lists of words
# deny in a run: the server's files are afterwards what they were, those too that the client had never heard of.
. "$(dirname "$0")/lib.sh"
configure deny
denied() {
    plant "$S"
    cold
    rm -f "$TOP/go" "$TOP/done" "$TOP/over"
    (
        until [ -e "$TOP/go" ] || [ -e "$TOP/over" ]; do sleep 0.05; done
        for f in cold1 cold2 cold3; do echo "the server's $f" >"$S/$f"; done
        state "$S" >"$TOP/before"
        touch "$TOP/done"
    ) &
    mountwatch run --fail-on never -- python3 "$HERE/worker.py" "$M" "$TOP/log" "$TOP" 2>"$TOP/said"
    touch "$TOP/over"
    wait
    sync -f "$M"
    state "$S" >"$TOP/after"
    mountwatch report last --json >"$TOP/report.json"
    cp "$TOP/report.json" "$VMLAB_OUT/deny.$KIND.json"
    diff "$TOP/before" "$TOP/after" || fail "$KIND: the server's files are not what they were"
    python3 - "$TOP/report.json" "$TOP/log" "$KIND" <<'PY' || fail "$KIND"
import collections, json, sys
report, log, kind = json.load(open(sys.argv[1])), [json.loads(l) for l in open(sys.argv[2])], sys.argv[3]
bad = [" ".join(s["argv"]) for s in log if s["ok"] and s["ops"] != [] and "sleep" not in s["argv"][-1]]
count = collections.Counter(o["action"] for o in report["operations"])
net = {k: v for k, v in report["net"].items() if v}
coverage = next(w for w in report["watches"] if w["name"] == kind)["coverage"]
print("    %s; verdict %s, losses %s, deny %s" % (dict(count), report["session"]["verdict"],
      sorted({l["reason"] for l in report["session"]["losses"] if l.get("watch") in (None, kind)}), " ".join(coverage["deny"])))
for text, what in (("went through", bad), ("net", net)):
    if what:
        print("    %s: %s" % (text, what))
if count["denied"] < 20:
    sys.exit("    hardly anything is reported as denied")
sys.exit(bool(bad or net))
PY
    for f in cold1 cold2 cold3; do rm -f "$S/$f"; done
}
for_each_kind denied $(awk '$1 != "squash" { print $1 }' "$LAB/mounts")
finish

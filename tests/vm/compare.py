#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py REPORT LOG DIR WATCH    the report of a session beside what worker.py did, as rows for a table; exit 1 when it is not honest.

Honest is: nothing is missing, or the session is incomplete; every row is right, or says that it is inferred.
"""
import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "system"))
sys.argv, argv = sys.argv[:1], sys.argv
OVER = [["create over.tmp"], ["rename over.tmp -> over replaced"]]


def load_line():
    """report.py is a script: its line(), without its main()."""
    path = os.path.join(sys.path[0], "report.py")
    source = open(path, encoding="utf-8").read().rsplit("\nmain()", 1)[0]
    scope = {}
    exec(compile(source, path, "exec"), scope)  # pylint: disable=exec-used
    return scope["line"]


def wanted(log):
    want, may = {}, set()
    for s in log:
        if s["ops"] is None:
            s["ops"] = [o for ops in OVER for o in ops]
            may |= {(o, None) for o in s["ops"]}
        for op in s["ops"] if s["ok"] else []:
            want[op] = s["argv"]
    return want, may


def main():
    report, log = json.load(open(argv[1])), [json.loads(l) for l in open(argv[2])]
    root, watch = os.fsencode(argv[3]), argv[4]
    line = load_line()
    want, _ = wanted(log)
    got = collections.OrderedDict()
    for row in report["operations"]:
        if row["watch"] == watch:
            got.setdefault(line(row, root), []).append(row)
    complete = report["session"]["complete"]
    missing = [o for o in want if o not in got]
    # times and modes change beside nearly everything, and differently on each server
    extra = [o for o in got if o not in want and not o.startswith("metadata ")]
    wrong, inferred = [], collections.Counter()
    for op, argv_ in want.items():
        for row in got.get(op, []):
            cmdline = row["process"].get("cmdline") or []
            if row["attribution"] != "exact":
                inferred[op.split()[0]] += 1
            # a shell that ends in a program of its own runs that one in its place
            if cmdline != argv_ and not (argv_[0] == "sh" and cmdline[:1] in (["mv"], ["sh"])):
                wrong.append("%s by %s" % (op, " ".join(cmdline) or "nobody"))
    coverage = next(w for w in report["watches"] if w["name"] == watch)["coverage"]
    losses = sorted({l["reason"] for l in report["session"]["losses"] if l.get("watch") in (None, watch)})
    for s in log:
        if not s["ok"]:
            print("    did not work: %s: %s" % (" ".join(s["argv"]), s["said"]))
    for name, list_ in (("missing", missing), ("extra", extra), ("wrong process", wrong)):
        for entry in list_:
            print("    %s: %s" % (name, entry))
    per = {}
    for op in ("create", "modify", "delete", "rename", "metadata"):
        n = [o for o in want if o.startswith(op + " ")]
        hit = [o for o in n if o in got]
        per[op] = "%d/%d%s" % (len(hit), len(n), " inferred %d" % inferred[op] if inferred[op] else "")
    print("    coverage %s" % " ".join("%s=%s" % (k, coverage[k]) for k in per))
    print("    seen %s; complete: %s %s" % (", ".join("%s %s" % p for p in per.items()), complete, " ".join(losses)))
    if os.environ.get("VMLAB_OUT"):
        with open(os.environ["VMLAB_OUT"] + "/seen.tsv", "a", encoding="utf-8") as f:
            f.write("\t".join([watch, "yes" if complete else ",".join(losses), str(len(extra)), str(len(wrong))] +
                              ["%s %s" % (coverage[k], per[k]) for k in per]) + "\n")
    bad = []
    if missing and complete:
        bad.append("something is missing and the session says that it is complete")
    if extra:
        bad.append("something is reported that did not happen")
    if wrong:
        bad.append("a row names another process")
    for op in ("create", "modify", "delete", "rename", "metadata"):
        if coverage[op] == "exact" and inferred[op]:
            bad.append("%s was said to be exact and is inferred" % op)
        if coverage[op] == "none" and complete:
            bad.append("%s is not seen here and the session is complete" % op)
    print("".join("    DISHONEST: %s\n" % b for b in bad), end="")
    sys.exit(bool(bad))


main()

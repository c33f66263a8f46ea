#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a report as `mountwatch report --json` gives it.

report.py FILE ROOT operations|untagged [all]   one line for each row: `create a`, `rename a -> b`, `delete d`; paths below
                                                ROOT are relative, bytes that are not UTF-8 are \\xNN; metadata with `all`
report.py FILE ROOT field A.B.0.C               one value
report.py FILE ROOT rows                        op, path, count, attribution, action, test, argv of each row
report.py FILE ROOT net                         the net effect, as operations
"""
import base64
import json
import os
import sys


def relative(doc, name, root):
    """A path below root, as text; None when there is none."""
    raw = doc.get(name + "Raw")
    path = base64.b64decode(raw) if raw else os.fsencode(doc[name]) if doc.get(name) is not None else None
    if path is None:
        return None
    if (path + b"/").startswith(root + b"/"):
        path = path[len(root) + 1:] or b"."
    return path.decode("utf-8", "backslashreplace")


def line(row, root):
    path = relative(row, "path", root)
    out = row["op"] + " "
    if row["op"] == "rename":
        out += "%s -> %s" % (relative(row, "from", root), path)
    else:
        out += path
        if row.get("from") is not None:
            out += " from " + relative(row, "from", root)
        if row.get("to") is not None:
            out += " to " + relative(row, "to", root)
    if row.get("replaced"):
        out += " replaced"
    return out


def main():
    report = json.load(open(sys.argv[1]))
    root = os.fsencode(sys.argv[2])
    what = sys.argv[3]
    if what in ("operations", "untagged"):
        for row in report.get(what) or []:
            if row["op"] != "metadata" or "all" in sys.argv[4:]:
                print(line(row, root))
    elif what == "rows":
        for row in report["operations"]:
            print("\t".join([line(row, root), str(row["count"]), row["attribution"], row["action"], row.get("test") or "-",
                             " ".join(row["process"].get("cmdline") or []).replace("\n", " ")]))
    elif what == "net":
        net = report["net"]
        for kind in ("created", "modified", "deleted"):
            for path in net[kind]:
                print(kind, relative({"p": path}, "p", root))
        for pair in net["renamed"]:
            print("renamed %s -> %s" % (relative(pair, "from", root), relative(pair, "to", root)))
    elif what == "field":
        value = report
        for step in sys.argv[4].split("."):
            value = value[int(step)] if isinstance(value, list) else value.get(step)
            if value is None:
                break
        print(value if isinstance(value, (str, int, bool, type(None))) else json.dumps(value))
    else:
        sys.exit("report.py: " + what)


main()

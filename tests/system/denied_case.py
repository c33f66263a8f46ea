#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs one reproduction case under a policy that lets nothing happen, and compares the watched tree with what it was.

denied_case.py CASE WATCHED WORK POLICY

A case that is refused goes wrong in its own way: it may fail, or its bystanders may wait for ever for what never comes. So the
session is waited for, not the script; then the whole script is ended.
"""
import hashlib
import json
import os
import signal
import subprocess
import sys
import time

case, watched, work, policy = sys.argv[1:5]


def snapshot():
    tree = {}
    for folder, dirs, files in os.walk(os.fsencode(watched)):
        for name in dirs + files:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            what = [oct(st.st_mode), st.st_uid, st.st_gid]
            if os.path.islink(path):
                what.append(os.fsdecode(os.readlink(path)))
            elif os.path.isfile(path):
                what += [st.st_size, st.st_mtime_ns, hashlib.sha256(open(path, "rb").read()).hexdigest()]
            tree[os.fsdecode(os.path.relpath(path, os.fsencode(watched)))] = what
    return tree


def strangers(doc):
    """What bystanders change; under its old name where the session's rename was refused."""
    other = json.load(open(case + "/not_attributed.json"))
    paths = set(other["created"] + other["modified"] + other["deleted"])
    for r in other["renamed"]:
        paths |= {r["from"], r["to"]}
    names = {os.path.basename(p) for p in paths}
    return paths | {p for p in (os.path.relpath(o["path"], watched) for o in doc["untagged"])
                    if os.path.basename(p) in names}


def mw(*words):
    return subprocess.run(["mountwatch", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def report():
    text = mw("report", "last", "--json")
    return json.loads(text) if text else None


# the case fills the folder itself, so the tree is looked at by what it starts: us
if os.environ.get("DENIED_CASE_BEFORE"):
    json.dump(snapshot(), open(os.environ.pop("DENIED_CASE_BEFORE"), "w"))
    command = sys.argv[5:]
    os.execvp("mountwatch", ["mountwatch", "run", "--fail-on", "never", "--policy", policy, "--", *command])

before_file = work + "/../before.json"
environment = dict(os.environ, DENIED_CASE_BEFORE=before_file,
                   MW_RUN=" ".join([sys.executable, os.path.abspath(__file__), case, watched, work, policy]))
script = subprocess.Popen(["bash", case + "/run.sh", watched, work], env=environment, start_new_session=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for _ in range(3000):
    doc = report()
    if doc and doc["session"]["state"] not in ("active", "lingering"):
        break
    if doc and policy == "freeze" and any(o["action"] == "frozen" for o in doc["operations"]):
        mw("session", "kill", doc["session"]["id"])
    if script.poll() is not None and not doc:
        print("%s: ended with %d without a session" % (os.path.basename(case), script.returncode))
        sys.exit(77 if script.returncode == 77 else 1)
    time.sleep(0.02)
else:
    sys.exit("%s: the session did not end" % case)
try:
    script.wait(2)
except subprocess.TimeoutExpired:
    pass
try:
    os.killpg(script.pid, signal.SIGKILL)
except ProcessLookupError:
    pass

before = json.load(open(before_file))
done = [o for o in doc["operations"] if not (o["action"] == "denied" or o.get("attempt"))]
attempts = len(doc["operations"]) - len(done)


def differences():
    after = snapshot()
    return {p for p in before.keys() | after.keys() if before.get(p) != after.get(p)} - strangers(doc)


changed = differences()
if changed and policy != "deny" and len(changed) == 1 and all(o["action"] in ("killed", "frozen") for o in done):
    mw("undo", doc["session"]["id"])
    done, changed = [], differences()
# a case whose calls never reach us (io_uring is switched off) attempts nothing
if changed or done or doc["session"]["losses"]:
    sys.exit("%s under %s: differs %s, done %s, losses %s" % (
        os.path.basename(case), policy, sorted(changed), [(o["op"], o["path"], o["action"]) for o in done[:5]],
        doc["session"]["losses"]))
print("- %s: %d attempts, nothing has changed" % (os.path.basename(case), attempts))

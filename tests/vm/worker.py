#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""worker.py DIR LOG [COLD]    does something of everything in DIR, a process for each step, and logs how each ended.

LOG gets a line of JSON for each step: {"argv", "ok", "ops", "cold"}; the ops are what a report must have of that process, by this script's
own account. With COLD, a folder that is not watched, it asks for files that only the server has made: COLD/go, COLD/done.
"""
import json
import os
import subprocess
import sys
import time

STORE = "import mmap,os; f=os.open('mapped',os.O_RDWR); m=mmap.mmap(f,0); m[0:4]=b'THAT'; m.flush(); m.close(); os.close(f)"
STEPS = [
    (["sh", "-c", "echo x >new"], ["create new"]),
    (["sh", "-c", "echo x >>old"], ["modify old"]),
    (["sh", "-c", "echo yy >over"], ["modify over"]),
    (["sh", "-c", ": >emptied"], ["modify emptied"]),
    (["cp", "old", "copied"], ["create copied"]),
    (["mkdir", "-p", "made/below/deeper"], ["create made", "create made/below", "create made/below/deeper"]),
    (["sh", "-c", "echo x >made/below/deeper/f"], ["create made/below/deeper/f"]),
    (["dd", "if=/dev/zero", "of=inplace", "bs=4", "count=1", "conv=notrunc", "status=none"], ["modify inplace"]),
    (["python3", "-c", "import os; os.truncate('bytrunc', 2)"], ["modify bytrunc"]),
    (["python3", "-c", STORE], ["modify mapped"]),
    (["chmod", "600", "mode"], ["metadata mode"]),
    (["touch", "-d", "2020-01-01", "touched"], ["metadata touched"]),
    (["mv", "old", "renamed"], ["rename old -> renamed"]),
    (["mv", "new", "target"], ["rename new -> target replaced"]),
    (["sh", "-c", "echo atomic >over.tmp && mv over.tmp over"], None),
    (["rm", "gone"], ["delete gone"]),
    (["rm", "-r", "tree/a"], ["delete tree/a/f", "delete tree/a"]),
    (["mv", "tree", "moved"], ["rename tree -> moved"]),
    (["sh", "-c", "echo x >moved/b/in"], ["create moved/b/in"]),
    (["sh", "-c", "echo x >>moved/b/g"], ["modify moved/b/g"]),
    (["ln", "-s", "nowhere", "sym"], ["create sym"]),
    (["ln", "target", "hard"], ["create hard"]),
    (["sqlite3", "music.db", "delete from t"], ["modify music.db", "create music.db-journal", "delete music.db-journal"]),
    (["sh", "-c", "(sleep 0.2; echo x >late) & exit 0"], ["create late"]),
    (["cat", "opened"], []),
    (["rmdir", "made/below/deeper"], []),
]
COLD_STEPS = [
    (["sh", "-c", "echo x >cold1"], ["modify cold1"]),
    (["sh", "-c", "echo x >>cold2"], ["modify cold2"]),
    (["cp", "/etc/hostname", "cold3"], ["modify cold3"]),
]


def step(argv, ops, log, cold=False):
    r = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    log.write(json.dumps({"argv": argv, "ok": r.returncode == 0, "ops": ops, "cold": cold,
                          "said": r.stderr.decode(errors="replace").strip()}) + "\n")


def main():
    os.chdir(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as log:
        if len(sys.argv) > 3:
            open(sys.argv[3] + "/go", "w", encoding="utf-8").close()
            while not os.path.exists(sys.argv[3] + "/done"):
                time.sleep(0.02)
            for argv, ops in COLD_STEPS:
                step(argv, ops, log, cold=True)
        for argv, ops in STEPS:
            step(argv, ops, log)


main()

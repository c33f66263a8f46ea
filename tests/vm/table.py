#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.py DIR    what the guest found, a line for each filesystem."""
import sys

print("%-13s %-22s %-5s %-5s %s" % ("filesystem", "complete", "extra", "wrong", "create / modify / delete / rename / metadata"))
for row in open(sys.argv[1] + "/seen.tsv", encoding="utf-8"):
    cells = row.rstrip("\n").split("\t")
    print("%-13s %-22s %-5s %-5s %s" % (*cells[:4], " / ".join(cells[4:])))

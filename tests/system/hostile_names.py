#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_names.py FOLDER: makes files whose names try to get out of the page that shows them."""
import os
import sys

top = os.fsencode(sys.argv[1])
names = [
    b"<script>document.title='pwned'<",
    b"<img src=x onerror=\"document.title='pwned'\">",
    b"\" onmouseover=\"document.title='pwned'",
    b"' style='color:red",
    b"new\nline",
    b"caf\xe9",
    b"\x1b[31m",
    "\u202egpj.exe".encode(),
    b"</details></body>",
    b"&lt;b&gt;",
    b"]]>--><!--",
]
for name in names:
    path = top + b"/" + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write("x")

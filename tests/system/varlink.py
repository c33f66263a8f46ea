#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A Varlink client that knows nothing of mountwatch, for what a well-behaved client never sends.

varlink.py SOCKET call METHOD [JSON]    the reply's parameters, or its error: `Interface.Error {"…"}` and exit 1
varlink.py SOCKET follow METHOD [JSON]  a call with `more`: the parameters of each reply on a line, until the peer hangs up
varlink.py SOCKET raw                   sends stdin as it is and prints each reply on a line, `closed` when the peer hangs up
varlink.py SOCKET flood BYTES           sends one message that never ends, and says what came of it
"""
import json
import socket
import sys


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.settimeout(20)
    s.connect(path)
    return s


def replies(s):
    """Messages until the peer closes; a peer that neither answers nor closes is a failure of the test."""
    data = b""
    while True:
        try:
            more = s.recv(65536)
        except ConnectionResetError:
            more = b""
        if not more:
            return
        data += more
        while b"\0" in data:
            message, data = data.split(b"\0", 1)
            yield json.loads(message)


def main():
    s = connect(sys.argv[1])
    if sys.argv[2] == "call":
        call = {"method": sys.argv[3], "parameters": json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}}
        s.sendall(json.dumps(call).encode() + b"\0")
        reply = next(replies(s), None)
        if reply is None:
            sys.exit("closed")
        if "error" in reply:
            print(reply["error"], json.dumps(reply.get("parameters") or {}, sort_keys=True))
            sys.exit(1)
        print(json.dumps(reply.get("parameters") or {}, sort_keys=True))
    elif sys.argv[2] == "follow":
        call = {"method": sys.argv[3], "parameters": json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}, "more": True}
        s.settimeout(None)
        s.sendall(json.dumps(call).encode() + b"\0")
        for reply in replies(s):
            print(json.dumps(reply.get("parameters") or {} if "error" not in reply else reply, sort_keys=True), flush=True)
    elif sys.argv[2] == "raw":
        s.sendall(sys.stdin.buffer.read())
        s.shutdown(socket.SHUT_WR)
        for reply in replies(s):
            print(json.dumps(reply, sort_keys=True))
        print("closed")
    elif sys.argv[2] == "flood":
        left = int(sys.argv[3])
        chunk = b'{"method":"' + b"x" * 65536
        try:
            while left > 0:
                s.sendall(chunk)
                left -= len(chunk)
                chunk = b"x" * 65536
        except (BrokenPipeError, ConnectionResetError):
            print("closed after %d of %s bytes" % (int(sys.argv[3]) - left, sys.argv[3]))
            return
        s.shutdown(socket.SHUT_WR)
        for reply in replies(s):
            print(json.dumps(reply, sort_keys=True))
        print("closed")


main()

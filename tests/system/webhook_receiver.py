#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A receiver of webhooks that does what it is told, and writes down what it got.

webhook_receiver.py DIR [--cert FILE --key FILE [--client-ca FILE]]

Its port comes into DIR/port. A POST to /NAME is answered by the first line of DIR/NAME.plan, which is taken out, unless it is
the last; without a plan by 200. Lines: STATUS [HEADER: VALUE], `close` (without an answer), `stall` (never answers), `drip` (a byte at
a time, for ever), `body STATUS TEXT`, `wait SECONDS` (then 200). Each request is a line of JSON in DIR/NAME.log, written before it is answered.
"""
import argparse
import http.server
import json
import os
import ssl
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("dir")
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--client-ca")
args = parser.parse_args()
lock = threading.Lock()


def next_step(name):
    path = os.path.join(args.dir, name + ".plan")
    try:
        with open(path) as f:
            lines = f.read().splitlines()
    except FileNotFoundError:
        return "200"
    if len(lines) > 1:
        with open(path + ".new", "w") as f:
            f.write("\n".join(lines[1:]) + "\n")
        os.rename(path + ".new", path)
    return lines[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = self.path.strip("/").split("?")[0].replace("/", "_") or "root"
        certificate = self.connection.getpeercert() if args.cert else None
        with lock:
            step = next_step(name)
            with open(os.path.join(args.dir, name + ".log"), "a") as f:
                f.write(json.dumps({
                    "at": time.time(), "method": self.command, "path": self.path, "headers": dict(self.headers.items()),
                    "body": body.decode(), "step": step, "client": str(certificate["subject"]) if certificate else None,
                }) + "\n")
        self.answer(step)

    def answer(self, step):
        word, _, rest = step.partition(" ")
        if word == "close":
            self.close_connection = True
        elif word == "stall":
            time.sleep(3600)
        elif word == "drip":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                self.wfile.write(b"x")
                time.sleep(0.1)
        elif word == "wait":
            time.sleep(float(rest))
            self.reply(200, b"")
        elif word == "body":
            status, _, text = rest.partition(" ")
            self.reply(int(status), text.encode())
        else:
            self.reply(int(word), b"", rest)

    def reply(self, status, body, header=""):
        self.send_response(status)
        if header:
            key, _, value = header.partition(": ")
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def finish_request(self, request, address):
        # in the thread of the connection: who does not finish a handshake holds nobody up
        if args.cert:
            request.settimeout(30)
            request = context.wrap_socket(request, server_side=True)
        super().finish_request(request, address)

    def handle_error(self, request, address):
        with lock, open(os.path.join(args.dir, "errors"), "a") as f:
            f.write("a connection failed\n")


if args.cert:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(args.cert, args.key)
    if args.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(args.client_ca)
server = Server(("127.0.0.1", 0), Handler)
with open(os.path.join(args.dir, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(args.dir, "port.new"), os.path.join(args.dir, "port"))
server.serve_forever()

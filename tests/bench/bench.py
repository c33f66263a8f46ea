#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures mountwatch beside a bare fanotify reader and the tools that Debian packages, in one run on one scratch mount.

  bench.py [--bin DIR] [--files N] [--processes N] [--operations N] [--json FILE] [--quick]

Prints a table with ratios, then the same as JSON (or to FILE). Root, in a private mount namespace. Peers that are not installed, or
cannot be run here without touching more than the scratch mount, are "not run" with the reason.
"""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

OVERLOAD = 8  # spinning processes


def say(*words):
    print(*words, file=sys.stderr, flush=True)


class Scratch:
    """A tmpfs, with a folder that is watched; and a second one that nobody watches."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="mwbench.")
        os.chmod(self.top, 0o755)
        self.mnt, self.other = self.top + "/fs", self.top + "/other"
        for d in (self.mnt, self.other):
            os.mkdir(d)
        self.n = 0
        self.fresh()

    def fresh(self):
        for d in (self.mnt, self.other):
            subprocess.run(["umount", "-l", d], stderr=subprocess.DEVNULL)
            subprocess.check_call(["mount", "-t", "tmpfs", "-o", "size=4G,nr_inodes=0", "bench", d])
        os.mkdir(self.mnt + "/w")

    def folder(self):
        """A new one below the watch, so that runs do not meet."""
        self.n += 1
        path = "%s/w/%d" % (self.mnt, self.n)
        os.mkdir(path)
        return path

    def done(self):
        for d in (self.mnt, self.other):
            subprocess.run(["umount", "-l", d])
        shutil.rmtree(self.top, ignore_errors=True)


class Daemon:
    def __init__(self, bench, path=None, policy="record"):
        s = bench.scratch
        self.state = tempfile.mkdtemp(prefix="state.", dir=s.top)
        self.socket = self.state + "/socket"
        conf = self.state + "/conf"
        with open(conf, "w") as f:
            f.write("[Watch bench]\nPath=%s\nPolicy=%s\n" % (path or s.mnt + "/w", policy))
        self.env = dict(os.environ, MOUNTWATCH_SOCKET=self.socket, PATH=bench.bin + ":" + os.environ["PATH"])
        self.log = open(self.state + "/log", "wb")
        self.process = subprocess.Popen([bench.bin + "/mountwatchd", "--config", conf, "--socket", self.socket, "--state-dir",
                                         self.state + "/state"], stdout=self.log, stderr=self.log)
        for _ in range(500):
            if self.client("status").returncode == 0:
                return
            time.sleep(0.02)
        raise RuntimeError("mountwatchd does not answer: " + open(self.state + "/log").read())

    def client(self, *args):
        return subprocess.run(["mountwatch", *args], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *command, wait=True):
        """The command's output, and the finished session's report without its rows' details."""
        p = subprocess.run(["mountwatch", "run", "--fail-on", "never", "--", *command], env=self.env, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        if p.returncode:
            raise RuntimeError("run ended with %d: %s" % (p.returncode, p.stderr.decode()[-500:]))
        return p.stdout.decode()

    def report(self):
        return json.loads(self.client("report", "last", "--json").stdout)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.state, ignore_errors=True)


class Peer:
    """A tool that watches the scratch mount while something happens. `lines`: what it printed."""
    name = command = reason = None

    def __init__(self, bench):
        self.bench = bench

    def available(self):
        if not shutil.which(self.command):
            self.reason = "not installed"
        return self.reason is None

    def start(self):
        self.out = tempfile.NamedTemporaryFile(dir=self.bench.scratch.top, delete=False)
        self.process = subprocess.Popen(self.argv(), stdout=self.out, stderr=subprocess.PIPE, cwd=self.bench.scratch.mnt)
        self.wait_ready()

    def wait_ready(self):
        """It is ready when it prints a canary; tools that do not say so are asked this way."""
        for i in range(500):
            open("%s/w/canary%d" % (self.bench.scratch.mnt, i), "w").close()
            time.sleep(0.02)
            if b"canary" in open(self.out.name, "rb").read():
                return
            if self.process.poll() is not None:
                raise RuntimeError(self.process.stderr.read().decode()[-300:])
        raise RuntimeError("it saw nothing within ten seconds")

    def settle(self):
        """Until it has printed nothing new for half a second."""
        size = -1
        while os.path.getsize(self.out.name) != size:
            size = os.path.getsize(self.out.name)
            time.sleep(0.5)

    def stop(self):
        self.settle()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return open(self.out.name, errors="replace").read().splitlines()


class BareReader(Peer):
    name, command = "bare reader", "true"

    def argv(self):
        return [self.bench.bin + "/tests/bench/bare_reader", self.bench.scratch.mnt, self.mode]

    def __init__(self, bench, mode=""):
        super().__init__(bench)
        self.mode = mode

    def wait_ready(self):
        self.process.stderr.readline()

    def names(self, lines):
        return json.loads(lines[-1])["creates"]

    def attributed(self, lines, processes):
        c = json.loads(lines[-1])
        return c["alive"] / c["events"] if c["events"] else 0


class Fatrace(Peer):
    name = command = "fatrace"

    def argv(self):
        return ["stdbuf", "-oL", "fatrace", "-c"]

    def names(self, lines):
        return len({l.split("/", 1)[-1] for l in lines if re.search(r"/f\d+$", l)})

    def attributed(self, lines, processes):
        ours = [l for l in lines if "/p" in l]
        return sum(not l.startswith("unknown(") for l in ours) / len(ours) if ours else 0


class Inotifywait(Peer):
    name = command = "inotifywait"

    def argv(self):
        return ["stdbuf", "-oL", "inotifywait", "-m", "-r", "-q", "-e", "create,modify,close_write,delete,move", self.bench.scratch.mnt + "/w"]

    def names(self, lines):
        return len({l for l in lines if re.search(r" CREATE f\d+$", l)})

    def attributed(self, lines, processes):
        return 0.0


class Auditd(Peer):
    name = command = "auditd"

    def available(self):
        if not super().available() or not shutil.which("auditctl"):
            self.reason = "not installed"
            return False
        s = subprocess.run(["auditctl", "-s"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        fields = dict(l.split(None, 1) for l in s.stdout.splitlines() if " " in l)
        if s.returncode or "pid" not in fields:
            self.reason = "the kernel has no audit for us"
        elif fields["pid"] != "0" or subprocess.run(["auditctl", "-l"], stdout=subprocess.PIPE, text=True).stdout.strip() != "No rules":
            self.reason = "the machine's own auditd, or rules of others, are there"
        self.was = fields
        return self.reason is None

    def start(self):
        self.dir = tempfile.mkdtemp(prefix="audit.", dir=self.bench.scratch.top)
        self.log = self.dir + "/audit.log"
        with open(self.dir + "/auditd.conf", "w") as f:
            f.write("log_file = %s\nlog_format = RAW\nflush = NONE\nmax_log_file = 4000\nnum_logs = 2\nmax_log_file_action = IGNORE\n"
                    "space_left = 2\nadmin_space_left = 1\nspace_left_action = IGNORE\nadmin_space_left_action = IGNORE\n"
                    "disk_full_action = IGNORE\ndisk_error_action = IGNORE\nwrite_logs = yes\nlocal_events = yes\nq_depth = 32768\n" % self.log)
        os.chmod(self.dir + "/auditd.conf", 0o640)
        self.process = subprocess.Popen(["auditd", "-n", "-s", "enable", "-c", self.dir], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(200):
            time.sleep(0.05)
            if self.process.poll() is not None:
                raise RuntimeError("auditd ended with %d" % self.process.returncode)
            if " %d" % self.process.pid in subprocess.run(["auditctl", "-s"], stdout=subprocess.PIPE, text=True).stdout:
                break
        for rule in (["-b", "32768"], ["-a", "always,exit", "-F", "arch=b64", "-S", "all", "-F", "dir=%s/w" % self.bench.scratch.mnt, "-F", "perm=wa"]):
            subprocess.check_call(["auditctl", *rule], stdout=subprocess.DEVNULL)

    def stop(self):
        size = -1
        while os.path.getsize(self.log) != size:
            size = os.path.getsize(self.log)
            time.sleep(0.5)
        for rule in (["-D"], ["-e", "0"], ["-b", self.was.get("backlog_limit", "64")]):
            subprocess.run(["auditctl", *rule], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return open(self.log, errors="replace").read().splitlines()

    def names(self, lines):
        return sum(bool(re.search(r'name="[^"]*?f\d+" .*nametype=CREATE', l)) for l in lines)

    def attributed(self, lines, processes):
        # a SYSCALL record is written by the process itself, with pid and exe: what came is attributed
        got = len({m.group(1) for m in (re.search(r'name="[^"]*?/?(p\d+)" .*nametype=CREATE', l) for l in lines) if m})
        return got / processes


class Fapolicyd(Peer):
    """Holds the opens of every mount of the types that it is told: here of a type that nothing else has. With files of its own in
    place of the machine's, in this mount namespace, and one rule that allows all."""
    name = command = "fapolicyd"
    FSTYPE = "xfs"
    CONF = ("permissive = 1\nnice_val = 14\nq_size = 640\nuid = root\ngid = root\ndo_stat_report = 0\ndetailed_report = 0\ndb_max_size = 50\n"
            "subj_cache_size = 1549\nobj_cache_size = 8191\nwatch_fs = " + FSTYPE + "\ntrust = file\nintegrity = none\n"
            "syslog_format = rule,dec,perm,auid,pid,exe,:,path,ftype,trust\n")

    def available(self):
        if super().available() and subprocess.run(["pgrep", "-x", "fapolicyd"], stdout=subprocess.DEVNULL).returncode == 0:
            self.reason = "the machine's own runs"
        return self.reason is None

    def start(self):
        self.dir = tempfile.mkdtemp(prefix="fapolicyd.", dir=self.bench.scratch.top)
        self.places = []
        for place in ("/etc/fapolicyd", "/var/lib/fapolicyd", "/run/fapolicyd"):
            own = self.dir + place
            os.makedirs(own)
            os.makedirs(place, exist_ok=True)
            subprocess.check_call(["mount", "--bind", own, place])
            self.places.append(place)
        for name, text in (("fapolicyd.conf", self.CONF), ("fapolicyd.trust", ""), ("compiled.rules", "allow perm=open all : all\n")):
            with open("/etc/fapolicyd/" + name, "w") as f:
                f.write(text)
        # in the foreground; what it would print of each open goes nowhere without --debug-deny's denials
        self.process = subprocess.Popen([self.command, "--debug-deny", "--permissive"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(500):
            if any(l.startswith("fanotify ") for f in glob.glob("/proc/%d/fdinfo/*" % self.process.pid) for l in Bench.lines(f) if "sdev" in l or "mnt_id" in l):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError("it placed no mark")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for place in self.places:
            subprocess.run(["umount", "-l", place])
        return []


PEERS = (Fatrace, Inotifywait, Auditd)


class Bench:
    def __init__(self, args):
        self.args = args
        self.bin = os.path.realpath(args.bin)
        self.scratch = Scratch()
        self.result = {"not_run": {}}
        self.rows = []

    # ---- what is measured

    def writer(self, folder, count, mode, prefix=()):
        return [*prefix, self.bin + "/tests/bench/writer", folder, str(count), mode]

    def write_time(self, mode="write", folder=None):
        out = subprocess.check_output(self.writer(folder or self.scratch.folder(), self.args.files, mode), text=True)
        return float(out.strip().splitlines()[-1])

    def with_peer(self, cls, measure, *args):
        """measure() while the peer runs; (result, the peer's lines, the peer), or None and the reason noted."""
        peer = cls(self, *args)
        if not peer.available():
            self.result["not_run"][peer.name] = peer.reason
            return None
        try:
            peer.start()
        except (RuntimeError, OSError, subprocess.CalledProcessError) as e:
            self.result["not_run"][peer.name] = str(e).strip() or "did not start"
            return None
        try:
            value = measure()
        finally:
            lines = peer.stop()
        return value, lines, peer

    def throughput(self):
        """Create, write, close of many files by one process, and how many of the creations each tool tells. Each reader watches several
        runs, of which the median counts: one run is at the mercy of where the scheduler puts two busy processes."""
        n, runs = self.args.files, 1 if self.args.quick else 3

        def write_times():
            return [self.write_time() for _ in range(runs)]

        def row(times, lost):
            return {"files_per_s": n / statistics.median(times), "lost": lost}
        rows = {"nobody": row(write_times(), None)}
        got = self.with_peer(BareReader, write_times)
        if got:
            rows["bare reader"] = row(got[0], max(0, runs * (n + (n + 999) // 1000) - got[2].names(got[1])))
        d = Daemon(self)
        times, lost, complete = [], 0, True
        for _ in range(runs):
            times.append(float(d.run(*self.writer(self.scratch.folder(), n, "write"))))
            report = d.report()
            lost += n - sum(r["op"] == "create" and r["kind"] == "file" for r in report["operations"])
            complete = complete and report["session"]["complete"]
        rows["mountwatch"] = dict(row(times, lost), complete=complete)
        d.stop()
        for cls in PEERS:
            got = self.with_peer(cls, write_times)
            if got:
                rows[got[2].name] = row(got[0], runs * n - got[2].names(got[1]))
        self.result["throughput"] = rows
        bare = rows.get("bare reader", rows["nobody"])["files_per_s"]
        for name, r in rows.items():
            self.row("writer beside %s" % name, "%.0f files/s, %s lost" % (r["files_per_s"], "-" if r["lost"] is None else r["lost"]),
                     "%.2f of a bare reader" % (r["files_per_s"] / bare))

    def short_lived(self, folder):
        """Many processes that live for one file, on an overloaded machine."""
        script = 'for ((i = 0; i < $2; i++)); do touch "$1/p$i"; done'
        return ["bash", "-c", script, "x", folder, str(self.args.processes)]

    def attribution(self):
        n = self.args.processes
        spin = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(OVERLOAD)]
        try:
            rows = {}
            d = Daemon(self)
            d.run(*self.short_lived(self.scratch.folder()))
            report = d.report()
            good = sum(r["op"] == "create" and r["attribution"] == "exact" and os.path.basename((r["process"].get("cmdline") or ["?"])[0]) == "touch"
                       for r in report["operations"])
            rows["mountwatch"] = good / n
            d.stop()
            for cls, args in ((BareReader, ("alive",)), *((c, ()) for c in PEERS)):
                got = self.with_peer(cls, lambda: subprocess.check_call(self.short_lived(self.scratch.folder())), *args)
                if got:
                    rows[got[2].name] = min(1.0, got[2].attributed(got[1], n))
        finally:
            for p in spin:
                p.kill()
                p.wait()
        self.result["attribution"] = rows
        for name, rate in rows.items():
            self.row("short-lived writers named by %s" % name, "%.2f %%" % (100 * rate), "%.2f of mountwatch" % (rate / rows["mountwatch"] if rows["mountwatch"] else 0))

    @staticmethod
    def quantiles(samples):
        samples = sorted(samples)
        return {"p50_us": samples[len(samples) // 2] / 1e3, "p99_us": samples[len(samples) * 99 // 100] / 1e3, "n": len(samples)}

    def latency(self):
        """From the call that creates a name to the line, or the message, that tells it."""
        count = 300 if self.args.quick else 2000
        d = Daemon(self)
        s = socket.socket(socket.AF_UNIX)
        s.connect(d.socket)
        s.settimeout(10)
        s.sendall(json.dumps({"method": "io.mountwatch.GetOperations", "parameters": {"follow": True, "watch": "bench"}, "more": True}).encode() + b"\0")
        p = subprocess.Popen(["mountwatch", "run", "--fail-on", "never", "--", *self.writer(self.scratch.folder(), count, "stamp")], env=d.env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        samples, data = [], b""
        while len(samples) < count:
            data += s.recv(1 << 20)
            now = time.time_ns()
            *messages, data = data.split(b"\0")
            for m in messages:
                for op in json.loads(m)["parameters"]["operations"]:
                    name = os.path.basename(op["path"])
                    if op["op"] == "create" and name.startswith("t"):
                        samples.append(now - int(name[1:]))
        p.wait()
        s.close()
        d.stop()
        rows = {"mountwatch": self.quantiles(samples)}
        for cls, args in ((BareReader, ("names",)), (Fatrace, ()), (Inotifywait, ())):
            got = self.pipe_latency(cls(self, *args), count)
            if got:
                rows[cls.name] = self.quantiles(got)
        self.result["latency"] = rows
        bare = rows.get("bare reader", rows["mountwatch"])
        for name, q in rows.items():
            self.row("create to told, %s" % name, "p50 %.0f us, p99 %.0f us" % (q["p50_us"], q["p99_us"]), "%.1f of a bare reader" % (q["p50_us"] / bare["p50_us"]))

    def alert(self):
        """From the call that creates a name, the first violation of a session, to the alert on FollowAlerts; a session for each. Also
        while as many processes spin as nobody's machine has cores for."""
        count = 20 if self.args.quick else 200
        self.result["alert"] = {}
        for load in (0, OVERLOAD):
            d = Daemon(self, policy="alert")
            spinning = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(load)]
            try:
                q = self.quantiles(self.first_alerts(d, count))
            finally:
                for p in spinning:
                    p.kill()
                    p.wait()
                d.stop()
            self.result["alert"]["spinning_%d" % load if load else "idle"] = q
            self.row("first violation to alert%s" % (", %d processes spin" % load if load else ""),
                     "p50 %.0f us, p99 %.0f us" % (q["p50_us"], q["p99_us"]), "10,000 us is the bound")

    def first_alerts(self, d, count):
        s = socket.socket(socket.AF_UNIX)
        s.connect(d.socket)
        s.settimeout(60)
        s.sendall(b'{"method":"io.mountwatch.FollowAlerts","more":true}\0')
        # when it is on the socket, not when the spinning processes let this script look; what is started from here is as before
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        samples, data = [], b""
        for _ in range(count):
            p = subprocess.Popen(["mountwatch", "run", "--fail-on", "never", "--", *self.writer(self.scratch.folder(), 1, "stamp")],
                                 env=d.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            told = set()
            while "summary" not in told:
                data += s.recv(1 << 20)
                now = time.time_ns()
                *messages, data = data.split(b"\0")
                for alert in (json.loads(m)["parameters"].get("alert") for m in messages):
                    if alert and alert["kind"] == "violation":
                        samples.append(now - int(os.path.basename(alert["paths"][0])[1:]))
                    told.add(alert["kind"] if alert else None)
            p.wait()
        os.sched_setscheduler(0, *before)
        s.close()
        return samples

    def pipe_latency(self, peer, count):
        if not peer.available():
            return None
        p = subprocess.Popen(peer.argv(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.scratch.mnt)
        folder = self.scratch.folder()
        time.sleep(1)
        w = subprocess.Popen(self.writer(folder, count, "stamp"), stdout=subprocess.DEVNULL)
        seen = {}
        os.set_blocking(p.stdout.fileno(), False)
        data, end = b"", time.monotonic() + 30
        while len(seen) < count and time.monotonic() < end:
            more = p.stdout.read() if self.readable(p.stdout) else b""
            now = time.time_ns()
            data += more or b""
            *lines, data = data.split(b"\n")
            for line in lines:
                m = re.search(rb"\bt(\d{19})\b", line)
                if m:
                    seen.setdefault(m.group(1), now - int(m.group(1)))
            if not more and w.poll() is not None and time.monotonic() > end - 25:
                break
        w.wait()
        p.terminate()
        p.wait()
        return list(seen.values()) or None

    @staticmethod
    def readable(f):
        import select
        return bool(select.select([f], [], [], 0.5)[0])

    def bystanders(self):
        """What a session costs those who have nothing to do with it: writers elsewhere, and whoever starts processes."""
        spawn = ["bash", "-c", "for ((i = 0; i < 2000; i++)); do /bin/true; done"]

        def spawn_time():
            begun = time.monotonic()
            subprocess.check_call(spawn)
            return time.monotonic() - begun

        def elsewhere():
            return self.write_time("write", tempfile.mkdtemp(dir=self.scratch.other))
        before = statistics.median(elsewhere() for _ in range(5)), statistics.median(spawn_time() for _ in range(3))
        d = Daemon(self)
        idle = statistics.median(elsewhere() for _ in range(5)), statistics.median(spawn_time() for _ in range(3))
        session = subprocess.Popen(["mountwatch", "run", "--fail-on", "never", "--", "sleep", "1000"], env=d.env, stderr=subprocess.DEVNULL)
        for _ in range(500):
            if b"active" in d.client("session", "list").stdout:
                break
            time.sleep(0.02)
        during = statistics.median(elsewhere() for _ in range(5)), statistics.median(spawn_time() for _ in range(3))
        session.terminate()
        session.wait()
        d.stop()
        self.result["bystanders"] = {"unwatched_write_s": {"nobody": before[0], "idle": idle[0], "session": during[0]},
                                     "spawn_2000_s": {"nobody": before[1], "idle": idle[1], "session": during[1]}}
        self.row("unwatched filesystem, daemon idle", "%.0f files/s" % (self.args.files / idle[0]), "%.2f of without" % (before[0] / idle[0]))
        self.row("unwatched filesystem, during a session", "%.0f files/s" % (self.args.files / during[0]), "%.2f of without" % (before[0] / during[0]))
        self.row("starting 2,000 processes beside a session", "%.2f s" % during[1], "%.2f of without" % (during[1] / before[1]))

    def run_true(self):
        d = Daemon(self)
        n = 20 if self.args.quick else 60

        def median(argv):
            times = []
            for _ in range(n):
                begun = time.monotonic()
                subprocess.check_call(argv, env=d.env, stderr=subprocess.DEVNULL)
                times.append((time.monotonic() - begun) * 1e3)
            return statistics.median(times)
        plain, under = median(["true"]), median(["mountwatch", "run", "--", "true"])
        d.stop()
        self.result["run_true"] = {"true_ms": plain, "run_true_ms": under, "difference_ms": under - plain}
        self.row("mountwatch run true, over true", "%.1f ms" % (under - plain), "limit 15 ms")

    def idle(self):
        d = Daemon(self)
        d.run("true")
        time.sleep(3)

        def switches():
            total = 0
            for f in glob.glob("/proc/%d/task/*/status" % d.process.pid):
                total += sum(int(l.split()[1]) for l in open(f) if "ctxt_switches" in l)
            return total
        seconds = 5 if self.args.quick else 10
        before = switches()
        time.sleep(seconds)
        woken = switches() - before
        rss = next(int(l.split()[1]) for l in open("/proc/%d/status" % d.process.pid) if l.startswith("VmRSS"))
        marks = sum(l.startswith("fanotify ") and "flags" not in l for f in glob.glob("/proc/%d/fdinfo/*" % d.process.pid) for l in self.lines(f))
        d.stop()
        self.result["idle"] = {"rss_kib": rss, "wakeups": woken, "seconds": seconds, "marks": marks}
        self.row("idle, after a session", "%.1f MiB, %d wake-ups in %d s, %d marks" % (rss / 1024, woken, seconds, marks), "limit 8 MiB, 0, 0")

    @staticmethod
    def lines(path):
        try:
            return open(path).readlines()
        except OSError:
            return []

    def million(self):
        """Report time and store size for many operations of one session."""
        files = self.args.operations // 2
        d = Daemon(self)
        begun = time.monotonic()
        d.run(*self.writer(self.scratch.folder(), files, "pairs"))
        took = time.monotonic() - begun
        begun = time.monotonic()
        text = d.client("report", "last")
        text_s = time.monotonic() - begun
        begun = time.monotonic()
        js = d.client("report", "last", "--json")
        json_s = time.monotonic() - begun
        report = json.loads(js.stdout)
        rows = len(report["operations"])
        size = sum(os.path.getsize(f) for f in glob.glob(d.state + "/state/*"))
        rss = next(int(l.split()[1]) for l in open("/proc/%d/status" % d.process.pid) if l.startswith("VmHWM"))
        complete = report["session"]["complete"]
        d.stop()
        self.result["million"] = {"operations": rows, "complete": complete, "run_s": took, "report_s": text_s, "report_json_s": json_s,
                                  "store_bytes": size, "bytes_per_operation": size / rows if rows else None, "daemon_peak_kib": rss,
                                  "report_status": text.returncode}
        self.row("%d operations in one session" % rows, "%.1f s, complete: %s" % (took, complete), "%.0f operations/s" % (rows / took))
        self.row("their report", "%.1f s as text, %.1f s as JSON" % (text_s, json_s), "%.1f us each" % (1e6 * json_s / max(rows, 1)))
        self.row("their store", "%.1f MiB" % (size / 2**20), "%.0f bytes each" % (size / max(rows, 1)))

    def held(self):
        """What waiting for the answer costs who opens a file on a held filesystem and is in no session."""
        rows = json.loads(subprocess.check_output([self.bin + "/tests/bench/bench_hold"]))
        self.result["held"] = rows
        for who, q in rows.items():
            self.row("held open of a bystander, %s" % who.replace("_", " "), "p50 %.1f us, p99 %.1f us" % (q["hold_p50_us"], q["hold_p99_us"]),
                     "%.2f of a bare responder" % q["ratio_p50"])

    def held_peer(self):
        """The same beside the one tool that holds opens too, seen from outside: opens of a file by a process of no session."""
        if any(l.split()[2] == Fapolicyd.FSTYPE for l in open("/proc/self/mounts")):
            self.result["not_run"]["fapolicyd"] = "it would hold the machine's own %s mounts" % Fapolicyd.FSTYPE
            return
        if not shutil.which("mkfs." + Fapolicyd.FSTYPE):
            self.result["not_run"]["fapolicyd"] = "no mkfs." + Fapolicyd.FSTYPE
            return
        mnt, image = self.scratch.top + "/held", self.scratch.top + "/image"
        os.mkdir(mnt)
        subprocess.check_call(["truncate", "-s", "320M", image])
        subprocess.check_call(["mkfs." + Fapolicyd.FSTYPE, "-q", image])
        subprocess.check_call(["mount", "-o", "loop", image, mnt])
        try:
            self.held_opens(mnt)
        finally:
            subprocess.run(["umount", "-l", mnt])

    def held_opens(self, mnt):
        """They take turns: whether the answer comes from the same CPU or from another one makes more of a difference than who answers."""
        path = mnt + "/file"
        open(path, "w").close()

        def opens():
            samples = []
            for _ in range(500 if self.args.quick else 4000):
                begun = time.perf_counter_ns()
                fd = os.open(path, os.O_RDWR)
                samples.append(time.perf_counter_ns() - begun)
                os.close(fd)
            return samples

        def beside_mountwatch():
            d = Daemon(self, mnt, "deny")
            session = subprocess.Popen(["mountwatch", "run", "--no-guard", "--fail-on", "never", "--", "sleep", "1000"], env=d.env, stderr=subprocess.DEVNULL)
            for _ in range(500):
                if b"active" in d.client("session", "list").stdout:
                    break
                time.sleep(0.02)
            samples = opens()
            session.terminate()
            session.wait()
            d.stop()
            return samples
        rows = {"nobody": [], "mountwatch": [], "fapolicyd": []}
        for _ in range(2 if self.args.quick else 9):
            rows["nobody"] += opens()
            rows["mountwatch"] += beside_mountwatch()
            got = self.with_peer(Fapolicyd, opens)
            rows["fapolicyd"] += got[0] if got else []
        rows = {name: self.quantiles(samples) for name, samples in rows.items() if samples}
        self.result["held_peer"] = rows
        for name, q in rows.items():
            self.row("open by a bystander, held by %s" % name, "p50 %.1f us, p99 %.1f us" % (q["p50_us"], q["p99_us"]),
                     "%.2f of mountwatch" % (q["p50_us"] / rows["mountwatch"]["p50_us"]))

    def guarded(self):
        """What the guard costs a call of the session that does not touch a watch."""
        q = json.loads(subprocess.check_output([self.bin + "/tests/bench/bench_guard", "400" if self.args.quick else "4000"]))
        self.result["guarded"] = q
        for who, name in (("free", "unguarded unlink"), ("bare", "unlink by way of a bare supervisor"),
                          ("guarded", "guarded unlink of an unwatched path")):
            self.row(name,
                     "p50 %.1f us, p99 %.1f us" % (q[who + "_ns"] / 1e3, q[who + "_p99_ns"] / 1e3),
                     "%.2f of a bare supervisor" % (q[who + "_ns"] / q["bare_ns"]))

    # ---- output

    def row(self, what, value, ratio):
        self.rows.append((what, value, ratio))
        say("  %-44s %-40s %s" % (what, value, ratio))

    def run(self):
        for part in ("throughput", "attribution", "latency", "alert", "bystanders", "held", "held_peer", "guarded", "run_true", "idle", "million"):
            if self.args.only and part not in self.args.only:
                continue
            say(part)
            self.scratch.fresh()
            try:
                getattr(self, part)()
            except (RuntimeError, OSError, KeyError, ValueError, subprocess.SubprocessError) as e:
                self.result[part] = {"failed": "%s: %s" % (type(e).__name__, e)}
                self.row(part, "FAILED", str(e)[:100])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--bin", default="build")
    ap.add_argument("--files", type=int, default=50000)
    ap.add_argument("--processes", type=int, default=3000)
    ap.add_argument("--operations", type=int, default=1000000)
    ap.add_argument("--only", action="append", help="one part; may be repeated")
    ap.add_argument("--json", metavar="FILE")
    ap.add_argument("--quick", action="store_true", help="a tenth of everything: to see that it works")
    args = ap.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench: needs root, for a scratch mount and for the kernel's file events")
    if "BENCH_NAMESPACE" not in os.environ:
        os.environ["BENCH_NAMESPACE"] = "1"
        private = os.path.dirname(os.path.realpath(__file__)) + "/../private"
        os.execv(private, [private, sys.executable, *sys.argv])
    if args.quick:
        args.files, args.processes, args.operations = args.files // 10, args.processes // 10, args.operations // 10
    bench = Bench(args)
    try:
        bench.run()
    finally:
        bench.scratch.done()
    print("%-44s %-40s %s" % ("what", "measured", "beside"))
    for row in bench.rows:
        print("%-44s %-40s %s" % row)
    for name, reason in sorted(bench.result["not_run"].items()):
        print("%-44s not run: %s" % (name, reason))
    bench.result["machine"] = {"kernel": os.uname().release, "cpus": os.cpu_count(), "load": os.getloadavg()[0]}
    text = json.dumps(bench.result, indent=1)
    if args.json:
        with open(args.json, "w") as f:
            f.write(text + "\n")
    else:
        print(text)
    sys.exit(any("failed" in v for v in bench.result.values() if isinstance(v, dict)))


main()

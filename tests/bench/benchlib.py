"""What tools/bench measures with: private servers, the load generator, and the kernel's counters.

Everything lives in one temporary directory and on free loopback ports.  Processes are started through Bench.spawn() and
ended by their process id when Bench is left, on every path out.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import http.client

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
TICK = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """A measurement could not be made; its text says why."""


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def counters(pid: int) -> dict:
    """CPU seconds, PSS in bytes and voluntary context switches of a process."""
    proc = pathlib.Path(f"/proc/{pid}")
    fields = (proc / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / TICK
    if len(os.listdir(proc / "task")) == 1:
        with contextlib.suppress(OSError, ValueError):  # nanoseconds instead of ticks, where the kernel has them
            cpu = int((proc / "schedstat").read_text().split()[0]) / 1e9 or cpu
    pss = int(re.search(r"^Pss:\s+(\d+)", (proc / "smaps_rollup").read_text(), re.M)[1]) * 1024
    wakeups = sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (t / "status").read_text(), re.M)[1])
                  for t in (proc / "task").iterdir())
    return {"cpu": cpu, "pss": pss, "wakeups": wakeups}


class Bench:
    def __init__(self, quick: bool):
        self.quick = quick
        self.children, self.directories = [], set()
        self.undo = []  # what has no process of its own to end: called last, the newest first

    def __enter__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="stoker-bench."))
        for signo in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signo, lambda *_: sys.exit(1))
        return self

    def __exit__(self, *_):
        for signo in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(signo, signal.SIG_IGN)  # who asks twice gets no more than who asks once
        for p in reversed(self.children):
            self.end(p)
        for data in self.directories:
            if data.exists():
                subprocess.run([BUILD / "stoker", "down", "--data", data], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        for undo in reversed(self.undo):
            undo()
        shutil.rmtree(self.dir, ignore_errors=True)

    def spawn(self, argv, **kwargs) -> subprocess.Popen:
        p = subprocess.Popen([str(a) for a in argv], **kwargs)
        self.children.append(p)
        return p

    def end(self, p: subprocess.Popen):
        if p.stdin:
            p.stdin.close()  # the load generator waits for this at its gate
        if p.poll() is None:
            p.terminate()
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        if p in self.children:
            self.children.remove(p)
        if p.stdout:
            p.stdout.close()


class Stoker:
    """A private `stoker serve`; `wrap` goes in front of its command line, for valgrind."""

    def __init__(self, bench: Bench, name: str, wrap=(), args=()):
        self.bench, self.data, self.wrap, self.args = bench, bench.dir / name, list(wrap), list(args)
        self.socket, self.log = bench.dir / f"{name}.sock", bench.dir / f"{name}.log"
        self.made = 0  # ConfigMaps bench-0 ... in namespace default
        self.token = None
        bench.directories.add(self.data)  # pods and their network outlive a server that is merely stopped

    def start(self):
        """Returns the seconds from exec to the ready line."""
        with open(self.log, "ab") as log:
            began = time.monotonic()
            self.process = self.bench.spawn(
                [*self.wrap, BUILD / "stoker", "serve", "--data", self.data, "--listen", "127.0.0.1:0",
                 "--socket", self.socket, "--log-level", "warn", *self.args],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        ready = time.monotonic() - began
        if not line.startswith("stoker: ready "):
            raise Failure("stoker serve did not start: " + self.log.read_text()[-1000:])
        self.url = line.split()[2]
        self.pid = self.process.pid
        if not self.token:
            self.token = self.make_token()
        return ready

    def make_token(self, user="bench") -> str:
        r = subprocess.run([BUILD / "stoker", "token", "create", "--socket", self.socket, "--user", user,
                            "--group", "system:masters"], capture_output=True, text=True)
        if r.returncode:
            raise Failure("stoker token create: " + r.stderr.strip())
        return r.stdout.splitlines()[-1]

    def stop(self):
        self.bench.end(self.process)

    def request(self, method: str, path: str, body=None):
        """One request on a connection of its own: status and text."""
        host, port = self.url.removeprefix("https://").split(":")
        c = http.client.HTTPSConnection(host, int(port), context=unverified)
        try:
            c.request(method, path, body=json.dumps(body) if body else None,
                      headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
            r = c.getresponse()
            return r.status, r.read().decode()
        finally:
            c.close()

    def namespace(self, name: str):
        status, text = self.request("POST", "/api/v1/namespaces",
                                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        if status not in (201, 409):
            raise Failure(f"namespace {name}: {text}")

    def fill(self, total: int):
        if total > self.made:
            self.create(requests=total - self.made)

    def create(self, **options) -> dict:
        r = load(self, "create", connections=64, start=self.made, **options)
        self.made += r["requests"]
        return r


unverified = ssl._create_unverified_context()  # loopback, and the certificate is the server's own


class Etcd:
    """Debian's etcd, durable as it comes, reached by its JSON gateway over plain HTTP."""
    token = None

    def __init__(self, bench: Bench):
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.url, self.made = client, 0
        with open(bench.dir / "etcd.log", "wb") as log:
            self.process = bench.spawn(
                ["etcd", "--data-dir", bench.dir / "etcd", "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"default={peer}", "--log-level", "error"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=bench.dir)
        self.bench, self.pid = bench, self.process.pid
        for _ in range(200):
            with contextlib.suppress(OSError):
                c = http.client.HTTPConnection(client.removeprefix("http://"), timeout=5)
                c.request("GET", "/health")
                if "true" in c.getresponse().read().decode():
                    return
            time.sleep(0.05)
        raise Failure("etcd did not start: " + (bench.dir / "etcd.log").read_text()[-1000:])

    def put(self, **options) -> dict:
        r = load(self, "put", start=self.made, **options)
        self.made += r["requests"]
        return r


class Load:
    """The load generator, held at its gate: connections stand, nothing is sent yet."""

    def __init__(self, server, mode: str, **options):
        argv = [BUILD / "tests" / "bench-load", "--url", server.url, mode]
        argv += [f"--{k}={v}" for k, v in options.items()]
        env = dict(os.environ, LOAD_TOKEN=server.token) if server.token else None
        self.server, self.what = server, f"{mode} {options}"
        self.process = server.bench.spawn([*argv, "--gate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                          env=env)
        self.line()

    def line(self) -> str:
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"load generator ended early: {self.what}")
        return line

    def go(self):
        self.before = counters(self.server.pid)
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def result(self) -> dict:
        r = json.loads(self.line())
        r["cpu_us"] = 1e6 * (counters(self.server.pid)["cpu"] - self.before["cpu"]) / max(r["requests"], 1)
        return r

    def finish(self):
        self.server.bench.end(self.process)


def load(server, mode: str, **options) -> dict:
    run = Load(server, mode, **options)
    run.go()
    r = run.result()
    run.finish()
    if r["errors"]:
        print(f"bench: {r['errors']} of {r['requests']} requests failed: {run.what}", file=sys.stderr)
    return r

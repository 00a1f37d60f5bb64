# SPDX-License-Identifier: Apache-2.0
"""wire.py - a server to start and kill, and HTTP spoken by hand

Fault tests need a client that hides nothing: a request is bytes, an answer is counted as given only when its last byte
has come, and a connection that breaks off is a result like any other.  Standard library only.
"""
import ctypes
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import time

STOKER = os.environ.get("STOKER", os.path.join(os.path.dirname(__file__), "../../build/stoker"))


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """A test that is killed leaves no server behind."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Gone(Exception):
    """The connection ended before the answer was whole."""


class Server:
    """`stoker serve` on a directory; .start() returns when it can serve, or raises with what it said.  Without a node it
    only serves the API."""

    def __init__(self, home, args=(), prefix=(), node=False):
        self.home, self.args, self.prefix, self.node = home, list(args), list(prefix), node
        self.data = os.path.join(home, "data")
        self.sock = os.path.join(home, "sock")
        self.log = os.path.join(home, "err")
        self.proc = None
        os.makedirs(home, exist_ok=True)

    def spawn(self):
        argv = self.prefix + [STOKER, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--socket", self.sock]
        argv += [] if self.node else ["--no-node"]
        self.log_from = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        with open(self.log, "ab") as log:
            self.proc = subprocess.Popen(argv + self.args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                         preexec_fn=die_with_parent)
        return self

    def wait_ready(self, timeout=None):
        """True once it serves; False if it ended instead, or said nothing in time."""
        self.url = None
        if select.select([self.proc.stdout], [], [], timeout)[0]:
            line = self.proc.stdout.readline().decode()
            self.url = line.split()[2] if line.startswith("stoker: ready") else None
        return self.url is not None

    def start(self):
        self.spawn()
        if not self.wait_ready():
            self.proc.wait()
            raise RuntimeError("the server did not start: status %s: %s" % (self.proc.returncode, self.said()))
        return self

    def said(self):
        with open(self.log, "rb") as log:
            log.seek(self.log_from)
            return log.read().decode(errors="replace").strip()

    def kill(self):
        self.end(signal.SIGKILL)

    def stop(self):
        return self.end(signal.SIGTERM)

    def end(self, signo):
        while self.proc.poll() is None:
            self.proc.send_signal(signo)
            try:
                self.proc.wait(20)
            except subprocess.TimeoutExpired:
                pass  # the signal itself may be what a test made fail: say it again
        self.proc.stdout.close()
        return self.proc.returncode

    def memory_kib(self):
        """Proportional share of what it has resident."""
        with open("/proc/%d/smaps_rollup" % self.proc.pid) as f:
            return next(int(line.split()[1]) for line in f if line.startswith("Pss:"))

    def connect(self, timeout=30):
        return Conn(unix_socket(self.sock, timeout))

    def connect_tls(self, timeout=30):
        return Conn(tls_socket(self.url, timeout))


def unix_socket(path, timeout=30):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(path)  # waits while the queue is full; with a timeout it would give up at once
    s.settimeout(timeout)
    return s


def tcp_socket(url, timeout=30):
    host, port = url.split("//")[1].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout)


def tls_socket(url, timeout=30):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(tcp_socket(url, timeout))


def request_bytes(method, path, body=None, headers=()):
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: x", "User-Agent: e2e"]
    if body is not None:
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        lines.append("Content-Length: %d" % len(body))
        if not any(h.lower().startswith("content-type:") for h in headers):
            lines.append("Content-Type: application/json")
    return "\r\n".join([*lines, *headers, "", ""]).encode() + (body or b"")


class Reply:
    def __init__(self, code, headers, body):
        self.code, self.headers, self.body = code, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def is_status(self):
        """A Status of Kubernetes that says the same as the status line."""
        try:
            return self.json["kind"] == "Status" and self.json["code"] == self.code and bool(self.json["reason"])
        except (ValueError, KeyError, TypeError):
            return False


class Conn:
    def __init__(self, sock):
        self.sock = sock
        self.held = b""

    def send(self, data):
        try:
            self.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError) as e:
            raise Gone(str(e)) from e

    def more(self):
        try:
            got = self.sock.recv(262144)
        except (ConnectionResetError, ssl.SSLError) as e:
            raise Gone(str(e)) from e
        if not got:
            raise Gone("end of file")
        self.held += got

    def until(self, mark):
        while mark not in self.held:
            self.more()
        line, self.held = self.held.split(mark, 1)
        return line

    def exactly(self, n):
        while len(self.held) < n:
            self.more()
        out, self.held = self.held[:n], self.held[n:]
        return out

    def head(self):
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return int(lines[0].split()[1]), headers

    def chunk(self):
        """One chunk of a streamed reply; b"" at its end."""
        n = int(self.until(b"\r\n"), 16)
        return self.exactly(n + 2)[:n]

    def reply(self):
        code, headers = self.head()
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while piece := self.chunk():
                body += piece
        else:
            body = self.exactly(int(headers.get("content-length", 0)))
        return Reply(code, headers, body)

    def call(self, method, path, body=None, headers=()):
        self.send(request_bytes(method, path, body, headers))
        return self.reply()

    def watch(self, path):
        """Starts a watch; .events() then yields until the connection ends."""
        self.send(request_bytes("GET", path))
        code, _ = self.head()
        if code != 200:
            raise RuntimeError("watch of %s answered %d" % (path, code))
        return self

    def events(self):
        text = b""
        while piece := self.chunk():
            text += piece
            *lines, text = text.split(b"\n")
            yield from (json.loads(line) for line in lines)

    def close(self):
        self.sock.close()


def eventually(seconds, fn):
    """True as soon as fn() is; False when the time is up, a minute at least: the machine may be busy."""
    end = time.monotonic() + max(seconds, 60)
    while not fn():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True

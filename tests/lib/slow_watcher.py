# SPDX-License-Identifier: Apache-2.0
"""slow_watcher.py HOME - watchers that stop reading: they alone pay"""
import os
import select
import sys
import threading

from checks import Checks
from wire import Server, eventually, request_bytes, unix_socket

PATH = "/api/v1/namespaces/default/configmaps"
CHANGES = 400
BYTES = 60000
STUCK = 6
ALLOWED_KIB = 24 * 1024  # all stuck ones together; what they were sent is six times 24 MB
CLOSED_WITHIN = 60       # the server promises about 30 s; the machine may be busy


def sockets_of(pid):
    names = (os.path.join("/proc/%d/fd" % pid, fd) for fd in os.listdir("/proc/%d/fd" % pid))
    return sum(os.readlink(name).startswith("socket:") for name in names)


class Reader:
    """A watcher that keeps up."""

    def __init__(self, conn):
        self.conn = conn
        self.revisions = []
        self.error = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        conn.watch(PATH + "?watch=1")
        self.thread.start()

    def run(self):
        try:
            for event in self.conn.events():
                if event["object"]["metadata"]["name"] == "news":
                    self.revisions.append(int(event["object"]["metadata"]["resourceVersion"]))
        except Exception as e:  # pylint: disable=broad-except
            self.error = e


def ended(sock):
    """A Unix socket shows its end though there is more to read."""
    poll = select.poll()
    poll.register(sock, select.POLLHUP)
    return bool(poll.poll(0))


def make_changes(server, checks):
    writer = server.connect()
    writer.call("POST", PATH, {"metadata": {"name": "news"}})
    revisions = []
    highest = 0
    codes = set()
    for n in range(CHANGES):
        body = {"metadata": {"name": "news"}, "data": {"n": str(n), "fill": "x" * BYTES}}
        reply = writer.call("PUT", PATH + "/news", body)
        codes.add(reply.code)
        revisions.append(int(reply.json["metadata"]["resourceVersion"]))
        if n % 20 == 0:
            highest = max(highest, server.memory_kib())
    checks.same("%d MB of changes are accepted meanwhile" % (CHANGES * BYTES // 1000000), codes, {200})
    return revisions, max(highest, server.memory_kib())


def story(checks, server):
    readers = [Reader(server.connect(None)) for _ in range(3)]
    plain = [unix_socket(server.sock) for _ in range(STUCK)]
    for sock in plain:
        sock.sendall(request_bytes("GET", PATH + "?watch=1"))
    checks.ok("%d watchers that do not read are there" % STUCK,
              eventually(20, lambda: sockets_of(server.proc.pid) >= 2 + len(readers) + STUCK))
    before = server.memory_kib()
    revisions, highest = make_changes(server, checks)
    checks.ok("memory stays bounded with %d of them stuck" % STUCK, highest - before < ALLOWED_KIB,
              "%d KiB before, %d KiB at most" % (before, highest))
    for i, reader in enumerate(readers):
        checks.ok("reader %d gets every event in order" % (i + 1),
                  eventually(30, lambda r=reader: r.revisions[-len(revisions):] == revisions),
                  "%d of %d; %s" % (len(reader.revisions), len(revisions), reader.error))
    checks.ok("the stuck ones are cut off", eventually(CLOSED_WITHIN, lambda: all(ended(s) for s in plain)),
              "%d of %d still open" % (sum(not ended(s) for s in plain), STUCK))
    checks.ok("and their descriptors are free",
              eventually(10, lambda: sockets_of(server.proc.pid) < 2 + len(readers) + STUCK),
              sockets_of(server.proc.pid))
    checks.ok("the readers are not", all(r.error is None for r in readers), [r.error for r in readers])
    checks.same("others are served", server.connect().call("GET", "/readyz").code, 200)
    for sock in plain:
        sock.close()


def story_lists(checks, server):
    """A list of a few MB that nobody reads costs its buffer and no more."""
    before = server.memory_kib()
    conns = [unix_socket(server.sock) for _ in range(20)]
    for sock in conns:
        sock.sendall(request_bytes("GET", PATH + "?resourceVersion=0") * 3)
    other = server.connect()
    codes = {other.call("GET", PATH + "/news").code for _ in range(50)}
    checks.same("others are served beside twenty unread lists", codes, {200})
    grown = server.memory_kib() - before
    checks.ok("which cost little memory", grown < 20 * 1024, "%d KiB" % grown)
    for sock in conns:
        sock.close()


def fill_list(server):
    conn = server.connect()
    for n in range(100):
        conn.call("POST", PATH, {"metadata": {"name": "l%d" % n}, "data": {"fill": "x" * 50000}})
    conn.close()


def main():
    checks = Checks()
    server = Server(sys.argv[1]).start()
    try:
        story(checks, server)
        fill_list(server)
        story_lists(checks, server)
        checks.same("it ends cleanly", server.stop(), 0)
    finally:
        if server.proc.poll() is None:
            server.kill()
    checks.done()


main()

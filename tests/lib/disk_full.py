# SPDX-License-Identifier: Apache-2.0
"""disk_full.py MOUNT HOME - a server whose file system, mounted on MOUNT, fills and empties again"""
import os
import sys
import threading

from checks import Checks
from ledger import GONE, NAMESPACE, Broken, Ledger, make_data
from wire import Server, eventually

RESOURCE = "configmaps"


class Disk:
    def __init__(self, mount):
        self.filler = os.path.join(mount, "filler")

    def fill(self):
        """Every last block, as a runaway log would."""
        with open(self.filler, "ab", buffering=0) as f:
            for size in (1 << 20, 4096, 512):
                try:
                    while True:
                        f.write(b"\xff" * size)
                except OSError:
                    pass

    def empty(self):
        os.unlink(self.filler)


class Client:
    """Creates, updates, deletes, and writes down what was acknowledged."""

    def __init__(self, server, ledger):
        self.server, self.ledger = server, ledger
        self.conn = server.connect()
        self.n = 0

    def reconnect(self):
        self.conn = self.server.connect()

    def create(self, size=2000):
        self.n += 1
        key = self.ledger.key(RESOURCE, "o%05d" % self.n)
        data = make_data(self.n, size)
        reply = self.conn.call("POST", NAMESPACE + RESOURCE, {"metadata": {"name": key.name}, "data": data})
        if reply.code == 201:
            self.ledger.answered(key, reply.json, 0)
        return reply

    def update(self, key):
        reply = self.conn.call("PUT", key.path, {"metadata": {"name": key.name}, "data": make_data(1)})
        if reply.code == 200:
            self.ledger.answered(key, reply.json, 0)
        return reply

    def delete(self, key):
        reply = self.conn.call("DELETE", key.path)
        if reply.code == 200:
            self.ledger.deleted(key)
        return reply

    def live(self):
        return [k for k in self.ledger.keys.values() if k.state is not GONE]

    def create_until_full(self, size):
        for _ in range(5000):
            reply = self.create(size)
            if reply.code != 201:
                return reply
        return reply

    def settle(self):
        self.ledger.settle(RESOURCE, self.conn.call("GET", NAMESPACE + RESOURCE).json)


class Watcher:
    def __init__(self, server, since):
        self.deleted = set()
        self.error = None
        self.conn = server.connect(timeout=None)
        self.conn.watch(NAMESPACE + RESOURCE + "?watch=1&resourceVersion=%d" % since)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            for event in self.conn.events():
                if event["type"] == "DELETED":
                    self.deleted.add(event["object"]["metadata"]["name"])
        except Exception as e:  # pylint: disable=broad-except
            self.error = e


def check_refusals(checks, how, client, reply):
    status = reply.json if reply.is_status() else {}
    checks.same("%s: a create is refused with 507" % how, reply.code, 507)
    checks.same("%s: the Status gives StorageFull as its reason" % how, status.get("reason"), "StorageFull")
    checks.ok("%s: its message says what to do" % how, "free space" in status.get("message", ""), reply.body)
    checks.same("%s: an update is refused likewise" % how, client.update(client.live()[0]).code, 507)
    ready = client.conn.call("GET", "/readyz?verbose")
    checks.ok("%s: /readyz says so" % how, ready.code >= 500 and b"disk full" in ready.body, (ready.code, ready.body))
    checks.same("%s: /livez stays well" % how, client.conn.call("GET", "/livez").code, 200)


def check_reads_and_deletes(checks, how, client, deletes):
    watcher = Watcher(client.server, client.ledger.newest)
    key = client.live()[0]
    checks.same("%s: a get is answered" % how, client.conn.call("GET", key.path).code, 200)
    client.settle()
    victims = client.live()[-deletes:]  # the newest, which are the large ones
    codes = {client.delete(k).code for k in victims}
    checks.same("%s: %d deletes are done" % (how, len(victims)), codes, {200})
    names = {k.name for k in victims}
    checks.ok("%s: a watcher sees them" % how, eventually(20, lambda: names <= watcher.deleted), watcher.error)
    client.settle()


def check_back(checks, how, client):
    checks.ok("%s: writes are accepted again by themselves" % how, eventually(20, lambda: client.create().code == 201))
    checks.same("%s: /readyz is well again" % how, client.conn.call("GET", "/readyz").code, 200)


def story(checks, disk, server):
    client = Client(server.start(), Ledger())
    for _ in range(150):
        client.create()

    disk.fill()
    reply = client.create_until_full(2000)
    check_refusals(checks, "filled by another", client, reply)
    check_reads_and_deletes(checks, "filled by another", client, 60)
    disk.empty()
    check_back(checks, "room again", client)

    reply = client.create_until_full(60000)
    check_refusals(checks, "filled by objects", client, reply)
    check_reads_and_deletes(checks, "filled by objects", client, 130)
    server.kill()
    server.start()
    client.reconnect()
    client.settle()
    checks.ok("killed while full, it starts and has lost nothing", True)
    check_back(checks, "space of deleted objects", client)

    disk.fill()
    client.create_until_full(2000)
    disk.fill()  # also what the server gave up of its reserve
    server.kill()
    try:
        server.start()
        started = ""
    except RuntimeError as e:
        started = str(e)
    if checks.ok("it starts with not one block free", not started, started):
        client.reconnect()
        client.settle()
        checks.same("and answers creates with 507", client.create().code, 507)
        checks.same("it ends cleanly while full", server.stop(), 0)
    disk.empty()
    server.start()
    client.reconnect()
    client.settle()
    check_back(checks, "room at last", client)
    client.settle()
    checks.ok("of %d acknowledged writes none was lost" % client.ledger.acknowledged, True)
    server.stop()


def main():
    mount, home = sys.argv[1:]
    checks = Checks()
    server = Server(home)
    server.data = os.path.join(mount, "data")
    try:
        story(checks, Disk(mount), server)
    except (Broken, Exception) as e:  # pylint: disable=broad-except
        checks.ok("nothing acknowledged is lost", False, "%s: %s\n%s" % (type(e).__name__, e, server.said()))
    finally:
        if server.proc and server.proc.poll() is None:
            server.kill()
    checks.done()


main()

# SPDX-License-Identifier: Apache-2.0
"""housekeeping.py HOME - churn does not grow anything for ever, and what is compacted away is said to be gone"""
import glob
import os
import sys
import threading

from checks import Checks
from wire import Gone, Server, eventually, request_bytes

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/api/v1/namespaces/default/events"
MERGE = ("Content-Type: application/merge-patch+json",)
ROUNDS = 3
UPDATES = 1200
BATCH = 50
FILL = 6000


def rv(obj):
    return int(obj["metadata"]["resourceVersion"])


def store_bytes(server):
    return sum(os.path.getsize(p) for p in glob.glob(os.path.join(server.data, "stoker.db*")))


def audit_bytes(server):
    return sum(os.path.getsize(p) for p in glob.glob(os.path.join(server.data, "audit.log*")))


def churn(server):
    """Updates of a few objects, as leases and heartbeats make them, and events that come and go."""
    conn = server.connect()
    codes = set()
    for start in range(0, UPDATES, BATCH):
        requests = []
        for n in range(start, start + BATCH):
            name = "busy-%d" % (n % 4)
            requests.append(request_bytes("PUT", MAPS + "/" + name, {
                "metadata": {"name": name}, "data": {"n": str(n), "fill": "x" * FILL}}))
        requests.append(request_bytes("POST", EVENTS, {
            "metadata": {"generateName": "e-"}, "involvedObject": {"kind": "Node", "name": "n"}, "reason": "R",
            "message": "m" * 500, "type": "Normal"}))
        requests.append(request_bytes("PATCH", LEASES + "/heart", {"spec": {"holderIdentity": "h%d" % start}}, MERGE))
        conn.send(b"".join(requests))
        codes.update(accepted(conn.reply()) for _ in requests)
    events = conn.call("DELETE", EVENTS)
    codes.add(events.code)
    conn.close()
    return codes


def accepted(reply):
    return reply.code if reply.code < 300 else reply.body


class Watcher:
    def __init__(self, server, since):
        self.n = 0
        self.last = since
        self.trouble = None
        self.conn = server.connect(None).watch(MAPS + "?watch=1&resourceVersion=%d" % since)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            for event in self.conn.events():
                now = rv(event["object"]) if event["type"] != "ERROR" else -1
                if now <= self.last:
                    self.trouble = "%s at %d after %d" % (event["type"], now, self.last)
                self.last = now
                self.n += 1
        except (Gone, OSError, ValueError) as e:
            self.trouble = self.trouble or str(e)


def too_old(server, since):
    """The answer to a watch that wants to start at a revision compacted away."""
    conn = server.connect().watch(MAPS + "?watch=1&resourceVersion=%d" % since)
    try:
        return next(conn.events())
    finally:
        conn.close()


def story(checks, server):
    conn = server.connect()
    for n in range(4):
        conn.call("POST", MAPS, {"metadata": {"name": "busy-%d" % n}})
    conn.call("POST", LEASES, {"metadata": {"name": "heart"}})
    first = conn.call("GET", MAPS + "?limit=2").json
    token = first["metadata"]["continue"]
    watcher = Watcher(server, rv(first))
    sizes, codes = [], set()
    for _ in range(ROUNDS):
        codes |= churn(server)
        newest = rv(conn.call("GET", MAPS).json)
        gone = lambda: too_old_now(server, newest)  # noqa: E731
        checks.ok("history is compacted behind the writers", eventually(30, gone))
        sizes.append(store_bytes(server))
    checks.same("churn is accepted", codes, {200, 201})
    checks.ok("the database does not grow with it", sizes[-1] < sizes[0] * 1.5, sizes)
    checks.ok("nor is it larger than one round wrote", sizes[-1] < UPDATES * FILL * 2.5, sizes)
    checks.ok("a watcher sees every change meanwhile", eventually(20, lambda: watcher.n >= ROUNDS * UPDATES),
              "%d of %d; %s" % (watcher.n, ROUNDS * UPDATES, watcher.trouble))
    checks.ok("and none twice or backwards", watcher.trouble is None, watcher.trouble)
    event = too_old(server, rv(first))
    checks.same("a watch from long ago is told 410 Expired",
                (event["type"], event["object"].get("code"), event["object"].get("reason")), ("ERROR", 410, "Expired"))
    reply = conn.call("GET", MAPS + "?limit=2&continue=" + token)
    checks.same("a list continued from long ago likewise", (reply.code, reply.is_status()), (410, True))
    checks.ok("the audit log is rotated", audit_bytes(server) < 3 << 20 and
              os.path.exists(os.path.join(server.data, "audit.log.1")), os.listdir(server.data))
    return rv(conn.call("GET", MAPS).json)


def too_old_now(server, since):
    """True once the change behind `since` has been compacted: the history then starts later."""
    conn = server.connect()
    conn.call("PATCH", LEASES + "/heart", {"spec": {"holderIdentity": "poke"}}, MERGE)
    reply = conn.call("GET", MAPS + "?resourceVersion=%d&resourceVersionMatch=Exact" % (since - 1))
    conn.close()
    return reply.code == 410


def main():
    checks = Checks()
    server = Server(sys.argv[1], ["--history", "1s", "--audit-size", "1"]).start()
    try:
        newest = story(checks, server)
        server.kill()
        server.start()
        after = rv(server.connect().call("GET", MAPS).json)
        checks.ok("after a kill revisions go on where they were", after >= newest, (newest, after))
        checks.same("it ends cleanly", server.stop(), 0)
        checks.ok("and leaves no log beside the database", not os.path.exists(os.path.join(server.data, "stoker.db-wal")))
    finally:
        if server.proc.poll() is None:
            server.kill()
    checks.done()


main()

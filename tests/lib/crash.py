# SPDX-License-Identifier: Apache-2.0
"""crash.py HOME ROUNDS [SEED] - writers, watchers, and a server killed at random instants

Each round: start the server on the same directory, hold its lists and its history against the ledger, let writers and
watchers work, and end it after 5 to 80 ms.  Most ends are kill -9; some come while it is still starting, and some are
SIGTERM, which must lose nothing either.
"""
import random
import sys
import threading
import time

from checks import Checks
from ledger import GONE, NAMESPACE, RESOURCES, Broken, History, Ledger, make_data, rv_of
from wire import Gone, Server, request_bytes

WRITERS = 4
KEYS_EACH = 10
MERGE = ("Content-Type: application/merge-patch+json",)


class Writer:
    """Owns its keys, so it always knows what they must be; sends up to four requests before it reads."""

    def __init__(self, ledger, number):
        resource = RESOURCES[number % len(RESOURCES)]
        self.ledger = ledger
        self.keys = [ledger.key(resource, "w%d-%d" % (number, i)) for i in range(KEYS_EACH)]
        self.n = number * 1000000

    def plan(self, key):
        """(bytes of a request, the codes it may get), with its outcome noted as possible."""
        self.n += 1
        if key.state is GONE:
            data = make_data(self.n, random.choice((40, 400, 6000)))
            key.maybe = [data]
            return request_bytes("POST", NAMESPACE + key.resource, {"metadata": {"name": key.name}, "data": data}), 201
        if random.random() < 0.25:
            key.maybe = [GONE]
            return request_bytes("DELETE", key.path), 200
        uid, rv, _ = key.state
        data = make_data(self.n)
        key.maybe = [data]
        if random.random() < 0.3:
            return request_bytes("PATCH", key.path, {"data": data}, MERGE), 200
        meta = {"name": key.name, "uid": uid, "resourceVersion": str(rv)}
        return request_bytes("PUT", key.path, {"metadata": meta, "data": data}), 200

    def batch(self, conn):
        floor = self.ledger.newest
        keys = random.sample(self.keys, random.choice((1, 1, 2, 4)))
        plans = [self.plan(key) for key in keys]
        conn.send(b"".join(request for request, _ in plans))
        for key, (_, wanted) in zip(keys, plans):
            reply = conn.reply()
            if reply.code != wanted:
                raise Broken("%s: %d instead of %d: %s" % (key.name, reply.code, wanted, reply.body[:300]))
            if key.maybe == [GONE]:
                self.ledger.deleted(key)
            else:
                self.ledger.answered(key, reply.json, floor)

    def run(self, server):
        conn = server.connect()
        try:
            while True:
                self.batch(conn)
        finally:
            conn.close()


def follow(history, server):
    conn = server.connect()
    try:
        for event in conn.watch(watch_path(history)).events():
            history.add(event)
    finally:
        conn.close()


def watch_path(history):
    return NAMESPACE + "%s?watch=1&resourceVersion=%d" % (history.resource, history.since)


class Story:
    def __init__(self, home):
        self.server = Server(home)
        self.ledger = Ledger()
        self.writers = [Writer(self.ledger, i) for i in range(WRITERS)]
        self.seen = []  # what the watchers of the last round saw
        self.broken = []
        self.events = self.early = self.terms = 0

    def guarded(self, fn, *args):
        try:
            fn(*args)
        except (Gone, OSError):
            pass
        except Exception as e:  # pylint: disable=broad-except
            self.broken.append("%s: %s" % (type(e).__name__, e))

    def sentinel(self, conn, resource):
        """A write whose event ends the reading of a history."""
        key = self.ledger.key(resource, "sentinel")
        floor = self.ledger.newest
        data = make_data(0)
        if key.state is GONE:
            body = {"metadata": {"name": key.name}, "data": data}
            reply = conn.call("POST", NAMESPACE + resource, body)
        else:
            reply = conn.call("PATCH", key.path, {"data": data}, MERGE)
        if reply.code not in (200, 201):
            raise Broken("after a restart: %d %s" % (reply.code, reply.body[:300]))
        self.ledger.answered(key, reply.json, floor)
        return key.state[1]

    def verify(self):
        conn = self.server.connect()
        for resource in RESOURCES:
            self.ledger.settle(resource, conn.call("GET", NAMESPACE + resource).json)
        for seen in self.seen:
            end = self.sentinel(conn, seen.resource)
            whole = History(self.ledger, seen.resource, seen.since)
            watch = self.server.connect().watch(watch_path(whole))
            for event in watch.events():
                whole.add(event)
                if whole.events and whole.events[-1][1] >= end:
                    break
            watch.close()
            whole.must_begin(seen)
            self.events += len(seen.events)
        listing = conn.call("GET", NAMESPACE + RESOURCES[0] + "?limit=1").json
        conn.close()
        return rv_of(listing)

    def round(self, number):
        if number % 8 == 7:  # also while it recovers from the last one
            self.server.spawn()
            time.sleep(random.uniform(0, 0.03))
            self.server.kill()
            self.early += 1
        self.server.start()
        since = self.verify()
        self.seen = [History(self.ledger, resource, since) for resource in RESOURCES]
        jobs = [(w.run, self.server) for w in self.writers] + [(follow, h, self.server) for h in self.seen]
        threads = [threading.Thread(target=self.guarded, args=job) for job in jobs]
        for t in threads:
            t.start()
        time.sleep(random.uniform(0.005, 0.08))
        if number % 10 == 9:
            self.terms += 1
            status = self.server.stop()
            if status != 0:
                raise Broken("SIGTERM ended it with status %d: %s" % (status, self.server.said()))
        else:
            self.server.kill()
        for t in threads:
            t.join()
        if self.broken:
            raise Broken("; ".join(self.broken))


def main():
    home, rounds = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    random.seed(seed)
    checks = Checks()
    story = Story(home)
    trouble = ""
    number = 0
    try:
        for number in range(rounds):
            story.round(number)
        story.server.start()
        story.verify()
        story.server.stop()
    except Exception as e:  # pylint: disable=broad-except
        trouble = "round %d, seed %d: %s: %s" % (number, seed, type(e).__name__, e)
        if story.server.proc:
            story.server.kill()
    led = story.ledger
    checks.ok("%d rounds of kill -9 lost none of %d acknowledged writes" % (rounds, led.acknowledged), not trouble, trouble)
    checks.ok("every one of %d events that watchers saw is in the history afterwards" % story.events,
              not trouble and story.events > 0, trouble or "no events")
    checks.ok("no revision of %d was used twice or went back" % len(led.given), not trouble and led.given, trouble)
    checks.ok("%d of the kills came while it was starting, %d ends were SIGTERM with status 0" %
              (story.early, story.terms), not trouble, trouble)
    checks.ok("there was enough to lose", led.acknowledged >= rounds * 4, "only %d writes" % led.acknowledged)
    checks.done()


if __name__ == "__main__":
    main()

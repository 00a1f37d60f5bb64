# SPDX-License-Identifier: Apache-2.0
"""ledger.py - what a server has promised, and whether it kept it

Writers note each request before it is sent and each answer when its last byte has come.  After a crash a key may hold
the state of its last answer, or that of a request still under way; nothing else.  The ledger also keeps every revision
ever seen, in answers and in watches: none may come twice, and none may be lower than one given out before.
"""
import base64
import random

GONE = None
NAMESPACE = "/api/v1/namespaces/default/"
RESOURCES = ("configmaps", "secrets")  # plain text at rest, and sealed


class Broken(Exception):
    """A promise was broken."""


def make_data(n, size=200):
    """Values that prove themselves whole: three that belong together."""
    mark = base64.b64encode(b"%d" % n).decode()
    return {"first": mark, "fill": base64.b64encode(random.randbytes(size)).decode(), "last": mark}


def looks_whole(obj):
    data = obj.get("data") or {}
    return sorted(data) == ["fill", "first", "last"] and data["first"] == data["last"]


def rv_of(obj):
    return int(obj["metadata"]["resourceVersion"])


class Key:
    """One object: its acknowledged state (uid, rv, data, or GONE) and what may have come of the request under way."""

    def __init__(self, resource, name):
        self.resource, self.name = resource, name
        self.state = GONE
        self.maybe = []  # data of writes under way, or GONE for a delete

    @property
    def path(self):
        return NAMESPACE + self.resource + "/" + self.name


class Ledger:
    def __init__(self):
        self.keys = {}
        self.newest = 0  # highest revision ever seen
        self.given = {}  # rv -> (resource, name), from answers and events
        self.acknowledged = 0

    def key(self, resource, name):
        return self.keys.setdefault((resource, name), Key(resource, name))

    def saw(self, rv, resource, name):
        owner = self.given.setdefault(rv, (resource, name))
        if owner != (resource, name):
            raise Broken("revision %d belongs to %s and to %s" % (rv, owner, (resource, name)))

    def answered(self, key, obj, floor):
        """A create or update was answered; `floor` is the newest revision known when it was sent."""
        rv = rv_of(obj)
        if rv <= floor:
            raise Broken("%s got revision %d, but %d had been seen before" % (key.name, rv, floor))
        if rv in self.given and self.given[rv] != (key.resource, key.name):
            raise Broken("revision %d given to %s and to %s" % (rv, self.given[rv], key.name))
        self.saw(rv, key.resource, key.name)
        self.newest = max(self.newest, rv)
        key.state = (obj["metadata"]["uid"], rv, obj["data"])
        key.maybe = []
        self.acknowledged += 1

    def deleted(self, key):
        key.state = GONE
        key.maybe = []
        self.acknowledged += 1

    def settle(self, resource, listing):
        """Holds a list made after a restart against what was promised, and takes its truth over."""
        if rv_of(listing) < self.newest:
            raise Broken("the list is at revision %d, but %d was given out" % (rv_of(listing), self.newest))
        found = {o["metadata"]["name"]: o for o in listing["items"] if not o["metadata"]["name"].startswith("kube-")}
        for (res, name), key in self.keys.items():
            if res == resource:
                self.settle_one(key, found.pop(name, None))
        if found:
            raise Broken("nobody asked for %s" % sorted(found))

    def settle_one(self, key, obj):
        if obj is None:
            if key.state is not GONE and GONE not in key.maybe:
                raise Broken("%s was acknowledged at revision %d and is lost" % (key.name, key.state[1]))
            key.state = GONE
        else:
            now = (obj["metadata"]["uid"], rv_of(obj), obj.get("data"))
            if not looks_whole(obj):
                raise Broken("%s is half applied: %.300s" % (key.name, obj))
            if now != key.state and now[2] not in key.maybe:
                raise Broken("%s is neither as acknowledged nor as asked for: %s, %s" % (key.name, now[:2], key.state and key.state[:2]))
            if key.state is not GONE and now[1] < key.state[1]:
                raise Broken("%s went back from revision %d to %d" % (key.name, key.state[1], now[1]))
            self.saw(now[1], key.resource, key.name)
            key.state = now
        key.maybe = []


class History:
    """Events of one watch, in order."""

    def __init__(self, ledger, resource, since):
        self.ledger, self.resource, self.since = ledger, resource, since
        self.events = []

    def add(self, event):
        if event["type"] == "BOOKMARK":
            return
        if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
            raise Broken("a watch said %s" % event)
        obj = event["object"]
        rv = rv_of(obj)
        last = self.events[-1][1] if self.events else self.since
        if rv <= last:
            raise Broken("a watch gave revision %d after %d" % (rv, last))
        self.ledger.saw(rv, self.resource, obj["metadata"]["name"])
        self.ledger.newest = max(self.ledger.newest, rv)
        self.events.append((event["type"], rv, obj["metadata"]["name"], obj.get("data")))

    def must_begin(self, seen):
        """What another watcher had seen is the beginning of this one."""
        if self.events[:len(seen.events)] != seen.events:
            raise Broken("a watcher saw what the history does not have: %s..., %s..." %
                         ([e[:3] for e in seen.events[-3:]],
                          [e[:3] for e in self.events[max(0, len(seen.events) - 3):len(seen.events)]]))

# SPDX-License-Identifier: Apache-2.0
"""training_gangs.py HOME [SEED] - jobs that each need every card, at once, among small ones, while the server is killed

A watch of all pods sees every binding in its order.  From the first pod of a gang that gets a node to the last, nobody
else may get one; and while one gang that needs everything is there, no other has begun.
"""
import random
import sys
import threading
import time

from checks import Checks
from training_world import NAMESPACE, PATIENCE_S, Job, Plan, Role, World, says
from wire import Gone

CARDS = 4
WORK = "sleep 0.%d"


def plan(workers):
    made = Plan("tf", [Role("Worker", WORK % random.randint(1, 4), workers)], [], {"worker": workers})
    manifest = made.manifest

    def with_policy(name, share):
        out = manifest(name, share)
        out["spec"]["successPolicy"] = "AllWorkers"
        return out
    made.manifest = with_policy
    return made


class Watch:
    """The bindings, as they come; what is wrong with them."""

    def __init__(self, world):
        self.world = world
        self.bound = {}  # uid -> gang or pod's own name, of those that take room
        self.seen = {}  # uid -> the same, of all that ever had a node
        self.open = None  # the gang that is being bound
        self.wrong = []
        self.most = 0

    def start(self):
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        try:
            there = self.world.server.connect(timeout=None).call("GET", "/api/v1" + NAMESPACE + "pods").json
            self.take(there["items"])
            conn = self.world.server.connect(timeout=None)
            version = there["metadata"]["resourceVersion"]
            for event in conn.watch("/api/v1" + NAMESPACE + "pods?watch=1&resourceVersion=" + version).events():
                self.see(event["type"], event["object"])
        except (OSError, Gone):
            pass

    def take(self, pods):
        """What is there when the watch begins: in which order these got their nodes nobody knows."""
        self.bound = {}
        size = {}
        for pod in pods:
            uid, who, most = self.who(pod)
            if "nodeName" not in pod["spec"]:
                continue
            self.seen[uid] = who
            size[who] = most
            if pod["status"].get("phase") not in ("Succeeded", "Failed"):
                self.bound[uid] = who
        half = [w for w in size if sum(s == w for s in self.seen.values()) < size[w]]
        if len(half) > 1:
            self.wrong.append("at once by halves: %s" % half)
        self.open = half[0] if half else None
        self.count_gangs()

    def count_gangs(self):
        gangs = {w for w in self.bound.values() if "/" in w}
        self.most = max(self.most, len(gangs))
        if len(gangs) > 1:
            self.wrong.append("at once: %s" % gangs)

    @staticmethod
    def who(pod):
        """Its uid, its gang or its own name, and how many they are."""
        notes = pod["metadata"].get("annotations", {})
        size = int(notes.get("stoker.dev/gang-size", 1))
        return pod["metadata"]["uid"], notes["stoker.dev/gang"] if size > 1 else pod["metadata"]["name"], size

    def see(self, kind, pod):
        uid, who, size = self.who(pod)
        if kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed"):
            self.bound.pop(uid, None)
        elif "nodeName" in pod["spec"]:
            self.bound[uid] = who
        if "nodeName" not in pod["spec"] or uid in self.seen:
            return
        if self.open not in (None, who):
            self.wrong.append("%s gets a node before gang %s has all its own" % (pod["metadata"]["name"], self.open))
        self.seen[uid] = who
        have = sum(w == who for w in self.seen.values())
        self.open = who if have < size else None
        self.count_gangs()


def run(world, watch, checks, title, big, small, kills):
    jobs = [Job("%s-big-%d" % (title, i), plan(CARDS)) for i in range(big)]
    jobs += [Job("%s-small-%d" % (title, i), plan(1)) for i in range(small)]
    for job in jobs[:big]:
        world.create(job)
    new = jobs[big:]
    when = time.monotonic() + random.uniform(0.05, 0.4)
    end = time.monotonic() + PATIENCE_S
    open_jobs = list(jobs)
    while open_jobs and time.monotonic() < end:
        try:
            if new:
                world.create(new[0])
                new.pop(0)
            for job in open_jobs:
                if job not in new:
                    world.advance(job)
            open_jobs = [j for j in open_jobs if not says(j.obj, "Succeeded")]
        except (OSError, Gone):
            pass
        time.sleep(0.03)
        if kills and time.monotonic() >= when:
            world.crash()
            world.start()
            watch.start()
            kills -= 1
            when = time.monotonic() + random.uniform(0.05, 0.6)
    checks.ok("%s: %d jobs that need every card and %d small ones all end" % (title, big, small), not open_jobs,
              [j.name for j in open_jobs])
    checks.ok("one after the other, each bound whole", not watch.wrong, "\n".join(watch.wrong))
    twice = [j.name for j in jobs if world.starts(j.name) != j.plan.runs]
    checks.ok("and nobody was started twice", not twice, twice)


def main():
    home = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    print("# SEED=%d" % seed, flush=True)
    random.seed(seed)
    checks = Checks()
    world = World(home, args=("--gpus", str(CARDS)))
    world.start()
    watch = Watch(world)
    watch.start()
    run(world, watch, checks, "two", 2, 3, 0)
    run(world, watch, checks, "five", 5, 8, 0)
    run(world, watch, checks, "killed", 4, 6, 8)
    end = time.monotonic() + PATIENCE_S
    while (held := world.cards_held()) and time.monotonic() < end:
        time.sleep(0.05)
    checks.same("no card is held", held, [])
    checks.same("gangs were there one at a time", watch.most, 1)
    world.server.stop()
    checks.done()


if __name__ == "__main__":
    main()

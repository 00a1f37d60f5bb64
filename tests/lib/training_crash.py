# SPDX-License-Identifier: Apache-2.0
"""training_crash.py HOME ROUNDS [SEED] - training jobs while the server is killed

First every story of training_world.py once in peace.  Then again, and the server is killed in every phase of each job,
as soon as a watch says that it has come; then ROUNDS more times at random instants.  Last the same with the controllers
in a process of their own, which is killed instead while another waits to take over.  Every job must end as in peace: the
same conditions, counters, pods and Services, each program started as often as planned, and no card held.
"""
import functools
import random
import sys
import threading
import time

from checks import Checks
from training_world import NAMESPACE, PATIENCE_S, PLANS, Job, World, conditions, is_over, running, says, touch
from wire import Gone

WATCHED = {"jobs": ("/apis/kubeflow.org/v1" + NAMESPACE + "tfjobs", "/apis/kubeflow.org/v1" + NAMESPACE + "pytorchjobs"),
           "pods": ("/api/v1" + NAMESPACE + "pods",), "services": ("/api/v1" + NAMESPACE + "services",)}


# --- phases: (what is watched, what is seen when it has come) ---

def pod(test):
    return "pods", lambda kind, o: kind != "DELETED" and test(o)


def container(o):
    return (o["status"].get("containerStatuses") or [{"state": {}}])[0]["state"]


@functools.lru_cache
def condition(kind, status="True"):
    return "jobs", lambda _, o: any(c[:2] == (kind, status) for c in conditions(o))


def runs_again(_, o):
    return {("Suspended", "False"), ("Running", "True")} <= {c[:2] for c in conditions(o)}


SERVICE = ("services", lambda kind, o: kind == "ADDED")
MADE = pod(lambda o: True)
BOUND = pod(lambda o: "nodeName" in o["spec"])
STARTED = pod(lambda o: "running" in container(o))
EXITED = pod(lambda o: o["status"].get("phase") == "Succeeded")
FAILED = pod(lambda o: o["status"].get("phase") == "Failed")
STOPPING = pod(lambda o: "deletionTimestamp" in o["metadata"] or o["spec"].get("activeDeadlineSeconds") == 1)
GONE = ("pods", lambda kind, o: kind == "DELETED")
AGAIN = pod(lambda o: "stoker.dev/attempt" in o["metadata"].get("annotations", {}))
IN_PLACE = pod(lambda o: (o["status"].get("containerStatuses") or [{}])[0].get("restartCount") == 1)

AGAIN_RUNNING = ("jobs", runs_again)

START = [SERVICE, MADE, BOUND, STARTED]
PHASES = [
    ("tf-old", START + [EXITED, STOPPING]),
    ("tf-old", [condition("Running"), condition("Succeeded"), GONE]),
    ("tf", START + [EXITED, STOPPING]),
    ("tf", [condition("Running"), condition("Succeeded"), GONE]),
    ("torch-old", START + [EXITED, STOPPING]),
    ("torch-old", [condition("Running"), condition("Succeeded")]),
    ("torch", START + [EXITED, STOPPING]),
    ("torch", [condition("Running"), condition("Succeeded"), GONE]),
    ("torch-none", [EXITED, STOPPING]),
    ("again-old", [FAILED, GONE]),
    ("again", [condition("Restarting"), AGAIN]),
    ("in-place", [IN_PLACE]),
    ("together", [FAILED, GONE]),
    ("together", [condition("Restarting"), AGAIN]),
    ("bad-old", [FAILED]),
    ("bad", [condition("Failed"), STOPPING]),
    ("paused", [condition("Suspended"), condition("Suspended", "False"), AGAIN_RUNNING]),
    ("paused-torch", [STOPPING, GONE, condition("Suspended", "False")]),
    ("short", [STOPPING]),
    ("short-torch", [condition("Running"), condition("Succeeded"), GONE]),
]


# With controllers outside each kill costs the time of a lease.
OUTSIDE = [("tf", [MADE]), ("torch", [condition("Succeeded")]), ("again-old", [FAILED])]


class Trap:
    """Watches everything, and kills as soon as a job's next phase has come.  One that is over before the watch is there
    again is overtaken, and its turn comes again alone."""

    def __init__(self, world, left, kill):
        self.world, self.kill, self.left = world, kill, left
        self.lock = threading.Lock()
        self.sprung = threading.Event()
        self.threads = []
        self.caught = set()
        self.count = 0

    def set(self):
        self.sprung.clear()
        self.threads = [threading.Thread(target=self.follow, args=(what, path), daemon=True)
                        for what, paths in WATCHED.items() for path in paths]
        for t in self.threads:
            t.start()

    def follow(self, what, path):
        try:
            for event in self.world.server.connect(timeout=None).watch(path + "?watch=1").events():
                self.see(what, event)
        except (OSError, Gone):
            pass

    def see(self, what, event):
        obj = event["object"]
        name = obj["metadata"].get("labels", {}).get("job-name") if what != "jobs" else obj["metadata"]["name"]
        with self.lock:
            left = self.left.get(name, [])
            now = next((i for i, (where, seen) in enumerate(left) if where == what and seen(event["type"], obj)), None)
            if now is None or self.sprung.is_set():
                return
            self.caught.add(left[now])
            del left[:now + 1]
            self.count += 1
            self.kill()
            self.sprung.set()


class Story:
    def __init__(self, home, checks, baseline=None, outside=False):
        self.world, self.checks, self.baseline = World(home, outside=outside), checks, baseline
        self.jobs, self.n, self.killed = [], 0, 0

    def add(self, plan_name):
        self.n += 1
        job = Job("%s-%d" % (plan_name, self.n), PLANS[plan_name])
        job.plan_name = plan_name
        self.jobs.append(job)
        return job

    def advance(self):
        for job in self.jobs:
            if job.left or not is_over(job) or job.obj is None and not job.plan.gone:
                self.world.advance(job)

    def different(self):
        """Jobs that are not as in peace."""
        for job in self.jobs:
            self.world.advance(job)
        finals = self.world.finals(self.jobs)
        return {job.name: finals[job] for job in self.jobs if finals[job] != self.baseline[job.plan_name]}

    def is_done(self, job):
        return not job.left and is_over(job) and self.world.finals([job])[job] == self.baseline[job.plan_name]

    def peace(self):
        """Runs each plan once; True when all ended as planned."""
        end = time.monotonic() + PATIENCE_S
        for name in PLANS:
            self.world.create(self.add(name))
        while not all(is_over(j) and not j.left for j in self.jobs) and time.monotonic() < end:
            self.advance()
            time.sleep(0.03)
        last, since = None, time.monotonic()
        # Nothing has changed for a second, and nobody is still to be stopped: that may take long on a busy machine.
        while time.monotonic() < min(end, since + 1):
            for job in self.jobs:
                self.world.advance(job)
            now = self.world.finals(self.jobs)
            if now != last or self.world.anybody_runs():
                last, since = now, time.monotonic()
            time.sleep(0.05)
        self.baseline = {job.plan_name: last[job] for job in self.jobs}
        for job in self.jobs:
            self.checks.same("in peace %s runs as planned" % job.plan_name, last[job]["starts"], job.plan.runs)
            self.checks.ok("and ends", is_over(job), last[job])

    def end(self, title):
        """Waits until all is as in peace."""
        end = time.monotonic() + PATIENCE_S
        while (wrong := self.different()) and time.monotonic() < end:
            time.sleep(0.05)
        self.checks.ok(title + ": every job ends as in peace", not wrong, "\n".join(
            "%s: %s\nin peace: %s" % (n, f, self.baseline[n.rsplit("-", 1)[0]]) for n, f in wrong.items()))
        while (held := self.world.cards_held()) and time.monotonic() < end:
            time.sleep(0.05)
        self.checks.ok("and no card is held", not held, held)
        time.sleep(0.3)
        self.checks.ok("and stays so", not self.different(), self.different())

    def clean(self):
        for job in self.jobs:
            self.world.call("DELETE", job.path)
        end = time.monotonic() + PATIENCE_S
        while self.world.items("pods") and time.monotonic() < end:
            time.sleep(0.05)
        self.checks.same("nothing is left of deleted jobs", [p["metadata"]["name"] for p in self.world.items("pods")], [])
        self.jobs = []

    # --- in every phase ---

    def trap_all(self, wanted, kill, revive, at_once):
        """Kills in these phases, [(plan, phases)]; returns those that were over before the watch saw them."""
        jobs = [self.add(name) for name, _ in wanted]
        trap = Trap(self.world, {job.name: list(phases) for job, (_, phases) in zip(jobs, wanted)}, kill)
        trap.set()
        open_jobs, new = [], list(jobs)
        end = time.monotonic() + PATIENCE_S * 4
        while (open_jobs or new) and time.monotonic() < end:
            try:
                if new and len(open_jobs) < at_once:
                    self.world.create(new[0])
                    open_jobs.append(new.pop(0))
                for job in open_jobs:
                    self.world.advance(job)
                open_jobs = [j for j in open_jobs if not self.is_done(j)]
                time.sleep(0.01)
            except (OSError, Gone):
                pass
            if trap.sprung.is_set():
                revive()
                trap.set()
        trap.left = {}
        self.killed += trap.count
        caught = trap.caught
        return [(name, [p]) for name, phases in wanted for p in phases if p not in caught]

    def phases(self, kill, revive):
        missed = self.trap_all(PHASES, kill, revive, 4)
        for _ in range(5):
            first = {phases[0]: (name, phases) for name, phases in missed}  # one job for each
            missed = self.trap_all(list(first.values()), kill, revive, 1) if first else []
        names = {v: k for k, v in globals().items() if isinstance(v, tuple)}
        self.checks.ok("killed %d times, in every phase" % self.killed, not missed, [names.get(p[0], p) for _, p in missed])

    # --- at any instant ---

    def rounds(self, n, kill, revive, plans):
        killed = 0
        open_jobs = []
        when = time.monotonic() + random.uniform(0, 0.5)
        end = time.monotonic() + PATIENCE_S * 4
        while (killed < n or open_jobs) and time.monotonic() < end:
            try:
                while len(open_jobs) < 5 and killed < n:
                    job = self.add(random.choice(plans))
                    open_jobs.append(job)
                    self.world.create(job)
                for job in open_jobs:
                    if job.uid is None:
                        self.world.create(job)
                    self.world.advance(job)
                open_jobs = [j for j in open_jobs if j.left or not is_over(j)]
                time.sleep(random.uniform(0, 0.02))
            except (OSError, Gone):
                pass
            if killed < n and time.monotonic() >= when:
                kill()
                revive()
                killed += 1
                when = time.monotonic() + random.choice((0.02, 0.1, 0.3, 0.8)) * random.random() + random.uniform(0, 0.05)


def crash_server(story):
    world = story.world

    def kill():
        world.server.proc.kill()

    def revive():
        world.crash()
        while random.random() < 0.2:  # killed again while it starts
            world.server.spawn()
            time.sleep(random.uniform(0, 0.15))
            world.server.kill()
        world.start()
    return kill, revive


def crash_operator(story):
    world = story.world

    def kill():
        world.operators[0].kill()

    def revive():
        world.crash_operator()
        world.operate()
    return kill, revive


def inside(home, rounds, checks):
    story = Story(home, checks)
    story.world.start()
    story.peace()
    story.clean()
    kill, revive = crash_server(story)
    story.phases(kill, revive)
    story.end("through crashes of the server")
    story.clean()
    story.rounds(rounds, kill, revive, list(PLANS))
    story.end("through %d crashes at any instant" % rounds)
    story.clean()
    story.world.server.stop()
    return story.baseline


def lost_success(story, checks):
    """Its pod succeeds and is deleted while no controller is there."""
    world, job = story.world, story.add("tf")
    world.create(job)
    while not running(world, job):
        world.look(job)
        time.sleep(0.02)
    while world.operators:
        world.crash_operator()
    chief = "/api/v1" + NAMESPACE + "pods/%s-chief-0" % job.name
    touch("go")(world, job)
    while world.call("GET", chief).json["status"]["phase"] != "Succeeded":
        time.sleep(0.02)
    checks.same("its pod can be deleted", world.call("DELETE", chief).code, 200)
    checks.same("and is gone at once", world.call("GET", chief).code, 404)
    world.operate()
    job.left = []
    end = time.monotonic() + PATIENCE_S
    while not is_over(job) and time.monotonic() < end:
        world.advance(job)
        time.sleep(0.02)
    checks.ok("a success whose pod was deleted while no controller was there counts", says(job.obj, "Succeeded"), conditions(job.obj))
    checks.same("and nobody is started again", dict(world.starts(job.name)), job.plan.runs)


def outside(home, checks, baseline):
    story = Story(home, checks, baseline, outside=True)
    story.world.start()
    for _ in range(2):
        story.world.operate()
    kill, revive = crash_operator(story)
    left = story.trap_all(OUTSIDE, kill, revive, len(OUTSIDE))
    checks.ok("killed controllers outside %d times" % story.killed, story.killed >= len(OUTSIDE) - 1, left)
    story.end("through crashes of controllers outside")
    story.clean()
    lost_success(story, checks)
    story.world.server.stop()


def main():
    home, rounds = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print("# SEED=%d" % seed, flush=True)
    random.seed(seed)
    checks = Checks()
    baseline = inside(home + "/inside", rounds, checks)
    outside(home + "/outside", checks, baseline)
    checks.done()


if __name__ == "__main__":
    main()

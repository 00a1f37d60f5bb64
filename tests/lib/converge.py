# SPDX-License-Identifier: Apache-2.0
"""converge.py HOME STEPS [SEED] - things happen by chance, the server and the operator are killed, and then nothing happens

Twice: first the controllers are in the server, then in an operator beside it.  When it is quiet, everything must be as
converge_model.py says, and nobody may go on working.
"""
import os
import random
import re
import subprocess
import sys
import time

from checks import Checks
from converge_model import KINDS, SPACES, Picture, problem
from wire import STOKER, Conn, Server, die_with_parent, tcp_socket

PATIENCE_S = 120
REST_S = 3
MERGE = ("Content-Type: application/merge-patch+json",)
IMAGES = ("host", "host:v2", "host:v3")
WAYS = ("Background", "Foreground", "Orphan")


def template(name, image, **more):
    fake = more.pop("fake", {})
    spec = {"terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": "host", "env": [
        {"name": "VERSION", "value": image}], "command": ["x"]}]}
    spec.update(more)
    return {"metadata": {"labels": {"app": name}, "annotations": fake}, "spec": spec}


def selector(name):
    return {"matchLabels": {"app": name}}


def job(name, _):
    fails = random.random() < 0.2
    fake = {"stoker.dev/fake-seconds": "%.2f" % random.uniform(0, 0.3), "stoker.dev/fake-exit-code": "1" if fails else "0"}
    spec = {"completions": random.randint(1, 4), "parallelism": random.randint(1, 3), "backoffLimit": 0 if fails else 6,
            "template": template(name, "host", restartPolicy="Never", fake=fake)}
    if random.random() < 0.5:
        spec["completionMode"] = "Indexed"
    return spec


SPECS = {
    "ReplicaSet": lambda name, n: {"replicas": n, "selector": selector(name), "template": template(name, "host")},
    "ReplicationController": lambda name, n: {"replicas": n, "template": template(name, "host")},
    "Job": job,
    "Service": lambda name, n: {"selector": {"app": "set-%d" % (n % 3)}, "ports": [{"port": 80}]},
    "Deployment": lambda name, n: {"replicas": n, "selector": selector(name), "template": template(name, IMAGES[0]),
                                   "revisionHistoryLimit": 2},
    "StatefulSet": lambda name, n: {"replicas": n, "selector": selector(name), "template": template(name, IMAGES[0]),
                                    "serviceName": name, "podManagementPolicy": random.choice(("Parallel", "OrderedReady"))},
    "DaemonSet": lambda name, n: {"selector": selector(name), "template": template(name, IMAGES[0])},
}


class Cluster:
    """A server with a node whose containers are timers, and maybe an operator."""

    def __init__(self, home):
        self.server = Server(home, ["--runtime", "fake", "--node-name", "box", "--log-level", "warn"], node=True)
        self.operator = None
        self.operator_log = os.path.join(home, "operator.err")
        self.conn = None

    def start(self, inside):
        args = [a for a in self.server.args if a != "--no-controllers"]
        self.server.args = args + ([] if inside else ["--no-controllers"])
        self.server.start()
        self.conn = self.server.connect()

    def kill(self):
        self.conn.close()
        self.server.kill()

    def operate(self):
        argv = [STOKER, "operate", "--socket", self.server.sock, "--controllers", "*", "--lease-duration", "3s", "--listen",
                "127.0.0.1:0"]
        with open(self.operator_log, "wb") as log:
            self.operator = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             preexec_fn=die_with_parent)

    def operator_said(self):
        with open(self.operator_log) as log:
            return log.read()

    def kill_operator(self):
        if self.operator.poll() is not None:
            raise RuntimeError("the operator has ended by itself: " + self.operator_said())
        self.operator.kill()
        self.operator.wait()

    def call(self, method, path, body=None, headers=()):
        return self.conn.call(method, path, body, headers)

    def queues(self):
        """What controllers have been asked to look at so far, by name."""
        if self.operator:
            url = re.search(r"http://127\.[0-9.:]+", self.operator_said()).group()
            conn = Conn(tcp_socket(url))
            text = conn.call("GET", "/metrics").body.decode()
            conn.close()
        else:
            text = self.call("GET", "/metrics").body.decode()
        return dict(re.findall(r'^workqueue_adds_total\{name="([^"]+)"\} (\S+)$', text, re.M))


class Story:
    def __init__(self, home):
        self.cluster = Cluster(home)
        self.wishes = {}  # (kind, namespace, name) -> {"replicas": n, "image": text}
        self.let_go = set()  # uids of pods that may be nobody's, and (namespace, app) of which all may
        self.counts = {}
        self.inside = True

    def write(self, method, path, body=None, headers=()):
        reply = self.cluster.call(method, path, body, headers)
        if reply.code >= 500:
            raise RuntimeError("%s %s: %d %s" % (method, path, reply.code, reply.body[:300]))
        return reply.json if reply.code < 300 else None

    # --- what happens ---

    def target(self, numbered=False):
        kinds = [k for k in KINDS if k.wished and (not numbered or k.scales)]
        kind = random.choice(kinds)
        return kind, random.choice(SPACES), "%s-%d" % (kind.prefix, random.randrange(3))

    def create(self):
        kind, ns, name = self.target()
        n = random.randint(0, 5)
        obj = {"apiVersion": kind.version, "kind": kind.kind, "metadata": {"name": name}, "spec": SPECS[kind.kind](name, n)}
        if self.write("POST", kind.path(ns), obj):
            self.wishes[kind.kind, ns, name] = {"replicas": n, "image": IMAGES[0]}

    def scale(self):
        kind, ns, name = self.target(numbered=True)
        n = random.randint(0, 7)
        path = kind.path(ns, name) + random.choice(("", "/scale"))
        if (kind.kind, ns, name) in self.wishes and self.write("PATCH", path, {"spec": {"replicas": n}}, MERGE):
            self.wishes[kind.kind, ns, name]["replicas"] = n

    def roll(self):
        kind, ns, name = self.target()
        image = random.choice(IMAGES)
        patch = {"spec": {"template": template(name, image)}}
        if kind.rolls and (kind.kind, ns, name) in self.wishes and self.write("PATCH", kind.path(ns, name), patch, MERGE):
            self.wishes[kind.kind, ns, name]["image"] = image

    def suspend(self):
        kind, ns, name = self.target()
        if kind.kind == "Job":
            self.write("PATCH", kind.path(ns, name), {"spec": {"suspend": random.random() < 0.3}}, MERGE)

    def delete(self):
        kind, ns, name = self.target()
        way = random.choice(WAYS)
        if self.write("DELETE", kind.path(ns, name), {"propagationPolicy": way}):
            self.wishes.pop((kind.kind, ns, name), None)
            if way == "Orphan":
                self.let_go.add((ns, name))

    def some_pod(self):
        ns = random.choice(SPACES)
        pods = self.cluster.call("GET", "/api/v1/namespaces/%s/pods" % ns).json["items"]
        return random.choice(pods) if pods else None

    def delete_pod(self):
        pod = self.some_pod()
        if pod:
            meta = pod["metadata"]
            self.write("DELETE", "/api/v1/namespaces/%s/pods/%s" % (meta["namespace"], meta["name"]))

    def relabel_pod(self):
        pod = self.some_pod()
        if not pod or any(o["kind"] != "ReplicaSet" for o in pod["metadata"].get("ownerReferences", ())):
            return
        meta = pod["metadata"]
        if meta["name"].startswith("sts-"):
            return  # the next StatefulSet of that name could neither take nor replace it
        app = random.choice(("alone", "set-0", "set-1"))
        if self.write("PATCH", "/api/v1/namespaces/%s/pods/%s" % (meta["namespace"], meta["name"]),
                      {"metadata": {"labels": {"app": app}}}, MERGE):
            self.let_go.add(meta["uid"])

    def make_space(self):
        self.write("POST", "/api/v1/namespaces", {"metadata": {"name": random.choice(SPACES)}})

    def delete_space(self):
        ns = random.choice(SPACES)
        if self.write("DELETE", "/api/v1/namespaces/" + ns):
            self.wishes = {k: v for k, v in self.wishes.items() if k[1] != ns}

    def pause(self):
        time.sleep(random.uniform(0, 0.05))

    def crash_server(self):
        self.cluster.kill()
        self.cluster.start(self.inside)

    def crash_operator(self):
        if not self.inside:
            self.cluster.kill_operator()
            self.cluster.operate()

    OPERATIONS = ((create, 20), (scale, 10), (roll, 8), (suspend, 3), (delete, 8), (delete_pod, 6), (relabel_pod, 3),
                  (make_space, 3), (delete_space, 1), (pause, 12), (crash_server, 1), (crash_operator, 1))

    def disturb(self, steps):
        operations, shares = zip(*self.OPERATIONS)
        for operation in random.choices(operations, shares, k=steps):
            operation(self)
            self.counts[operation.__name__] = self.counts.get(operation.__name__, 0) + 1

    # --- quiet ---

    def picture(self):
        return Picture(self.cluster.call)

    def settle(self):
        """What is still wrong when the time is up, or ""."""
        end = time.monotonic() + PATIENCE_S
        while True:
            wrong = problem(self.picture(), self.wishes, self.let_go)
            if not wrong or time.monotonic() > end:
                return wrong
            time.sleep(0.1)

    def restless(self):
        """What changes while nothing should, or ""."""
        before, queues = self.picture().revisions(), self.cluster.queues()
        if not queues:
            return "there are no queues in /metrics"
        time.sleep(REST_S)
        after, later = self.picture().revisions(), self.cluster.queues()
        writes = sorted(set(before.items()) ^ set(after.items()))
        grown = ["%s: %s, then %s" % (k, queues.get(k), v) for k, v in later.items() if queues.get(k) != v]
        return "\n".join(["%s at %s" % w for w in writes] + grown)


def main():
    home, steps = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    random.seed(seed)
    checks = Checks()
    story = Story(home)
    for inside in (True, False):
        where = "in the server" if inside else "in an operator"
        story.inside = inside
        story.cluster.start(inside)
        if not inside:
            story.cluster.operate()
        for ns in SPACES:
            story.write("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})
        try:
            story.disturb(steps)
            wrong = story.settle()
            rest = wrong or story.restless()
        except Exception as e:  # pylint: disable=broad-except
            wrong = rest = "%s: %s" % (type(e).__name__, e)
        checks.ok("controllers %s: after %d operations everything is as promised" % (where, steps), not wrong,
                  "seed %d: %s" % (seed, wrong))
        checks.ok("controllers %s: and then nobody works" % where, not rest, "seed %d: %s" % (seed, rest))
        if not inside:
            story.cluster.kill_operator()
        story.cluster.kill()
    print("# seed %d: %s" % (seed, ", ".join("%s %d" % c for c in sorted(story.counts.items()))), flush=True)
    checks.ok("servers and operators were killed", story.counts.get("crash_server") and story.counts.get("crash_operator"))
    checks.done()


if __name__ == "__main__":
    main()

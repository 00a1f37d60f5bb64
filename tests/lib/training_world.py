# SPDX-License-Identifier: Apache-2.0
"""training_world.py - training jobs whose every step is let happen by hand, and what becomes of them

Each run of a replica's program writes a line into a file of its job, so whoever starts twice is seen.  Gates are files:
a program waits for its gate, and the test opens it when the job has said what it should say by then.
"""
import collections
import json
import os
import re
import signal
import subprocess

from wire import STOKER, Server, die_with_parent

MERGE = ("Content-Type: application/merge-patch+json",)
NAMESPACE = "/namespaces/default/"
PATIENCE_S = 180

# Everybody notes the start, and needs a moment to end when asked to.
HEAD = """me=%(role)s; job=%(job)s; cd /share; echo $me >>starts-$job
trap 'sleep 0.1; exit 143' TERM
gate() { until [ -e $1-$job ]; do sleep 0.03; done; }
runs() { grep -c "^$1\\$" starts-$job; }
"""
WAIT = "sleep 1000 & wait"
DECIDE = "gate go; exit 0"
FAIL_ONCE = "[ $(runs $me) = 1 ] && { gate fail; exit %d; }; " + WAIT
FAIL = "gate fail; exit %d"


class Role:
    def __init__(self, kind, program, n=1, restart="Never", gpus=1):
        self.kind, self.program, self.n, self.restart, self.gpus = kind, program, n, restart, gpus


class Plan:
    """A job and its story: `steps` are (what the job says by then, what is done then), `runs` how often each role starts."""

    def __init__(self, version, roles, steps, runs, policy=None, gang=False, gone=False):
        self.version, self.roles, self.steps, self.runs = version, roles, steps, runs
        self.policy, self.gang, self.gone = policy or {}, gang, gone
        self.plural = "tfjobs" if version.startswith("tf") else "pytorchjobs"

    def manifest(self, name, share):
        container = "tensorflow" if self.version.startswith("tf") else "pytorch"
        specs = {}
        for role in self.roles:
            text = HEAD % {"role": role.kind.lower(), "job": name} + role.program
            pod = {"terminationGracePeriodSeconds": 5, "restartPolicy": role.restart,
                   "volumes": [{"name": "share", "hostPath": {"path": share}}],
                   "containers": [{"name": container, "image": "host", "command": ["sh", "-c", text],
                                   "volumeMounts": [{"name": "share", "mountPath": "/share"}]}]}
            if role.gpus:
                pod["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": role.gpus}}
            if role.restart == "ExitCode":
                del pod["restartPolicy"]
            specs[role.kind] = {"replicas": role.n, "restartPolicy": role.restart, "template": {"spec": pod}}
        meta = {"name": name, "annotations": {"stoker.dev/restart": "gang"} if self.gang else {}}
        if self.version == "torch-old":
            listed = [{"replicaType": k.upper(), "replicas": v["replicas"], "template": v["template"]} for k, v in specs.items()]
            return {"apiVersion": "kubeflow.org/v1alpha1", "kind": "PyTorchJob", "metadata": meta, "spec": {"replicaSpecs": listed}}
        if self.version == "tf-old":
            return {"apiVersion": "kubeflow.org/v1alpha2", "kind": "TFJob", "metadata": meta,
                    "spec": dict(self.policy, tfReplicaSpecs=specs)}
        kind, field = ("TFJob", "tfReplicaSpecs") if self.version == "tf" else ("PyTorchJob", "pytorchReplicaSpecs")
        return {"apiVersion": "kubeflow.org/v1", "kind": kind, "metadata": meta, "spec": {"runPolicy": self.policy, field: specs}}


def conditions(obj):
    return [(c["type"], c["status"], c["reason"]) for c in (obj or {}).get("status", {}).get("conditions", ())]


def says(obj, kind):
    return any(c[:2] == (kind, "True") for c in conditions(obj))


def touch(gate):
    def act(world, job):
        open(os.path.join(world.share, "%s-%s" % (gate, job.name)), "w").close()
    return act


def suspend(on):
    def act(world, job):
        body = {"spec": {"runPolicy": {"suspend": on}}}
        reply = world.call("PATCH", job.path, body, MERGE)
        if reply.code != 200:
            raise RuntimeError("suspend: %d %s" % (reply.code, reply.body[:300]))
    return act


def running(world, job):
    """All of it: a job says so as soon as those run who decide, and who never ran is not counted at its end."""
    phases = [p["status"].get("phase") for p in world.pods_of(job)] if says(job.obj, "Running") else []
    return phases == ["Running"] * sum(role.n for role in job.plan.roles)


def runs(role, n):
    def test(world, job):
        return world.starts(job.name)[role] >= n and running(world, job)
    return test


def suspended(world, job):
    return says(job.obj, "Suspended") and not world.pods_of(job)


SUCCESS = [(running, touch("go"))]
PAUSED = [(runs("worker", 1), suspend(True)), (suspended, suspend(False)), (runs("worker", 2), touch("go"))]


def retry(role="worker", n=2):
    return [(running, touch("fail")), (runs(role, n), touch("go"))]


PLANS = {
    "tf-old": Plan("tf-old", [Role("Master", DECIDE), Role("PS", WAIT), Role("Worker", WAIT)], SUCCESS,
                   {"master": 1, "ps": 1, "worker": 1}),
    "tf": Plan("tf", [Role("Chief", DECIDE), Role("Worker", WAIT, 2)], SUCCESS, {"chief": 1, "worker": 2}, {"cleanPodPolicy": "All"}),
    "torch-old": Plan("torch-old", [Role("Master", DECIDE, restart="OnFailure"), Role("Worker", WAIT, 2, restart="OnFailure")],
                      SUCCESS, {"master": 1, "worker": 2}),
    "torch": Plan("torch", [Role("Master", DECIDE, restart="OnFailure"), Role("Worker", WAIT, 2, restart="OnFailure")], SUCCESS,
                  {"master": 1, "worker": 2}, {"cleanPodPolicy": "Running"}),
    "torch-none": Plan("torch", [Role("Master", DECIDE), Role("Worker", WAIT, restart="OnFailure")], SUCCESS,
                       {"master": 1, "worker": 1}, {"cleanPodPolicy": "None"}),
    "again-old": Plan("tf-old", [Role("Master", DECIDE), Role("Worker", FAIL_ONCE % 138, restart="ExitCode")], retry(),
                      {"master": 1, "worker": 2}),
    "again": Plan("tf", [Role("Chief", DECIDE), Role("Worker", FAIL_ONCE % 137, restart="ExitCode")], retry(),
                  {"chief": 1, "worker": 2}, {"cleanPodPolicy": "All", "backoffLimit": 1}),
    "in-place": Plan("torch", [Role("Master", DECIDE), Role("Worker", FAIL_ONCE % 1, restart="OnFailure")], retry(),
                     {"master": 1, "worker": 2}, {"backoffLimit": 2}),
    "together": Plan("torch", [Role("Master", DECIDE, restart="OnFailure"), Role("Worker", FAIL_ONCE % 1, restart="OnFailure")],
                     retry(), {"master": 2, "worker": 2}, gang=True),
    "bad-old": Plan("tf-old", [Role("Master", WAIT), Role("PS", FAIL % 3)], [(running, touch("fail"))], {"master": 1, "ps": 1}),
    "bad": Plan("torch", [Role("Master", WAIT), Role("Worker", FAIL % 3)], [(running, touch("fail"))], {"master": 1, "worker": 1}),
    "paused": Plan("tf", [Role("Chief", DECIDE), Role("Worker", WAIT)], PAUSED, {"chief": 2, "worker": 2}, {"cleanPodPolicy": "Running"}),
    "paused-torch": Plan("torch", [Role("Master", DECIDE), Role("Worker", WAIT)], PAUSED, {"master": 2, "worker": 2},
                         {"cleanPodPolicy": "All"}),
    "short": Plan("tf", [Role("Chief", DECIDE), Role("Worker", WAIT)], SUCCESS, {"chief": 1, "worker": 1},
                  {"ttlSecondsAfterFinished": 0}, gone=True),
    "short-torch": Plan("torch", [Role("Master", DECIDE), Role("Worker", WAIT)], SUCCESS, {"master": 1, "worker": 1},
                        {"ttlSecondsAfterFinished": 1}, gone=True),
}


class Job:
    def __init__(self, name, plan):
        self.name, self.plan = name, plan
        self.path = "/apis/kubeflow.org/v1" + NAMESPACE + plan.plural + "/" + name
        self.obj, self.uid, self.left = None, None, list(plan.steps)


class World:
    """A server with a node, and maybe its controllers in a process of their own."""

    def __init__(self, home, args=("--gpus", "8"), outside=False):
        args = list(args) + (["--no-controllers"] if outside else [])
        self.server = Server(home, args + ["--node-name", "box", "--log-level", "warn"], node=True)
        self.share = os.path.join(home, "share")
        os.makedirs(self.share, exist_ok=True)
        self.outside, self.operators, self.conn = outside, [], None
        self.home = home

    def start(self):
        self.server.start()
        self.conn = self.server.connect()

    def crash(self):
        if self.conn:
            self.conn.close()
        self.server.kill()
        self.conn = None

    def operate(self):
        argv = [STOKER, "operate", "--socket", self.server.sock, "--controllers", "*", "--lease-duration", "3s"]
        with open(os.path.join(self.home, "operator.err"), "ab") as log:
            self.operators.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                   preexec_fn=die_with_parent))

    def crash_operator(self):
        """The eldest, who leads."""
        p = self.operators.pop(0)
        p.send_signal(signal.SIGKILL)
        p.wait()

    def call(self, method, path, body=None, headers=()):
        return self.conn.call(method, path, body, headers)

    def create(self, job):
        version = job.plan.manifest(job.name, self.share)["apiVersion"]
        path = "/apis/" + version + NAMESPACE + job.plan.plural
        reply = self.call("POST", path, job.plan.manifest(job.name, self.share))
        if reply.code == 201:
            job.uid = reply.json["metadata"]["uid"]
        elif not (reply.code == 409 and job.uid is None):
            raise RuntimeError("create %s: %d %s" % (job.name, reply.code, reply.body[:500]))

    def starts(self, name):
        try:
            with open(os.path.join(self.share, "starts-" + name)) as f:
                return collections.Counter(f.read().split())
        except FileNotFoundError:
            return collections.Counter()

    def items(self, plural):
        return self.call("GET", "/api/v1" + NAMESPACE + plural).json["items"]

    def pods_of(self, job):
        return [p for p in self.items("pods") if p["metadata"]["labels"].get("job-name") == job.name]

    def look(self, job):
        reply = self.call("GET", job.path)
        job.obj = reply.json if reply.code == 200 else None

    def advance(self, job):
        """Looks at the job, and does what its story says comes next."""
        self.look(job)
        while job.left and job.left[0][0](self, job):
            job.left[0][1](self, job)
            job.left.pop(0)
            if job.left:
                break  # what comes next is judged by a newer look

    def final(self, job, pods, services):
        """How it stands, without what differs from one run to the next."""
        def plain(name):
            name = name.replace(job.name, "JOB", 1)
            return re.sub(r"-[a-z0-9]{4}-([0-9])(-[a-z0-9]{5})?$", r"-ID-\1", name)

        def mine(items):
            return [i for i in items if i["metadata"]["labels"].get("job-name") == job.name]
        status = (job.obj or {}).get("status", {})
        return {
            "job": None if job.obj is None else conditions(job.obj),
            "state": status.get("state"),
            "counts": json.dumps(status.get("tfReplicaStatuses") or status.get("replicaStatuses"), sort_keys=True).replace(job.name, "JOB"),
            "restarts": {k: v.get("restarts") for k, v in status.get("replicas", {}).items() if "restarts" in v},
            "gang": status.get("gangRestarts"),
            "pods": sorted((plain(p["metadata"]["name"]), p["status"].get("phase"), p["status"].get("reason"),
                            [c["restartCount"] for c in p["status"].get("containerStatuses", ())],
                            p["metadata"].get("finalizers")) for p in mine(pods)),
            "services": sorted(plain(s["metadata"]["name"]) for s in mine(services)),
            "starts": dict(sorted(self.starts(job.name).items())),
        }

    def finals(self, jobs):
        pods = self.items("pods")
        services = [s for s in self.items("services") if s["metadata"].get("labels")]
        services = [s for s in services if "job-name" in s["metadata"]["labels"]]
        return {job: self.final(job, pods, services) for job in jobs}

    def anybody_runs(self):
        return any(p["status"].get("phase") in ("Pending", "Running") for p in self.items("pods"))

    def cards_held(self):
        out = subprocess.run([STOKER, "gpus", "--socket", self.server.sock, "-o", "json"], capture_output=True, check=True).stdout
        return [c["pod"] for c in json.loads(out) if c["pod"]]


def is_over(job):
    return job.obj is None if job.plan.gone else says(job.obj, "Succeeded") or says(job.obj, "Failed")

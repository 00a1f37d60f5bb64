"""tfjob and P15 of tools/bench: how soon a training job runs, and what its operator costs.

A TFJob of one Chief, two PS and five Workers is created, and the clock stops when a watch of pods has shown the last of
the eight running: the controller has made pods and services, the scheduler has placed all or none, and the node has
started no process before every name resolves.  With the fake runtime the same without containers.
"""
import re
import subprocess
import time

from benchlib import BUILD, Bench, Failure, counters
from figures import row
from jobs import Jobs
from pods import quantile

REPLICAS = {"Chief": 1, "PS": 2, "Worker": 5}
PATH = "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
PODS = "/api/v1/namespaces/default/pods"


def tfjob(name: str, replicas: dict) -> dict:
    spec = {"terminationGracePeriodSeconds": 0,
            "containers": [{"name": "tensorflow", "image": "host", "command": ["sleep", "1000000"]}]}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name},
            "spec": {"tfReplicaSpecs": {role: {"replicas": n, "restartPolicy": "Never", "template": {"spec": spec}}
                                        for role, n in replicas.items()}}}


class TrainingFigures:
    def __init__(self, bench: Bench):
        self.bench = bench
        self.turns, self.jobs = (3, 5) if bench.quick else (20, 100)

    def measure(self, wanted):
        if "tfjob" in wanted:
            yield from self.created_to_running("real pods", "tfjob")
            yield from self.created_to_running("fake runtime", "tfjob-fake", "--runtime", "fake")
        if "P15" in wanted:
            yield from self.operator()

    def created_to_running(self, how: str, name: str, *args: str):
        server = Jobs(self.bench, name, *args)
        conn, watch = server.connect(), server.connect()
        watch.request("GET", PODS + "?watch=true", headers=server.head)
        events = watch.getresponse()
        times = [self.one(server, conn, events, f"t{i}") for i in range(self.turns + 1)][1:]  # the first reads its programs
        server.server.stop()
        for q in (50, 95):
            yield row("tfjob", f"TFJob of 8 created → all running, {how}, p{q}", quantile(times, q / 100), "ms")

    def one(self, server: Jobs, conn, events, name: str) -> float:
        """Milliseconds until all of a new job run; then it goes."""
        began, left = time.monotonic(), sum(REPLICAS.values())
        server.call(conn, "POST", PATH, tfjob(name, REPLICAS))
        running = set()
        while len(running) < left:
            line = events.readline()
            if not line or b'"phase":"Failed"' in line:
                raise Failure("a replica failed: " + line.decode()[:3000])
            if b'"phase":"Running"' in line and (found := re.search(rb'"name":"(%s-[^"]+)"' % name.encode(), line)):
                running.add(found[1])
        took = 1000 * (time.monotonic() - began)
        server.call(conn, "DELETE", f"{PATH}/{name}")
        while server.call(conn, "GET", PODS + "?limit=1")["items"]:
            time.sleep(0.05)
        return took

    def operator(self):
        """The training controllers out of process, with pods that nobody runs."""
        server = Jobs(self.bench, "trained", "--no-node", "--no-controllers")
        process = self.bench.spawn([BUILD / "stoker", "operate", "--kubeconfig", server.server.data / "admin.kubeconfig",
                                    "--controllers", "tfjob,pytorchjob,paddlejob,mpijob", "--leader-elect=false"], stderr=subprocess.DEVNULL)
        time.sleep(1)
        conn, pods = server.connect(), 4 * self.jobs
        for i in range(self.jobs):
            server.call(conn, "POST", PATH, tfjob(f"job-{i}", {"Chief": 1, "Worker": 3}))
        limit = time.monotonic() + 120
        while len(server.call(conn, "GET", PODS)["items"]) < pods:
            if time.monotonic() > limit:
                raise Failure(f"`stoker operate` has not made the {pods} pods of {self.jobs} TFJobs in two minutes")
            time.sleep(0.2)
        time.sleep(2)
        yield row("P15", f"`stoker operate`: memory with {self.jobs} TFJobs of 4 (PSS)", counters(process.pid)["pss"] / 1e6, "MB",
                  at_most=10)
        self.bench.end(process)
        server.server.stop()

"""P5: pods to nodes for good, by the real server: decided, bound, on disk, and told to those who watch.

Pods are made first, in a queue that is stopped, and each is told why it waits; then the nodes, plain objects behind which
nobody runs anything (the server's own node takes none of the pods); then the queue is started.  The clock runs from that request to the last pod that a watch has seen with
a node, which it sees only after the commit.  A prober on a connection of its own sees the longest pause.
"""
import http.client
import json
import time

from benchlib import Bench, Failure, Load, Stoker, counters, load, unverified
from figures import row, stop_prober

QUEUE = "/apis/stoker.dev/v1/queues/batch"
ROOM = {"cpu": "64", "memory": "256Gi", "pods": "250"}
NODE_STATUS = {"status": {"capacity": ROOM, "allocatable": ROOM,
                          "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
PATCH = "application/strategic-merge-patch+json"
PIECE = 1 << 18


class Binding:
    def __init__(self, bench: Bench, nodes: int, pods: int):
        self.nodes, self.pods = nodes, pods
        self.server = Stoker(bench, f"binding-{nodes}", args=["--runtime", "fake", "--node-name", "here"])
        self.server.start()
        self.conn = self.connect()

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self.server.url.removeprefix("https://"), context=unverified, timeout=20)

    def call(self, method: str, path: str, body=None, kind: str = "application/json") -> dict:
        self.conn.request(method, path, body=json.dumps(body) if body else None,
                          headers={"Authorization": f"Bearer {self.server.token}", "Content-Type": kind})
        r = self.conn.getresponse()
        text = r.read().decode()
        if r.status >= 300:
            raise Failure(f"{method} {path}: {text[:500]}")
        return json.loads(text)

    def queue_runs(self, started: bool):
        self.call("PATCH", QUEUE, {"spec": {"started": started}}, "application/merge-patch+json")

    def make(self):
        """Pods that wait, then nodes: these send no heartbeats, and have a lease that allows for it."""
        self.queue_runs(False)
        self.call("PATCH", "/api/v1/nodes/here", {"spec": {"unschedulable": True}}, PATCH)
        load(self.server, "create", kind="wait", connections=64, requests=self.pods)
        self.settle()
        for i in range(self.nodes):
            name = f"node-{i}"
            self.call("POST", LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
                                       "spec": {"holderIdentity": name, "leaseDurationSeconds": 3600}})
            self.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {
                "name": name, "labels": {"kubernetes.io/hostname": name}}})
            self.call("PATCH", f"/api/v1/nodes/{name}/status", NODE_STATUS, PATCH)
        self.settle()

    def settle(self):
        """Until the server has nothing left to do: it rests between two looks at a long line."""
        used, quiet = counters(self.server.pid)["cpu"], 0
        while quiet < 4:
            time.sleep(0.5)
            now = counters(self.server.pid)["cpu"]
            quiet = quiet + 1 if now - used < 0.05 else 0
            used = now

    def bind(self) -> dict:
        watch, seen, rest = self.connect(), 0, b""
        since = self.call("GET", "/api/v1/pods?limit=1")["metadata"]["resourceVersion"]
        watch.request("GET", f"/api/v1/pods?watch=true&resourceVersion={since}&fieldSelector=spec.nodeName!%3D",
                      headers={"Authorization": f"Bearer {self.server.token}"})
        events = watch.getresponse()
        prober = Load(self.server, "livez", interval=2000, seconds=600)
        prober.go()
        used, began = counters(self.server.pid)["cpu"], time.monotonic()
        self.queue_runs(True)
        while seen < self.pods:
            piece = events.read1(PIECE)
            if not piece:
                raise Failure("the watch of pods ended")
            text = rest + piece
            seen += text.count(b'{"type":"ADDED"')
            rest = text[text.rfind(b"\n") + 1:][:14]
        seconds = time.monotonic() - began
        cpu = counters(self.server.pid)["cpu"] - used
        watch.close()
        pause = stop_prober(prober)
        return {"rate": self.pods / seconds, "cpu_us": 1e6 * cpu / self.pods, "max": pause["max"], "p50": pause["p50"]}


def binding_figures(bench: Bench):
    # nodes, pods, goal
    sizes = ((10, 500, {}),) if bench.quick else ((100, 5000, {"kube": 325, "times": 25}), (5000, 50000, {"at_least": 10000}))
    for nodes, pods, goal in sizes:
        b = Binding(bench, nodes, pods)
        b.make()
        waiting = counters(b.server.pid)["pss"]
        r = b.bind()
        what = f"bound, on disk: {nodes:,} nodes, {pods:,} pods"
        yield row("P5", what, r["rate"], "/s", **goal)
        yield row("P5", what + ", server CPU each", r["cpu_us"], "µs")
        yield row("P5", what + ", longest pause", r["max"], "ms", at_most=20)
        yield row("P5", f"memory of the server with {pods:,} pods waiting (PSS)", waiting / 1e6, "MB")
        b.server.stop()

"""What the Job controller does in a second, with containers that are only timers (`serve --runtime fake`).

Counted are pods: made by the controller (what Kubernetes' own was seen to do 130 times a second), and seen to their end
with their Job complete.  Everything between is real: the API, the store and its fsync, placement, the node's pod worker
and its reports.  The longest pause while finished Jobs and their pods are cleared away is what a prober on a connection of
its own sees.
"""
import http.client
import json
import subprocess
import threading
import time

from benchlib import BUILD, Bench, Failure, Load, Stoker, counters, unverified
from figures import row, stop_prober

QUICK = {"stoker.dev/fake-exit-code": "0"}


def job(name: str, **spec) -> dict:
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"template": {"metadata": {"annotations": QUICK},
                                  "spec": {"restartPolicy": "Never",
                                           "containers": [{"name": "main", "image": "host", "command": ["true"]}]}}, **spec}}


class Jobs:
    def __init__(self, bench: Bench, name: str, *args: str):
        self.bench = bench
        self.server = Stoker(bench, name, args=args)
        self.server.start()
        self.head = {"Authorization": f"Bearer {self.server.token}", "Content-Type": "application/json"}

    def connect(self) -> http.client.HTTPSConnection:
        host, port = self.server.url.removeprefix("https://").split(":")
        return http.client.HTTPSConnection(host, int(port), context=unverified, timeout=300)

    def call(self, conn, method: str, path: str, body=None) -> dict:
        conn.request(method, path, body=json.dumps(body) if body else None, headers=self.head)
        r = conn.getresponse()
        text = r.read().decode()
        if r.status >= 300:
            raise Failure(f"{method} {path}: {text[:500]}")
        return json.loads(text)

    def run(self, jobs: list, pods: int) -> dict:
        """Makes these Jobs and waits until all are complete, asking for one after the other."""
        used, began, conn = counters(self.server.pid)["cpu"], time.monotonic(), self.connect()
        self.make(jobs)
        for j in jobs:
            while not self.complete(conn, j["metadata"]["name"]):
                time.sleep(0.01)
        seconds = time.monotonic() - began
        return {"done": pods / seconds, "cpu_ms": 1000 * (counters(self.server.pid)["cpu"] - used) / pods}

    def complete(self, conn, name: str) -> bool:
        conn.request("GET", f"/apis/batch/v1/namespaces/default/jobs/{name}", headers=self.head)
        r = conn.getresponse()
        text = r.read()
        if b'"type":"Failed"' in text:
            raise Failure("a Job failed: " + text.decode()[:2000])
        return r.status == 200 and b'"completionTime"' in text

    def make(self, jobs: list):
        """Sets out to create these Jobs, over eight connections."""
        def create(part):
            conn = self.connect()
            for j in part:
                self.call(conn, "POST", "/apis/batch/v1/namespaces/default/jobs", j)

        for i in range(min(8, len(jobs))):
            threading.Thread(target=create, args=(jobs[i::8],), daemon=True).start()

    def pods_made(self, jobs: list, pods: int) -> float:
        """Pods a second that the controller makes for these Jobs, where nobody runs them."""
        watch = self.connect()
        watch.request("GET", "/api/v1/namespaces/default/pods?watch=true", headers=self.head)
        events, n, began = watch.getresponse(), 0, time.monotonic()
        self.make(jobs)
        while n < pods:
            line = events.readline()
            if not line:
                raise Failure("the watch of pods ended")
            n += line.startswith(b'{"type":"ADDED"')
        rate = pods / (time.monotonic() - began)
        watch.close()
        return rate

    def clear_away(self) -> dict:
        """Deletes all Jobs, and waits until the garbage collector has taken the last pod."""
        conn, pods = self.connect(), "/api/v1/namespaces/default/pods?limit=1"
        prober = Load(self.server, "livez", interval=2000, seconds=600)
        prober.go()
        began = time.monotonic()
        self.call(conn, "DELETE", "/apis/batch/v1/namespaces/default/jobs?propagationPolicy=Background")
        while self.call(conn, "GET", pods)["items"]:
            time.sleep(0.2)
        return {"seconds": time.monotonic() - began} | stop_prober(prober)


class JobFigures:
    def __init__(self, bench: Bench):
        self.bench = bench
        self.many, self.finished = (50, 100) if bench.quick else (1000, 10000)

    def measure(self, wanted):
        if "jobs" in wanted:
            yield from self.in_process()
        if "P15" in wanted:
            yield from self.operator()

    def kinds(self):
        """The same number of pods in one Job and in as many Jobs."""
        return ((f"one Job of {self.many:,} pods",
                 [job("one", completions=self.many, parallelism=self.many, backoffLimit=0)]),
                (f"{self.many:,} Jobs of one pod", [job(f"each-{i}") for i in range(self.many)]))

    def in_process(self):
        for name, jobs in self.kinds():
            yield row("jobs", f"pods made for {name}, nobody runs them", self.alone(jobs), "/s", kube=130, at_least=2000)
        server = Jobs(self.bench, "jobs", "--runtime", "fake")
        for name, jobs in self.kinds():
            r = server.run(jobs, self.many)
            yield row("jobs", f"{name}, fake runtime, to their end", r["done"], "/s", kube=130, at_least=2000)
            yield row("jobs", f"{name}, CPU of the server a pod", r["cpu_ms"], "ms")
        left = self.finished - self.many
        server.run([job(f"more-{i}") for i in range(left)], left)
        time.sleep(2)
        pods = self.finished + self.many
        yield row("jobs", f"memory with {pods:,} finished pods (PSS), each", counters(server.server.pid)["pss"] / pods / 1e3,
                  "kB")
        r = server.clear_away()
        yield row("jobs", f"{self.finished:,} finished Jobs cleared away, longest pause", r["max"], "ms", at_most=20)
        yield row("jobs", f"{self.finished:,} finished Jobs cleared away, objects", (pods + self.finished) / r["seconds"], "/s")
        server.server.stop()

    def alone(self, jobs: list) -> float:
        server = Jobs(self.bench, f"alone-{len(jobs)}", "--no-node")
        rate = server.pods_made(jobs, self.many)
        server.server.stop()
        return rate

    def operator(self):
        """The same controller out of process, over HTTPS."""
        jobs = self.kinds()[0][1]
        server = Jobs(self.bench, "operated", "--no-node", "--no-controllers")
        process = self.bench.spawn([BUILD / "stoker", "operate", "--kubeconfig", server.server.data / "admin.kubeconfig",
                                    "--controllers", "job", "--leader-elect=false"], stderr=subprocess.DEVNULL)
        time.sleep(1)
        yield row("P15", f"`stoker operate`: pods made for one Job of {self.many:,}", server.pods_made(jobs, self.many), "/s",
                  kube=130, times=5)
        yield row("P15", "`stoker operate`: memory after that (PSS)", counters(process.pid)["pss"] / 1e6, "MB", kube=192,
                  at_most=10)
        self.bench.end(process)
        server.server.stop()

"""What the Job controller does in a second, with containers that are only timers (`serve --runtime fake`).

Counted are pods: made by the controller, and seen to their end with their Job complete.  Everything between is real: the
API, the store and its fsync, placement, the node's pod worker and its reports.  The longest time in which the server did
not answer while it clears ten thousand finished Jobs away is what a prober on a connection of its own sees.
"""
import http.client
import json
import threading
import time

from benchlib import Bench, Failure, Stoker, counters, unverified
from figures import row

QUICK = {"stoker.dev/fake-exit-code": "0"}


def job(name: str, **spec) -> dict:
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"template": {"metadata": {"annotations": QUICK},
                                  "spec": {"restartPolicy": "Never",
                                           "containers": [{"name": "main", "image": "host", "command": ["true"]}]}}, **spec}}


class Jobs:
    def __init__(self, bench: Bench):
        self.bench = bench
        self.server = Stoker(bench, "jobs", args=["--runtime", "fake"])
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
        """Makes these Jobs; seconds until all their pods are made and until all are complete."""
        ns = "/apis/batch/v1/namespaces/default/jobs"
        watch, made = self.connect(), {}
        watch.request("GET", "/api/v1/namespaces/default/pods?watch=true&labelSelector=job-name", headers=self.head)
        events = watch.getresponse()

        def count():
            n = 0
            while n < pods:
                n += events.readline().startswith(b'{"type":"ADDED"')
            made["at"] = time.monotonic()

        counter = threading.Thread(target=count, daemon=True)
        ends = self.connect()
        ends.request("GET", ns + "?watch=true", headers=self.head)
        completed = ends.getresponse()
        counter.start()
        used, began = counters(self.server.pid)["cpu"], time.monotonic()

        def create(part):
            conn = self.connect()
            for j in part:
                self.call(conn, "POST", ns, j)

        makers = [threading.Thread(target=create, args=(jobs[i::8],), daemon=True) for i in range(min(8, len(jobs)))]
        for m in makers:
            m.start()
        left = {j["metadata"]["name"] for j in jobs}
        while left:
            line = completed.readline()
            if b'"type":"Failed"' in line:
                raise Failure("a Job failed: " + line.decode()[:2000])
            if b'"completionTime"' in line:
                left.discard(json.loads(line)["object"]["metadata"]["name"])
        seconds = time.monotonic() - began
        counter.join(60)
        cpu = counters(self.server.pid)["cpu"] - used
        watch.close()
        ends.close()
        return {"made": pods / (made["at"] - began), "done": pods / seconds, "cpu_ms": 1000 * cpu / pods}

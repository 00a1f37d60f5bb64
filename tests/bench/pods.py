"""P10, P11 and what running pods cost: pods of one server, beside the same container under the bare runtimes and podman.

All run busybox in the same root file system.  The bare runtimes get the document that the server has made for its own
pod, with namespaces of their own instead of the pod's; one after the other, all take turns.  The container's network is
in Stoker's time and not in the others', who have none.  CPU is that of a server or runtime with all its children.
"""
import contextlib
import hashlib
import http.client
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import time

from benchlib import BUILD, TICK, Bench, Failure, Load, Stoker, counters, unverified
from figures import row

IMAGE = "bench/box:1"
NOOP, LONG = ["/bin/true"], ["/bin/sleep", "1000000"]
MONITOR = "stoker-monitor"


def quantile(values, q: float) -> float:
    return sorted(values)[min(int(q * len(values)), len(values) - 1)]


def family_cpu(pid: int) -> float:
    """CPU seconds of a process and of all it has waited for, theirs included."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(f) for f in fields[11:15]) / TICK


def monitors_of(pid: int) -> list:
    pids = [int(p) for t in pathlib.Path(f"/proc/{pid}/task").iterdir() for p in (t / "children").read_text().split()]
    return [p for p in pids if pathlib.Path(f"/proc/{p}/comm").read_text().strip() == MONITOR]


# --- the image ---

def make_root(path: pathlib.Path):
    busybox = shutil.which("busybox")
    if not busybox:
        raise Failure("there is no busybox; `tools/bootstrap bench` installs it")
    for name in ("bin", "etc", "dev", "proc", "sys", "tmp"):
        (path / name).mkdir(parents=True)
    shutil.copy(busybox, path / "bin" / "busybox")
    for name in ("true", "sleep", "sh"):
        (path / "bin" / name).symlink_to("busybox")


def write_layout(root: pathlib.Path, layout: pathlib.Path):
    """The root file system as an OCI image layout."""
    blobs = layout / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def blob(data: bytes, kind: str) -> dict:
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    tar = layout / "layer"
    with tarfile.open(tar, "w") as t:
        t.add(root, arcname=".")
    layer = blob(tar.read_bytes(), "layer.v1.tar")
    tar.unlink()
    config = blob(json.dumps({"architecture": "amd64", "os": "linux", "config": {},
                              "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}).encode(), "config.v1+json")
    manifest = blob(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                                "config": config, "layers": [layer]}).encode(), "manifest.v1+json")
    (layout / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))


# --- Stoker ---

class Pods:
    """A server with a node, one connection for requests and one for a watch of all pods."""

    def __init__(self, bench: Bench, layout: pathlib.Path):
        self.server = Stoker(bench, "pods")
        self.server.start()
        self.pid, self.made = self.server.pid, 0
        r = subprocess.run([BUILD / "stoker", "image", "import", "-q", "--data", self.server.data, layout, "--name", IMAGE],
                           capture_output=True, text=True)
        if r.returncode:
            raise Failure("stoker image import: " + r.stderr.strip())
        host, port = self.server.url.removeprefix("https://").split(":")
        self.calls, watch = (http.client.HTTPSConnection(host, int(port), context=unverified, timeout=120)
                             for _ in range(2))
        self.head = {"Authorization": f"Bearer {self.server.token}", "Content-Type": "application/json"}
        watch.request("GET", "/api/v1/namespaces/default/pods?watch=true", headers=self.head)
        self.events = watch.getresponse()

    def call(self, method: str, path: str, body=None):
        self.calls.request(method, path, body=json.dumps(body) if body else None, headers=self.head)
        r = self.calls.getresponse()
        text = r.read().decode()
        if r.status >= 300:
            raise Failure(f"{method} {path}: {text}")
        return json.loads(text)

    def create(self, image: str, command) -> str:
        name = f"p{self.made}"
        self.made += 1
        self.call("POST", "/api/v1/namespaces/default/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False,
                     "containers": [{"name": "main", "image": image, "command": command}]}})
        return name

    def see(self, phase: str, names):
        """Reads the watch until these pods have come to a phase; it may still tell of others, long gone."""
        want, left = f'"phase":"{phase}"'.encode(), {n.encode() for n in names}
        while left:
            line = self.events.readline()
            if not line or b'"phase":"Failed"' in line:
                raise Failure("a pod failed: " + line.decode()[:3000])
            if want in line:
                left.discard(re.search(rb'"name":"([^"]+)"', line)[1])

    def life(self, image: str, command, phase: str) -> float:
        """Milliseconds from before the request to the sight of the phase."""
        began = time.monotonic()
        self.see(phase, [self.create(image, command)])
        return 1000 * (time.monotonic() - began)

    def remove_all(self):
        self.call("DELETE", "/api/v1/namespaces/default/pods")
        while self.call("GET", "/api/v1/namespaces/default/pods?limit=1")["items"]:
            self.events.readline()

    def rest(self):
        """Until its children are gone, whose CPU is counted when they are."""
        for _ in range(100):
            if not monitors_of(self.pid):
                return
            time.sleep(0.02)

    def document(self) -> dict:
        """The OCI document of the newest container."""
        found = sorted((self.server.data / "run" / "pods").glob("*/containers/main/config.json"),
                       key=lambda p: p.stat().st_mtime)
        if not found:
            raise Failure("the server keeps no config.json below " + str(self.server.data / "run" / "pods"))
        return json.loads(found[-1].read_text())

    def burst(self, count: int) -> dict:
        prefix = f"burst-{self.made}"
        run = Load(self.server, "create", kind="noop", prefix=prefix, connections=8, requests=count)
        self.made += count
        used, began = family_cpu(self.pid), time.monotonic()
        run.go()
        self.see("Succeeded", [f"{prefix}-{i}" for i in range(count)])
        seconds = time.monotonic() - began
        run.result()
        run.finish()
        self.rest()
        return {"rate": count / seconds, "cpu_ms": 1000 * (family_cpu(self.pid) - used) / count}


# --- the others ---

def bare_bundle(document: dict, root: pathlib.Path, path: pathlib.Path):
    """The document without what ties it to its pod: namespaces become new ones, files become copies."""
    path.mkdir()
    document["root"]["path"] = str(root)
    document["process"]["args"] = NOOP
    document["linux"].pop("cgroupsPath", None)  # the runtime's own choice, by the container's name
    # Stoker's containers share the CPU below one group.  Alone in the root, with a weight of 2, these would starve.
    document["linux"].get("resources", {}).pop("cpu", None)
    for n in document["linux"]["namespaces"]:
        n.pop("path", None)
    for i, m in enumerate(document["mounts"]):
        if m.get("type") == "bind" and pathlib.Path(m["source"]).is_file():
            shutil.copy(m["source"], path / str(i))
            m["source"] = str(path / str(i))
    (path / "config.json").write_text(json.dumps(document))


class Bare:
    """Everything that is no server, run by tests/bench/bare.py."""

    def __init__(self, bench: Bench, bundle: pathlib.Path, root: pathlib.Path):
        own = bench.dir / "bare"
        own.mkdir()
        self.id = bench.dir.name.replace(".", "-")
        state = [f"--root={own / 'state'}", "run", "--bundle", str(bundle), "{id}"]
        podman = ["podman", f"--root={own / 'podman'}", f"--runroot={own / 'podman-run'}", "run", "--rm", "--net=none",
                  "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000", "--rootfs", str(root), *NOOP]
        argvs = {"crun": ["crun", *state], "runc": ["runc", *state], "podman": podman}
        self.words = {}
        self.process = bench.spawn(["unshare", "--mount", "--propagation=slave", sys.executable,
                                    pathlib.Path(__file__).with_name("bare.py")],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.argvs = {name: argv for name, argv in argvs.items() if self.works(name, argv)}

    def ask(self, argv, count: int, at_once: int) -> dict:
        self.process.stdin.write(json.dumps({"argv": argv, "n": count, "at_once": at_once, "id": self.id}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failure("tests/bench/bare.py ended early")
        return json.loads(line)

    def works(self, name: str, argv) -> bool:
        if not shutil.which(argv[0]):
            self.words[name] = "not installed"
            return False
        r = self.ask(argv, 1, 1)
        self.words[name] = r["words"]
        return not r["failed"]

    def run(self, name: str, count: int, at_once: int) -> dict:
        r = self.ask(self.argvs[name], count, at_once)
        if r["failed"]:
            print(f"bench: {r['failed']} of {count} runs of {name} failed: {r['words']}", file=sys.stderr)
        return r


# --- the figures ---

class PodFigures:
    def __init__(self, bench: Bench):
        self.bench = bench
        self.ones, self.podmans, self.many, self.running = (10, 2, 20, 10) if bench.quick else (50, 10, 200, 50)
        self.root, layout = bench.dir / "root", bench.dir / "layout"
        make_root(self.root)
        write_layout(self.root, layout)
        self.pods = Pods(bench, layout)

    def measure(self, wanted):
        before = self.settled_pss()
        if "P10" in wanted:
            yield from self.to_running()
        if "P12" in wanted:
            yield from self.hold(before)
        if "P11" in wanted:
            yield from self.lives()
            yield from self.runtime()
        self.pods.server.stop()

    def settled_pss(self) -> float:
        self.pods.life(IMAGE, NOOP, "Succeeded")
        self.pods.remove_all()
        time.sleep(1)
        return counters(self.pods.pid)["pss"]

    def to_running(self):
        ms = []
        for _ in range(self.ones):
            ms.append(self.pods.life(IMAGE, LONG, "Running"))
        yield row("P10", "pod created to Running seen, p50", quantile(ms, 0.5), "ms", kube=1000, at_most=25)
        yield row("P10", "pod created to Running seen, p99", quantile(ms, 0.99), "ms", at_most=80)
        self.pods.remove_all()

    def hold(self, before: float):
        self.pods.see("Running", [self.pods.create(IMAGE, LONG) for _ in range(self.running)])
        time.sleep(1)
        after = counters(self.pods.pid)["pss"]
        yield row("P12", f"memory of the server for {self.running} running pods (PSS)", (after - before) / 1e6, "MB",
                  at_most=20)
        monitors = monitors_of(self.pods.pid)
        yield row("P12", f"memory of their {len(monitors)} monitors (PSS)",
                  sum(counters(p)["pss"] for p in monitors) / 1e6, "MB")
        self.pods.remove_all()

    def lives(self):
        self.pods.life(IMAGE, LONG, "Running")
        bundle = self.bench.dir / "bundle"
        bare_bundle(self.pods.document(), self.root, bundle)
        self.pods.remove_all()
        bare = Bare(self.bench, bundle, self.root)
        for name, words in bare.words.items():
            if name not in bare.argvs:
                print(f"bench: {name} does not run here: {words}", file=sys.stderr)
        yield from self.one_by_one(bare)
        yield from self.at_once(bare)
        self.bench.end(bare.process)

    def one_by_one(self, bare: Bare):
        ms, cpu, host = {"stoker": []}, {"stoker": 0.0}, []
        for i in range(self.ones):
            self.pods.rest()
            used = family_cpu(self.pods.pid)
            ms["stoker"].append(self.pods.life(IMAGE, NOOP, "Succeeded"))
            self.pods.rest()
            cpu["stoker"] += family_cpu(self.pods.pid) - used
            host.append(self.pods.life("host", NOOP, "Succeeded"))
            for name in bare.argvs:
                if name != "podman" or i < self.podmans:
                    r = bare.run(name, 1, 1)
                    ms.setdefault(name, []).extend(r["ms"])
                    cpu[name] = cpu.get(name, 0) + r["cpu"]
        what, p50 = "pod created to Succeeded seen", quantile(ms["stoker"], 0.5)
        goals = {"crun": {"within": 1.3}, "podman": {"within": 1}}
        for name in bare.argvs:
            yield row("P11", what + ", p50", p50, "ms", measured=(quantile(ms[name], 0.5), name), **goals.get(name, {}))
        yield row("P11", what + ", p99", quantile(ms["stoker"], 0.99), "ms")
        yield row("P11", what + ", image host, p50", quantile(host, 0.5), "ms")
        for name in set(bare.argvs) - {"podman"}:
            yield row("P11", "CPU of a pod's life, all processes", 1000 * cpu["stoker"] / len(ms["stoker"]), "ms",
                      measured=(1000 * cpu[name] / len(ms[name]), name))

    def at_once(self, bare: Bare):
        what, bursts, peers = f"{self.many} pods at once, created to Succeeded", [], {}
        for _ in range(1 if self.bench.quick else 2):
            bursts.append(self.pods.burst(self.many))
            for name in bare.argvs:
                for at_once in (2, 8):
                    if name != "podman" or at_once == 2:
                        count = self.many if name != "podman" else max(self.many // 10, 2)
                        peers.setdefault((name, at_once), []).append(bare.run(name, count, at_once))
            self.pods.remove_all()
        rate = statistics.mean(b["rate"] for b in bursts)
        yield row("P11", what, rate, "/s", at_least=100)
        yield row("P11", what, rate, "/s", kube=5.1, times=50)
        for (name, at_once), results in peers.items():
            peer = statistics.mean(len(r["ms"]) / r["seconds"] for r in results)
            yield row("P11", what, rate, "/s", measured=(peer, f"{name}, {at_once} at once"))
        yield row("P11", what + ", CPU each", statistics.mean(b["cpu_ms"] for b in bursts), "ms",
                  measured=(statistics.mean(1000 * r["cpu"] / len(r["ms"]) for r in peers["crun", 8]), "crun, 8 at once")
                  if ("crun", 8) in peers else None)

    def runtime(self):
        """node/runtime.h alone: no API, no pod around the container."""
        for name in ("crun", "runc"):
            with contextlib.suppress(subprocess.CalledProcessError):
                r = subprocess.run([BUILD / "tests" / "bench-runtime", self.bench.dir / f"runtime-{name}", name],
                                   capture_output=True, text=True, check=True)
                f = json.loads(r.stdout)
                yield row("P11", "container started to ended, without API and pod", f["ended_ms"], "ms",
                          measured=(f["bare_ms"], name))
                yield row("P11", f"{f['many']} containers, {f['at_once']} at once, without API and pod", f["rate"], "/s",
                          measured=(f["bare_rate"], name))

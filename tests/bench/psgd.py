"""P17, P18 and train of tools/bench: what psgd's parameter servers carry, what elastic averaging saves, and how fast it is."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from benchlib import BUILD, Failure, free_port
from figures import Row, row
from slow_link import SlowLink

GLOO = """
import os, sys, time, torch, torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo", rank=int(sys.argv[1]), world_size=2, init_method="tcp://127.0.0.1:" + sys.argv[2])
x = torch.ones(int(sys.argv[3]))
dist.all_reduce(x)
dist.barrier()
began = time.monotonic()
for _ in range(int(sys.argv[4])):
    dist.all_reduce(x)
print((time.monotonic() - began) / int(sys.argv[4]))
"""
DATA = "/usr/share/datasets/fashion-mnist"
TORCH = {1: "torch, one process", 2: "torch, two gloo processes"}
EPOCH = re.compile(r"^epoch (\d+) loss \S+ accuracy (\S+) step=\d+/\d+ seconds=(\S+)", re.M)


class PsgdFigures:
    def __init__(self, bench):
        self.bench = bench
        if subprocess.run(["ninja", "-C", str(BUILD), "psgd", "tests/bench-psgd"], stdout=subprocess.DEVNULL).returncode:
            raise Failure("psgd does not build")

    def measure(self, wanted):
        if "P17" in wanted:
            yield from self.carried()
            yield from self.step()
        if "P18" in wanted:
            yield from self.elastic()
        if "train" in wanted:
            yield from self.samples()

    def carry(self, how: str, workers: int, servers: int, floats: int, seconds: float, share=()):
        """bench_psgd.c's three numbers: bytes/s, steps/s, bytes per CPU second."""
        r = subprocess.run([BUILD / "tests" / "bench-psgd", how, str(workers), str(servers), str(floats), str(seconds), *share],
                           capture_output=True, text=True, timeout=120)
        if r.returncode:
            raise Failure("bench-psgd: " + r.stderr.strip())
        return [float(n) for n in r.stdout.split()]

    def carried(self):
        """Each beside bare TCP, in turns; the best of each, for another program's moment is not ours."""
        seconds, turns = (0.3, 2) if self.bench.quick else (0.6, 5)
        with tempfile.TemporaryDirectory(prefix="psgd-bench-") as door:
            ways = {"raw": ("raw", ()), "async": ("async", ()), "sync": ("sync", ()),
                    "async, shared memory": ("async", (door,)), "sync, shared memory": ("sync", (door,))}
            for workers in (1, 2, 4, 8):
                runs = {way: [] for way in ways}
                for _ in range(turns):
                    for way, (how, share) in ways.items():
                        runs[way].append(self.carry(how, workers, 1, 1_000_000, seconds, share))
                best = {way: [max(column) for column in zip(*got)] for way, got in runs.items()}
                bare = best.pop("raw")
                for way, got in best.items():
                    yield row("P17", f"push and pull, {way}, {workers} workers, 1 ps", got[0] / 1e6, "MB/s",
                              measured=(bare[0] / 1e6, "bare TCP"), times=0.8)
                    yield row("P17", "  the same per second of CPU", got[2] / 1e6, "MB/s", measured=(bare[2] / 1e6, "bare TCP"))

    def step(self):
        """One synchronous step of two workers with 10 million floats, over shared memory and over TCP, beside an all-reduce
        of two processes; in turns, the best of each."""
        floats, seconds, turns, torch = 10_000_000, 1, 2 if self.bench.quick else 5, self.has_torch()
        best = {}

        def keep(key, ms):
            best[key] = min(ms, best.get(key, ms))

        with tempfile.TemporaryDirectory(prefix="psgd-bench-") as door:
            for _ in range(turns):
                if torch:
                    keep("gloo", self.gloo(floats, 10 if self.bench.quick else 30))
                for servers in (1, 2):
                    for how, share in (("shared memory", (door,)), ("TCP", ())):
                        keep((how, servers), 2e3 / self.carry("sync", 2, servers, floats, seconds, share)[1])
        for how, servers in (key for key in best if key != "gloo"):
            what = f"sync step, 10 M floats, 2 workers, {servers} ps, {how}"
            goal = {"within": 1} if how == "shared memory" else {}
            yield (row("P17", what, best[how, servers], "ms", measured=(best["gloo"], "torch-gloo all-reduce"), **goal) if torch
                   else Row("P17", what, best[how, servers], "ms"))

    def has_torch(self) -> bool:
        if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode == 0:
            return True
        print("bench: python3-torch is not here, so psgd stands alone", file=sys.stderr)
        return False

    def gloo(self, floats: int, times: int):
        """Milliseconds of an all-reduce of python3-torch."""
        port, env = str(free_port()), os.environ | {"GLOO_SOCKET_IFNAME": "lo"}
        ranks = [self.bench.spawn(["/usr/bin/python3", "-c", GLOO, rank, port, floats, times], env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for rank in range(2)]
        answers = [r.communicate(timeout=180)[0] for r in ranks]
        if any(r.returncode for r in ranks):
            raise Failure("torch-gloo did not run")
        return 1e3 * max(float(a.split()[-1]) for a in answers)

    def train(self, mode: str, rate: float, epochs: int, limit: int, link: float):
        """Two workers behind a slow link; accuracy and time of each epoch, bytes in all."""
        port = free_port()
        proxy = SlowLink(port, link)
        common = ["--mode", mode, "--limit", limit, "--epochs", epochs, "--hidden", "32", "--decay", "0.9", "--rate", rate, "-q"]
        try:
            def start(task, ps):
                return self.bench.spawn([BUILD / "psgd", "--task", task, "--ps", f"127.0.0.1:{ps}", "--workers", 2, *common],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            tasks = [start("worker:0", proxy.port), start("worker:1", proxy.port), start("ps:0", port)]
            out, err = tasks[0].communicate(timeout=600)
            if tasks[0].returncode:
                raise Failure(f"psgd --mode {mode}: {err.strip()}")
        finally:
            for t in tasks:
                self.bench.end(t)
            proxy.close()
        lines = [(int(n), float(accuracy), float(seconds)) for n, accuracy, seconds in EPOCH.findall(out)]
        if not lines:
            raise Failure(f"psgd --mode {mode} printed no epoch: {out}")
        return lines, proxy.bytes

    def elastic(self):
        """The time until the test error that asynchronous SGD has in the end, and the bytes until then."""
        limit, epochs, link = (3000, 4, 10e6) if self.bench.quick else (10000, 8, 10e6)
        plain, plain_bytes = self.train("async", 0.1, epochs, limit, link)
        goal = plain[-1][1]
        elastic, elastic_bytes = self.train("easgd", 0.2, epochs, limit, link)
        reached = next((e for e in elastic if e[1] >= goal), None)
        share = (reached or elastic[-1])[0] / elastic[-1][0]
        what = f"EASGD (tau 10) on a {link * 8 / 1e6:.0f} Mbit/s link, to {100 * (1 - goal):.1f} % error"
        if not reached:
            what = f"EASGD ended with {100 * (1 - elastic[-1][1]):.1f} % error, not {100 * (1 - goal):.1f} %"
        time_row = row("P18", what, (reached or elastic[-1])[2], "s", measured=(plain[-1][2], "asynchronous SGD"), part=1 / 3)
        bytes_row = row("P18", "  and its bytes", elastic_bytes * share / 1e6, "MB",
                        measured=(plain_bytes / 1e6, "asynchronous SGD"), part=1 / 9)
        for r in (time_row, bytes_row):
            r.met = r.met and reached is not None
            yield r

    def samples(self):
        """Samples per second of the perceptron, one process and two workers, beside python3-torch."""
        epochs, seconds, torch = (1, 2, self.has_torch()) if self.bench.quick else (4, 8, self.has_torch())
        for workers in (1, 2):
            out = subprocess.run([BUILD / "psgd", "-q", "--epochs", str(epochs), "--workers", str(workers)], text=True,
                                 capture_output=True, timeout=300)
            rates = re.findall(r"samples/s=(\d+)", out.stdout)
            if out.returncode or not rates:
                raise Failure("psgd: " + out.stderr.strip())
            what = f"samples of 784-128-10, mode sync, {workers} worker{'s' * (workers > 1)}"
            yield (row("train", what, float(rates[-1]), "/s", measured=(self.torch(workers, seconds), TORCH[workers])) if torch
                   else Row("train", what, float(rates[-1]), "/s"))

    def torch(self, ranks: int, seconds: int) -> float:
        port, env = free_port(), os.environ | {"GLOO_SOCKET_IFNAME": "lo"}
        script = pathlib.Path(__file__).with_name("torch_train.py")
        tasks = [self.bench.spawn(["/usr/bin/python3", "-B", script, rank, ranks, port, seconds, DATA], env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for rank in range(ranks)]
        answers = [t.communicate(timeout=180)[0] for t in tasks]
        if any(t.returncode for t in tasks):
            raise Failure("python3-torch did not train")
        return max(float(a) for a in answers)

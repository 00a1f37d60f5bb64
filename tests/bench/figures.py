"""The figures of `make bench`, one function a subject, each yielding rows.

Peers are measured in the same run where Debian has one that does the same work (etcd); the others are the figures once
seen with Kubernetes 1.20.2 on a 2-core machine, of a range always the end that is harder for us, and marked "seen".
"""
import dataclasses
import shutil
import statistics
import subprocess
import time

from benchlib import BUILD, Bench, Etcd, Failure, Load, Stoker, counters, load
from instructions import Counter

KINDS = (("configmap", "ConfigMap"), ("pod", "Pod"), ("job", "Job"), ("tfjob", "TFJob"))
PEERS = {"kube": "Kubernetes, seen", "etcd": "etcd, measured"}


@dataclasses.dataclass
class Row:
    figure: str
    what: str
    value: float
    unit: str
    peer: float | None = None
    peer_name: str | None = None
    goal: str = ""
    met: bool | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.peer if self.peer else None


def row(figure, what, value, unit, kube=None, etcd=None, measured=None, at_least=None, at_most=None, times=None,
        part=None, within=None) -> Row:
    """A figure with its peer and its goal: an absolute bound, or a multiple (times: at least, within: at most) or fraction
    (part) of the peer.  measured: the value and the name of a peer of the same run."""
    peer, name = (etcd, PEERS["etcd"]) if etcd is not None else (kube, PEERS["kube"] if kube is not None else None)
    if measured is not None:
        peer, name = measured
    r = Row(figure, what, value, unit, peer, name)
    if times is not None:
        r.goal, r.met = f"≥ {times:g}×", value >= times * peer
    elif part is not None:
        r.goal, r.met = f"≤ 1/{1 / part:g}", value <= part * peer
    elif within is not None:
        r.goal, r.met = f"≤ {within:g}×", value <= within * peer
    elif at_least is not None:
        r.goal, r.met = f"≥ {at_least:,g}", value >= at_least
    elif at_most is not None:
        r.goal, r.met = f"≤ {at_most:,g}", value <= at_most
    return r


def mean(results, key):
    return statistics.mean(r[key] for r in results)


def stop_prober(prober: Load) -> dict:
    prober.process.terminate()
    r = prober.result()
    prober.finish()
    return r


class Figures:
    def __init__(self, bench: Bench, etcd: bool):
        self.bench = bench
        self.counted = 128 if bench.quick else 320  # requests whose instructions are counted
        self.seconds, self.rounds = (1, 1) if bench.quick else (3, 2)
        self.objects, self.many, self.events = (4000, 6000, 50) if bench.quick else (50000, 100000, 250)
        self.etcd = Etcd(bench) if etcd and shutil.which("etcd") else None

    # --- P12: a server that nobody uses ---

    def idle(self):
        server = Stoker(self.bench, "idle")
        first = server.start()
        time.sleep(2)
        before, seconds = counters(server.pid), 3 if self.bench.quick else 10
        time.sleep(seconds)
        after = counters(server.pid)
        yield row("P12", "memory idle (PSS)", after["pss"] / 1e6, "MB", kube=711, at_most=8)
        yield row("P12", "CPU idle, of a core", 100 * (after["cpu"] - before["cpu"]) / seconds, "%", kube=7.6,
                  at_most=0.02)
        yield row("P12", "wake-ups idle", (after["wakeups"] - before["wakeups"]) / seconds, "/s", at_most=1)
        stripped = self.bench.dir / "stripped"
        subprocess.run(["strip", "-o", stripped, BUILD / "stoker"], check=True)
        yield row("P12", "binary, stripped", stripped.stat().st_size / 1e6, "MB", at_most=4)
        yield row("P14", "first start, exec to ready", 1000 * first, "ms", at_most=100)
        server.stop()

    # --- P1, P2: durable creates, alternating with etcd ---

    def creates(self, figures):
        server = Stoker(self.bench, "creates")
        server.start()
        if "P1" in figures:
            yield from self.creates_at_64(server)
        if "P2" in figures:
            yield from self.creates_at_1(server)
        server.stop()

    def creates_at_64(self, server):
        results, puts = {k: [] for k, _ in KINDS}, []
        for i in range(self.rounds):
            for kind, _ in KINDS:
                results[kind].append(load(server, "create", kind=kind, connections=64, prefix=f"p1-{i}",
                                          seconds=self.seconds))
                if kind == "configmap" and self.etcd:
                    puts.append(self.etcd.put(connections=64, seconds=self.seconds))
        for kind, name in KINDS:
            what = f"create {name}, 64 connections"
            yield row("P1", what, mean(results[kind], "rate"), "/s", kube=1900, times=10)
            yield row("P1", what + ", p50", mean(results[kind], "p50"), "ms")
            yield row("P1", what + ", p99", mean(results[kind], "p99"), "ms", kube=95, part=1 / 20)
            yield row("P1", what + ", server CPU", mean(results[kind], "cpu_us"), "µs")
        yield from self.against_etcd("P1", results["configmap"], puts, 64)

    def creates_at_1(self, server):
        results, puts = [], []
        for i in range(self.rounds):
            results.append(load(server, "create", prefix=f"p2-{i}", seconds=self.seconds))
            if self.etcd:
                puts.append(self.etcd.put(connections=1, seconds=self.seconds))
        yield row("P2", "create ConfigMap, 1 connection", mean(results, "rate"), "/s", kube=490, times=8)
        yield row("P2", "create ConfigMap, 1 connection, p50", mean(results, "p50"), "ms", kube=2)
        yield row("P2", "create ConfigMap, 1 connection, p99", mean(results, "p99"), "ms")
        yield from self.against_etcd("P2", results, puts, 1)

    def against_etcd(self, figure, results, puts, connections):
        if not puts:
            return
        what = f"create ConfigMap against etcd put, {connections}"
        yield row(figure, what, mean(results, "rate"), "/s", etcd=mean(puts, "rate"))
        for q in ("p50", "p99"):
            yield row(figure, f"{what}, {q}", mean(results, q), "ms", etcd=mean(puts, q))
        yield row(figure, what + ", server CPU", mean(results, "cpu_us"), "µs", etcd=mean(puts, "cpu_us"))

    # --- flatness, P13, P3, P14: one server that grows ---

    def grown(self, figures):
        """One server for all that need many objects; compaction comes last, for it leaves work behind."""
        server = Stoker(self.bench, "full")
        server.start()
        low = self.flat(server, 1000) if "flat" in figures else None
        if {"P3", "P13", "P14", "flat"} & set(figures):
            yield from self.memory(server, show="P13" in figures)
        if "P3" in figures:
            yield from self.reads(server)
        if "flat" in figures:
            server.fill(self.many)
            high = self.flat(server, self.many)
            yield row("flat", f"create at {self.many:,} objects, at 1,000: {low['rate']:,.0f}", high["rate"], "/s")
            yield row("flat", f"server CPU at {self.many:,} objects, at 1,000: {low['cpu_us']:,.0f}", high["cpu_us"],
                      "µs", at_most=round(1.3 * low["cpu_us"]))
        if "P14" in figures:
            server.fill(self.many)
            yield from self.cold_start(server)
        if {"flat", "instr"} <= set(figures):
            yield self.counted_at(server)
        if "P13" in figures:
            yield from self.compaction(server)
        server.stop()

    def flat(self, server, existing):
        server.fill(existing)
        return server.create(requests=1000 if self.bench.quick else 5000)

    def memory(self, server, show):
        prober = Load(server, "livez", interval=2000, seconds=600)
        prober.go()
        server.fill(self.objects)
        pause = stop_prober(prober)
        if show:
            yield row("P13", f"memory with {server.made:,} objects of 1 KiB (PSS)", counters(server.pid)["pss"] / 1e6,
                      "MB", kube=1353, at_most=90)
            yield row("P13", "longest pause of a prober during creates", pause["max"], "ms", at_most=20)
            yield row("P13", "p99 of a prober during creates", pause["p99"], "ms")

    def reads(self, server):
        gets = [load(server, "get", connections=64, existing=self.objects, seconds=self.seconds)
                for _ in range(self.rounds)]
        yield row("P3", "GET, 64 connections", mean(gets, "rate"), "/s", kube=4000, times=15)
        yield row("P3", "GET, 64 connections, p50", mean(gets, "p50"), "ms")
        yield row("P3", "GET, 64 connections, p99", mean(gets, "p99"), "ms")
        yield row("P3", "GET, 64 connections, server CPU", mean(gets, "cpu_us"), "µs")
        whole = load(server, "list", requests=3)
        yield row("P3", f"LIST of {server.made:,} in one", whole["p50"], "ms")
        yield row("P3", f"LIST of {server.made:,} in one, speed", whole["bytes"] / 1e6 / whole["seconds"], "MB/s")
        pages = load(server, "list", requests=50, limit=500)
        yield row("P3", "LIST, first page of 500", pages["p50"], "ms")
        server.namespace("fan-out")
        w = load(server, "watch", namespace="fan-out", connections=1000, requests=self.events)
        yield row("P3", "event to 1,000 watchers, all have it, p50", w["last_p50"], "ms")
        yield row("P3", "event to 1,000 watchers, all have it, p99", w["last_p99"], "ms", at_most=5)
        yield row("P3", "event to 1,000 watchers, one of them, p50", w["p50"], "ms")
        yield row("P3", "event to 1,000 watchers, server CPU", w["cpu_us"], "µs")

    def cold_start(self, server):
        answers, readies = [], []
        for _ in range(3):
            server.stop()
            began = time.monotonic()
            readies.append(server.start())
            status, _ = server.request("GET", "/api/v1/namespaces/default/configmaps/bench-0")
            answers.append(time.monotonic() - began)
            if status != 200:
                raise Failure(f"after a restart an object is not there: status {status}")
        yield row("P14", f"start with {server.made:,} objects, to ready", 1000 * statistics.median(readies), "ms")
        yield row("P14", f"start with {server.made:,} objects, to the first GET", 1000 * statistics.median(answers), "ms",
                  kube=4600, at_most=200)

    def compaction(self, server):
        """Updates, with a history of a second, so that superseded revisions go while they are made."""
        server.stop()
        server.args = ["--history", "1s"]
        server.start()
        prober = Load(server, "livez", interval=2000, seconds=600)
        prober.go()
        load(server, "update", connections=64, existing=server.made, seconds=2 * self.seconds)
        time.sleep(self.seconds)
        pause = stop_prober(prober)
        yield row("P13", "longest pause during updates and compaction", pause["max"], "ms", at_most=20)
        yield row("P13", "memory after updates and compaction (PSS)", counters(server.pid)["pss"] / 1e6, "MB")

    # --- instructions ---

    def counted_at(self, server):
        server.stop()
        c = Counter(self.bench, "full")
        c.start(token=server.token)
        c.per_request("create", self.counted, connections=64, prefix="warm")
        r = row("instr", f"create ConfigMap, 64 connections, at {server.made:,} objects",
                c.per_request("create", self.counted, connections=64, prefix="counted") / 1000, "k")
        c.stop()
        server.start()
        return r

    def instructions(self):
        n = self.counted
        c = Counter(self.bench, "counted")
        c.start()
        c.per_request("create", n, connections=64, prefix="warm")
        for connections in (1, 64):
            yield row("instr", f"create ConfigMap, {connections} connection{'s' * (connections > 1)}",
                      c.per_request("create", n, connections=connections, prefix=f"i-{connections}") / 1000, "k")
        for kind, name in KINDS[1:]:
            yield row("instr", f"create {name}, 64 connections",
                      c.per_request("create", n, connections=64, prefix="i", kind=kind) / 1000, "k")
        yield row("instr", "GET, 64 connections",
                  c.per_request("get", 2 * n, connections=64, prefix="i-64", existing=n) / 1000, "k")
        c.stop()

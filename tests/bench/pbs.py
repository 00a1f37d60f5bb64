"""P7, P9 and R1 of tools/bench: PBS jobs beside Slurm and task-spooler, in turns.

A job appends a line to a file; it has run when the line is there, in all systems alike, and as many shells submit to
each.  As a program (qsub -- COMMAND) it is the same in all of them: a plain shell.  As a script Stoker runs it by the
user's login shell, as PBS does, profiles and all, which Slurm does not: on Debian that is another program or two.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import time

from batch import PATIENCE, SLOTS, Slurm, StokerPbs, System, TaskSpooler, User, installed, wait_for
from benchlib import Bench, Failure, Load, counters
from figures import row

SHELLS = 16


class PbsFigures:
    def __init__(self, bench: Bench):
        self.bench, self.user = bench, User(bench)
        self.jobs, self.turns = (10 * SHELLS, 1) if bench.quick else (60 * SHELLS, 3)
        self.stoker = StokerPbs(bench, self.user)
        self.slurm = self.peer(Slurm, "slurmctld", "slurmd", "munged", "sbatch")
        self.tsp = self.peer(TaskSpooler, "tsp")

    def peer(self, make, *programs: str) -> System | None:
        if installed(*programs):
            return make(self.bench, self.user)
        print(f"bench: {make.name} is not here; `tools/bootstrap bench` brings it", file=sys.stderr)
        return None

    def measure(self, wanted):
        if "P7" in wanted:
            yield from self.storms()
        if "P7" in wanted:
            yield from self.losses()
        if "P9" in wanted:
            yield from self.latencies()
            yield from self.large()
        for system in (self.tsp, self.slurm, self.stoker):
            if system:
                system.stop()

    def against(self, system, value: float, **goal) -> dict:
        return dict(measured=(value, system.name + ", measured"), **goal) if system else {}

    def storms(self):
        script = f"#!/bin/sh\necho 1 >>{self.user.ran}\n"
        program = f"{self.stoker.qsub} -j oe -o /dev/null -- /bin/sh \"$1\""
        each = self.jobs // SHELLS
        array = f"{self.stoker.qsub} -t 1-{each} -j oe -o /dev/null -- /bin/sh \"$1\""
        rates = {"script": [], "program": [], "array": [], "slurm": [], "tsp": []}
        used, done = 0.0, 0
        for _ in range(self.turns):
            before = counters(self.stoker.server.pid)["cpu"]
            rates["script"].append(self.stoker.storm(script, self.jobs, SHELLS))
            used, done = used + counters(self.stoker.server.pid)["cpu"] - before, done + self.jobs
            if self.slurm:
                rates["slurm"].append(self.slurm.storm(script, max(self.jobs // 6, 4 * SHELLS), SHELLS))
            rates["program"].append(self.stoker.storm(script, self.jobs, SHELLS, program))
            rates["array"].append(self.stoker.storm(script, self.jobs, SHELLS, array, each))
            if self.tsp:
                rates["tsp"].append(self.tsp.storm(script, self.jobs, SHELLS))
        best = {k: max(v) for k, v in rates.items() if v}
        yield row("P7", "scripts, qsub to finished, durable", best["script"], "/s",
                  **self.against(self.slurm, best.get("slurm"), times=15))
        yield row("P7", "programs (qsub -- COMMAND) to finished, durable", best["program"], "/s",
                  **self.against(self.slurm, best.get("slurm"), times=15))
        yield row("P7", "the same beside what is not durable", best["program"], "/s",
                  **self.against(self.tsp, best.get("tsp"), times=2))
        yield row("P7", f"the same as elements of arrays of {each}", best["array"], "/s")
        yield row("P7", "CPU of the server a script", 1000 * used / done, "ms")

    def losses(self):
        n = 40 if self.bench.quick else 120
        said, lost, twice = self.stoker.loss(n)
        if said != n:
            raise Failure(f"only {said} of {n} submissions were acknowledged")
        peer = self.slurm.loss(n) if self.slurm else None
        yield row("R1", f"lost of {n} acknowledged jobs, server killed at once", lost, "jobs",
                  **({"measured": (peer[1], "Slurm, measured")} if peer else {}), at_most=0)
        yield row("R1", f"run twice of {n} acknowledged jobs", twice, "jobs",
                  **({"measured": (peer[2], "Slurm, measured")} if peer else {}), at_most=0)

    def latencies(self):
        n, ours, theirs = (21, [], []) if self.bench.quick else (101, [], [])
        for _ in range(self.turns):
            ours.append(self.stoker.latency_ms(n))
            if self.slurm:
                theirs.append(self.slurm.latency_ms(n))
        yield row("P9", "qsub, process and all, p50", min(ours), "ms",
                  **({"measured": (min(theirs), "sbatch, measured")} if theirs else {}), at_most=2)

    def command(self, *argv) -> subprocess.CompletedProcess:
        r = subprocess.run([*self.user.prefix(), *map(str, argv)], capture_output=True, text=True, cwd=self.user.home,
                           env=dict(os.environ, **self.stoker.env))
        if r.returncode:
            raise Failure(f"{argv[0]}: {r.stderr[:500]}")
        return r

    def timed(self, argv: list, times: int) -> float:
        took = []
        for _ in range(times):
            began = time.monotonic()
            self.command(*argv)
            took.append(1000 * (time.monotonic() - began))
        return statistics.median(took)

    def cpu_ms(self, argv: list, times: int) -> float:
        """Of the command and of the server, which other load changes little."""
        def used():
            mine = resource.getrusage(resource.RUSAGE_CHILDREN)
            return mine.ru_utime + mine.ru_stime + counters(self.stoker.server.pid)["cpu"]
        took = []
        for _ in range(times):
            began = used()
            self.command(*argv)
            took.append(1000 * (used() - began))
        return statistics.median(took)

    def fill(self, kind: str, many: int):
        self.stoker.server.token = self.stoker.server.make_token(self.user.name)  # jobs are of accounts of this machine
        fill = Load(self.stoker.server, "create", kind=kind, namespace=self.user.name, prefix=kind, connections=64,
                    requests=many)
        fill.go()
        if fill.result()["errors"]:
            raise Failure("not all PBSJobs were created")
        fill.finish()

    def large(self):
        """An array of a million, and very many separate jobs: held ones, and ones in line."""
        path, many = self.user.write("job", "true\n"), 2000 if self.bench.quick else 100000
        stoker, server = self.stoker, self.stoker.server
        yield row("P9", "an array of 1,000,000 accepted", self.timed([stoker.qsub, "-h", "-t", "0-999999", path], 5), "ms",
                  at_most=50)
        before = counters(server.pid)["pss"]
        self.fill("pbsjob", many)
        held = f"{many:,} held jobs"
        yield row("P9", f"qstat of {held}, right after", self.timed([stoker.qstat], 3), "ms")
        stoker.quiet()  # the controller has looked at all of them
        yield row("P9", f"qstat of {held}", self.timed([stoker.qstat], 5), "ms", at_most=150)
        yield row("P9", f"qstat of {held}: CPU, with the server's", self.cpu_ms([stoker.qstat], 5), "ms", at_most=150)
        for words in (["-a"], ["-s"], ["-u", self.user.name]):
            yield row("P9", f"qstat {words[0]} of {held}", self.timed([stoker.qstat, *words], 5), "ms")
        some = self.command(stoker.qstat.with_name("qselect")).stdout.split()
        yield row("P9", f"qselect of {held}", self.timed([stoker.qstat.with_name("qselect")], 5), "ms")
        yield row("P9", f"qstat -f of one of {held}", self.timed([stoker.qstat, "-f", some[len(some) // 2]], 5), "ms")
        yield row("P9", f"memory of the server for each of {held}", (counters(server.pid)["pss"] - before) / many / 1024, "KiB")
        server.stop()
        began = time.monotonic()
        stoker.start()
        server.request("GET", "/api/v1/namespaces/default")
        yield row("P14", f"start with {held}, to the first GET", 1000 * (time.monotonic() - began), "ms", at_most=200)
        yield row("P14", f"start with {held}, to qstat's answer after it", self.timed([stoker.qstat], 1), "ms")
        stoker.quiet()
        yield row("P14", f"start with {held}, CPU until all is read", 1000 * counters(server.pid)["cpu"], "ms")
        yield from self.in_line(many)

    def in_line(self, many: int):
        """All slots are taken for long, and everybody else waits."""
        sleeper = self.user.write("sleeper", "#PBS -j oe -o /dev/null\nexec sleep 100000\n")
        running = [self.command(self.stoker.qsub, sleeper).stdout.strip() for _ in range(SLOTS)]
        wait_for("Stoker's slots", lambda: self.stoker.rows().count("R") == SLOTS)
        self.fill("pbswait", many)
        wait_for("pods of all jobs in line", lambda: self.pods() >= many, 10 * PATIENCE)
        self.stoker.quiet()
        self.stoker.held = [str(self.stoker.qsub)]
        yield row("P9", f"qsub beside {many:,} jobs in line, p50", self.stoker.latency_ms(101), "ms", at_most=2)
        self.command(self.stoker.qstat.with_name("qdel"), running.pop())
        ended = [self.ended(), 0]
        began, cpu = time.monotonic(), counters(self.stoker.server.pid)["cpu"]
        time.sleep(1 if self.bench.quick else 5)
        seconds, cpu = time.monotonic() - began, counters(self.stoker.server.pid)["cpu"] - cpu
        ended[1] = max(self.ended() - ended[0], 1)
        yield row("P9", f"from one job of {many:,} in line to the next, one slot", 1000 * seconds / ended[1], "ms")
        yield row("P9", "CPU of the server for each of these jobs", 1000 * cpu / ended[1], "ms")

    def pods(self) -> int:
        status, text = self.stoker.server.request("GET", f"/api/v1/namespaces/{self.user.name}/pods?limit=1")
        return 1 + json.loads(text)["metadata"].get("remainingItemCount", -1) if status == 200 else 0

    def ended(self) -> int:
        return len(self.command(self.stoker.qstat.with_name("qselect"), "-s", "C").stdout.split())

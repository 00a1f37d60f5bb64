"""P7, P9 and R1 of tools/bench: PBS jobs beside Slurm and task-spooler, in turns.

A job appends a line to a file; it has run when the line is there, in all systems alike.  As a script Stoker runs it by
the user's login shell, as PBS does, profiles and all; Slurm and task-spooler by a plain shell.
"""
import os
import statistics
import subprocess
import sys
import time

from batch import Slurm, StokerPbs, System, TaskSpooler, User, installed
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
        rates = {"script": [], "program": [], "slurm": [], "tsp": []}
        used, done = 0.0, 0
        for _ in range(self.turns):
            before = counters(self.stoker.server.pid)["cpu"]
            rates["script"].append(self.stoker.storm(script, self.jobs, SHELLS))
            used, done = used + counters(self.stoker.server.pid)["cpu"] - before, done + self.jobs
            if self.slurm:
                rates["slurm"].append(self.slurm.storm(script, max(self.jobs // 6, 4 * SHELLS), SHELLS))
            rates["program"].append(self.stoker.storm(script, self.jobs, SHELLS, program))
            if self.tsp:
                rates["tsp"].append(self.tsp.storm(script, self.jobs, SHELLS))
        best = {k: max(v) for k, v in rates.items() if v}
        yield row("P7", "scripts, qsub to finished, durable", best["script"], "/s",
                  **self.against(self.slurm, best.get("slurm"), times=15))
        yield row("P7", "programs (qsub -- COMMAND) to finished, durable", best["program"], "/s",
                  **self.against(self.tsp, best.get("tsp"), times=2))
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

    def timed(self, argv: list, times: int) -> float:
        took = []
        for _ in range(times):
            began = time.monotonic()
            r = subprocess.run([*self.user.prefix(), *argv], capture_output=True, env=dict(os.environ, **self.stoker.env),
                               cwd=self.user.home)
            took.append(1000 * (time.monotonic() - began))
            if r.returncode:
                raise Failure(f"{argv[0]}: {r.stderr.decode()[:500]}")
        return statistics.median(took)

    def large(self):
        """An array of a million, and a line for each of very many jobs; all of them held."""
        path, many = self.user.write("job", "true\n"), 2000 if self.bench.quick else 100000
        yield row("P9", "an array of 1,000,000 accepted", self.timed([self.stoker.qsub, "-h", "-t", "0-999999", str(path)], 5), "ms",
                  at_most=50)
        self.stoker.server.token = self.stoker.server.make_token(self.user.name)  # jobs are of accounts of this machine
        fill = Load(self.stoker.server, "create", kind="pbsjob", namespace=self.user.name, connections=64, requests=many)
        fill.go()
        if fill.result()["errors"]:
            raise Failure("not all PBSJobs were created")
        fill.finish()
        self.stoker.idle()  # the controller has looked at all of them
        yield row("P9", f"qstat of {many:,} jobs", self.timed([self.stoker.qstat], 5), "ms", at_most=150)

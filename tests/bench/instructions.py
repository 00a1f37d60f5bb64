"""Instructions per request, a figure that a busy machine does not change.

Counts user-space instructions of the server between the moment all connections stand and the last reply: by the CPU's
own counter where perf may use it, else by running the server under valgrind's callgrind.
"""
import re
import shutil
import signal
import subprocess
import time

from benchlib import Bench, Failure, Load, Stoker


def perf_counts() -> bool:
    if not shutil.which("perf"):
        return False
    r = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
    return r.returncode == 0 and r.stderr.split(",")[0].isdigit()


class Perf:
    method = "perf stat -e instructions:u"
    wrap = ()

    def begin(self, server):
        self.process = server.bench.spawn(["perf", "stat", "-x,", "-e", "instructions:u", "-p", server.pid],
                                          stderr=subprocess.PIPE, text=True)
        time.sleep(0.3)

    def end(self, server) -> int:
        self.process.send_signal(signal.SIGINT)
        text = self.process.communicate()[1]
        server.bench.end(self.process)
        return int(text.split(",")[0])


class Callgrind:
    method = "callgrind"

    def __init__(self, bench: Bench):
        if not shutil.which("valgrind"):
            raise Failure("neither perf's counters nor valgrind can be used")
        self.out = bench.dir / "callgrind.out"
        self.wrap = ("valgrind", "--tool=callgrind", "--collect-systime=no", "-q", f"--callgrind-out-file={self.out}")

    def control(self, server, option: str):
        r = subprocess.run(["callgrind_control", option, str(server.pid)], capture_output=True, text=True)
        if r.returncode or "Error" in r.stdout + r.stderr:
            raise Failure("callgrind_control: " + (r.stdout + r.stderr).strip())

    def begin(self, server):
        self.control(server, "-z")

    def end(self, server) -> int:
        for old in self.out.parent.glob("callgrind.out.*"):
            old.unlink()
        self.control(server, "-d")
        dumps = list(self.out.parent.glob("callgrind.out.*"))
        if not dumps:
            raise Failure("callgrind wrote no figures")
        return int(re.search(r"^(?:totals|summary): (\d+)", dumps[0].read_text(), re.M)[1])


class Counter:
    """A server whose instructions can be counted; made once per data directory."""

    def __init__(self, bench: Bench, name: str):
        self.how = Perf() if perf_counts() else Callgrind(bench)
        self.server = Stoker(bench, name, wrap=self.how.wrap)

    def start(self, token=None):
        self.server.token = token
        self.server.start()

    def per_request(self, mode: str, requests: int, **options) -> float:
        run = Load(self.server, mode, requests=requests, **options)
        self.how.begin(self.server)
        run.go()
        r = run.result()
        count = self.how.end(self.server)
        run.finish()
        if r["errors"]:
            raise Failure(f"{r['errors']} requests failed while counting instructions")
        return count / r["requests"]

    def stop(self):
        self.server.stop()

"""P13 and P14 with pods that wait: what the server keeps of each, and what a start with all of them costs.

Pods are made in a queue that is stopped, and each is told why it waits.  Then the server is started once more.
"""
import time

from benchlib import Bench, Failure, counters, load
from binding import Binding
from figures import row

QUIET = 0.02  # processor seconds in one: less is rest


def rest(pid: int):
    """Until the server has had nothing to do for three seconds, however slow the machine is."""
    used, quiet = counters(pid)["cpu"], 0
    while quiet < 3:
        time.sleep(1)
        now = counters(pid)["cpu"]
        quiet, used = quiet + 1 if now - used < QUIET else 0, now


def waiting_figures(bench: Bench, wanted):
    pods = 2000 if bench.quick else 50000
    b = Binding(bench, 0, pods)
    server = b.server
    rest(server.pid)
    empty = counters(server.pid)["pss"]
    b.queue_runs(False)
    load(server, "create", kind="wait", connections=64, requests=pods)
    rest(server.pid)
    what = f"{pods:,} waiting pods of 1 KiB"
    if "P13" in wanted:
        yield row("P13", f"memory for each of {what}", (counters(server.pid)["pss"] - empty) / pods / 1024, "KiB")
    b.conn.close()
    server.stop()
    began = time.monotonic()
    server.start()
    status, _ = server.request("GET", "/api/v1/namespaces/default/pods/bench-0")
    first = time.monotonic() - began
    if status != 200:
        raise Failure(f"after a restart a pod is not there: status {status}")
    rest(server.pid)
    after = counters(server.pid)
    if "P14" in wanted:
        yield row("P14", f"start with {what}, to the first GET", 1000 * first, "ms", at_most=200)
        yield row("P14", f"start with {what}, CPU until all is read", 1000 * after["cpu"], "ms")
    if "P13" in wanted:
        yield row("P13", "the same after a start", (after["pss"] - empty) / pods / 1024, "KiB")
    server.stop()

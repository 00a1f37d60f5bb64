"""The scheduler's plan alone: how fast it is, how well it shares, what a job costs that waits.

One program measures (bench_sched.c); here its lines become rows.
"""
import subprocess

from benchlib import BUILD
from figures import row

# figure, name in the program's output, what it is, its goal
ROWS = (
    ("P5", "plan_100_5000", "plan alone, nothing bound: 100 nodes, 5,000 pods", {}),
    ("P5", "plan_5000_50000", "plan alone, nothing bound: 5,000 nodes, 50,000 pods", {}),
    ("P5", "plan_5000_50000_slice", "longest slice of that", {"at_most": 20}),
    ("P5", "pending_pass", "pass over 50,000 pods that find no room on 5,000 nodes", {"at_most": 5000}),
    ("P5", "pending_slice", "longest slice of that", {"at_most": 20}),
    ("P6", "gang_1000", "one gang of 1,000, whole", {"at_most": 20}),
    # As published it evicts by priority: that is the row to judge.
    ("P6", "kueue_evicting", "Kueue's scenario, simulated, with eviction by priority", {"at_most": 1.1 * 66}),
    ("P6", "kueue_large_wait", "the large ones' mean wait there (Kueue: 6,666 ms)", {}),
    ("P6", "kueue_makespan", "the same without eviction", {}),
    ("P6", "kueue_cpu", "deciding all of that, processor time", {}),
    ("P20", "fair_worst", "100 users x 1,000 jobs: furthest from its share", {"at_most": 1}),
    ("P5", "million_bytes", "1,000,000 jobs wait: memory of each", {}),
    ("P5", "million_pass", "pass over them after one job's end", {}),
    ("P5", "million_slice", "longest slice of that", {"at_most": 20}),
)


def plan_figures(wanted):
    text = subprocess.run([BUILD / "tests" / "bench-sched"], capture_output=True, text=True, check=True).stdout
    values = {}
    for line in text.splitlines():
        name, value, unit = line.split(" ", 2)
        if name != "#":
            values[name] = (float(value), unit)
    for figure, name, what, goal in ROWS:
        if figure in wanted:
            value, unit = values[name]
            yield row(figure, what, value, unit, **goal)

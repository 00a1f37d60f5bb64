#!/usr/bin/env python3
"""Runs containers without Stoker: a line of JSON in says which and how many, a line out says how long it took.

Belongs into a mount namespace of its own: on a machine with hybrid cgroups crun 1.8 works only where it does not see
cgroup2 at /sys/fs/cgroup/unified, and podman leaves mounts behind, which end with the namespace.
"""
import json
import os
import resource
import subprocess
import sys
import time

UNIFIED = "/sys/fs/cgroup/unified"


def cpu() -> float:
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def start(order: dict, number: int, words: int) -> int:
    argv = [a.replace("{id}", f"{order['id']}-{number}") for a in order["argv"]]
    return os.posix_spawnp(argv[0], argv, os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                                         (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                                         (os.POSIX_SPAWN_DUP2, words, 2)])


def run(order: dict, words: int) -> dict:
    began, used, since, ms, failed, number = time.monotonic(), cpu(), {}, [], 0, 0
    while len(ms) < order["n"]:
        if number < order["n"] and len(since) < order["at_once"]:
            at = time.monotonic()
            since[start(order, number, words)] = at
            number += 1
            continue
        pid, status = os.wait()
        ms.append(1000 * (time.monotonic() - since.pop(pid)))
        failed += status != 0
    return {"seconds": time.monotonic() - began, "ms": ms, "cpu": cpu() - used, "failed": failed}


def main():
    if os.path.ismount(UNIFIED):
        subprocess.run(["umount", "--lazy", UNIFIED], check=True)
    for line in sys.stdin:
        words = os.memfd_create("words")
        result = run(json.loads(line), words)
        os.lseek(words, 0, os.SEEK_SET)
        result["words"] = os.read(words, 2000).decode(errors="replace").strip()
        os.close(words)
        print(json.dumps(result), flush=True)


main()

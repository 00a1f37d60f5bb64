#!/usr/bin/env python3
"""A scheduler that knows nothing of gangs: binder.py SOCKET gives pods the nodes n1 and n2, which have two GPUs each.

One pod at a time goes to the first node with a free GPU and runs from then on, so that a gang which is let in too early
is seen to be split.  Pods with a scheduling gate are left alone; what is deleted goes at once, as if a kubelet had ended
it.
"""
import http.client
import json
import socket
import sys
import time


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(sys.argv[1])


def call(conn, method, path, body=None, kind="application/json"):
    conn.request(method, path, json.dumps(body) if body else None, {"Content-Type": kind})
    return json.loads(conn.getresponse().read())


def gpus(pod) -> int:
    return int(pod["spec"]["containers"][0].get("resources", {}).get("requests", {}).get("nvidia.com/gpu", 0))


def path_of(pod) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def bind(conn, pod, node):
    call(conn, "POST", path_of(pod) + "/binding", {"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": node},
                                                   "metadata": {"name": pod["metadata"]["name"]}})
    call(conn, "PATCH", path_of(pod) + "/status", {"status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}},
         "application/merge-patch+json")


def turn(conn):
    pods = call(conn, "GET", "/api/v1/pods")["items"]
    free = {"n1": 2, "n2": 2}
    for p in pods:
        if p["metadata"].get("deletionTimestamp"):
            call(conn, "DELETE", path_of(p), {"gracePeriodSeconds": 0})
        elif p["spec"].get("nodeName"):
            free[p["spec"]["nodeName"]] -= gpus(p)
    for p in pods:
        held = p["spec"].get("nodeName") or p["spec"].get("schedulingGates") or p["metadata"].get("deletionTimestamp")
        node = None if held else next((n for n in free if free[n] >= gpus(p)), None)
        if node:
            bind(conn, p, node)
            return


def main():
    conn = Connection("localhost")
    while True:
        turn(conn)
        time.sleep(0.05)


main()

# Stands in for the document's translate.py: the same options and the same traffic, with a model of one number, y = w * x.
#
# The parameter server keeps w.  Each worker reads its half of the shared data, asks the parameter server for w, and sends
# it gradients until it has seen its half ten times.  Like TensorFlow's, workers begin when every task of the cluster
# answers, at the address that the options give; the parameter server never ends.
import argparse
import json
import os
import socket
import socketserver
import sys
import threading
import time

parser = argparse.ArgumentParser()
for option in "job_name", "ps_hosts", "worker_hosts", "data_dir", "train_dir":
    parser.add_argument("--" + option, required=True)
for option in "task_index", "num_layers", "size":
    parser.add_argument("--" + option, type=int, required=True)
flags = parser.parse_args()
workers = flags.worker_hosts.split(",")
me = "%s %d" % (flags.job_name, flags.task_index)


def say(*words):
    print(*words, flush=True)


class Task(socketserver.StreamRequestHandler):
    """One connection: lines of JSON, each answered by a line."""

    lock = threading.Condition()
    greeted = set()
    w = 0.0

    def handle(self):
        for line in self.rfile:
            self.wfile.write((json.dumps(self.answer(json.loads(line))) + "\n").encode())

    def answer(self, request):
        with Task.lock:
            if "hello" in request and request["hello"] not in Task.greeted:
                Task.greeted.add(request["hello"])
                Task.lock.notify_all()
                say("hello from", request["hello"], "at", self.client_address[0])
            Task.w -= request.get("gradient", 0.0)
            return {"me": me, "w": Task.w}


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class Peer:
    """A connection to another task, which may not be up yet."""

    def __init__(self, host):
        address, port = host.split(":")
        while True:
            try:
                self.file = socket.create_connection((address, int(port)), timeout=5).makefile("rw")
                self.me = self.ask(hello=me)["me"]
                break
            except (OSError, ValueError):
                time.sleep(0.1)
        say("connected to", self.me, "at", host)

    def ask(self, **request):
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())


def train():
    ps = Peer(flags.ps_hosts)
    others = ["worker %d" % i for i in range(len(workers)) if i != flags.task_index]
    for i, host in enumerate(workers):
        if i != flags.task_index:
            Peer(host)
    with Task.lock:
        Task.lock.wait_for(lambda: Task.greeted.issuperset(others))
    data = [[float(v) for v in line.split()] for line in open(flags.data_dir + "/numbers")]
    mine = data[flags.task_index :: len(workers)]
    for _ in range(10):
        for x, y in mine:
            w = ps.ask()["w"]
            w = ps.ask(gradient=0.02 * (w * x - y) * x)["w"]
    with open(flags.train_dir + "/model", "w") as model:
        model.write("%.3f\n" % w)
    say("trained on", len(mine), "of", len(data), "lines")


def look_around():
    say("argv", *sys.argv[1:])
    say("cards", os.environ.get("CUDA_VISIBLE_DEVICES", "none"), os.environ.get("NVIDIA_VISIBLE_DEVICES"))
    for path in "/usr/local/nvidia/lib64", "/usr/local/nvidia/bin", "/root/tensorflow":
        if os.path.isdir(path):
            say("mount", path, len(os.listdir(path)), "read-only" if os.statvfs(path).f_flag & os.ST_RDONLY else "writable")


look_around()
server = Server(("0.0.0.0", int((workers if flags.job_name == "worker" else [flags.ps_hosts])[flags.task_index].split(":")[1])), Task)
threading.Thread(target=server.serve_forever, daemon=True).start()
if flags.job_name == "worker":
    train()
else:
    threading.Event().wait()  # server.join()

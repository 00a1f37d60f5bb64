# SPDX-License-Identifier: Apache-2.0
"""abandoned.py HOME - clients that go away before the answer: what they did is in the audit log all the same"""
import json
import os
import ssl
import subprocess
import sys
import time

from checks import Checks
from wire import STOKER, Server, eventually, request_bytes, tcp_socket, unix_socket

PATH = "/api/v1/namespaces/default/configmaps"
ROUNDS = 10
OBJECTS = 600  # several steps of a sweep
NO_RECORD = b"\x17\x03\x03\x00\x30" + bytes(48)  # of TLS, but no key opens it


def audited(server, verb):
    with open(os.path.join(server.data, "audit.log")) as f:
        lines = [json.loads(line) for line in f]
    return [r for r in lines if r["verb"] == verb and r.get("resource") == "configmaps"]


def names(server):
    conn = server.connect()
    listed = conn.call("GET", PATH).json["items"]
    return {o["metadata"]["name"] for o in listed} - {"kube-root-ca.crt"}  # every namespace has that


def write_and_break(url, data):
    """The request and a record that fails, in one segment: the connection ends in the turn that has the write."""
    sock = tcp_socket(url)
    inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl._create_unverified_context().wrap_bio(inward, outward)
    while True:
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            sock.sendall(outward.read())
            inward.write(sock.recv(65536))
    sock.sendall(outward.read())
    time.sleep(0.05)  # so that the server has the handshake behind it
    tls.write(data)
    sock.sendall(outward.read() + NO_RECORD)
    time.sleep(0.02)
    sock.close()


def broken_writes(checks, server):
    made = subprocess.run([STOKER, "token", "create", "--socket", server.sock, "--user", "eve", "--group",
                           "system:masters"], stdout=subprocess.PIPE, check=True)
    bearer = "Authorization: Bearer " + made.stdout.decode().split()[-1]
    for i in range(ROUNDS):
        write_and_break(server.url, request_bytes("POST", PATH, {"metadata": {"name": "broken-%d" % i}}, [bearer]))
    checks.ok("a write is stored although its connection broke", eventually(5, lambda: "broken-0" in names(server)))
    stored = {n for n in names(server) if n.startswith("broken-")}
    eventually(5, lambda: len(audited(server, "create")) >= len(stored))
    seen = audited(server, "create")
    checks.same("each of them is in the audit log", {r["name"] for r in seen} & stored, stored)
    checks.same("with who it was", {(r["user"], r["code"], r["userAgent"]) for r in seen}, {("eve", 201, "e2e")})
    checks.ok("and from where", all(r.get("address", "").startswith("127.0.0.1") for r in seen), seen[:1])


def broken_sweep(checks, server):
    conn = server.connect()
    for i in range(OBJECTS):
        conn.call("POST", PATH, {"metadata": {"name": "many-%d" % i}})
    sock = unix_socket(server.sock)
    sock.sendall(request_bytes("DELETE", PATH))
    sock.close()
    checks.ok("a deletion of many that was begun is finished", eventually(10, lambda: not names(server)))
    checks.ok("and is in the audit log", eventually(5, lambda: audited(server, "deletecollection")))
    checks.same("with its result", [r["code"] for r in audited(server, "deletecollection")], [200])


def stopped_sweep(checks, server):
    conn = server.connect()
    for i in range(OBJECTS):
        conn.call("POST", PATH, {"metadata": {"name": "late-%d" % i}})
    sock = unix_socket(server.sock)
    sock.sendall(request_bytes("DELETE", PATH))
    sock.close()
    eventually(10, lambda: len(names(server)) < OBJECTS)
    checks.same("a server with such a deletion under way stops in order", server.stop(), 0)
    checks.same("and has said so in the audit log", len(audited(server, "deletecollection")), 2)


def main():
    checks = Checks()
    server = Server(sys.argv[1]).start()
    try:
        broken_writes(checks, server)
        broken_sweep(checks, server)
        stopped_sweep(checks, server)
    finally:
        server.kill()
    checks.done()


main()

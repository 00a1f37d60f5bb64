# SPDX-License-Identifier: Apache-2.0
"""flood.py HOME - 2,000 quiet connections, and more than there may be: everybody else is served, and memory comes back"""
import os
import resource
import sys
import threading

from checks import Checks
from wire import Gone, Server, eventually, request_bytes, tls_socket, unix_socket

PATH = "/api/v1/namespaces/default/configmaps"
EACH = 1000
LIMIT = 4096           # connections the server takes at once
TLS_KIB_EACH = 64      # what OpenSSL keeps of a quiet connection, with room to spare
UNIX_KIB_EACH = 4
REQUESTS = 300


def raise_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def open_many(n, fn):
    return [fn() for _ in range(n)]


def served(checks, server, sentence, connect):
    conn = connect()
    name = "n%d" % abs(hash(sentence))
    codes = [conn.call("GET", "/version").code, conn.call("GET", "/readyz").code]
    if connect == server.connect:
        codes.append(conn.call("POST", PATH, {"metadata": {"name": name}}).code)
        codes.append(conn.call("GET", PATH + "/" + name).code)
        codes.append(conn.call("GET", PATH).code)
    conn.close()
    checks.ok(sentence, all(c in (200, 201) for c in codes), codes)


def story_quiet(checks, server, fds):
    each = min(EACH, (fds - 200) // 2)
    before = server.memory_kib()
    plain = open_many(each, lambda: unix_socket(server.sock))
    eventually(20, lambda: descriptors(server) >= each)
    grown = server.memory_kib() - before
    checks.ok("%d quiet connections on the Unix socket cost little" % each, grown < each * UNIX_KIB_EACH, "%d KiB" % grown)
    served(checks, server, "beside them a client is served", server.connect)
    before = server.memory_kib()
    tls = open_many(each, lambda: tls_socket(server.url))
    grown = server.memory_kib() - before
    checks.ok("%d quiet TLS connections cost what TLS needs" % each, grown < each * TLS_KIB_EACH, "%d KiB" % grown)
    served(checks, server, "beside both a client is served on the socket", server.connect)
    served(checks, server, "and one over TLS", server.connect_tls)
    tls[7].sendall(request_bytes("GET", "/version"))
    checks.ok("a quiet connection can still speak", tls[7].recv(15).startswith(b"HTTP/1.1 200"))
    for sock in plain + tls:
        sock.close()
    checks.ok("when they have gone their descriptors are free", eventually(20, lambda: descriptors(server) < 60),
              descriptors(server))


def story_too_many(checks, server, fds):
    if fds < LIMIT + 1000:
        return
    plain = open_many(LIMIT + 400, lambda: unix_socket(server.sock))
    served(checks, server, "with more connections than it takes, a new client is served", server.connect)
    checks.ok("at the cost of the oldest quiet ones", eventually(20, lambda: descriptors(server) <= LIMIT + 60),
              descriptors(server))
    plain[0].settimeout(20)
    checks.same("which see their end", plain[0].recv(1), b"")
    for sock in plain:
        sock.close()
    eventually(20, lambda: descriptors(server) < 60)


def story_requests(checks, server):
    """Eight clients that send as fast as they can, each 300 creates at a time, and one who wants his turn."""
    codes = set()
    failures = []

    def hammer(number):
        try:
            conn = server.connect()
            bodies = [{"metadata": {"name": "f%d-%d" % (number, n)}, "data": {"k": "v" * 500}} for n in range(REQUESTS)]
            sender = threading.Thread(target=conn.send, args=(b"".join(request_bytes("POST", PATH, b) for b in bodies),))
            sender.start()
            codes.update(conn.reply().code for _ in bodies)
            sender.join()
        except (Gone, OSError) as e:
            failures.append(e)

    threads = [threading.Thread(target=hammer, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    asker = server.connect()
    asked = {asker.call("GET", "/readyz").code for _ in range(50)}
    for t in threads:
        t.join()
    checks.same("a flood of %d creates is answered" % (8 * REQUESTS), (codes, failures), ({201}, []))
    checks.same("and so is everybody else", asked, {200})
    listed = asker.call("GET", PATH).json["items"]
    checks.same("each is there once", len({i["metadata"]["name"] for i in listed if i["metadata"]["name"][0] == "f"}), 8 * REQUESTS)


def descriptors(server):
    return len(os.listdir("/proc/%d/fd" % server.proc.pid))


def main():
    checks = Checks()
    fds = raise_limit()
    server = Server(sys.argv[1]).start()
    try:
        story_quiet(checks, server, fds)
        story_too_many(checks, server, fds)
        story_requests(checks, server)
        checks.same("it ends cleanly", server.stop(), 0)
    finally:
        if server.proc.poll() is None:
            server.kill()
    checks.done()


main()

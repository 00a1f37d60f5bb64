#!/usr/bin/env python3
"""An API server from before scheduling gates: older_api.py LISTEN SERVER passes everything on between two Unix sockets,
but drops spec.schedulingGates from what is created, without a word, as Kubernetes does with fields it does not know."""
import json
import socket
import sys
import threading


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for s in (source, sink):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def older(body: bytes) -> bytes:
    doc = json.loads(body)
    doc.get("spec", {}).pop("schedulingGates", None)
    return json.dumps(doc).encode()


def read_head(stream):
    """The lines of a request without its Content-Length, and that."""
    lines, length = [], 0
    while (line := stream.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        else:
            lines.append(line)
    return lines, length


def serve(client):
    server = socket.socket(socket.AF_UNIX)
    server.connect(sys.argv[2])
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
    stream = client.makefile("rb")
    while True:
        lines, length = read_head(stream)
        if not lines:
            break
        body = stream.read(length)
        if lines[0].startswith(b"POST ") and b"schedulingGates" in body:
            body = older(body)
        server.sendall(b"".join(lines) + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.close()


def main():
    door = socket.socket(socket.AF_UNIX)
    door.bind(sys.argv[1])
    door.listen()
    while True:
        threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()


main()

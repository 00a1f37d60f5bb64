# SPDX-License-Identifier: Apache-2.0
"""bad_input.py HOME - everything a client should not send: always a 4xx with a Status, bounded memory, others served

Each table below is a subject; each row is one request.  A row's answer must be a Status with a 4xx code of its own (505
for a version of HTTP nobody speaks); where only an end of the connection is possible, that is what must come.
"""
import json
import random
import socket
import sys
import time

from checks import Checks
from wire import Gone, Server, request_bytes, tcp_socket

NS = "/api/v1/namespaces/default/"
MAPS = NS + "configmaps"
YAML = ("Content-Type: application/yaml",)
PROTO = ("Content-Type: application/vnd.kubernetes.protobuf",)
GROWTH_KIB = 48 * 1024


def post(body, headers=(), path=MAPS):
    return request_bytes("POST", path, body, headers)


def obj(**fields):
    return {"metadata": {"name": "x"}, **fields}


def meta(**fields):
    return {"metadata": {"name": "x", **fields}}


def get(path):
    return request_bytes("GET", path)


def pod(**resources):
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}}


def patch(kind, body, path=MAPS + "/base"):
    return request_bytes("PATCH", path, body, ("Content-Type: application/%s" % kind,))


def raw(text):
    return text if isinstance(text, bytes) else text.encode()


DEEP = 100000
BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    "a%d: &a%d [%s]\n" % (i, i, ",".join(["*a%d" % (i - 1)] * 9)) for i in range(1, 30))

JSON_BODIES = {
    "nothing": b"",
    "a brace": b"{",
    "wrong brackets": b'{"metadata":[}',
    "no value": b'{"metadata":}',
    "half a word": b"nul",
    "two documents": b'{"metadata":{"name":"x"}} {}',
    "a comma too many": b'{"metadata":{"name":"x"},}',
    "single quotes": b"{'metadata':{}}",
    "a byte that is no UTF-8": b'{"metadata":{"name":"x"},"data":{"k":"\xff"}}',
    "an overlong form": b'{"metadata":{"name":"x"},"data":{"k":"\xc0\xaf"}}',
    "an encoded surrogate": b'{"metadata":{"name":"x"},"data":{"k":"\xed\xa0\x80"}}',
    "half a sequence": b'{"metadata":{"name":"x"},"data":{"k":"\xe2\x82"}}',
    "a raw NUL": b'{"metadata":{"name":"x"},"data":{"k":"\x00"}}',
    "a raw newline in a string": b'{"metadata":{"name":"x"},"data":{"k":"a\nb"}}',
    "a bad escape": b'{"metadata":{"name":"\\x41"}}',
    "UTF-16": '{"metadata":{"name":"x"}}'.encode("utf-16"),
    "a number too large": b'{"metadata":{"name":"x","generation":1e999999}}',
    "a number too long": b'{"metadata":{"name":"x","generation":' + b"9" * 100000 + b"}}",
    "a leading zero": b'{"metadata":{"name":"x","generation":01}}',
    "a lone minus": b'{"metadata":{"name":"x","generation":-}}',
    "NaN": b'{"metadata":{"name":"x","generation":NaN}}',
    "deep arrays": b'{"metadata":{"name":"x"},"data":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep and unclosed": b"[" * 2900000,
    "an array": b"[]",
    "a string": b'"x"',
    "null": b"null",
    "many small values": b'{"metadata":{"name":"x"},"data":[' + b"0," * 1200000 + b"0]}",
}

YAML_BODIES = {
    "a tab as indent": b"metadata:\n\tname: x\n",
    "an open bracket": b"metadata: [name",
    "an open quote": b'metadata: {name: "x',
    "an unknown alias": b"metadata: *nothing\n",
    "an alias of itself": b"metadata: &a\n  name: *a\n",
    "aliases that multiply": BOMB.encode(),
    "a merge of itself": b"metadata: &a {<<: *a, name: x}\n",
    "a program's tag": b"metadata: !!python/object/apply:os.system [id]\n",
    "bytes that are no UTF-8": b"metadata: {name: \xff\xfe\xff}\n",
    "two documents": b"metadata: {name: x}\n---\nmetadata: {name: y}\n",
    "deep brackets": b"[" * DEEP,
    "deep braces": b"{a: " * DEEP,
    "deep dashes": b"- " * DEEP + b"x\n",
    "a key of keys": b"? {a: b}\n: c\n",
    "a list": b"- a\n- b\n",
    "a word": b"hello\n",
    "a directive": b"%YAML 9.9\n---\nmetadata: {name: x}\n",
    "control characters": b"metadata: {name: \"\x01\x02\"}\n",
}

OBJECTS = {
    "metadata is a number": {"metadata": 5},
    "metadata is a list": {"metadata": []},
    "no name": {"metadata": {}},
    "an empty name": meta(name=""),
    "a name of 10,000 letters": meta(name="a" * 10000),
    "a name that climbs": meta(name="../../etc/passwd"),
    "a name with a slash": meta(name="a/b"),
    "a name with NUL": meta(name="a\0b"),
    "a name of emoji": meta(name="\U0001f600"),
    "a name with a newline": meta(name="a\r\nSet-Cookie: x"),
    "a name that is a number": meta(name=7),
    "a generated name that climbs": {"metadata": {"generateName": "../a-"}},
    "another namespace": meta(namespace="kube-system"),
    "another kind": {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"}},
    "another version": {"kind": "ConfigMap", "apiVersion": "apps/v9", "metadata": {"name": "x"}},
    "data is a list": obj(data=["a"]),
    "a value is a number": obj(data={"k": 1}),
    "a key with a slash": obj(data={"a/b": "c"}),
    "a key of 300 letters": obj(data={"k" * 300: "c"}),
    "binary data that is none": obj(binaryData={"k": "%%%"}),
    "too much data": obj(data={"k": "x" * 1100000}),
    "a label value too long": meta(labels={"k": "v" * 64}),
    "a label value with blanks": meta(labels={"k": "a b"}),
    "a label key of slashes": meta(labels={"a/b/c": "v"}),
    "a label key too long": meta(labels={"k" * 64: "v"}),
    "a label that is a number": meta(labels={"k": 1}),
    "annotations of 300 KB": meta(annotations={"k": "x" * 300000}),
    "an annotation key of dots": meta(annotations={"..": "x"}),
    "a finalizer without a domain": meta(finalizers=["x y"]),
    "an owner without a uid": meta(ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "p"}]),
    "a resourceVersion at birth": meta(resourceVersion="5"),
    "managed fields of nonsense": meta(managedFields=[{"manager": 5, "fieldsV1": "x"}]),
    "a timestamp of nonsense": meta(creationTimestamp="yesterday"),
}

QUANTITIES = ("0x10", "1Zi", " ", "1 ", "--1", "1..2", "e5", "NaN", "inf", "-1", "1Ki1", "\u0661", ".", "+", [], {})
ABSURD_QUANTITIES = ("1e99999999", "9" * 5000, "0." + "0" * 5000 + "1", "1e-99999999")  # lawful: they are rounded

PODS = {
    "no containers": {"metadata": {"name": "p"}, "spec": {"containers": []}},
    "containers of nonsense": {"metadata": {"name": "p"}, "spec": {"containers": "all"}},
    "a container without a name": {"metadata": {"name": "p"}, "spec": {"containers": [{"image": "i"}]}},
    "a port of 70000": {"metadata": {"name": "p"}, "spec": {"containers": [
        {"name": "c", "image": "i", "ports": [{"containerPort": 70000}]}]}},
    "a restart policy of its own": {"metadata": {"name": "p"}, "spec": {
        "restartPolicy": "Sometimes", "containers": [{"name": "c", "image": "i"}]}},
    "a thousand containers of one name": {"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "i"}] * 1000}},
    "an object for a number": {"metadata": {"name": "p"}, "spec": {
        "activeDeadlineSeconds": {}, "containers": [{"name": "c", "image": "i"}]}},
    "a number out of range": {"metadata": {"name": "p"}, "spec": {
        "activeDeadlineSeconds": -10 ** 30, "containers": [{"name": "c", "image": "i"}]}},
}

SELECTORS = ("a in (", "=", "==b", "a=b=c", "!", "!!a", "a b", "a in b", "a notin (b", ",,", "a=" + "v" * 64, "k" * 64,
             "a,".rstrip(",") + ",b=" + "," * 50, "/a", "a/", "a/b/c", "a>", "a>b", "((((((((a", "a=%00", "a=%FF",
             ",".join("k%d" % i for i in range(1000)))

QUERIES = ("limit=-1", "limit=x", "limit=99999999999999999999", "continue=garbage", "continue=" + "A" * 3000,
           "resourceVersion=abc", "resourceVersion=-1", "resourceVersion=99999999999999999999", "watch=1&resourceVersion=x",
           "watch=1&timeoutSeconds=-5", "watch=1&timeoutSeconds=x", "watch=1&sendInitialEvents=true",
           "resourceVersionMatch=Nonsense&resourceVersion=1", "resourceVersionMatch=Exact", "fieldSelector=spec.nonsense=1",
           "fieldSelector=metadata.name", "fieldSelector==", "labelSelector=%zz", "%zz=1", "a=%", "labelSelector=%C3",
           "&".join("a%d=1" % i for i in range(100)))

PATHS = ("/api/v1/namespaces/%zz/configmaps", "/api/v1/namespaces/%00/configmaps", "/api/v1/namespaces/%ff/configmaps",
         "/api/v1/namespaces/default/configmaps/%2e%2e%2f%2e%2e", "/api/v1/namespaces/default/nonsense",
         "/api/v9/pods", "/" + "a/" * 4000, "/api/v1/namespaces/default/configmaps/base/scale",
         "/api/v1/namespaces/default/configmaps/base/log/x/y/z")

COPIES = [{"op": "copy", "from": "/data", "path": "/data/k%d" % i} for i in range(60)]
PATCHES = {
    "a JSON patch that doubles and doubles": patch("json-patch+json", COPIES),
    "a JSON patch that is an object": patch("json-patch+json", {}),
    "20,000 operations": patch("json-patch+json", [{"op": "test", "path": "/data", "value": 1}] * 20000),
    "an unknown operation": patch("json-patch+json", [{"op": "explode", "path": "/data"}]),
    "a path into nothing": patch("json-patch+json", [{"op": "add", "path": "/a/b/c", "value": 1}]),
    "a path without a slash": patch("json-patch+json", [{"op": "add", "path": "a", "value": 1}]),
    "an index of nonsense": patch("json-patch+json", [{"op": "add", "path": "/metadata/finalizers/999999999999", "value": 1}]),
    "a move into itself": patch("json-patch+json", [{"op": "move", "from": "/data", "path": "/data/a"}]),
    "the root moved": patch("json-patch+json", [{"op": "move", "from": "", "path": "x"}]),
    "the root copied nowhere": patch("json-patch+json", [{"op": "copy", "from": "", "path": "x"}]),
    "the root removed": patch("json-patch+json", [{"op": "remove", "path": ""}]),
    "the root replaced": patch("json-patch+json", [{"op": "replace", "path": "", "value": 5}]),
    "a merge patch that is a list": patch("merge-patch+json", []),
    "a merge patch of the name": patch("merge-patch+json", {"metadata": {"name": "other"}}),
    "a merge patch to a number": patch("merge-patch+json", {"data": 5}),
    "a deep merge patch": patch("merge-patch+json", b'{"data":' * 3000 + b"1" + b"}" * 3000),
    "an unknown directive": patch("strategic-merge-patch+json", {"data": {"$patch": "explode"}}),
    "an order of nonsense": patch("strategic-merge-patch+json", {"$setElementOrder/finalizers": 5}),
    "an apply without a manager": patch("apply-patch+yaml", b"metadata: {name: base}\n"),
    "an apply of a bomb": patch("apply-patch+yaml", BOMB.encode(), MAPS + "/base?fieldManager=m"),
    "an apply of another name": patch("apply-patch+yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n",
                                      MAPS + "/base?fieldManager=m"),
    "a patch of an unknown type": patch("explode+json", {}),
}

PROTOBUFS = [b"k8s\0" + random.Random(i).randbytes(i * 7) for i in range(24)] + [
    b"k8s", b"k8s\0\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"k8s\0" + b"\x12\x06\x0a\x04" * 5000,
    b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\xff\xff\xff\x7f"]

HEAD = "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" % MAPS
MESSAGES = {
    "no HTTP at all": "hello\r\n\r\n",
    "a method of its own": "EXPLODE / HTTP/1.1\r\n\r\n",
    "CONNECT": "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "TRACE": "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
    "HTTP/0.9": "GET /\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9.9": "GET / HTTP/9.9\r\n\r\n",
    "a URL of 20 KB": "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % ("a" * 20000),
    "a header of 100 KB": "GET / HTTP/1.1\r\nX: %s\r\n\r\n" % ("a" * 100000),
    "a header name of 100 KB": "GET / HTTP/1.1\r\n%s: x\r\n\r\n" % ("a" * 100000),
    "5,000 headers": "GET / HTTP/1.1\r\n%s\r\n" % ("X: y\r\n" * 5000),
    "a header without a name": "GET / HTTP/1.1\r\n: x\r\n\r\n",
    "a header without a colon": "GET / HTTP/1.1\r\nnonsense\r\n\r\n",
    "NUL in a header": "GET / HTTP/1.1\r\nX: a\0b\r\n\r\n",
    "a length of letters": HEAD + "Content-Length: abc\r\n\r\n",
    "a negative length": HEAD + "Content-Length: -1\r\n\r\n",
    "an endless length": HEAD + "Content-Length: 99999999999999999999999\r\n\r\n",
    "two lengths": HEAD + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
    "a length and chunks": HEAD + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": HEAD + "Transfer-Encoding: gzip\r\n\r\n",
    "a chunk of letters": HEAD + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "an endless chunk": HEAD + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    "10 MB announced": HEAD + "Content-Length: 10000000\r\n\r\n",
    "an address behind a fragment": "GET *#tp://0 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a request to nowhere": "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
    "an unknown body type": "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\n{}" % MAPS,
    "an unknown answer type": "GET %s/base HTTP/1.1\r\nHost: x\r\nAccept: image/png\r\n\r\n" % MAPS,
}

CRD = {"metadata": {"name": "things.e2e.stoker.dev"}, "spec": {
    "group": "e2e.stoker.dev", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"p": {"type": "string", "pattern": "^(a+)+(b|a*)*$"},
                                         "n": {"type": "integer", "maximum": 5}}}}}]}}
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/e2e.stoker.dev/v1/namespaces/default/things"


class Torture:
    def __init__(self, checks, server):
        self.checks, self.server = checks, server
        self.pid = server.proc.pid

    def answer(self, data, tls=False):
        conn = self.server.connect_tls() if tls else self.server.connect()
        try:
            try:
                conn.send(data)
            except Gone:
                pass  # refused before all was sent; the answer is waiting
            return conn.reply()
        finally:
            conn.close()

    def wrong(self, name, data, allowed=()):
        """Why the answer is not what it should be, or None."""
        try:
            reply = self.answer(data)
        except (Gone, OSError, ValueError) as e:
            return "%s: no answer: %s: %s" % (name, type(e).__name__, e)
        if reply.code in allowed:
            return None
        if not (400 <= reply.code < 500 or reply.code == 505) or not reply.is_status():
            return "%s: %d %s" % (name, reply.code, reply.body[:200])
        return None

    def table(self, subject, rows, allowed=()):
        rows = list(rows.items()) if isinstance(rows, dict) else [(repr(r[:60]), r) for r in rows]
        wrong = [w for w in (self.wrong(name, raw(data), allowed) for name, data in rows) if w]
        self.checks.ok("%s: %d requests, each a 4xx with a Status" % (subject, len(rows)), not wrong, "\n".join(wrong))


def bodies(t):
    t.table("broken JSON", {n: post(b) for n, b in JSON_BODIES.items()})
    t.table("broken YAML", {n: post(b, YAML) for n, b in YAML_BODIES.items()})
    t.table("broken protobuf", [post(b, PROTO) for b in PROTOBUFS])
    t.table("objects that make no sense", {n: post(o) for n, o in OBJECTS.items()})
    t.table("quantities", [post(pod(limits={"cpu": q}), (), NS + "pods") for q in QUANTITIES])
    t.table("absurd quantities", [post(pod(limits={"cpu": q}), (), NS + "pods?dryRun=All") for q in ABSURD_QUANTITIES], (201,))
    t.table("pods that make no sense", {n: post(o, (), NS + "pods") for n, o in PODS.items()})
    t.table("patches", PATCHES)
    big = b'{"metadata":{"name":"x"},"data":{"k":"' + b"x" * 10000000 + b'"}}'
    chunked = raw(HEAD) + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(
        b"%x\r\n%s\r\n" % (65536, b"x" * 65536) for _ in range(160)) + b"0\r\n\r\n"
    t.table("bodies of 10 MB", {"whole": post(big), "in chunks": chunked, "YAML": post(big, YAML)})
    t.checks.same("none of it was stored", [i["metadata"]["name"] for i in t.server.connect().call("GET", MAPS).json["items"]
                                            if not i["metadata"]["name"].startswith("kube-")], ["base"])


def addresses(t):
    t.table("selectors", [get(MAPS + "?labelSelector=" + s.replace(" ", "+")) for s in SELECTORS])
    t.table("parameters", [get(MAPS + "?" + q) for q in QUERIES])
    t.table("paths", [get(p) for p in PATHS])
    nobody = t.answer(raw(get("/apis/x/v1/y")))
    t.checks.same("a group that nobody serves is answered as by Kubernetes", (nobody.code, nobody.body), (404, b"404 page not found\n"))
    t.table("messages", MESSAGES)


def custom(t):
    conn = t.server.connect()
    t.checks.same("a custom kind with a cruel pattern is taken or refused", conn.call("POST", CRDS, CRD).code in (201, 422), True)
    for n, schema in enumerate(({"$ref": "#"}, {"type": "object", "properties": 5}, {"type": "nonsense"},
                                json.loads('{"items":' * 400 + '{"type":"string"}' + "}" * 400),
                                {"type": "string", "pattern": "(" * 5000}, {"type": "string", "pattern": "a{1,99999}{1,99999}"},
                                {"type": "integer", "maximum": "many"})):
        body = json.loads(json.dumps(CRD).replace("things", "others%d" % n).replace("Thing", "Other%d" % n))
        body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {"p": schema}
        code = conn.call("POST", CRDS, body).code
        t.checks.ok("schema %d that makes no sense gets an answer below 500" % n, code < 500, code)
    served = lambda: conn.call("GET", THINGS).code == 200  # noqa: E731
    end = time.monotonic() + 10
    while not served() and time.monotonic() < end:
        time.sleep(0.05)
    reply = conn.call("POST", THINGS, {"metadata": {"name": "x"}, "p": "a" * 3000 + "!"})
    t.checks.ok("a value that makes the pattern think hard is answered", 200 <= reply.code < 500, reply.body)


def connections(t):
    half = [t.server.connect() for _ in range(30)]
    for n, conn in enumerate(half):
        conn.send(post(obj(data={"k": "v" * 100}))[:n * 9 + 1])
    t.checks.same("others are served beside 30 half requests", t.server.connect().call("GET", "/readyz").code, 200)
    for conn in half[:15]:
        conn.close()
    slow = half[20]
    for byte in post(obj(data={"k": "v" * 100}))[20 * 9 + 1:]:
        slow.send(bytes([byte]))
    t.checks.same("a request that comes byte by byte is answered", slow.reply().code, 201)
    t.server.connect().call("DELETE", MAPS + "/x")
    conn = t.server.connect()
    conn.send(get(MAPS + "/base") * 150 + get(MAPS + "/none") + get("/version"))
    codes = [conn.reply().code for _ in range(152)]
    t.checks.same("150 pipelined requests are answered in order", codes, [200] * 150 + [404, 200])
    conn = t.server.connect()
    conn.send(get("/version") + b"garbage\r\n\r\n" + get("/version"))
    codes = [conn.reply().code, conn.reply().code]
    try:
        conn.reply()
        codes.append("more")
    except Gone:
        pass
    t.checks.same("garbage behind a request ends the connection after its 400", codes, [200, 400])
    for conn in half[15:]:
        conn.close()


def tls_garbage(t):
    rng = random.Random(5)
    hello = bytes.fromhex("16030100c6010000c20303")
    rows = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", rng.randbytes(4000), b"\x80\x2e\x01\x00\x02", hello, hello + rng.randbytes(195),
            b"\x16\x03\x01\xff\xff" + bytes(70000), b"\x15\x03\x03\x00\x02\x02\x28", b"\x00" * 100000, b""]
    ended = []
    for data in rows:
        sock = tcp_socket(t.server.url)
        try:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(65536):
                pass
        except OSError:
            pass
        ended.append(True)
        sock.close()
    t.checks.ok("garbage on the TLS port ends in a closed connection, %d times" % len(rows), all(ended))
    waiting = [tcp_socket(t.server.url) for _ in range(50)]
    for n, sock in enumerate(waiting):
        sock.sendall(hello[:n % 11])
    t.checks.same("others are served beside 50 half handshakes", t.answer(get("/version"), tls=True).code, 200)
    for sock in waiting:
        sock.close()


def main():
    checks = Checks()
    server = Server(sys.argv[1]).start()
    try:
        torture = Torture(checks, server)
        server.connect().call("POST", MAPS, {"metadata": {"name": "base"}, "data": {"k": "v" * 1000}})
        torture.answer(post(JSON_BODIES["many small values"]))  # what a large body needs is not growth
        before = server.memory_kib()
        for part in (bodies, addresses, custom, connections, tls_garbage):
            try:
                part(torture)
            except (Gone, OSError) as e:
                checks.ok("%s: the server answers" % part.__name__, False, "%s\n%s" % (e, server.said()[-2000:]))
        if checks.ok("it is the same process as before", server.proc.poll() is None, server.said()[-3000:]):
            grown = server.memory_kib() - before
            checks.ok("its memory has not grown much", grown < GROWTH_KIB, "%d KiB" % grown)
            checks.same("it serves", server.connect().call("GET", MAPS + "/base").code, 200)
            checks.same("it ends cleanly", server.stop(), 0)
    finally:
        if server.proc.poll() is None:
            server.kill()
    checks.done()


main()

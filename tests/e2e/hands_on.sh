#!/bin/bash
# exec, attach, cp, port-forward, run -it and proxy, by both kubectls (WebSocket and SPDY), python and curl.
. "$(dirname "$0")/lib.sh"
node_start main || exit 1

phase() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[ "$(kubectl get pod "$1" -o jsonpath='{.status.phase}' 2>/dev/null)" = "$2" ] && return 0
		sleep 0.05
	done
	kubectl describe pod "$1"
	return 1
}
# until_true SECONDS COMMAND...
until_true() {
	local i n=$((($1 > 60 ? $1 : 60) * 20)) # at least a minute, for the machine may be busy
	shift
	for ((i = 0; i < n; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}
# tty COMMAND: on a terminal of 33 rows and 77 columns.
tty() { timeout 120 script -qec "stty rows 33 cols 77; $1" /dev/null </dev/null | tr -d '\r\000'; }

# The server in the pod: files, a redirect, a POST that is echoed, a WebSocket handshake that is then an echo.
cat >"$T/web.py" <<'END'
import base64, hashlib, http.server, os
os.chdir("/tmp")
os.makedirs("dir", exist_ok=True)
open("dir/f.txt", "w").write("indir\n")
class H(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        said = ("%s auth=%s " % (self.path, self.headers.get("Authorization"))).encode() + body
        self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(said), said))
    def do_GET(self):
        if self.headers.get("Upgrade") != "websocket":
            return super().do_GET()
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", "websocket")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.wfile.write(b"welcome " + self.rfile.readline())
        self.close_connection = True
http.server.ThreadingHTTPServer(("", 8080), H).serve_forever()
END
kubectl create configmap web --from-file="$T/web.py" >/dev/null
kubectl apply -f - >/dev/null <<'END'
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: code, configMap: {name: web}}]
  containers:
  - name: web
    image: host
    command: [/usr/bin/python3, -u, /code/web.py]
    volumeMounts: [{name: code, mountPath: /code}]
    ports: [{name: http, containerPort: 8080}]
  - {name: side, image: host, stdin: true, command: [sh, -c, 'while read l; do echo "got $l"; test "$l" = quit && exit 5; done; sleep 300']}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
END
ok "a pod with a server runs" phase web Running
ok "the server answers" until_true 20 curl -sf --unix-socket "$SOCKET" http://x/api/v1/namespaces/default/pods/web/proxy/dir/f.txt
head -c 8000000 /dev/urandom >"$T/big"

for k in "$KUBECTL_NEW" "$KUBECTL_OLD"; do
	[ -x "$k" ] || continue
	v=$([ "$k" = "$KUBECTL_OLD" ] && echo old || echo new)
	is "$v: exec has output, error output and exit status" \
		"$("$k" exec web -c web -- sh -c 'echo out; echo err >&2; exit 3' 2>"$T/err"; echo "$?$(grep -c '^err$' "$T/err")")" "out
31"
	is "$v: input goes in to its end" "$("$k" exec -i web -c web -- md5sum <"$T/big")" "$(md5sum <"$T/big")"
	is "$v: much comes out" "$("$k" exec web -c web -- head -c 30000000 /dev/zero | wc -c)" 30000000
	like "$v: a terminal has the client's size" "$(tty "$k exec -it web -c web -- sh -c 'until stty size | grep 33; do sleep 0.1; done'")" '33 77'
	like "$v: what cannot run is told" "$("$k" exec web -c web -- /no/such/thing 2>&1; echo "rc=$?")" 'rc=1(26|27)?$'
	like "$v: a missing container is told" "$("$k" exec web -c nobody -- ls 2>&1)" 'container nobody is not valid for pod web|container not found'
	ok "$v: cp goes in" "$k" cp "$T/big" "web:/tmp/copied$v" -c web
	ok "$v: cp comes out" "$k" cp "web:/tmp/copied$v" "$T/back$v" -c web
	ok "$v: and it is the same" cmp "$T/big" "$T/back$v"

	"$k" port-forward pod/web :8080 :9 >"$T/forward-$v" 2>&1 &
	pid=$!
	PIDS+=("$pid")
	until_true 10 grep -q 'Forwarding from 127.0.0.1:.* -> 9' "$T/forward-$v"
	port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\) -> 8080/\1/p' "$T/forward-$v")
	for i in 1 2 3 4; do curl -s "http://127.0.0.1:$port/copied$v" | md5sum >"$T/sum$i" & done
	wait $(jobs -p | grep -v -e "$pid" -e "$SERVER_PID")
	is "$v: four at once through a forwarded port" "$(cat "$T"/sum? | sort -u)" "$(md5sum <"$T/big")"
	curl -s -m 30 "http://127.0.0.1:$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\) -> 9/\1/p' "$T/forward-$v")/"
	ok "$v: a port nobody listens on is told" until_true 60 grep -q "$T/forward-$v" -e 'error forwarding port 9 to pod.*Connection refused'
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null

	is "$v: run -i --rm gives the exit status" \
		"$(echo 'echo in; exit 6' | "$k" run "run$v" -i --rm --image=host --restart=Never --quiet --command -- sh 2>/dev/null; echo $?)" "in
6"
	like "$v: run -it --rm has a terminal" "$(tty "$k run tty$v -it --rm --image=host --restart=Never --command -- sh -c 'sleep 1; tty'")" '/dev/pts/'
	is "$v: get --raw through a pod" "$("$k" get --raw /api/v1/namespaces/default/pods/web:http/proxy/dir/f.txt)" indir
	is "$v: get --raw through a service" "$("$k" get --raw /api/v1/namespaces/default/services/web:80/proxy/dir/f.txt)" indir
done

base=/api/v1/namespaces/default
token=$("$STOKER" token create --socket "$SOCKET" --user me --group system:masters | tail -n 1)
web() { curl -s --cacert "$T/main/data/pki/ca.crt" -H "Authorization: Bearer $token" "$@"; }
is "a proxied POST arrives without the token" "$(web "$URL$base/services/web/proxy/a/b?c=d" -d hello)" "/a/b?c=d auth=None hello"
like "a redirect stays in the proxy" "$(web -D - -o /dev/null "$URL$base/pods/web/proxy/dir")" "^[Ll]ocation: $base/pods/web/proxy/dir/"
is "a large file comes through whole" "$(for f in /tmp/copied{new,old}; do kubectl exec web -c web -- test -f $f 2>/dev/null && web "$URL$base/pods/web/proxy/${f#/tmp/}" | md5sum; done | sort -u)" "$(md5sum <"$T/big")"
like "nobody there is 503" "$(web "$URL$base/pods/web:9/proxy/")" 'error trying to reach service: cannot connect: Connection refused'
cat >"$T/ws.py" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(60)
s.connect(sys.argv[1])
s.sendall(("GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" % sys.argv[2]).encode())
got = b""
while b"\r\n\r\n" not in got:
    got += s.recv(1000) or sys.exit("cut off after %r" % got)
s.sendall(b"friend\n")
while not got.endswith(b"friend\n"):
    got += s.recv(1000) or sys.exit("cut off after %r" % got)
print(got.decode())
END
like "a WebSocket goes through" "$(timeout 120 /usr/bin/python3 "$T/ws.py" "$SOCKET" "$base/pods/web/proxy/ws" 2>&1)" '^welcome friend$'
like "reaching in is audited" "$(cat "$T/main/data/audit.log")" '"subresource":"exec","namespace":"default","name":"web","code":101'

cat >"$T/hands.py" <<'END'
from kubernetes import client, config
from kubernetes.stream import portforward, stream
config.load_kube_config()
api = client.CoreV1Api()
r = stream(api.connect_get_namespaced_pod_exec, "web", "default", container="web", command=["sh", "-c", "read a; echo got $a; exit 3"],
           stderr=True, stdin=True, stdout=True, tty=False, _preload_content=False)
r.write_stdin("x\n")
r.run_forever(timeout=60)
print(r.read_stdout().strip(), r.returncode)
f = portforward(api.connect_get_namespaced_pod_portforward, "web", "default", ports="8080,9")
s = f.socket(8080)
s.setblocking(True)
s.sendall(b"GET /dir/f.txt HTTP/1.0\r\n\r\n")
got = b""
while not got.endswith(b"indir\n"):
    got += s.recv(1000)
print(got.split(b"\r\n")[0].decode(), "refused" in (f.error(9) or ""))
END
is "python runs commands and forwards ports" "$(timeout 120 /usr/bin/python3 "$T/hands.py" 2>&1)" "got x 3
HTTP/1.1 200 OK True"
kubectl create rolebinding robot --clusterrole=edit --user=robot >/dev/null
robot=$("$STOKER" token create --user robot --socket "$SOCKET" | tail -1)
for how in 'exec web -c web -- true' 'attach web -c side'; do
	out=$(KUBECONFIG= timeout 120 kubectl --server "$URL" --insecure-skip-tls-verify --token "$robot" $how 2>&1 </dev/null)
	like "a user gets no hands on an admin's pod: ${how%% *}" "$out" 'pods "web" is forbidden: it has the rights of an admin, not of user "robot"'
done
# Last, for the container ends, and the service has no ready pod until it is back.
like "attach reaches a container's own input" "$(echo quit | timeout 120 kubectl attach -i web -c side 2>&1; echo "rc=$?")" 'got quit'
done_testing

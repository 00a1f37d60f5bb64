#!/bin/bash
# Pods get a node; services lead to pods, names are there before the first process, users' pods are apart.
. "$(dirname "$0")/lib.sh"
node_start main --gpus 2 || exit 1

# phase POD WORD [NS]: waits for it.
phase() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[ "$(kubectl get pod -n "${3:-default}" "$1" -o jsonpath='{.status.phase}' 2>/dev/null)" = "$2" ] && return 0
		sleep 0.05
	done
	kubectl describe pod -n "${3:-default}" "$1"
	return 1
}
# ready SERVICE: has an address.
ready() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[ -n "$(kubectl get endpoints "$1" -o jsonpath='{.subsets[*].addresses[*].ip}' 2>/dev/null)" ] && return 0
		sleep 0.05
	done
	kubectl describe endpoints "$1"
	return 1
}
# ask NAME COMMAND [NS]: what a pod says that does this.
ask() {
	kubectl apply -n "${3:-default}" -f - >/dev/null <<-YAML
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec: {restartPolicy: Never, containers: [{name: c, image: host, command: [sh, -c, "$2"]}]}
	YAML
	phase "$1" Succeeded "${3:-default}" && kubectl logs -n "${3:-default}" "$1"
}
GET="curl -s -m 30 -o /dev/null -w %{http_code}"

kubectl apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: peers}
spec: {clusterIP: None, selector: {app: peer}}
---
apiVersion: v1
kind: Service
metadata: {name: heads}
spec: {clusterIP: None, selector: {app: web}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort, selector: {app: web}, ports: [{name: http, port: 80, targetPort: http, nodePort: 30980}]}
---
apiVersion: v1
kind: Pod
metadata: {name: w0, labels: {app: web}}
spec:
  hostname: w0
  subdomain: heads
  terminationGracePeriodSeconds: 1
  containers:
  - {name: c, image: host, command: [python3, -m, http.server, "8080"], ports: [{name: http, containerPort: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: own, labels: {app: peer}}
spec:
  hostname: own
  subdomain: peers
  restartPolicy: Never
  containers: [{name: c, image: host, command: [sh, -c, "getent hosts own.peers | cut -d' ' -f1"]}]
YAML
ok "a pod is bound and runs" phase w0 Running
ok "its service has it as an endpoint" ready web
W0=$(kubectl get pod w0 -o jsonpath='{.status.podIP}')
like "Endpoints and describe know the named port" "$(kubectl describe svc web)" "$W0:8080"
is "so does the EndpointSlice" "$(kubectl get endpointslices -l kubernetes.io/service-name=web -o jsonpath='{.items[*].endpoints[*].addresses[0]}')" "$W0"

# The web server needs a moment to listen.
answers() { [ "$(curl -s -m 5 -o /dev/null -w '%{http_code}' http://127.0.0.1:30980/)" = 200 ]; }
ok "a NodePort answers on this machine" eventually 60 answers
is "a ClusterIP answers by name" "$(ask by-name "$GET http://web/")" 200
is "a named pod of a headless service has its own name" "$(ask by-host "getent hosts w0.heads.default.svc.cluster.local | cut -d' ' -f1")" "$W0"
like "kubernetes.default answers" "$(ask api "curl -sk -m 30 https://kubernetes.default/version")" '"major"'
is "services are in the environment" "$(ask env 'echo $WEB_SERVICE_PORT')" 80

phase own Succeeded >/dev/null
is "a pod's own name is there before its first process" "$(kubectl logs own)" \
	"$(kubectl get pod own -o jsonpath='{.status.podIP}')"

kubectl apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Service
metadata: {name: outside}
spec: {ports: [{port: 81}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: outside}
subsets: [{addresses: [{ip: $W0}], ports: [{port: 8080}]}]
YAML
is "a service without selector leads where its Endpoints say" "$(ask outside-client "$GET http://outside:81/")" 200

for u in ann bob; do
	kubectl create namespace $u >/dev/null
	kubectl annotate namespace $u stoker.dev/owner=$u >/dev/null
done
kubectl apply -n ann -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: secret}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: host, command: [python3, -m, http.server, "8080"]}]}
YAML
phase secret Running ann
ANN=$(kubectl get pod -n ann secret -o jsonpath='{.status.podIP}')
# A client that tries until somebody listens there.
WAIT="$GET --retry 60 --retry-delay 1 --retry-connrefused"
is "a user's pod reaches the user's own" "$(ask mine "$WAIT http://$ANN:8080/" ann)" 200
is "another user's pod does not" "$(ask theirs "curl -s -m 5 -o /dev/null -w %{http_code} http://$ANN:8080/ || true" bob)" 000
kubectl label namespace ann stoker.dev/network=open >/dev/null
is "unless the namespace is open" "$(ask guest "$GET http://$ANN:8080/" bob)" 200

kubectl apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: greedy}
spec: {containers: [{name: c, image: host, resources: {limits: {nvidia.com/gpu: 3}}}]}
YAML
for ((i = 0; i < 600; i++)); do
	WHY=$(kubectl get pod greedy -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].message}')
	[ -n "$WHY" ] && break
	sleep 0.05
done
is "a pod without room is told why" "$WHY" "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. It can never start here: needs 3 GPUs on one node, the largest node has 2 GPUs"
like "and an event says so" "$(kubectl get events --field-selector involvedObject.name=greedy)" FailedScheduling

kubectl delete service web >/dev/null
no_endpoints() { [ -z "$(kubectl get endpoints web --ignore-not-found -o name)$(kubectl get endpointslices -l kubernetes.io/service-name=web -o name)" ]; }
ok "a deleted service takes its endpoints with it" eventually 60 no_endpoints
done_testing

#!/bin/bash
# Nodes that fall silent and come back, taints that evict, and what kubectl cordon and drain do.
. "$(dirname "$0")/lib.sh"
node_start main
ME=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')

# A second node that only says that it lives: a Node, and a Lease that this script renews.
renew() {
	kubectl apply -f - >/dev/null <<-END
		apiVersion: coordination.k8s.io/v1
		kind: Lease
		metadata: {name: $1, namespace: kube-node-lease}
		spec: {holderIdentity: $1, leaseDurationSeconds: ${2:-2}, renewTime: "$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)"}
	END
}
say() {
	api PATCH "/api/v1/nodes/$1/status" -H 'Content-Type: application/strategic-merge-patch+json' -d '{"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"20"},"conditions":[
		{"type":"Ready","status":"'"$2"'","reason":"Test","lastHeartbeatTime":"'"$(date -u +%FT%TZ)"'"}]}}' >/dev/null
}
far() { kubectl get node far -o "jsonpath={$1}"; }
ready_is() { [ "$(far '.status.conditions[?(@.type=="Ready")].status')" = "$1" ]; }
taints_are() { [ "$(far '.spec.taints[*].key}{.spec.taints[*].effect')" = "$1" ]; }
gone() { ! kubectl get "$@"; }
pod() { # NAME NODE TOLERATIONS
	kubectl apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $1, labels: {app: $1}}
		spec: {nodeName: $2, terminationGracePeriodSeconds: 0, tolerations: [$3], containers: [{name: c, image: host, command: [sleep, '1000']}]}
	END
}

like "the runtime says its version" "$(kubectl get nodes -o wide --no-headers)" 'crun://[0-9.]+|runc://[0-9.]+'
is "the node holds its lease" "$(kubectl get lease -n kube-node-lease "$ME" -o 'jsonpath={.spec.holderIdentity} {.spec.leaseDurationSeconds} {.metadata.ownerReferences[0].kind}')" "$ME 40 Node"
like "describe shows it" "$(kubectl describe node "$ME")" 'HolderIdentity: +'"$ME"

kubectl create -f - >/dev/null <<<'{"apiVersion":"v1","kind":"Node","metadata":{"name":"far"}}'
renew far 3600
say far True
pod stays far '{operator: Exists}'
pod goes far '{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}'
api PATCH /api/v1/namespaces/default/pods/stays/status -H 'Content-Type: application/strategic-merge-patch+json' \
	-d '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}' >/dev/null
renew far
ok "a node that falls silent is unknown" eventually 20 ready_is Unknown
is "why" "$(far '.status.conditions[?(@.type=="Ready")].reason'): $(far '.status.conditions[?(@.type=="Ready")].message')" 'NodeStatusUnknown: Kubelet stopped posting node status.'
like "get says so" "$(kubectl get node far --no-headers)" '^far +NotReady '
ok "it has its taints" eventually 20 taints_are 'node.kubernetes.io/unreachable node.kubernetes.io/unreachableNoSchedule NoExecute'
like "and an event" "$(kubectl get events --field-selector involvedObject.name=far)" 'NodeNotReady .*Node far status is now: NodeNotReady'
ok "a pod leaves when its time is up" eventually 20 gone pod goes
like "with an event" "$(kubectl get events --field-selector involvedObject.name=goes)" 'TaintManagerEviction .*Marking for deletion Pod default/goes'
stays() { [ "$(kubectl get pod stays -o 'jsonpath={.status.phase} {.status.conditions[?(@.type=="Ready")].status}')" = 'Running False' ]; }
ok "one that tolerates it stays, and is not ready" eventually 30 stays
like "this node is as it was" "$(kubectl get node "$ME" --no-headers)" "^$ME +Ready "
renew far 40
say far True
ok "a node that comes back loses its taints" eventually 20 taints_are ''
like "and is ready" "$(kubectl get node far --no-headers)" '^far +Ready '
kubectl delete pod stays --force --grace-period=0 >/dev/null 2>&1
kubectl delete node far >/dev/null
kubectl delete lease -n kube-node-lease far >/dev/null

kubectl taint node "$ME" gpu=old:NoExecute >/dev/null
kubectl run early --image=host --restart=Never -- sleep 1000 >/dev/null
kubectl run used --image=host --restart=Never --overrides='{"spec":{"terminationGracePeriodSeconds":0,"tolerations":[{"key":"gpu","operator":"Exists"}]}}' -- sleep 1000 >/dev/null
ok "a pod that tolerates a taint runs" kubectl wait --for=condition=Ready pod/used --timeout=120s
is "one that does not waits" "$(kubectl get pod early -o 'jsonpath={.status.phase}{.spec.nodeName}')" Pending
kubectl delete pod early used >/dev/null
kubectl taint node "$ME" gpu- >/dev/null
kubectl run victim --image=host --restart=Never --overrides='{"spec":{"terminationGracePeriodSeconds":0}}' -- sleep 1000 >/dev/null
ok "without it everyone does" kubectl wait --for=condition=Ready pod/victim --timeout=120s
kubectl taint node "$ME" gpu=old:NoExecute >/dev/null
ok "a new taint evicts it" eventually 20 gone pod victim
kubectl taint node "$ME" gpu- >/dev/null

kubectl cordon "$ME" >/dev/null
like "a cordoned node" "$(kubectl get node "$ME" --no-headers)" 'Ready,SchedulingDisabled'
tainted() { [ "$(kubectl get node "$ME" -o 'jsonpath={.spec.taints[*].key}')" = "$1" ]; }
ok "has a taint" eventually 20 tainted node.kubernetes.io/unschedulable
kubectl run late --image=host --restart=Never -- sleep 1000 >/dev/null
waits() { kubectl describe pod late | grep -q '0/1 nodes are available: 1 node(s) were unschedulable'; }
ok "and takes no pods" eventually 20 waits
kubectl uncordon "$ME" >/dev/null
ok "until it is uncordoned" kubectl wait --for=condition=Ready pod/late --timeout=120s
ok "and the taint goes" eventually 20 tainted ''
kubectl delete pod late --grace-period=1 >/dev/null

# drain asks for each pod, and a budget answers.
kubectl apply -f - >/dev/null <<'END'
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: host, command: [sleep, '1000']}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
END
budget() { kubectl get pdb web -o 'jsonpath={.status.expectedPods} {.status.currentHealthy} {.status.desiredHealthy} {.status.disruptionsAllowed} {.status.conditions[0].reason}'; }
budget_is() { [ "$(budget)" = "$1" ]; }
ok "a budget counts" eventually 30 budget_is '2 2 1 1 SufficientPods'
like "and shows it" "$(kubectl get pdb web --no-headers)" '^web +N/A +1 +1 '
kubectl drain "$ME" >"$T/drain" 2>&1 &
DRAIN=$!
PIDS+=($DRAIN)
ok "drain evicts as many as it may" eventually 60 grep -Eq 'pod/web-[a-z0-9]+ evicted' "$T/drain"
ok "and waits for the others" eventually 60 grep -q "Cannot evict pod as it would violate the pod's disruption budget" "$T/drain"
kill $DRAIN
ok "the budget is used up" eventually 30 budget_is '2 1 1 0 InsufficientPods'
kubectl uncordon "$ME" >/dev/null
ok "a new pod fills it up" eventually 30 budget_is '2 2 1 1 SufficientPods'
kubectl delete pdb web >/dev/null
like "without a budget all go" "$(kubectl drain "$ME" --timeout=120s 2>&1)" '^node/.* (drained|evicted)$'
kubectl delete rs web >/dev/null
done_testing

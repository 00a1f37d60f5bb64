#!/bin/bash
# DaemonSets with real pods, as kubectl shows them: one pod on each node that takes it, and updates from node to node.
. "$(dirname "$0")/lib.sh"
node_start main
ME=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')

status() { k get ds agent -o "jsonpath={.status.desiredNumberScheduled} {.status.currentNumberScheduled} {.status.numberReady} {.status.updatedNumberScheduled} {.status.numberAvailable} {.status.numberMisscheduled}"; }
status_is() { [ "$(status)" = "$1" ]; }
pods() { k get pods -l app=agent -o name | grep -c '^pod/'; }
pods_are() { [ "$(pods)" -eq "$1" ]; }
events() { k get events --field-selector "involvedObject.name=agent" -o 'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\n"}{end}'; }
word() { k logs ds/agent; }
word_is() { [ "$(word)" = "$1" ]; }
set_up() { # WORD
	k apply -f - <<-END
		apiVersion: apps/v1
		kind: DaemonSet
		metadata: {name: agent}
		spec:
		  selector: {matchLabels: {app: agent}}
		  template:
		    metadata: {labels: {app: agent}}
		    spec:
		      terminationGracePeriodSeconds: 0
		      nodeSelector: {kubernetes.io/hostname: $ME}
		      containers: [{name: c, image: host, command: [sh, -c, 'echo $1; exec sleep 1000']}]
	END
}

all() {
	is "$V: a daemon set is created" "$(set_up one)" 'daemonset.apps/agent created'
	like "$V: and rolled out" "$(k rollout status ds/agent --timeout=120s)" 'successfully rolled out'
	is "$V: one pod on the node that takes it" "$(status) $(pods)" '1 1 1 1 1 0 1'
	like "$V: kubectl get" "$(k get ds agent --no-headers)" "^agent +1 +1 +1 +1 +1 +kubernetes.io/hostname=$ME "
	like "$V: what it made" "$(events)" 'Normal SuccessfulCreate Created pod: agent-[a-z0-9]{5}'
	local p hash
	p=$(k get pods -l app=agent -o 'jsonpath={.items[0].metadata.name}')
	hash=$(get pod "$p" '.metadata.labels.controller-revision-hash')
	is "$V: it is bound by its affinity" "$(get pod "$p" '.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0]') $(get pod "$p" .spec.nodeName)" "$ME $ME"
	like "$V: it knows its template" "$hash $(get pod "$p" '.metadata.labels.pod-template-generation')" '^[a-z0-9]+ 1$'
	is "$V: there is a revision of it" "$(k get controllerrevisions -l app=agent -o 'jsonpath={.items[*].metadata.name}')" "agent-$hash"
	like "$V: it tolerates what nodes go through" "$(k describe pod "$p")" 'node.kubernetes.io/unschedulable:NoSchedule op=Exists'
	like "$V: describe" "$(k describe ds agent)" 'Number of Nodes Misscheduled: 0'
	k delete pod "$p" >/dev/null
	ok "$V: a deleted pod is replaced" eventually 30 status_is '1 1 1 1 1 0'

	set_up two >/dev/null
	like "$V: an update" "$(k rollout status ds/agent --timeout=120s)" 'successfully rolled out'
	ok "$V: has new pods" eventually 20 word_is two
	like "$V: history has both" "$(k rollout history ds/agent | tr -s ' \n' ' ')" '^daemonset.apps/agent REVISION CHANGE-CAUSE 1 <none> 2 <none>'
	like "$V: undo" "$(k rollout undo ds/agent)" 'rolled back'
	like "$V: is an update, too" "$(k rollout status ds/agent --timeout=120s)" 'successfully rolled out'
	ok "$V: the old state is back" eventually 20 word_is one
	like "$V: with a new number" "$(k rollout history ds/agent | tr -s ' \n' ' ')" 'CHANGE-CAUSE 2 <none> 3 <none>'
	like "$V: restart" "$(k rollout restart ds/agent)" 'restarted'
	like "$V: rolls out" "$(k rollout status ds/agent --timeout=120s)" 'successfully rolled out'

	k patch ds agent -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":0,"maxSurge":1}}}}' >/dev/null
	set_up three >/dev/null
	k rollout status ds/agent --timeout=120s >/dev/null
	ok "$V: with surge a new pod comes first" eventually 20 word_is three
	ok "$V: and the old one goes" eventually 20 pods_are 1

	k patch ds agent -p '{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"elsewhere"}}}}}' >/dev/null
	ok "$V: no node wants it any more" eventually 20 pods_are 0
	ok "$V: and none is missing" eventually 20 status_is '0 0 0  0'
	k delete ds agent >/dev/null
	ok "$V: its revisions go with it" eventually 20 no_revisions
}
no_revisions() { [ -z "$(k get controllerrevisions -o name)" ]; }
status_is() { [ "$(status | tr -s ' ')" = "$(tr -s ' ' <<<"$1")" ]; }
each_kubectl all

# One that fails is replaced, and a node that is not there has no pod that waits for it.
K=kubectl NS=default
kubectl apply -f - >/dev/null <<'END'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  updateStrategy: {type: OnDelete}
  template:
    metadata: {labels: {app: agent}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: host, command: [sleep, '1000']}]}
END
kubectl rollout status ds/agent --timeout=5s >/dev/null 2>&1
ok "OnDelete: a pod on each node" eventually 30 status_is '1 1 1 1 1 0'
p=$(kubectl get pods -l app=agent -o 'jsonpath={.items[0].metadata.name}')
kubectl patch ds agent -p '{"spec":{"template":{"metadata":{"annotations":{"v":"2"}}}}}' >/dev/null
ok "OnDelete: a change changes no pod" eventually 30 status_is '1 1 1 1 0'
is "OnDelete: it is the same" "$(kubectl get pods -l app=agent -o 'jsonpath={.items[0].metadata.name}')" "$p"
api PATCH "/api/v1/namespaces/default/pods/$p/status" -H 'Content-Type: application/merge-patch+json' -d '{"status":{"phase":"Failed"}}' >/dev/null
gone() { ! kubectl get pod "$1"; }
ok "a failed pod goes" eventually 30 gone "$p"
like "with an event" "$(events)" "Warning FailedDaemonPod Found failed daemon pod default/$p on node $ME, will try to kill it"
ok "and another comes" eventually 30 status_is '1 1 1 1 1 0'
kubectl create -f - >/dev/null <<<'{"apiVersion":"v1","kind":"Node","metadata":{"name":"far"}}'
api PATCH /api/v1/nodes/far/status -H 'Content-Type: application/merge-patch+json' \
	-d '{"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"20"},"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:00Z"}]}}' >/dev/null
on_far() { [ -n "$(kubectl get pods -l app=agent --field-selector spec.nodeName=far -o name)" ]; }
ok "a new node gets a pod" eventually 30 on_far
ok "and counts" eventually 30 status_is '2 2 1 2 1 0'
kubectl delete pods -l app=agent --field-selector spec.nodeName=far --force --grace-period=0 >/dev/null 2>&1
kubectl taint node far own=x:NoSchedule >/dev/null
far_free() { ! on_far && status_is '1 1 1 1 1 0'; }
kubectl delete pods -l app=agent --field-selector spec.nodeName=far --force --grace-period=0 >/dev/null 2>&1
ok "a tainted one gets none" eventually 30 far_free
kubectl delete ds agent >/dev/null
ok "all go with it" eventually 30 pods_are 0
done_testing

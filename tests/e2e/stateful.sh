#!/bin/bash
# StatefulSets with real containers and volumes, as kubectl shows them.
. "$(dirname "$0")/lib.sh"
node_start main

events() { k get events --field-selector "involvedObject.name=$1" -o 'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\n"}{end}'; }
rolled() { k rollout status sts/web --timeout=120s; }
status() { get sts web ".status.$1"; }
# The value of V in each pod, in the order of their names.
values() { k get pods -l app=web -o 'jsonpath={range .items[*]}{.metadata.name}={.spec.containers[0].env[0].value} {end}'; }
names() { k get pods -l app=web -o 'jsonpath={range .items[*]}{.metadata.name} {end}'; }
named() { [ "$(names)" = "$1" ]; }
state() { [ "$(status "$1")" = "$2" ]; }

# has_written POD TEXT: a container that runs may not have written yet.
has_written() { [ "$(k exec "$1" -- cat /data/log | tr '\n' ' ')" = "$2" ]; }

make() {
	k apply -f - <<-EOF
	apiVersion: v1
	kind: Service
	metadata: {name: web}
	spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: web}, ports: [{port: 80}]}
	---
	apiVersion: apps/v1
	kind: StatefulSet
	metadata: {name: web}
	spec:
	  serviceName: web
	  replicas: ${1:-3}
	  selector: {matchLabels: {app: web}}
	  template:
	    metadata: {labels: {app: web}}
	    spec:
	      terminationGracePeriodSeconds: 0
	      containers:
	      - name: c
	        image: host
	        command: [sh, -c, 'echo \$HOSTNAME \$V >>/data/log; exec sleep 1000']
	        env: [{name: V, value: one}]
	        volumeMounts: [{name: data, mountPath: /data}]
	  volumeClaimTemplates:
	  - metadata: {name: data}
	    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
	EOF
}

# recreated UID: the node may say at once that it runs; and one that is young is not made anew at once.
recreated() {
	api PATCH "/api/v1/namespaces/$NS/pods/web-0/status" -H 'Content-Type: application/merge-patch+json' \
		-d '{"status":{"phase":"Failed","reason":"Evicted"}}' >/dev/null
	[ "$(get pod web-0 .metadata.uid)" != "$1" ]
}

life() {
	is "$V: a service and a set" "$(make | tr '\n' ' ')" 'service/web created statefulset.apps/web created '
	like "$V: rollout status" "$(rolled)" 'partitioned roll out complete: 3 new pods|statefulset rolling update complete'
	is "$V: numbered pods" "$(names)" 'web-0 web-1 web-2 '
	like "$V: kubectl get" "$(k get sts web --no-headers)" '^web +3/3 +[0-9]+s'
	is "$V: one claim each, bound" "$(k get pvc -o 'jsonpath={range .items[*]}{.metadata.name} {.status.phase} {.metadata.labels.app},{end}')" 'data-web-0 Bound web,data-web-1 Bound web,data-web-2 Bound web,'
	is "$V: counts" "$(status replicas) $(status readyReplicas) $(status availableReplicas) $(status currentReplicas) $(status updatedReplicas) $(status collisionCount)" '3 3 3 3 3 0'
	is "$V: in order" "$(events web | grep Pod | grep -v Claim | tr '\n' ',')" 'Normal SuccessfulCreate create Pod web-0 in StatefulSet web successful,Normal SuccessfulCreate create Pod web-1 in StatefulSet web successful,Normal SuccessfulCreate create Pod web-2 in StatefulSet web successful,'
	like "$V: claims are told too" "$(events web)" 'Normal SuccessfulCreate create Claim data-web-1 Pod web-1 in StatefulSet web success'
	ok "$V: pods find each other by name" eventually 60 k exec web-0 -- getent hosts web-2.web web-1.web.$NS.svc.cluster.local
	is "$V: at their addresses" "$(k exec web-0 -- getent hosts web-2.web | awk '{print $1}')" "$(get pod web-2 .status.podIP)"
	like "$V: describe" "$(k describe sts web | tr -s ' \n' ' ')" 'Replicas: 3 desired \| 3 total Update Strategy: RollingUpdate.*Pods Status: 3 Running / 0 Waiting'

	local uid
	uid=$(get pod web-1 .metadata.uid)
	k delete pod web-1 >/dev/null
	ok "$V: a deleted pod comes back" eventually 60 eval '[ "$(get pod web-1 .metadata.uid)" != '"$uid"' ] && state readyReplicas 3'
	ok "$V: with its data" eventually 60 has_written web-1 'web-1 one web-1 one '
}

updates() {
	k patch sts web -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}}}}' >/dev/null
	k set env sts/web V=two >/dev/null
	like "$V: an update down to the partition" "$(rolled)" 'partitioned roll out complete: 1 new pods have been updated'
	is "$V: leaves the others" "$(values)" 'web-0=one web-1=one web-2=two '
	is "$V: two revisions" "$(status updatedReplicas) $(status currentReplicas)" '1 2'
	k delete pod web-1 >/dev/null
	ok "$V: a pod below the partition" eventually 60 state readyReplicas 3
	is "$V: comes back as it was" "$(values)" 'web-0=one web-1=one web-2=two '
	k patch sts web -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}' >/dev/null
	like "$V: without it" "$(rolled)" 'complete'
	is "$V: all are updated" "$(values)" 'web-0=two web-1=two web-2=two '
	is "$V: the update is over" "$(status currentRevision)" "$(status updateRevision)"
	like "$V: history" "$(k rollout history sts/web | tr -s ' \n' ' ')" '1 <none> 2 <none>'
	like "$V: undo" "$(k rollout undo sts/web)" 'rolled back'
	like "$V: goes the same way" "$(rolled)" 'complete'
	is "$V: and is the old one" "$(values)" 'web-0=one web-1=one web-2=one '
	like "$V: with a new number" "$(k rollout history sts/web | tr -s ' \n' ' ')" '2 <none> 3 <none>'
	is "$V: kept once" "$(k get controllerrevisions -o name | wc -l)" 2
	k rollout restart sts/web >/dev/null
	like "$V: restart" "$(rolled)" 'complete'
	ok "$V: the data of all that time" eventually 60 has_written web-2 'web-2 one web-2 two web-2 one web-2 one '
}

# An update that never gets ready stops at the first pod; the old template and a deletion mend it.
stuck() {
	k patch sts web --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/env/0/value","value":"bad"},
		{"op":"add","path":"/spec/template/spec/containers/0/readinessProbe","value":{"exec":{"command":["false"]},"periodSeconds":1}}]' >/dev/null
	ok "$V: a broken update" eventually 60 eval '[ "$(values)" = "web-0=one web-1=one web-2=bad " ] && state readyReplicas 2'
	k rollout undo sts/web >/dev/null
	ok "$V: is not mended by the old template alone" eventually 60 eval '[ "$(status observedGeneration)" = "$(get sts web .metadata.generation)" ]'
	is "$V: as in Kubernetes" "$(values)" 'web-0=one web-1=one web-2=bad '
	k delete pod web-2 >/dev/null
	ok "$V: but by a deletion" eventually 60 eval '[ "$(values)" = "web-0=one web-1=one web-2=one " ] && state readyReplicas 3 && state updatedReplicas 3'
}

scales() {
	k scale sts web --replicas=1 >/dev/null
	ok "$V: shrinks from the top" eventually 60 named 'web-0 '
	like "$V: and says so" "$(events web)" 'Normal SuccessfulDelete delete Pod web-2 in StatefulSet web successful'
	is "$V: claims stay" "$(k get pvc -o name | wc -l)" 3
	k scale sts web --replicas=2 >/dev/null
	ok "$V: grows again" eventually 60 state readyReplicas 2
	like "$V: and finds its data" "$(k exec web-1 -- cat /data/log | tail -n 1)" '^web-1 one$'
	ok "$V: a pod that fails" eventually 60 recreated "$(get pod web-0 .metadata.uid)"
	ok "$V: is made anew" eventually 60 state readyReplicas 2
	k patch sts web -p '{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete","whenDeleted":"Delete"}}}' >/dev/null
	ok "$V: a policy that deletes" eventually 60 eval '[ "$(get pvc data-web-1 ".metadata.ownerReferences[0].kind")" = StatefulSet ]'
	k scale sts web --replicas=1 >/dev/null
	ok "$V: takes the claim with the pod" eventually 60 eval '! k get pvc data-web-1'
	k delete sts web >/dev/null
	ok "$V: and all with the set" eventually 60 eval '! k get pvc data-web-0'
	is "$V: but not those of before" "$(k get pvc -o name)" 'persistentvolumeclaim/data-web-2'
	ok "$V: nothing else is left" eventually 60 eval '[ -z "$(k get controllerrevisions,pods -o name 2>/dev/null)" ]'
}

refused() {
	like "$V: a selector that does not match" "$(make 1 2>&1 | tail -n 1; k patch sts web -p '{"spec":{"template":{"metadata":{"labels":{"app":"x"}}}}}')" 'selector. does not match template .labels'
	like "$V: what may not change" "$(k patch sts web -p '{"spec":{"serviceName":"x"}}')" "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy'"
	like "$V: a negative number" "$(k patch sts web -p '{"spec":{"replicas":-1}}')" 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'
	k delete sts web >/dev/null
}

all() {
	life
	updates
	[ "$V" = old ] && return
	stuck
	scales
	refused
}
each_kubectl all

# A server that is killed in the middle of a rollout goes on with it.
K=${KUBECTL_NEW:-$KUBECTL_OLD} V=crash NS=default
make >/dev/null
rolled >/dev/null
k set env sts/web V=two >/dev/null
eventually 60 eval '[ "$(status updatedReplicas)" = 1 ]'
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
node_start main
ok "a server that was killed goes on with the rollout" eventually 60 eval '[ "$(values)" = "web-0=two web-1=two web-2=two " ] && state readyReplicas 3'
ok "and ends it" eventually 60 eval '[ -n "$(status currentRevision)" ] && [ "$(status currentRevision)" = "$(status updateRevision)" ]'
ok "no pod was started twice for nothing" eventually 60 has_written web-0 'web-0 one web-0 two '
done_testing

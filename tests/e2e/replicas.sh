#!/bin/bash
# ReplicaSets and ReplicationControllers with real containers, as kubectl shows them.
. "$(dirname "$0")/lib.sh"
node_start main

events() { k get events --field-selector "involvedObject.name=$1" -o 'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\n"}{end}'; }
pods() { k get pods -l "app=$1" -o name | grep -c '^pod/'; }
has_pods() { [ "$(pods "$1")" -eq "$2" ]; }
counts() { get "$1" "$2" '.status.replicas},{.status.fullyLabeledReplicas},{.status.readyReplicas},{.status.availableReplicas'; }
is_at() { [ "$(counts "$1" "$2")" = "$3" ]; }
failure() { get "$1" "$2" '.status.conditions[?(@.type=="ReplicaFailure")].reason'; }
failing() { [ "$(failure "$1" "$2")" = FailedCreate ]; }
well() { [ -z "$(failure "$1" "$2")" ]; }

# make KIND NAME REPLICAS [MORE OF THE SPEC]
make() {
	local version=apps/v1 selector="{matchLabels: {app: $2}}"
	[ "$1" = ReplicationController ] && version=v1 && selector="{app: $2}"
	k apply -f - <<-END
		apiVersion: $version
		kind: $1
		metadata: {name: $2}
		spec:
		  replicas: $3
		  selector: $selector
		  ${4:-}
		  template:
		    metadata: {labels: {app: $2}}
		    spec:
		      terminationGracePeriodSeconds: 0
		      containers: [{name: c, image: host, command: [sleep, '1000']}]
	END
}

# life KIND SHORT NAME
life() {
	like "$V: a $1 is created" "$(make "$1" "$3" 3)" 'created$'
	ok "$V: it has three pods that are ready" eventually 30 is_at "$2" "$3" 3,3,3,3
	like "$V: kubectl get" "$(k get "$2" "$3" --no-headers | tr -s ' ')" "^$3 3 3 3 [0-9]+s\$"
	like "$V: names of pods" "$(k get pods -l "app=$3" -o name | head -n1)" "^pod/$3-[a-z0-9]{5}\$"
	is "$V: whose they are" "$(k get pods -l "app=$3" -o 'jsonpath={.items[0].metadata.ownerReferences[0].kind} {.items[0].metadata.ownerReferences[0].controller} {.items[0].metadata.ownerReferences[0].blockOwnerDeletion}')" "$1 true true"
	like "$V: what it did" "$(events "$3")" "Normal SuccessfulCreate Created pod: $3-"
	like "$V: describe" "$(k describe "$2" "$3" | tr -s ' \n' ' ')" "Replicas: 3 current / 3 desired Pods Status: 3 Running / 0 Waiting / 0 Succeeded / 0 Failed"
	like "$V: scaled down" "$(k scale "$2" "$3" --replicas=1)" 'scaled$'
	ok "$V: two pods go" eventually 30 has_pods "$3" 1
	ok "$V: and are not counted" eventually 30 is_at "$2" "$3" 1,1,1,1
	like "$V: which it says" "$(events "$3")" "Normal SuccessfulDelete Deleted pod: $3-"
	local pod
	pod=$(k get pods -l "app=$3" -o name)
	k delete "$pod" >/dev/null
	ok "$V: a deleted pod is replaced" eventually 30 is_at "$2" "$3" 1,1,1,1
	unlike "$V: by another" "$(k get pods -l "app=$3" -o name)" "^$pod\$"
	k delete "$2" "$3" >/dev/null
	ok "$V: everything goes with it" eventually 30 has_pods "$3" 0
}

claims() {
	make ReplicaSet claim 2 >/dev/null
	ok "$V: two pods" eventually 30 is_at rs claim 2,2,2,2
	local pod
	pod=$(k get pods -l app=claim -o name | head -n1)
	k label "$pod" app=free --overwrite >/dev/null
	ok "$V: a pod that no longer matches is replaced" eventually 30 has_pods claim 2
	is "$V: and let go" "$(k get "$pod" -o 'jsonpath={.metadata.ownerReferences}')" ''
	k label "$pod" app=claim --overwrite >/dev/null
	ok "$V: one that matches again is one too many" eventually 30 has_pods claim 2
	k delete rs claim --cascade=orphan >/dev/null
	is "$V: orphaned pods stay" "$(pods claim)" 2
	make ReplicaSet claim 2 >/dev/null
	ok "$V: and are adopted" eventually 30 is_at rs claim 2,2,2,2
	is "$V: as they are" "$(pods claim)" 2
	k delete rs claim >/dev/null
}

trouble() {
	k label namespace "$NS" pod-security.kubernetes.io/enforce=restricted >/dev/null
	make ReplicaSet stuck 2 >/dev/null
	ok "$V: pods that cannot be made are told of" eventually 30 failing rs stuck
	like "$V: in events too" "$(events stuck)" 'Warning FailedCreate Error creating: pods "stuck-.*violates PodSecurity'
	k label namespace "$NS" pod-security.kubernetes.io/enforce- >/dev/null
	ok "$V: they are made when they can be" eventually 60 is_at rs stuck 2,2,2,2
	ok "$V: and the condition goes" eventually 30 well rs stuck
	k delete rs stuck >/dev/null
	make ReplicaSet bad 0 >/dev/null
	like "$V: a selector that does not match" "$(k create -f - <<-END
		apiVersion: apps/v1
		kind: ReplicaSet
		metadata: {name: other}
		spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: {containers: [{name: c, image: host}]}}}
	END
	)" 'spec.template.metadata.labels: Invalid value: .*`selector` does not match template `labels`'
	like "$V: a selector cannot change" "$(k patch rs bad --type=merge -p '{"spec":{"selector":{"matchLabels":{"app":"bad","x":"y"}},"template":{"metadata":{"labels":{"x":"y"}}}}}')" 'spec.selector: Invalid value: .*field is immutable'
	like "$V: a negative number" "$(k scale rs bad --replicas=-1)" 'replicas count|must be greater than or equal to 0'
	k delete rs bad >/dev/null
}

late() {
	make ReplicaSet late 1 'minReadySeconds: 3600' >/dev/null
	ok "$V: ready, but not available yet" eventually 30 is_at rs late 1,1,1,
	k patch rs late -p '{"spec":{"minReadySeconds":2}}' >/dev/null
	ok "$V: available later" eventually 30 is_at rs late 1,1,1,1
	k delete rs late >/dev/null
}

all() {
	life ReplicaSet rs set
	life ReplicationController rc con
	claims
	trouble
	late
}
each_kubectl all
done_testing

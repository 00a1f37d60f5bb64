#!/bin/bash
# Deployments with real containers: kubectl's rollout commands, and what they say.
. "$(dirname "$0")/lib.sh"
node_start main

events() { k get events --field-selector "involvedObject.name=$1" -o 'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\n"}{end}'; }
cond() { get deployment "$1" ".status.conditions[?(@.type==\"$2\")].$3"; }
pods() { k get pods -l "app=$1" -o name | grep -c '^pod/'; }
has_pods() { [ "$(pods "$1")" -eq "$2" ]; }
sets() { k get rs -l "app=$1" -o name | grep -c '^replicaset'; }
has_sets() { [ "$(sets "$1")" -eq "$2" ]; }
# What the pods there are run, each once.
running() { k get pods -l "app=$1" -o 'jsonpath={range .items[*]}{.spec.containers[0].env[0].value}{"\n"}{end}' | sort -u | tr '\n' ' '; }
runs() { [ "$(running "$1")" = "$2 " ]; }
waits() { [ "$(cond "$1" "$2" reason)" = "$3" ]; }
rolled() { k rollout status "deployment/$1" --timeout=120s; }

# make NAME REPLICAS [MORE OF THE SPEC]
make() {
	k apply -f - <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: $1, annotations: {kubernetes.io/change-cause: the first}}
		spec:
		  replicas: $2
		  selector: {matchLabels: {app: $1}}
		  ${3:-}
		  template:
		    metadata: {labels: {app: $1}}
		    spec:
		      terminationGracePeriodSeconds: 0
		      containers: [{name: c, image: host, env: [{name: V, value: one}], command: [sleep, '1000']}]
	END
}

life() {
	like "$V: a deployment is created" "$(make web 3)" 'created$'
	like "$V: and rolled out" "$(rolled web)" '^deployment "web" successfully rolled out$'
	like "$V: kubectl get" "$(k get deployment web --no-headers | tr -s ' ')" '^web 3/3 3 3 [0-9]+s$'
	local set
	set=$(k get rs -l app=web -o 'jsonpath={.items[0].metadata.name}')
	like "$V: its ReplicaSet" "$set" '^web-[bcdfghjklmnpqrstvwxz2456789]+$'
	is "$V: is labelled with the hash" "$(get rs "$set" .metadata.labels.pod-template-hash)" "${set#web-}"
	is "$V: and selects by it" "$(get rs "$set" .spec.selector.matchLabels.pod-template-hash)" "${set#web-}"
	like "$V: as do its pods" "$(k get pods -l "pod-template-hash=${set#web-}" -o name | head -n1)" "^pod/$set-[a-z0-9]{5}\$"
	like "$V: what it did" "$(events web)" "^Normal ScalingReplicaSet Scaled up replica set $set from 0 to 3\$"
	is "$V: conditions" "$(cond web Available reason) $(cond web Progressing reason)" 'MinimumReplicasAvailable NewReplicaSetAvailable'
	is "$V: in words" "$(cond web Progressing message)" "ReplicaSet \"$set\" has successfully progressed."

	like "$V: a changed template" "$(k set env deployment/web V=two)" 'deployment.apps/web env updated'
	k annotate deployment web kubernetes.io/change-cause='the second' --overwrite >/dev/null
	like "$V: is rolled out" "$(rolled web)" 'successfully rolled out$'
	ok "$V: to all pods" eventually 30 runs web two
	like "$V: history" "$(k rollout history deployment/web | tr '\n' ';')" '^deployment.apps/web *;REVISION  CHANGE-CAUSE;1         the first;2         the second;'
	like "$V: one of it" "$(k rollout history deployment/web --revision=1 | tr -s ' \n\t' ' ')" 'revision #1 Pod Template: Labels: app=web pod-template-hash=.*V: one'
	like "$V: the old one goes step by step" "$(events web)" "Normal ScalingReplicaSet Scaled down replica set $set from 3 to 2"
	local described
	described=$(k describe deployment web | tr -s ' \n' ' ')
	like "$V: describe has the numbers" "$described" 'Replicas: 3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable'
	like "$V: and the ReplicaSets" "$described" 'OldReplicaSets: .*NewReplicaSet: web-[a-z0-9]+ \(3/3 replicas created\)'

	like "$V: undo" "$(k rollout undo deployment/web --to-revision=1)" 'deployment.apps/web rolled back'
	like "$V: is rolled out too" "$(rolled web)" 'successfully rolled out$'
	ok "$V: by the old ReplicaSet" eventually 30 runs web one
	is "$V: with the next number" "$(get rs "$set" '.metadata.annotations.deployment\.kubernetes\.io/revision') $(get deployment web '.metadata.annotations.deployment\.kubernetes\.io/revision')" '3 3'
	like "$V: and history has it once" "$(k rollout history deployment/web | tr '\n' ';')" 'REVISION  CHANGE-CAUSE;2         the second;3         the first;'
	like "$V: a revision that is not there" "$(k rollout undo deployment/web --to-revision=9)" 'unable to find specified revision 9'

	local before
	before=$(k get pods -l app=web -o name | sort)
	like "$V: restart" "$(k rollout restart deployment/web)" 'deployment.apps/web restarted'
	like "$V: is a roll-out" "$(rolled web)" 'successfully rolled out$'
	ok "$V: three pods" eventually 30 has_pods web 3
	is "$V: none of them an old one" "$(comm -12 <(echo "$before") <(k get pods -l app=web -o name | sort))" ''

	like "$V: scale" "$(k scale deployment web --replicas=1)" 'deployment.apps/web scaled'
	ok "$V: one pod is left" eventually 30 has_pods web 1
	like "$V: deletion" "$(k delete deployment web)" 'deleted'
	ok "$V: takes the pods along" eventually 30 has_pods web 0
	ok "$V: and all ReplicaSets" eventually 30 has_sets web 0
}

paused() {
	make quiet 2 'revisionHistoryLimit: 0' >/dev/null
	rolled quiet >/dev/null
	like "$V: pause" "$(k rollout pause deployment/quiet)" 'deployment.apps/quiet paused'
	k set env deployment/quiet V=two >/dev/null
	k scale deployment quiet --replicas=3 >/dev/null
	ok "$V: a paused deployment is scaled" eventually 30 has_pods quiet 3
	ok "$V: says that it is paused" eventually 30 waits quiet Progressing DeploymentPaused
	is "$V: and has only the old pods" "$(running quiet)$(sets quiet)" 'one 1'
	like "$V: resume" "$(k rollout resume deployment/quiet)" 'deployment.apps/quiet resumed'
	like "$V: now it is rolled out" "$(rolled quiet)" 'successfully rolled out$'
	ok "$V: to all" eventually 30 runs quiet two
	ok "$V: and no history is kept where none is wanted" eventually 30 has_sets quiet 1
	k delete deployment quiet >/dev/null
}

recreate() {
	make once 2 'strategy: {type: Recreate}' >/dev/null
	rolled once >/dev/null
	"$K" -n "$NS" get pods -l app=once --watch --output-watch-events -o 'jsonpath={.type} {.object.metadata.name} {.object.spec.containers[0].env[0].value}{"\n"}' >"$T/seen-$V" 2>/dev/null &
	PIDS+=($!)
	ok "$V: a watch sees the pods" eventually 30 grep -q ' one$' "$T/seen-$V"
	k set env deployment/once V=two >/dev/null
	like "$V: recreated" "$(rolled once)" 'successfully rolled out$'
	ok "$V: all pods are new" eventually 30 runs once two
	ok "$V: the watch saw them come" eventually 30 grep -q ' two' "$T/seen-$V"
	is "$V: after the old ones had gone" "$(sed '/ two$/,$d' "$T/seen-$V" | grep -c '^DELETED .* one$')" 2
	k delete deployment once >/dev/null
}

# One that cannot come up: the old pods stay, and the deadline is told of.
stuck() {
	make bad 2 >/dev/null
	rolled bad >/dev/null
	k patch deployment bad -p '{"spec":{"progressDeadlineSeconds":2,"template":{"spec":{"containers":[{"name":"c","image":"localhost:1/no/image"}]}}}}' >/dev/null
	like "$V: a roll-out that fails says so" "$(k rollout status deployment/bad --timeout=120s)" 'error: deployment "bad" exceeded its progress deadline'
	is "$V: in its condition" "$(cond bad Progressing status) $(cond bad Progressing reason)" 'False ProgressDeadlineExceeded'
	like "$V: in words" "$(cond bad Progressing message)" '^ReplicaSet "bad-[a-z0-9]+" has timed out progressing\.$'
	is "$V: the old pods still serve" "$(get deployment bad .status.availableReplicas) $(cond bad Available status)" '2 True'
	k patch deployment bad -p '{"spec":{"progressDeadlineSeconds":600}}' >/dev/null # what is slow now is the machine
	k rollout undo deployment/bad >/dev/null
	like "$V: and it can be undone" "$(rolled bad)" 'successfully rolled out$'
	k delete deployment bad >/dev/null
}

orphans() {
	make left 2 >/dev/null
	rolled left >/dev/null
	local before orphan=--cascade=orphan
	before=$(k get pods -l app=left -o name | sort)
	k delete deployment left $orphan >/dev/null
	is "$V: orphans stay" "$(sets left) $(pods left)" '1 2'
	is "$V: without owner" "$(k get rs -l app=left -o 'jsonpath={.items[0].metadata.ownerReferences}')" ''
	make left 2 >/dev/null
	like "$V: and are adopted" "$(rolled left)" 'successfully rolled out$'
	is "$V: as they are" "$(k get pods -l app=left -o name | sort)" "$before"
	k delete deployment left >/dev/null
}

refused() {
	like "$V: a selector that does not match" "$(k create -f - <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: other}
		spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: {containers: [{name: c, image: host}]}}}
	END
	)" 'spec.template.metadata.labels: Invalid value: .*`selector` does not match template `labels`'
	make odd 0 >/dev/null
	like "$V: a selector cannot change" "$(k patch deployment odd --type=merge -p '{"spec":{"selector":{"matchLabels":{"app":"odd","x":"y"}},"template":{"metadata":{"labels":{"x":"y"}}}}}')" 'spec.selector: Invalid value: .*field is immutable'
	like "$V: bounds that let nothing move" "$(k patch deployment odd --type=merge -p '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}}}}')" 'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: .*may not be 0 when `maxSurge` is 0'
	like "$V: a deadline that is too short" "$(k patch deployment odd --type=merge -p '{"spec":{"progressDeadlineSeconds":5,"minReadySeconds":5}}')" 'spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds'
	k delete deployment odd >/dev/null
}

all() {
	life
	paused
	recreate
	stuck
	orphans
	refused
}
each_kubectl all
done_testing

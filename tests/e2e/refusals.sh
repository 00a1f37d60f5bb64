#!/bin/bash
# What cannot be is refused with the field, the value and what is allowed; a controller that cannot go on says why, and goes on
# as soon as it can.
. "$(dirname "$0")/lib.sh"
node_start main || exit 1
C="{name: c, image: host, command: [sleep, '1000']}"
POD="{restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [$C]}"
LONG="{terminationGracePeriodSeconds: 0, containers: [$C]}"

# Each object is one line: NAME KIND SPEC.  They are sent in one go; each must be refused, for a reason that is asked for later.
objects() {
	local name kind spec version
	while read -r name kind spec; do
		case $kind in
		Job | CronJob) version=batch/v1 ;;
		Service | ReplicationController) version=v1 ;;
		*) version=apps/v1 ;;
		esac
		printf -- '---\napiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec: %s\n' $version "$kind" "$name" "$spec"
	done
}
# why NAME SENTENCE PATTERN: what the API said of the object of that name, on one line, has the pattern.
why() {
	like "$V: $2" "$(awk -v n="\"$1\"" '/^The |^Error |^error/ { on = index($0, n) } on' "$T/said" | tr '\n' ' ')" "$3"
}

specs() {
	objects >"$T/bad.yaml" <<-END
		d-labels Deployment {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: $LONG}}
		d-empty Deployment {selector: {}, template: {metadata: {labels: {app: b}}, spec: $LONG}}
		d-negative Deployment {replicas: -1, minReadySeconds: -2, revisionHistoryLimit: -3, progressDeadlineSeconds: -4, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: $LONG}}
		d-restart Deployment {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: $POD}}
		r-labels ReplicaSet {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: $LONG}}
		r-negative ReplicaSet {replicas: -1, minReadySeconds: -2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: $LONG}}
		c-labels ReplicationController {replicas: -1, selector: {app: a}, template: {metadata: {labels: {app: b}}, spec: $LONG}}
		s-labels StatefulSet {serviceName: s, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: $LONG}}
		s-negative StatefulSet {serviceName: s, replicas: -1, minReadySeconds: -2, updateStrategy: {rollingUpdate: {partition: -3}}, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: $LONG}}
		ds-labels DaemonSet {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: $LONG}}
		ds-negative DaemonSet {minReadySeconds: -2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: $LONG}}
		j-negative Job {parallelism: -1, completions: -2, backoffLimit: -3, ttlSecondsAfterFinished: -4, activeDeadlineSeconds: -5, template: {spec: $POD}}
		j-restart Job {template: {spec: $LONG}}
		j-selector Job {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: $POD}}
		j-labels Job {manualSelector: true, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: $POD}}
		j-indexed Job {completionMode: Indexed, parallelism: 2, template: {spec: $POD}}
		j-name-$(printf 'x%.0s' {1..54}) Job {completionMode: Indexed, completions: 1000, template: {spec: $POD}}
		j-mode Job {completionMode: Counted, template: {spec: $POD}}
		j-per-index Job {backoffLimitPerIndex: 1, completions: 2, template: {spec: $POD}}
		j-max-failed Job {completionMode: Indexed, completions: 2, backoffLimitPerIndex: 1, maxFailedIndexes: 3, template: {spec: $POD}}
		j-success Job {completionMode: Indexed, completions: 3, successPolicy: {rules: [{succeededIndexes: '1-5'}]}, template: {spec: $POD}}
		j-zero Job {podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [0]}}]}, template: {spec: $POD}}
		j-order Job {podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [3, 1]}}]}, template: {spec: $POD}}
		j-action Job {podFailurePolicy: {rules: [{action: Explode, onExitCodes: {operator: In, values: [1]}}]}, template: {spec: $POD}}
		j-operator Job {podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: Near, values: [1]}}]}, template: {spec: $POD}}
		j-neither Job {podFailurePolicy: {rules: [{action: Ignore}]}, template: {spec: $POD}}
		j-index Job {podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [1]}}]}, template: {spec: $POD}}
		j-container Job {podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {containerName: other, operator: In, values: [1]}}]}, template: {spec: $POD}}
		j-on-failure Job {podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [1]}}]}, template: {spec: {restartPolicy: OnFailure, containers: [$C]}}}
		cj-words CronJob {schedule: every minute, jobTemplate: {spec: {template: {spec: $POD}}}}
		cj-range CronJob {schedule: '61 * * * *', jobTemplate: {spec: {template: {spec: $POD}}}}
		cj-few CronJob {schedule: '* * * *', jobTemplate: {spec: {template: {spec: $POD}}}}
		cj-tz CronJob {schedule: 'TZ=UTC * * * * *', jobTemplate: {spec: {template: {spec: $POD}}}}
		cj-zone CronJob {schedule: '@daily', timeZone: Mars/Olympus, jobTemplate: {spec: {template: {spec: $POD}}}}
		cj-local CronJob {schedule: '@daily', timeZone: Local, jobTemplate: {spec: {template: {spec: $POD}}}}
		cj-path CronJob {schedule: '@daily', timeZone: ../etc, jobTemplate: {spec: {template: {spec: $POD}}}}
		cj-policy CronJob {schedule: '@daily', concurrencyPolicy: Queue, jobTemplate: {spec: {template: {spec: $POD}}}}
		cj-negative CronJob {schedule: '@daily', startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -2, failedJobsHistoryLimit: -3, jobTemplate: {spec: {parallelism: -4, template: {spec: $POD}}}}
		sv-address Service {clusterIP: 192.0.2.9, ports: [{port: 80}]}
		sv-word Service {clusterIP: here, ports: [{port: 80}]}
	END
	k create -f "$T/bad.yaml" >"$T/said"
	unlike "$V: none of them is created" "$(cat "$T/said")" ' created$'
	local least='must be greater than or equal to 0'
	for kind in d r s ds; do
		why $kind-labels "$kind: a selector that does not match the template" \
			'spec.template.metadata.labels: Invalid value: .*"?app"?:"b".*: `selector` does not match template `labels`'
	done
	why c-labels "a replication controller, too" 'spec.template.metadata.labels: Invalid value: .*: `selector` does not match template `labels`'
	why c-labels "with everything that is wrong at once" "spec.replicas: Invalid value: -1: $least"
	why d-empty "an empty selector" 'spec.selector: Invalid value: .*: empty selector is invalid for deployment'
	why d-negative "negative replicas" "spec.replicas: Invalid value: -1: $least"
	why d-negative "negative minReadySeconds" "spec.minReadySeconds: Invalid value: -2: $least"
	why d-negative "a negative history" "spec.revisionHistoryLimit: Invalid value: -3: $least"
	why d-negative "a negative deadline" "spec.progressDeadlineSeconds: Invalid value: -4: $least"
	why d-restart "a Deployment of pods that end" 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'
	why r-negative "negative numbers of a ReplicaSet" "spec.replicas: Invalid value: -1: $least.*spec.minReadySeconds: Invalid value: -2: $least|minReadySeconds.*-2.*spec.replicas.*-1"
	why s-negative "of a StatefulSet" "spec.replicas: Invalid value: -1: $least"
	why s-negative "its partition" "spec.updateStrategy.rollingUpdate.partition: Invalid value: -3: $least"
	why s-negative "its minReadySeconds" "spec.minReadySeconds: Invalid value: -2: $least"
	why ds-negative "of a DaemonSet" "spec.minReadySeconds: Invalid value: -2: $least"
	for f in parallelism:-1 completions:-2 backoffLimit:-3 ttlSecondsAfterFinished:-4 activeDeadlineSeconds:-5; do
		why j-negative "a Job's negative ${f%:*}" "spec.${f%:*}: Invalid value: ${f#*:}: $least"
	done
	why j-restart "a Job of pods that never end" 'spec.template.spec.restartPolicy: (Required value: valid values: "OnFailure", "Never"|Unsupported value: "Always": supported values: "OnFailure", "Never")'
	why j-selector "a selector that is not the Job's to choose" 'spec.selector: Invalid value: .*: `selector` not auto-generated'
	why j-labels "a manual selector that does not match" 'spec.template.metadata.labels: Invalid value: .*: `selector` does not match template `labels`'
	why j-indexed "indexes without completions" 'spec.completions: Required value: when completion mode is Indexed'
	why j-name-$(printf 'x%.0s' {1..54}) "a name that is too long with an index" 'metadata.name: Invalid value: "j-name-x*": will not able to create pod with invalid DNS label: j-name-x*-999'
	why j-mode "an unknown mode" 'spec.completionMode: Unsupported value: "Counted": supported values: "Indexed", "NonIndexed"'
	why j-per-index "limits of indexes without indexes" 'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'
	why j-max-failed "more failed indexes than there are" 'spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions'
	why j-success "successful indexes that there are not" 'spec.successPolicy.rules\[0\].succeededIndexes: Invalid value: "1-5": error parsing succeededIndexes: too large index: "5"'
	why j-zero "success as a failure" 'spec.podFailurePolicy.rules\[0\].onExitCodes.values\[0\]: Invalid value: 0: must not be 0 for the In operator'
	why j-order "exit codes out of order" 'spec.podFailurePolicy.rules\[0\].onExitCodes.values: Invalid value: \[3,1\]: must be ordered'
	why j-action "an unknown action" 'spec.podFailurePolicy.rules\[0\].action: Unsupported value: "Explode": supported values: "Count", "FailIndex", "FailJob", "Ignore"'
	why j-operator "an unknown operator" 'spec.podFailurePolicy.rules\[0\].onExitCodes.operator: Unsupported value: "Near": supported values: "In", "NotIn"'
	why j-neither "a rule about nothing" 'spec.podFailurePolicy.rules\[0\]: Invalid value: .*: specifying one of OnExitCodes and OnPodConditions is required'
	why j-index "a rule about indexes without a limit for them" 'spec.podFailurePolicy.rules\[0\].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'
	why j-container "a rule about a container that is not there" 'spec.podFailurePolicy.rules\[0\].onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template'
	why j-on-failure "a rule about pods that are started again" 'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified'
	why cj-words "a schedule in words" 'spec.schedule: Invalid value: "every minute": expected (exactly )?5 fields, found 2'
	why cj-range "a minute that there is not" 'spec.schedule: Invalid value: "61 \* \* \* \*": .*61'
	why cj-few "four fields" 'spec.schedule: Invalid value: "\* \* \* \*": expected (exactly )?5 fields, found 4'
	why cj-tz "a time zone in the schedule" 'spec.schedule: Invalid value: "TZ=UTC \* \* \* \* \*": cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
	why cj-zone "a time zone that is not known" 'spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'
	why cj-local "a time zone without a place" 'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone'
	why cj-path "a time zone that is a path" 'spec.timeZone: Invalid value: "../etc": unknown time zone'
	why cj-policy "an unknown policy" 'spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"'
	why cj-negative "a CronJob's negative deadline" "spec.startingDeadlineSeconds: Invalid value: -1: $least"
	why cj-negative "its histories" "spec.successfulJobsHistoryLimit: Invalid value: -2: $least"
	why cj-negative "and what is wrong in its Jobs" "spec.jobTemplate.spec.parallelism: Invalid value: -4: $least"
	why sv-address "an address out of range" 'spec.clusterIPs?(\[0\])?: Invalid value: .*192.0.2.9.*10.96.0.0/12'
	why sv-word "an address that is none" 'spec.clusterIPs?(\[0\])?: Invalid value: .*"?here"?.*must be.* a valid IP address'
}

# What may not change once it is there.
changes() {
	objects >"$T/good.yaml" <<-END
		d Deployment {replicas: 0, selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d, more: d}}, spec: $LONG}}
		r ReplicaSet {replicas: 0, selector: {matchLabels: {app: r}}, template: {metadata: {labels: {app: r, more: r}}, spec: $LONG}}
		ds DaemonSet {selector: {matchLabels: {app: ds}}, template: {metadata: {labels: {app: ds, more: ds}}, spec: {nodeSelector: {no: where}, containers: [$C]}}}
		s StatefulSet {replicas: 0, serviceName: s, selector: {matchLabels: {app: s}}, template: {metadata: {labels: {app: s, more: s}}, spec: $LONG}}
		j Job {suspend: true, completions: 2, template: {spec: $POD}}
		ji Job {suspend: true, completionMode: Indexed, completions: 2, parallelism: 2, template: {spec: $POD}}
		jm Job {suspend: true, manualSelector: true, selector: {matchLabels: {app: j}}, template: {metadata: {labels: {app: j, more: j}}, spec: $POD}}
		sv Service {ports: [{port: 80}]}
	END
	is "$V: good ones are created" "$(k create -f "$T/good.yaml" | grep -c ' created$')" 8
	patched() { k patch "$1" "$2" --type=merge -p "$3"; }
	for kind in d:deployment r:replicaset ds:daemonset; do
		like "$V: the selector of a ${kind#*:}" "$(patched ${kind#*:} ${kind%:*} '{"spec":{"selector":{"matchLabels":{"more":"'${kind%:*}'"}}}}')" \
			'spec.selector: Invalid value: .*"more":"'${kind%:*}'".*: field is immutable'
	done
	like "$V: anything of a StatefulSet but a few fields" "$(patched sts s '{"spec":{"selector":{"matchLabels":{"more":"s"}}}}')" \
		"spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy'"
	like "$V: its order of starting" "$(patched sts s '{"spec":{"podManagementPolicy":"Parallel"}}')" "spec: Forbidden: updates to statefulset spec for fields other than"
	like "$V: the template of a Job" "$(patched job j '{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"other"}]}}}}')" \
		'spec.template: Invalid value: .*field is immutable'
	like "$V: its completions" "$(patched job j '{"spec":{"completions":3}}')" 'spec.completions: Invalid value: 3: field is immutable'
	like "$V: its selector" "$(patched job j '{"spec":{"selector":{"matchLabels":{"a":"b"}}}}')" 'spec.selector: Invalid value: .*"a":"b".*: `selector` not auto-generated'
	like "$V: also one that it was given" "$(patched job jm '{"spec":{"selector":{"matchLabels":{"more":"j"}}}}')" 'spec.selector: Invalid value: .*"more":"j".*: field is immutable'
	like "$V: its mode" "$(patched job j '{"spec":{"completionMode":"Indexed"}}')" 'spec.completionMode: Invalid value: "Indexed": field is immutable'
	like "$V: completions of an indexed Job without its parallelism" "$(patched job ji '{"spec":{"completions":4}}')" \
		'spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism'
	like "$V: but together" "$(patched job ji '{"spec":{"completions":4,"parallelism":4}}')" 'job.batch/ji patched'
	like "$V: the address of a Service" "$(patched svc sv '{"spec":{"clusterIP":"10.96.77.77","clusterIPs":["10.96.77.77"]}}')" \
		'spec.clusterIPs?(\[0\])?: Invalid value: .*: (field is immutable|may not change once set)'
	objects <<<"sw Service {clusterIP: $(get svc sv .spec.clusterIP), ports: [{port: 80}]}" | k create -f - >"$T/said"
	why sw "an address that another has" 'spec.clusterIPs?(\[0\])?: Invalid value: .*already allocated'
	k delete -f "$T/good.yaml" --wait=false >/dev/null
}

events() { k get events --field-selector "involvedObject.kind=$1,involvedObject.name=$2" -o 'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\n"}{end}'; }
told() { events "$1" "$2" | grep -Eq -- "$3"; }
cond() { get "$1" "$2" ".status.conditions[?(@.type==\"ReplicaFailure\")].$3"; }
failing() { [ "$(cond "$1" "$2" status) $(cond "$1" "$2" reason)" = 'True FailedCreate' ]; }
well() { [ -z "$(cond "$1" "$2" status)" ]; }
at() { [ "$(get "$1" "$2" ".status.$3")" = "$4" ]; }
set_of() { k get rs -l "app=$1" -o 'jsonpath={.items[0].metadata.name}'; }

stuck_quota() {
	k create quota q --hard=pods=1 >/dev/null
	objects <<-END | k create -f - >/dev/null
		full Deployment {replicas: 3, selector: {matchLabels: {app: full}}, template: {metadata: {labels: {app: full}}, spec: $LONG}}
	END
	ok "$V: quota: a Deployment makes what fits" eventually 30 at deployment full replicas 1
	ok "$V: quota: and has a condition" eventually 30 failing deployment full
	like "$V: quota: which says why" "$(cond deployment full message)" 'is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
	ok "$V: quota: as its ReplicaSet does" failing rs "$(set_of full)"
	ok "$V: quota: and its event" told ReplicaSet "$(set_of full)" '^Warning FailedCreate Error creating: pods "full-.*" is forbidden: exceeded quota: q'
	k patch quota q -p '{"spec":{"hard":{"pods":"3"}}}' >/dev/null
	ok "$V: quota: it goes on when there is room" eventually 60 at deployment full readyReplicas 3
	ok "$V: quota: and the condition goes" eventually 30 well deployment full
	k delete deployment full --wait=false >/dev/null
	k delete quota q >/dev/null
}

stuck_claim() {
	k create -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: reader}
		spec: {restartPolicy: Never, volumes: [{name: v, persistentVolumeClaim: {claimName: later}}], containers: [{name: c, image: host, command: [touch, /v/here], volumeMounts: [{name: v, mountPath: /v}]}]}
	END
	ok "$V: claim: a pod whose claim is not there says so" eventually 30 told Pod reader 'Warning Failed.*persistentvolumeclaim "later" not found'
	is "$V: claim: and waits" "$(get pod reader .status.phase)" Pending
	k create -f - >/dev/null <<-END
		apiVersion: v1
		kind: PersistentVolumeClaim
		metadata: {name: later}
		spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
	END
	ok "$V: claim: it goes on when the claim comes" eventually 60 at pod reader phase Succeeded
	k delete pod reader --now --wait=false >/dev/null
	k delete pvc later --wait=false >/dev/null
}

stuck_node() {
	k run elsewhere --image=host --restart=Never --overrides='{"spec":{"nodeName":"0c-c4-7a-82-c5-bc"}}' --command -- true >/dev/null
	ok "$V: node: a pod for a node that is not there says so, and which there are" eventually 30 told Pod elsewhere \
		"^Warning NodeNotFound spec.nodeName: node \"0c-c4-7a-82-c5-bc\" does not exist; .* Nodes: $("$K" get nodes -o 'jsonpath={.items[0].metadata.name}')\$"
	k delete pod elsewhere --force --grace-period=0 >/dev/null
}

stuck_name() {
	k run web-1 --image=host --command -- sleep 1000 >/dev/null
	objects <<-END | k create -f - >/dev/null
		web StatefulSet {replicas: 2, serviceName: web, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: $LONG}}
	END
	ok "$V: name: a StatefulSet tells of a pod that has one of its names" eventually 30 told StatefulSet web \
		'Warning FailedCreate create Pod web-1 in StatefulSet web failed error: pods "web-1" already exists'
	ok "$V: name: also in a condition" eventually 30 failing sts web
	is "$V: name: and leaves that pod alone" "$(get pod web-1 .metadata.ownerReferences)" ''
	k delete pod web-1 --now >/dev/null
	ok "$V: name: it goes on when the name is free" eventually 60 at sts web readyReplicas 2
	is "$V: name: with a pod of its own" "$(get pod web-1 '.metadata.ownerReferences[0].name')" web
	ok "$V: name: and the condition goes" eventually 30 well sts web
	k delete sts web --wait=false >/dev/null

	# A CronJob that should have run a minute ago, and Jobs that have the names of that minute and of the next.
	local minute=$(($(date +%s) / 60)) name
	for i in 0 1; do k create job "tick-$((minute + i))" --image=host -- true >/dev/null; done
	objects <<<"tick CronJob {suspend: true, schedule: '* * * * *', jobTemplate: {spec: {template: {spec: $POD}}}}" | k create -f - >/dev/null
	api PATCH "/apis/batch/v1/namespaces/$NS/cronjobs/tick/status" -H 'Content-Type: application/merge-patch+json' \
		-d "{\"status\":{\"lastScheduleTime\":\"$(date -u -d @$(((minute - 1) * 60)) +%FT%TZ)\"}}" >/dev/null
	k patch cronjob tick -p '{"spec":{"suspend":false}}' >/dev/null
	ok "$V: name: a CronJob tells of a Job that has its name" eventually 30 told CronJob tick \
		"^Warning FailedCreate Error creating job: jobs.batch \"tick-($minute|$((minute + 1)))\" already exists"
	is "$V: name: and leaves that Job alone" "$(get job "tick-$minute" .metadata.ownerReferences)" ''
	k delete job "tick-$minute" "tick-$((minute + 1))" >/dev/null
	ok "$V: name: it goes on when the name is free" eventually 60 told CronJob tick 'Normal SuccessfulCreate Created job tick-'
	k delete cronjob tick --wait=false >/dev/null
}

owners() {
	local uid
	k create configmap a >/dev/null
	uid=$(get cm a .metadata.uid)
	like "$V: an object that owns itself" "$(k patch cm a -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"a\",\"uid\":\"$uid\"}]}}")" \
		"metadata.ownerReferences\[0\].uid: Invalid value: \"$uid\": must not make an object own itself"
	k create configmap b >/dev/null
	k patch cm b -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"a\",\"uid\":\"$uid\"}]}}" >/dev/null
	uid=$(get cm b .metadata.uid)
	like "$V: two that own each other" "$(k patch cm a -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"b\",\"uid\":\"$uid\"}]}}")" \
		"metadata.ownerReferences\[0\].uid: Invalid value: \"$uid\": must not make an object own itself: ConfigMap a, owned by ConfigMap b, owned by ConfigMap a"
	like "$V: two that both control" "$(k patch cm b -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"x\",\"uid\":\"1\",\"controller\":true},{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"y\",\"uid\":\"2\",\"controller\":true}]}}")" \
		'metadata.ownerReferences: Invalid value: .*Only one reference can have Controller set to true'
}

all() {
	specs
	changes
	owners
	[ "$V" = old ] && [ -n "$KUBECTL_NEW" ] && return # the rest does not depend on kubectl
	stuck_quota
	stuck_claim
	stuck_node
	stuck_name
}
each_kubectl all
done_testing

#!/bin/bash
# Jobs and CronJobs with real containers, as kubectl shows them.
. "$(dirname "$0")/lib.sh"
node_start main
S=$T/share
mkdir -m 777 "$S"

cond() { get job "$1" ".status.conditions[?(@.type==\"$2\")].$3"; }
events() { k get events --field-selector "involvedObject.name=$1" -o 'jsonpath={range .items[*]}{.type} {.reason} {.message}{"\n"}{end}'; }
pods() { k get pods -l "job-name=$1" -o name | grep -c '^pod/'; }
no_pods() { [ "$(pods "$1")" -eq 0 ]; }

one() {
	is "$V: a job is created" "$(k create job hello --image=host -- sh -c 'echo hello from $HOSTNAME')" 'job.batch/hello created'
	like "$V: and is complete soon" "$(k wait --for=condition=complete --timeout=120s job/hello)" 'condition met'
	is "$V: one success, counted once" "$(get job hello .status.succeeded) $(get job hello .status.active)$(get job hello .status.failed)" '1 '
	like "$V: kubectl get" "$(k get job hello --no-headers)" '^hello +(Complete +)?1/1 +[0-9]+s '
	like "$V: its output" "$(k logs job/hello)" '^hello from hello-[a-z0-9]{5}$'
	like "$V: what it made" "$(events hello)" 'Normal SuccessfulCreate Created pod: hello-[a-z0-9]{5}'
	like "$V: and its end" "$(events hello)" 'Normal Completed Job completed'
	local uid
	uid=$(get job hello .metadata.uid)
	like "$V: describe" "$(k describe job hello | tr -s ' \n' ' ')" "Selector: .*controller-uid=$uid Labels: .*job-name=hello.*Parallelism: 1 Completions: 1 .*Start Time: .*Completed At: .*Duration: [0-9]+s Pods Statuses: .*1 Succeeded / 0 Failed"
	is "$V: its pod is its own" "$(k get pods -l job-name=hello -o 'jsonpath={.items[0].metadata.ownerReferences[0].kind} {.items[0].metadata.ownerReferences[0].uid} {.items[0].metadata.ownerReferences[0].controller}')" "Job $uid true"
	is "$V: and nothing holds it back" "$(k get pods -l job-name=hello -o json | jq -c '.items[0].metadata.finalizers // [] | length')" 0
	k delete job hello >/dev/null
	ok "$V: deletion cascades" eventually 20 no_pods hello
}

many() {
	k apply -f - >/dev/null <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: work}
		spec:
		  completionMode: Indexed
		  completions: 4
		  parallelism: 2
		  template:
		    spec:
		      restartPolicy: Never
		      volumes: [{name: share, hostPath: {path: $S}}]
		      containers:
		      - {name: c, image: host, volumeMounts: [{name: share, mountPath: /share}], command: [sh, -c, 'echo \$JOB_COMPLETION_INDEX \$(hostname) >/share/$V-\$JOB_COMPLETION_INDEX']}
		---
		apiVersion: batch/v1
		kind: Job
		metadata: {name: bad}
		spec:
		  backoffLimit: 0
		  template: {spec: {restartPolicy: Never, containers: [{name: c, image: host, command: [sh, -c, 'exit 3']}]}}
		---
		apiVersion: batch/v1
		kind: Job
		metadata: {name: late}
		spec:
		  activeDeadlineSeconds: 1
		  template: {spec: {restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: c, image: host, command: [sleep, '1000']}]}}
		---
		apiVersion: batch/v1
		kind: Job
		metadata: {name: policy}
		spec:
		  podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}
		  template: {spec: {restartPolicy: Never, containers: [{name: c, image: host, command: [sh, -c, 'exit 42']}]}}
		---
		apiVersion: batch/v1
		kind: Job
		metadata: {name: brief}
		spec:
		  ttlSecondsAfterFinished: 0
		  template: {spec: {restartPolicy: Never, containers: [{name: c, image: host, command: ['true']}]}}
	END
	like "$V: an indexed job is complete" "$(k wait --for=condition=complete --timeout=120s job/work)" 'condition met'
	is "$V: each index once" "$(get job work .status.completedIndexes) $(get job work .status.succeeded) $(pods work)" '0-3 4 4'
	is "$V: and its pods know theirs" "$(cat "$S/$V"-* | tr '\n' ' ')" '0 work-0 1 work-1 2 work-2 3 work-3 '
	like "$V: a failing job fails" "$(k wait --for=condition=failed --timeout=120s job/bad)" 'condition met'
	is "$V: why" "$(cond bad Failed reason): $(cond bad Failed message)" 'BackoffLimitExceeded: Job has reached the specified backoff limit'
	like "$V: and says so" "$(events bad)" 'Warning BackoffLimitExceeded Job has reached the specified backoff limit'
	like "$V: a deadline" "$(k wait --for=condition=failed --timeout=120s job/late)" 'condition met'
	is "$V: why" "$(cond late Failed reason)" 'DeadlineExceeded'
	like "$V: a failure that ends the job" "$(k wait --for=condition=failed --timeout=120s job/policy)" 'condition met'
	like "$V: why" "$(cond policy Failed reason) $(cond policy Failed message)" "PodFailurePolicy Container c for pod $NS/policy-.* failed with exit code 42 matching FailJob rule at index 0"
	ok "$V: a job goes by itself" eventually 20 gone_job brief
	ok "$V: with its pods" eventually 20 no_pods brief
	k delete jobs --all >/dev/null
	ok "$V: everything goes" eventually 20 no_pods work
}
gone_job() { ! "$K" -n "$NS" get job "$1"; }

cron() {
	is "$V: a cron job is created" "$(k create cronjob tick --image=host --schedule='0 0 1 1 *' -- echo tock)" 'cronjob.batch/tick created'
	like "$V: and run by hand" "$(k create job manual --from=cronjob/tick)" 'job.batch/manual created'
	like "$V: it is complete" "$(k wait --for=condition=complete --timeout=120s job/manual)" 'condition met'
	is "$V: its output" "$(k logs job/manual)" 'tock'
	is "$V: it belongs to the cron job" "$(get job manual .metadata.ownerReferences[0].kind)" CronJob
	k delete cronjob tick >/dev/null
	ok "$V: and goes with it" eventually 20 gone_job manual
}

all() {
	one
	many
	cron
}
each_kubectl all
done_testing

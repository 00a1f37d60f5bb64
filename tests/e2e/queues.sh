#!/bin/bash
# Queues as users and admins meet them through kubectl: which one work is in, what is refused and why, limits that change
# while work runs, walltimes that end it.  Containers are timers.
. "$(dirname "$0")/lib.sh"
node_start main --runtime fake

queue() { # NAME SPEC
	printf 'apiVersion: stoker.dev/v1\nkind: Queue\nmetadata: {name: %s}\nspec: {%s}\n' "$1" "$2" | kubectl apply -f - 2>&1
}
job() { # NAME QUEUE [SPEC] [CONTAINER]: a manifest
	cat <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: $1, labels: {stoker.dev/queue: $2}}
		spec:
		  ${3:-parallelism: 1}
		  template: {spec: {restartPolicy: Never, containers: [{name: c, image: host, resources: {requests: {${4:-cpu: 10m}}}}]}}
	END
}
ben() { kubectl --as ben -n lab "$@" 2>&1; }
# "queued running" of a queue's status, and until it is so
full() { kubectl get queue "$1" -o 'jsonpath={.status.queued} {.status.running}'; }
is_full() { [ "$(full "$1")" = "$2" ]; }
# Of the pods of a Job.
of_job() { kubectl -n lab get pods -l "job-name=$1" -o "jsonpath={range .items[*]}{$2}{'\n'}{end}"; }
queue_of() { of_job "$1" '.metadata.labels.stoker\.dev/queue'; }
has_pods() { [ "$(of_job "$1" .metadata.name | wc -l)" -eq "$2" ]; }

# --- what is there ---
like "batch is there from the start" "$(kubectl get queues)" '^batch +0 +true +true +0 +0 '
like "and cannot be deleted" "$(kubectl delete queue batch 2>&1)" 'everything goes there that names no queue'
like "a field that is wrong is named" "$(queue bad 'maxWalltime: long')" 'spec.maxWalltime: Invalid value: "long": must be a time such as'
queue mcc 'priority: 10, maxWalltime: 24h, defaultWalltime: 1h, acl: {users: [anna, ben]}, limits: {perUser: {gpus: 2, queued: 3}}' >/dev/null
queue closed 'enabled: false' >/dev/null
queue annas 'acl: {users: [anna]}' >/dev/null
kubectl create namespace lab >/dev/null
kubectl label namespace lab stoker.dev/queue=mcc >/dev/null
for user in anna ben; do kubectl -n lab create rolebinding $user --clusterrole=edit --user=$user >/dev/null; done

# --- which queue ---
ben create job by-namespace --image=host >/dev/null
ok "a job waits in its namespace's queue" eventually 30 has_pods by-namespace 1
is "as its pod says" "$(queue_of by-namespace)" mcc
is "whose it is, is the server's word" "$(of_job by-namespace '.metadata.annotations.stoker\.dev/user')" ben
is "the default walltime is the pod's deadline" "$(of_job by-namespace .spec.activeDeadlineSeconds)" 3600
job own batch 'activeDeadlineSeconds: 600' | ben apply -f - >/dev/null
ok "or in the one that its label names" eventually 30 has_pods own 1
is "as its pod says" "$(queue_of own)" batch
is "with the job's deadline as its walltime" "$(of_job own '.metadata.annotations.stoker\.dev/walltime')" 00:10:00

# --- what is refused ---
refused() { # SENTENCE PATTERN, the manifest on stdin
	like "$1" "$(ben apply -f -)" "$2"
}
refused "a queue that does not exist" 'metadata.labels\[stoker.dev/queue\]: Invalid value: "nosuch": there is no such queue, only annas, batch, closed, mcc' < <(job x nosuch)
refused "one that is not enabled" 'jobs.batch "x" is forbidden: queue closed is not enabled' < <(job x closed)
refused "one for others" 'queue annas: user ben is not in acl.users' < <(job x annas)
refused "too long" 'spec.activeDeadlineSeconds: Invalid value: 90000: queue mcc allows at most 24:00:00' < <(job x mcc 'activeDeadlineSeconds: 90000')
refused "more than it could ever have" 'queue mcc allows each user 2 GPUs and this needs 3' < <(job x mcc '' 'nvidia.com/gpu: 3' | sed 's/requests/limits/')
job two mcc | ben apply -f - >/dev/null
job three mcc | ben apply -f - >/dev/null
refused "one job more than each user may have in it" 'queue mcc allows each user 3 jobs in the queue, ben has 3 and this needs 1' < <(job four mcc)
like "another user still may" "$(job annas-own mcc | kubectl --as anna -n lab apply -f - 2>&1)" created
like "a move is a submission" "$(ben label job own stoker.dev/queue=annas --overwrite)" 'user ben is not in acl.users'
like "only operators hold back for others" "$(ben annotate job own stoker.dev/hold=operator)" 'only who may update queues'
kubectl patch queue mcc --type=merge -p '{"spec":{"enabled":false}}' >/dev/null
ben delete pod -l job-name=two --now >/dev/null
ok "what is in a queue goes on when it is closed" eventually 30 has_pods two 1
kubectl patch queue mcc --type=merge -p '{"spec":{"enabled":true}}' >/dev/null

# --- limits below present use ---
queue small '' >/dev/null
job s small 'parallelism: 3' | kubectl -n lab apply -f - >/dev/null
ok "three run" eventually 30 is_full small '0 3'
kubectl patch queue small --type=merge -p '{"spec":{"limits":{"total":{"running":2}}}}' >/dev/null
job late small | kubectl -n lab apply -f - >/dev/null
ok "a limit below present use ends nothing, and what is new waits" eventually 30 is_full small '1 3'
like "and says why" "$(eventually 30 sh -c "kubectl -n lab describe pod -l job-name=late | grep -q 'running jobs'"; kubectl -n lab describe pod -l job-name=late)" 'queue small allows 2 running jobs in all, 3 in use and this needs 1'
kubectl patch job -n lab s --type=merge -p '{"spec":{"parallelism":1}}' >/dev/null
ok "until there is room" eventually 30 is_full small '0 2'
like "kubectl get shows it" "$(kubectl get queue small)" '^small +0 +true +true +0 +2 '
kubectl patch queue small --type=merge -p '{"spec":{"limits":null,"started":false}}' >/dev/null
job stopped small | kubectl -n lab apply -f - >/dev/null
ok "nothing starts in a queue that is stopped" eventually 30 is_full small '1 2'
kubectl patch queue small --type=merge -p '{"spec":{"started":true}}' >/dev/null
ok "until it is started" eventually 30 is_full small '0 3'

# --- walltime ---
kubectl -n lab apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: short, annotations: {stoker.dev/walltime: '1'}}
spec: {restartPolicy: Never, containers: [{name: c, image: host}]}
END
ok "a pod is ended after its walltime" eventually 30 sh -c "kubectl -n lab get pod short -o 'jsonpath={.status.reason}' | grep -x DeadlineExceeded"
done_testing

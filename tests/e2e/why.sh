#!/bin/bash
# Why something waits, and the line: for pods, jobs, gangs and what has no pods; with rights, and on the objects.
. "$(dirname "$0")/lib.sh"
export TZ=UTC
node_start main --gpus 4 --runtime fake || exit 1
K=$(command -v kubectl) NS=lab V=
why() { "$STOKER" why --socket "$SOCKET" -n lab "$@" 2>&1; }
queue() { "$STOKER" queue --socket "$SOCKET" -n lab "$@" 2>&1; }
phase() { [ "$(get pod "$1" .status.phase)" = "$2" ]; }
says() { # PATTERN ARGS...
	local pattern=$1
	shift
	why "$@" | grep -Eq -- "$pattern"
}
# job NAME GPUS [WALLTIME] [MORE OF THE JOB'S SPEC] [ANNOTATIONS AND LABELS OF ITS PODS]
job() {
	cat <<-END
	---
	apiVersion: batch/v1
	kind: Job
	metadata: {name: $1}
	spec:
	  backoffLimit: 0
	  ${4:-}
	  template:
	    metadata: {${5:-}}
	    spec:
	      restartPolicy: Never
	      ${3:+activeDeadlineSeconds: $3}
	      containers:
	      - {name: main, image: host, command: [sleep, '1000'], resources: {limits: {nvidia.com/gpu: $2}}}
	END
}
pod_of() { k get pod -l job-name="$1" -o name | head -n 1 | cut -d/ -f2; }
start() { k create -f - >/dev/null; }

kubectl create namespace lab >/dev/null
kubectl create namespace other >/dev/null
job a1 2 3600 | start
runs() { [ "$(k get pod -l job-name="$1" -o 'jsonpath={.items[*].status.phase}')" = Running ]; }
ok "a job runs" eventually 20 runs a1
end=$(date -d "$(k get pod -l job-name=a1 -o 'jsonpath={.items[0].status.startTime}') + 3600 sec" +%H:%M)
like "of what runs, it says until when" "$(why a1)" "^job/a1 runs since [0-9:]+; ends by $end at the latest$"

{ job big 4 1800; job next 4 1800; } | start
ok "what waits has a place, a reason and an expected start" eventually 20 says "^job/big is waiting: first in queue batch; needs 4 GPUs on one node, 2 are free; job a1 ends by ([0-9]{4}-[0-9-]+ )?$end at the latest, expected start ([0-9]{4}-[0-9-]+ )?$end$" job/big
like "and what would help" "$(why big)" '^what would help: ask for 2 GPUs instead; or `stoker gpus` shows who has the GPUs$'
like "by the pod's name too" "$(why "pod/$(pod_of big)")" 'needs 4 GPUs on one node'
ok "the next one is second, and names the first" eventually 20 says "^job/next is waiting: second in queue batch; .*; job big runs before it, until [0-9: -]+ at the latest, expected start" next
is "as JSON it has times" "$(why big -o json | jq -r '.items[0] | [.state, .why, .position, .gpus, .walltime, (.expectedStart | type), (.uids | length)] | join(" ")')" "waiting NO_ROOM 1 4 1800 string 1"

job small 1 | start
ok "room that is kept is not taken" eventually 20 says 'there is room for it, but that is kept for job big, which starts by' small
like "and a walltime would help" "$(why small)" 'give a walltime: a job of at most (59|60) minutes could start now'

job held 1 '' '' 'annotations: {stoker.dev/hold: user}' | start
ok "held, and how to release it" eventually 20 says '^job/held is held: in queue batch; held by its user$' held
# released NAME: does what is advised.
released() {
	local command
	command=$(why "$1" | sed -n 's/.*`\(stoker release .*\)` releases it.*/\1/p')
	bash -c "${command/stoker/$STOKER} --socket $SOCKET"
}
like "which is its pod's" "$(why held)" '`stoker release pod/held-[a-z0-9]+ -n lab` releases it'
ok "the command that it shows works" released held
ok "and it is held no more" eventually 20 says '^job/held is waiting: ' held
"$STOKER" hold job/held -n lab --socket "$SOCKET" >/dev/null
ok "held by way of its Job" eventually 20 says '`stoker release job/held -n lab` releases it$' held
ok "the command for that works" released held
ok "too" eventually 20 says '^job/held is waiting: ' held
k annotate job held stoker.dev/not-before=2100-01-01T00:00:00Z >/dev/null
ok "a time is taken away where it is said" eventually 20 says '`kubectl annotate job/held -n lab stoker.dev/not-before-` lets it start earlier' held
k annotate job held stoker.dev/not-before- >/dev/null
timeless() { ! says 'not to start before' held; }
ok "as well" eventually 20 timeless
job nowhere 1 '' '' 'labels: {stoker.dev/queue: nigt}' | start 2>/dev/null
kubectl create -f - >/dev/null <<'END'
apiVersion: stoker.dev/v1
kind: Queue
metadata: {name: night}
spec: {started: false}
END
job late 1 '' '' 'labels: {stoker.dev/queue: night}' | start
ok "a queue that is stopped" eventually 20 says '^job/late is waiting: first in queue night; queue night is stopped$' late
kubectl create -f - >/dev/null <<'END'
apiVersion: stoker.dev/v1
kind: Queue
metadata: {name: few}
spec: {limits: {total: {running: 1}}}
END
job slow 1 3000 '' 'labels: {stoker.dev/queue: few}' | start
ok "one of a limited queue runs" eventually 20 runs slow
job after 1 60 '' 'labels: {stoker.dev/queue: few}' | start
ok "a limit says whose end lifts it" eventually 20 says 'queue few allows 1 running job.* and this needs 1; job slow ends by [0-9: -]+ at the latest, expected start' after
kubectl delete job slow after -n lab --wait=false >/dev/null
gone() { ! k get pod -l job-name=slow -o name | grep -q .; }
ok "both are gone" eventually 20 gone
job huge 5 | start
ok "what can never start is told so" eventually 20 says 'needs 5 GPUs on one node, the largest node has 4 GPUs: it can never start here$' huge
job asleep 1 '' 'suspend: true' | start
like "a suspended job" "$(why asleep)" '^job/asleep is suspended'
like "with what would help" "$(why asleep)" 'what would help: .*"suspend":false'
kubectl create quota few -n lab --hard=pods=6 >/dev/null
job refused 1 | start
ok "pods that are refused" eventually 20 says '^job/refused is pending: .*exceeded quota: few' refused
kubectl delete quota few -n lab >/dev/null
like "a name that is not there" "$(why nobody)" 'stoker why: there is no workload "nobody" in namespace "lab"'
like "a kind that waits for nothing" "$(why configmap/kube-root-ca.crt)" 'is no workload: nothing of it waits'

ok "the condition says it too" eventually 20 bash -c "kubectl get pod -n lab $(pod_of big) -o json | jq -e '.status.conditions[] | select(.type == \"PodScheduled\" and .reason == \"Unschedulable\" and (.message | test(\"Insufficient nvidia.com/gpu\")))'"
event_says() { k describe "$1" | grep -Eq "$2"; }
ok "and an event on the job" eventually 20 event_says job/big 'Waiting .*default-scheduler +Waiting: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.* .job a1 ends by [0-9: -]+ at the latest, expected start'

cat <<'END' | start
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: gang}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 3
      template: {spec: {containers: [{name: tensorflow, image: host, command: [sleep, '1000'], resources: {limits: {nvidia.com/gpu: 1}}}]}}
END
ok "a gang says how many of its pods have room" eventually 20 says '^tfjob/gang is waiting: [a-z0-9]+ in queue batch; needs room for 3 pods at once with 1 GPU each, there is room for 2' gang
ok "and has its event" eventually 20 event_says tfjob/gang 'Waiting .*Waiting: .*all 3 pods of gang tfjobs/gang must have room at once'

out=$(queue)
like "the line has titles" "$out" '^QUEUE +POS +NAME +USER +SIZE +WALLTIME +STATE +START +ENDS BY *$'
like "what runs has its latest end" "$out" "^batch +- +job/a1 +[^ ]+ +2 GPUs +01:00:00 +running +[0-9:]+ +([0-9-]+ )?$end"
like "what waits has its place and its expected start" "$out" "^batch +1 +job/big +[^ ]+ +4 GPUs +00:30:00 +waiting +~([0-9-]+ )?$end"
like "a gang has pods" "$out" 'tfjob/gang +[^ ]+ +3 pods, 3 GPUs'
is "running ones come first" "$(sed -n 2p <<<"$out" | awk '{ print $3 }')" job/a1
is "one queue alone" "$(queue night -o json | jq -r '.items[].name')" job/late
like "wide has the reason" "$(queue -o wide)" 'job/big.*needs 4 GPUs on one node'
like "an unknown queue" "$(queue nope)" 'there is no queue "nope"'
like "with -A there are namespaces" "$(queue -A)" '^NAMESPACE +QUEUE +POS +NAME'
"$STOKER" queue --socket "$SOCKET" -n lab -w >"$T/watch" 2>&1 &
WATCHER=$!
PIDS+=("$WATCHER")
ok "--watch shows it with rows" eventually 60 grep -q 'job/big' "$T/watch"
ends_on_interrupt "and ends on Ctrl-C" $WATCHER

# A user who may list the pods of one namespace only.
kubectl create rolebinding see --clusterrole=view --user=ada -n other >/dev/null
line() { "$STOKER" queue --socket "$SOCKET" --as ada -A "$@" 2>&1; }
is "who may not see a namespace sees users and sizes only" "$(line -o json | jq -r '[.items[] | select(.name or .pods or .namespace or .sentence)] | length')" 0
is "but all of them" "$(line -o json | jq '.items | length')" "$(queue -A -o json | jq '.items | length')"
like "and may not ask why" "$("$STOKER" why --socket "$SOCKET" --as ada -n lab big 2>&1)" 'cannot list resource "pods" in API group "" in the namespace "lab"'
is "a bad limit is refused" "$(api_code GET '/apis/stoker.dev/v1/line?limit=x')" 400
is "as is another method" "$(api_code POST '/apis/stoker.dev/v1/line')" 405

kubectl delete job a1 -n lab --wait=false >/dev/null
ok "when the room comes, it starts" eventually 20 runs big
like "and says so" "$(why big)" '^job/big runs since'
kubectl patch job next -n lab --type merge -p '{"spec":{"suspend":true}}' >/dev/null
ok "what was suspended waits no longer" eventually 20 says '^job/next is suspended' next

# A pod that keeps away from those of a team's namespaces.
kubectl label namespace lab team=vision >/dev/null
kubectl create -n other -f - >/dev/null <<'END'
apiVersion: v1
kind: Pod
metadata: {name: away}
spec:
  containers: [{name: main, image: host, command: [sleep, '1000']}]
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {}, namespaceSelector: {matchLabels: {team: vision}}}
END
apart() { "$STOKER" why --socket "$SOCKET" -n other pod/away | grep -q "anti-affinity"; }
ok "namespaces are meant by their labels" eventually 20 apart
kubectl label namespace lab team- >/dev/null
away() { [ "$(kubectl get pod away -n other -o 'jsonpath={.status.phase}')" = Running ]; }
ok "as they are now" eventually 20 away
done_testing

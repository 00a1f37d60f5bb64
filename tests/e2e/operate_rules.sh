#!/bin/bash
# On a cluster that somebody else schedules, jobs heed what they say themselves: holds, a time, others that must end first.
#
# The cluster is a server without a node, its scheduler tests/lib/binder.py, as in operate_admission.sh.
. "$(dirname "$0")/lib.sh"
server_start main --controllers garbagecollector,serviceaccount
S() { "$STOKER" "$@" --socket "$SOCKET"; }
patch() { api PATCH "$1" -H 'Content-Type: application/merge-patch+json' -d "$2"; }
for n in n1 n2; do
	api POST /api/v1/nodes -H 'Content-Type: application/json' -d '{"metadata":{"name":"'$n'"}}'
	patch "/api/v1/nodes/$n/status" '{"status":{"allocatable":{"cpu":"64","memory":"64Gi","pods":"110","nvidia.com/gpu":"2"},"conditions":[{"type":"Ready","status":"True"}]}}'
	patch "/api/v1/nodes/$n" '{"spec":{"taints":null}}'
done >"$T/nodes.out"
python3 -B "$ROOT/tests/lib/binder.py" "$SOCKET" 2>"$T/binder.err" &
PIDS+=($!)
operator() { # ARGS...
	"$STOKER" operate --controllers job,tfjob --leader-elect=false "$@" >"$T/op.out" 2>"$T/op.err" &
	OP=$!
	PIDS+=("$OP")
}
end() { # SIGNAL
	kill "-$1" "$OP" 2>/dev/null
	wait "$OP" 2>/dev/null
}
job() { # NAME ANNOTATION
	kubectl create -f - >/dev/null <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: $1, annotations: {$2}}
		spec: {template: {spec: {schedulerName: other, restartPolicy: Never, containers: [{name: c, image: host, command: [sleep, '1000']}]}}}
	END
}
gang() { # NAME PODS ANNOTATION
	kubectl create -f - >/dev/null <<-END
		apiVersion: kubeflow.org/v1
		kind: TFJob
		metadata: {name: $1, annotations: {$3}}
		spec:
		  tfReplicaSpecs:
		    Worker:
		      replicas: $2
		      template: {spec: {schedulerName: other, containers: [{name: tensorflow, image: host, command: [sleep, '1000'], resources: {limits: {nvidia.com/gpu: 1}}}]}}
	END
}
pods() { kubectl get pods -o json | jq "[.items[] | select(.metadata.name | startswith(\"$1-\")) $2] | length"; }
runs() { [ "$(pods "$1" '| select(.status.phase == "Running")')" -eq "$2" ]; }
gated() { [ "$(pods "$1" '| select(.spec.schedulingGates | length > 0)')" -eq "$2" ]; }
# Each of them is told why once its controller has looked at it: then its pods would be there if it were not held.
told() { kubectl get events | grep -Eq -- "$1"; }
queued() { kubectl get tfjob "$1" -o json | jq -r '.status.conditions[]? | select(.type == "Queued") | "\(.status) \(.message)"' | grep -Eq -- "$2"; }

operator
job first ''
job held 'stoker.dev/hold: user'
job next "stoker.dev/after: 'ok:job/first'"
job dated "stoker.dev/not-before: '2100-01-01T00:00:00Z'"
gang g 2 'stoker.dev/hold: user'
ok "a Job that says nothing runs" eventually 30 runs first 1
ok "one that is held says so" eventually 30 told 'job/held +Waiting: held by its user'
ok "one that waits for another says so" eventually 30 told 'job/next +Waiting: waits until job/first has succeeded'
ok "one that waits for a time says so" eventually 30 told 'job/dated +Waiting: not to start before 2100-01-01'
ok "so does a training job, in its condition" eventually 30 queued g '^True TFJob default/g waits: held by its user'
is "they have no pods" "$(pods held '') $(pods next '') $(pods dated '') $(pods g '')" "0 0 0 0"
end KILL
operator
ok "the next operator runs what is new" eval 'job other ""; eventually 30 runs other 1'
is "and holds what is held" "$(pods held '') $(pods next '') $(pods dated '') $(pods g '')" "0 0 0 0"

S release job/held >/dev/null
ok "a Job that is released runs" eventually 30 runs held 1
kubectl annotate job dated --overwrite stoker.dev/not-before=2020-01-01T00:00:00Z >/dev/null
ok "so does one whose time has come" eventually 30 runs dated 1
patch "/api/v1/namespaces/default/pods/$(kubectl get pods -l job-name=first -o name | cut -d/ -f2)/status" '{"status":{"phase":"Succeeded"}}' >/dev/null
ok "and one when the other has ended well" eventually 30 runs next 1
S release tfjob/g >/dev/null
ok "and a training job" eventually 30 runs g 2
ok "which says so" eventually 30 queued g '^False TFJob default/g is admitted'

# Those that stand at the gate already.
gang h 3 ''
ok "one waits for room, behind its gates" eventually 30 gated h 3
S hold tfjob/h >/dev/null
ok "it is held" eventually 30 queued h 'waits: held by its user'
kubectl delete tfjob g --wait=false >/dev/null
gang i 1 ''
ok "when there is room, another goes" eventually 30 runs i 1
ok "and it stays" gated h 3
S release tfjob/h >/dev/null
ok "until it is released" eventually 30 runs h 3

gang k 1 'stoker.dev/hold: user'
ok "one more is held" eventually 30 queued k 'waits: held by its user'
kubectl delete tfjob h i --wait=false >/dev/null
end TERM
operator --admission=off
ok "who switches admission off holds nothing" eventually 30 runs k 1
end TERM
done_testing

#!/bin/bash
# Gangs on a cluster that somebody else schedules: held back until there is room for all, in both ways, whoever is killed.
#
# The cluster is a server without a node.  Its nodes are objects, and its scheduler is tests/lib/binder.py, which
# gives a pod that nobody holds the first node with a free GPU, knows nothing of gangs, and says that it runs.
. "$(dirname "$0")/lib.sh"
server_start main --controllers garbagecollector,serviceaccount
LIST=tfjob

patch() { # PATH BODY
	api PATCH "$1" -H 'Content-Type: application/merge-patch+json' -d "$2"
}
node() { # NAME GPUS
	api POST /api/v1/nodes -H 'Content-Type: application/json' -d '{"metadata":{"name":"'"$1"'"}}'
	patch "/api/v1/nodes/$1/status" '{"status":{"allocatable":{"cpu":"64","memory":"64Gi","pods":"110","nvidia.com/gpu":"'"$2"'"},"conditions":[{"type":"Ready","status":"True"}]}}'
	patch "/api/v1/nodes/$1" '{"spec":{"taints":null}}'
}
{
	node n1 2
	node n2 2
	node broken 8
	patch /api/v1/nodes/broken/status '{"status":{"conditions":[{"type":"Ready","status":"False"}]}}'
	node closed 8
	patch /api/v1/nodes/closed '{"spec":{"unschedulable":true}}'
} >"$T/nodes.out"

python3 -B "$ROOT/tests/lib/binder.py" "$SOCKET" 2>"$T/binder.err" &
PIDS+=($!)

# Every event of every pod, to be judged at the end.
curl -sSN --unix-socket "$SOCKET" "http://x/api/v1/pods?watch=true" >"$T/events" 2>/dev/null &
PIDS+=($!)

operator() { # ARGS...
	cat "$T/op.err" >>"$T/op-all.err" 2>/dev/null
	"$STOKER" operate --controllers $LIST --leader-elect=false "$@" >"$T/op.out" 2>"$T/op.err" &
	OP=$!
	PIDS+=("$OP")
}
end() { # SIGNAL
	kill "-$1" "$OP" 2>/dev/null
	wait "$OP" 2>/dev/null
}
gang() { # NAME PODS: each with a GPU
	kubectl create -f - >/dev/null <<-END
		apiVersion: kubeflow.org/v1
		kind: TFJob
		metadata: {name: $1}
		spec:
		  tfReplicaSpecs:
		    Worker:
		      replicas: $2
		      restartPolicy: OnFailure
		      template: {spec: {schedulerName: other, containers: [{name: tensorflow, image: host, command: [sleep, '1000'], resources: {limits: {nvidia.com/gpu: 1}}}]}}
	END
}
pods() { kubectl get pods -o json | jq "[.items[] | select(.metadata.name | startswith(\"$1-\")) $2] | length"; }
gated() { pods "$1" '| select(.spec.schedulingGates | length > 0)'; }
running() { pods "$1" '| select(.status.phase == "Running")'; }
runs() { [ "$(running "$1")" -eq "$2" ]; }
made() { [ "$(pods "$1" '')" -eq "$2" ]; }
condition() { kubectl get tfjob "$1" -o json | jq -r '.status.conditions[]? | select(.type == "'"$2"'") | "\(.status) \(.reason) \(.message)"'; }
waits() { [[ $(condition "$1" Queued) == "True "* ]]; }
admitted() { [[ $(condition "$1" Queued) == "False "* ]]; }
drop() {
	kubectl delete tfjob "$@" --wait=false >/dev/null
	local n
	for n in "$@"; do eventually 30 made "$n" 0 || fail "the pods of $n go"; done
}

# --- with gates ---
operator
gang a 3
ok "a gang that has room runs" eventually 30 runs a 3
gang b 3
ok "the next one has not, and says so" eventually 30 waits b
is "the sentence is true" "$(condition b Queued)" "True TFJobQueued TFJob default/b waits: in queue batch; needs room for 3 pods at once with 1 GPU each, there is room for 1; when it can start is not known: tfjobs/a, which stands in the way, has no walltime."
is "its pods are there, with the gate" "$(gated b) of $(pods b '')" '3 of 3'
is "as Kubernetes shows it" "$(kubectl get pods b-worker-0 -o json | jq -c '[.spec.schedulingGates, (.status.conditions[] | select(.type == "PodScheduled") | .reason)]')" '[[{"name":"stoker.dev/queue"}],"SchedulingGated"]'
like "an event tells it too" "$(kubectl get events)" 'TFJobQueued +tfjob/b .*needs room for 3 pods'
gang c 1
ok "a small one goes where the large one has no room" eventually 30 runs c 1
like "gates are what is used" "$(cat "$T/op.err")" 'admission by=gates queues=cluster'
end KILL
drop a
is "nobody opens a gate while the operator is dead" "$(gated b)" 3
operator
ok "the next operator lets it in" eventually 30 runs b 3
ok "and says so" eventually 30 admitted b
kubectl delete pod b-worker-1 --grace-period=0 --force >/dev/null 2>&1
ok "a pod of it that goes is replaced and not held" eventually 30 runs b 3

# killed in the middle of letting in
drop b c
gang d 4
for ((i = 0; i < 40 && $(gated d) != 4; i++)); do
	sleep 0.02
	[ "$(running d)" -gt 0 ] && break
done
end KILL
operator
ok "a gang that was half let in goes in as a whole" eventually 60 runs d 4

# --- without gates: pods are made when there is room ---
end TERM
python3 -B "$ROOT/tests/lib/older_api.py" "$T/older.sock" "$SOCKET" 2>"$T/older.err" &
PIDS+=($!)
ok "there is a server that does not know gates" eventually 30 test -S "$T/older.sock"
operator --socket "$T/older.sock"
drop d
gang e 3
ok "with delayed creation a gang that has room runs" eventually 30 runs e 3
gang f 3
like "which is noticed" "$(cat "$T/op.err")" 'admission by=delay'
ok "the next one waits" eventually 30 waits f
like "for the same reason" "$(condition f Queued)" '^True TFJobQueued TFJob default/f waits: in queue batch; needs room for 3 pods at once with 1 GPU each, there is room for 1;'
is "its pods are not there" "$(pods f '')" 0
is "its services are" "$(kubectl get services -o name | grep -c f-worker)" 3
end KILL
operator --admission=delay
ok "the next operator knows who waits" eventually 30 waits f
is "and makes no pod of it" "$(pods f '')" 0
drop e
ok "when there is room it runs" eventually 30 runs f 3
ok "and says so" eventually 30 admitted f
is "no pod of these has a gate" "$(jq -r 'select(.object.metadata.name | test("^[ef]-")) | .object.spec.schedulingGates // empty' "$T/events" | wc -l)" 0

# --- switched off, or not allowed ---
end TERM
operator
gang g 3
ok "one waits at its gate" eventually 30 waits g
end TERM
operator --admission=off
open() { [ "$(gated g)" -eq 0 ]; }
ok "who switches it off opens what is closed" eventually 30 open
end TERM
kubectl delete clusterrolebinding stoker:basic-user >/dev/null # by which everyone sees nodes
kubectl apply -f "$ROOT/examples/operate.yaml" >/dev/null
operator --as system:serviceaccount:kube-system:stoker-operate
gang i 4
ok "the rights of the example are enough" eventually 30 waits i
unlike "for all of it" "$(cat "$T/op.err")" 'forbidden'
end TERM
kubectl create clusterrole half --verb='*' --resource=tfjobs.kubeflow.org,tfjobs.kubeflow.org/status,tfjobs.kubeflow.org/finalizers,pods,services,events,resourcequotas >/dev/null
kubectl create clusterrolebinding half --clusterrole=half --user=half >/dev/null
operator --as half
gang h 1
ok "without the right to see nodes pods are made and not held" eventually 30 made h 1
is "that is so" "$(gated h)" 0
is "and said once" "$(grep -c 'admission is off, gangs are not held back: .*nodes' "$T/op.err")" 1
end TERM

# --- at every moment ---
# Let in: it has a node, or nothing holds it.  While admission was on, never more than there is, and never two gangs by halves.
is "never was more let in than there is room for, and never two gangs by halves" "$(jq -rc '[.type, .object.metadata.name, (.object.spec.schedulingGates | length), .object.status.phase] | @tsv' "$T/events" | awk -F'\t' '
	{ gang = substr($2, 1, 1) }
	gang ~ /[ghi]/ { next }
	{ was = (in_[$2] == 1); now = ($1 != "DELETED" && $3 == 0 && $4 != "Succeeded" && $4 != "Failed")
	  in_[$2] = now; total += now - was; n[gang] += now - was
	  if (total > 4) print "too much at line " NR ": " total
	  half = 0
	  for (k in n) half += (n[k] > 0 && n[k] < size[k] && !began[k])
	  if (half > 1) print "two by halves at line " NR
	  if (n[gang] == size[gang]) began[gang] = 1 }
	BEGIN { split("a 3 b 3 c 1 d 4 e 3 f 3", s, " "); for (i = 1; i < 12; i += 2) size[s[i]] = s[i + 1] }' | head)" ""
unlike "nobody is turned away" "$(cat "$T"/op-all.err)" 'forbidden|not found'
like "a wrong word is answered" "$("$STOKER" operate --controllers tfjob --admission=maybe 2>&1)" 'admission.*maybe.*off\|auto\|gates\|delay|off, auto, gates'
done_testing

#!/bin/bash
# Controllers outside the server: Jobs end as they would inside it, whoever is killed meanwhile.
. "$(dirname "$0")/lib.sh"
node_start main --no-controllers
PORT=${URL##*:}
S=$T/share
mkdir -m 777 "$S"
RANDOM=${SEED:=$$}
echo "# SEED=$SEED"
LIST=job,cronjob,garbagecollector

# operator NAME: starts one; its pid is in OP[NAME].
declare -A OP
operator() {
	cat "$T/op-$1.err" >>"$T/op-all.err" 2>/dev/null
	"$STOKER" operate --controllers $LIST --lease-duration 5s >"$T/op-$1.out" 2>"$T/op-$1.err" &
	OP[$1]=$!
	PIDS+=("${OP[$1]}")
}
end() { # NAME SIGNAL
	kill "-$2" "${OP[$1]}" 2>/dev/null
	wait "${OP[$1]}" 2>/dev/null
}
holder() { kubectl get lease -n kube-system stoker -o 'jsonpath={.spec.holderIdentity}' 2>/dev/null; }
has_holder() { [ -n "$(holder)" ]; }
no_holder() { [ -z "$(holder)" ]; }
# leader: the name of the operator that leads, by its own words.
leader() {
	local n h
	h=$(holder)
	[ -n "$h" ] || return
	for n in a b; do grep -qs "lead lease=.*identity=$h" "$T/op-$n.err" && echo $n; done
}
lines() { sort "$S/$1" 2>/dev/null | uniq | wc -l; }
status() { kubectl get job "$1" -o "jsonpath={.status.$2}"; }
gone() { ! kubectl get "$@" >/dev/null 2>&1; }
pods() { kubectl get pods -l "job-name=$1" -o name | grep -c '^pod/'; }

# --- one operator ---
kubectl create job quiet --image=host -- true >/dev/null
sleep 0.5
is "without controllers nothing happens" "$(pods quiet) $(status quiet active)" '0 '
operator a
like "an operator runs what was waiting" "$(kubectl wait --for=condition=complete --timeout=300s job/quiet)" 'condition met'
ok "a lease says who acts" has_holder
like "in Kubernetes' form" "$(kubectl get lease -n kube-system stoker -o json | jq -c '.spec | keys')" '^\["acquireTime","holderIdentity","leaseDurationSeconds","leaseTransitions","renewTime"\]$'
like "and an event" "$(kubectl get events -n kube-system)" 'LeaderElection +lease/stoker .*_.* became leader'
end a TERM
is "one that is asked to end says so" "$?$(tail -n1 "$T/op-a.err" | grep -c 'release lease=')" 01
ok "and gives the lease back" no_holder

# --- several, and accidents ---
kubectl apply -f - >/dev/null <<-END
	apiVersion: batch/v1
	kind: Job
	metadata: {name: par}
	spec:
	  parallelism: 4
	  completions: 12
	  template: &t
	    spec: &s
	      restartPolicy: Never
	      terminationGracePeriodSeconds: 0
	      volumes: [{name: share, hostPath: {path: $S}}]
	      containers: [{name: c, image: host, volumeMounts: [{name: share, mountPath: /share}], command: [sh, -c, 'echo \$HOSTNAME >>/share/par; sleep 0.3']}]
	---
	apiVersion: batch/v1
	kind: Job
	metadata: {name: idx}
	spec:
	  completionMode: Indexed
	  parallelism: 3
	  completions: 9
	  template:
	    spec:
	      restartPolicy: Never
	      volumes: [{name: share, hostPath: {path: $S}}]
	      containers: [{name: c, image: host, volumeMounts: [{name: share, mountPath: /share}], command: [sh, -c, 'echo \$JOB_COMPLETION_INDEX >>/share/idx; sleep 0.3']}]
	---
	apiVersion: batch/v1
	kind: Job
	metadata: {name: bad}
	spec:
	  backoffLimit: 1
	  template:
	    spec:
	      restartPolicy: Never
	      volumes: [{name: share, hostPath: {path: $S}}]
	      containers: [{name: c, image: host, volumeMounts: [{name: share, mountPath: /share}], command: [sh, -c, 'echo \$HOSTNAME >>/share/bad; exit 3']}]
	---
	apiVersion: batch/v1
	kind: Job
	metadata: {name: brief}
	spec:
	  ttlSecondsAfterFinished: 1
	  template:
	    spec:
	      restartPolicy: Never
	      volumes: [{name: share, hostPath: {path: $S}}]
	      containers: [{name: c, image: host, volumeMounts: [{name: share, mountPath: /share}], command: [sh, -c, 'echo \$HOSTNAME >>/share/brief']}]
END
operator a
operator b
ok "one of two leads" eventually 30 has_holder
for ((round = 0; round < 8; round++)); do
	sleep $((RANDOM % 3)).$((RANDOM % 10))
	case $((RANDOM % 5)) in
	0 | 1)
		n=$(leader)
		echo "# kill the leader ${n:-(none)}"
		[ -n "$n" ] && end "$n" KILL
		[ -n "$n" ] && operator "$n"
		;;
	2)
		n=$(leader)
		echo "# end the leader ${n:-(none)}"
		[ -n "$n" ] && end "$n" TERM
		[ -n "$n" ] && operator "$n"
		;;
	3)
		echo "# kill both"
		end a KILL
		end b KILL
		operator a
		operator b
		;;
	4)
		echo "# kill the server"
		kill -KILL "$SERVER_PID"
		wait "$SERVER_PID" 2>/dev/null
		sleep 0.$((RANDOM % 10))
		server_run main --no-controllers --listen "127.0.0.1:$PORT"
		;;
	esac
done
like "a parallel job ends" "$(kubectl wait --for=condition=complete --timeout=300s job/par)" 'condition met'
like "an indexed job ends" "$(kubectl wait --for=condition=complete --timeout=300s job/idx)" 'condition met'
like "a failing job fails" "$(kubectl wait --for=condition=failed --timeout=300s job/bad)" 'condition met'
ok "a job with a time to live goes" eventually 60 gone job brief
is "each pod of the parallel job ran once" "$(wc -l <"$S/par") $(lines par) $(pods par)" '12 12 12'
is "and was counted once" "$(status par succeeded)/$(status par failed)/$(status par active)" '12//'
is "each index ran once" "$(wc -l <"$S/idx") $(sort -n "$S/idx" | tr '\n' ' ')$(pods idx)" '9 0 1 2 3 4 5 6 7 8 9'
is "and was counted once" "$(status idx succeeded) $(status idx completedIndexes) $(status idx failed)" '9 0-8 '
is "failures are counted once" "$(wc -l <"$S/bad") $(lines bad) $(status bad failed) $(status bad succeeded)" '2 2 2 '
is "what went ran once" "$(wc -l <"$S/brief")" 1
no_brief() { [ "$(pods brief)" -eq 0 ]; }
ok "and took its pod along" eventually 30 no_brief
is "nothing holds a pod back" "$(kubectl get pods -o json | jq -c '[.items[].metadata.finalizers // [] | length] | add')" 0
unlike "nobody is turned away" "$(cat "$T"/op-*.err)" 'forbidden|Forbidden|not found'

# --- one that sleeps too long has lost ---
leads() { [ -n "$(leader)" ]; }
ok "someone leads" eventually 30 leads
n=$(leader)
old=$(holder)
kill -STOP "${OP[$n]}"
changed() { [ -n "$(holder)" ] && [ "$(holder)" != "$old" ]; }
ok "a leader that is silent is replaced" eventually 60 changed
kill -CONT "${OP[$n]}"
stopped() { grep -q 'stop leading' "$T/op-$n.err"; }
ok "and notices" eventually 30 stopped
ok "but does not end" kill -0 "${OP[$n]}"

# --- a server that is away for longer than a lease lasts ---
ok "someone leads again" eventually 30 leads
n=$(leader)
kubectl create job away --image=host -- true >/dev/null
kubectl wait --for=condition=complete --timeout=180s job/away >/dev/null
before=$(grep -c 'stop leading' "$T/op-$n.err")
troubles=$(grep -c 'lease .*trying again' "$T/op-$n.err")
kill -KILL "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
stopped() { [ "$(grep -c 'stop leading' "$T/op-$n.err")" -gt "$before" ]; }
ok "a leader that cannot say so stops" eventually 30 stopped
is "and it was said once that the server is away" "$(($(grep -c 'lease .*trying again' "$T/op-$n.err") - troubles))" 1
server_run main --no-controllers --listen "127.0.0.1:$PORT"
kubectl create job back --image=host -- true >/dev/null
like "and when the server is back, so is someone" "$(kubectl wait --for=condition=complete --timeout=180s job/back)" 'condition met'
is "what was done is not done again" "$(pods away) $(status away succeeded)" '1 1'

# --- what it says ---
LIST=job
end a TERM
end b TERM
kubectl apply -f "$ROOT/examples/operate.yaml" >/dev/null
"$STOKER" operate --controllers job,cronjob --as system:serviceaccount:kube-system:stoker-operate --lease-duration 3s --listen 127.0.0.1:0 >"$T/op-c.out" 2>"$T/op-c.err" &
OP[c]=$!
PIDS+=("${OP[c]}")
leads_c() { grep -q 'run controllers=job,cronjob' "$T/op-c.err"; }
ok "the next one takes over" eventually 30 leads_c
W=$(grep -o 'http://127[0-9.:]*' "$T/op-c.err" | head -n1)
kubectl create -f - >/dev/null <<-END
	apiVersion: batch/v1
	kind: CronJob
	metadata: {name: often}
	spec: {schedule: '* * * * *', suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: host, command: ['true']}]}}}}}
END
kubectl create job more --image=host -- true >/dev/null
like "the rights of the example are enough" "$(kubectl wait --for=condition=complete --timeout=180s job/more) $(cat "$T/op-c.err")" 'condition met'
unlike "for all of it" "$(cat "$T/op-c.err")" 'forbidden'
m=$(curl -sS "$W/metrics")
like "its queue is counted" "$m" '^workqueue_adds_total\{name="job"\} [1-9]'
like "and that it leads" "$m" '^leader_election_master_status\{name="stoker"\} 1$'
is "it is well" "$(curl -sS "$W/healthz") $(curl -sS "$W/readyz")" 'ok ok'
is "there is nothing else" "$(curl -sS -o /dev/null -w '%{http_code}' "$W/x")" 404
end c TERM
m=$(kubectl get --raw /metrics)
like "the server counts requests" "$m" '^apiserver_request_total\{verb="POST",group="batch",version="v1",resource="jobs",subresource="",code="201"\} [1-9]'
like "and objects" "$m" '^apiserver_storage_objects\{resource="jobs.batch"\} 7$'
unlike "and has no queues of its own" "$m" '^workqueue_adds_total'
is "metrics are not for everyone" "$(kubectl get --raw /metrics --as nobody 2>&1 | grep -c 'forbidden: User "nobody" cannot get path "/metrics"')" 1

# --- mistakes ---
like "which ones must be said" "$("$STOKER" operate 2>&1)" '^stoker operate: --controllers: required.* --controllers job\. There are .*job'
like "a wrong name" "$("$STOKER" operate --controllers jobs 2>&1)" '"jobs": there is no such controller; there are '
like "for a server too" "$("$STOKER" serve --data "$T/x" --socket "$T/x.sock" --listen 127.0.0.1:0 --controllers jobs 2>&1)" '"jobs": there is no such controller'
sed 's,server: .*,server: https://127.0.0.1:1,' "$KUBECONFIG" >"$T/away"
"$STOKER" operate --kubeconfig "$T/away" --controllers job 2>"$T/away.err" &
away=$!
PIDS+=("$away")
eventually 60 grep -q 'trying again' "$T/away.err"
sleep 1
kill -TERM $away
wait $away
is "a server that is away is waited for, and that is said once" "$?$(grep -c 'trying again' "$T/away.err")" 01
done_testing

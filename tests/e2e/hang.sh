#!/bin/bash
# Training jobs that hang, and ones that only seem to; what is stopped when a job is decided.
. "$(dirname "$0")/lib.sh"
node_start main --gpus 1

# job KIND NAME ANNOTATIONS COMMANDS: a TFJob of one PS that sleeps and a Worker for each command.
job() {
	local name=$1 notes=$2 policy=$3 worker=$4
	cat <<-YAML
		---
		apiVersion: kubeflow.org/v1
		kind: TFJob
		metadata: {name: $name, annotations: {$notes}}
		spec:
		  runPolicy: {$policy}
		  tfReplicaSpecs:
		    PS: {template: {spec: {containers: [{name: tensorflow, image: host, command: [sleep, "1000"]}]}}}
		    Worker: {template: {spec: {containers: [{name: tensorflow, image: host, command: [sh, -c, '$worker']}]}}}
	YAML
}
last() { kubectl get tfjob "$1" -o "jsonpath={.status.conditions[-1:].$2}"; }
is_state() { [ "$(last "$1" type)" = "$2" ]; }
condition() { kubectl get pod "$1" -o 'jsonpath={.status.conditions[?(@.type=="stoker.dev/Active")].status}'; }
is_condition() { [ "$(condition "$1")" = "$2" ]; }

{
	job stuck 'stoker.dev/hang-after: 3s' '' 'echo step 4; sleep 1000'
	job again 'stoker.dev/hang-after: 3s, stoker.dev/restart: gang' 'backoffLimit: 1' 'echo waiting; sleep 1000'
	job computes 'stoker.dev/hang-after: 3s' '' 'while :; do :; done'
	job prints 'stoker.dev/hang-after: 3s' '' 'while :; do echo; sleep 1; done'
	job silent '' '' 'sleep 1000'
} | kubectl apply -f - >/dev/null
ok "a job of which nobody does anything fails" eventually 60 is_state stuck Failed
is "for that reason" "$(last stuck reason)" TFJobHung
like "which says who was silent, how long, and what it said last" "$(last stuck message)" '^TFJob default/stuck has failed because it hangs. (ps-0 was silent longest: no output and no CPU use for 3s; it has printed nothing|worker-0 was silent longest: no output and no CPU use for 3s; its last line: step 4)$'
like "an event says it too" "$(kubectl get events --field-selector involvedObject.name=stuck,reason=TFJobHung --no-headers)" 'Warning +TFJobHung'
ok "a gang is restarted, and fails when it hangs again" eventually 60 is_state again Failed
like "at its backoff limit" "$(last again reason) $(kubectl get tfjob again -o 'jsonpath={.status.gangRestarts}') $(last again message)" '^TFJobHung 1 Job again has failed because it hangs and has reached the specified backoff limit\. '
is "the restart had the same reason" "$(kubectl get events --field-selector involvedObject.name=again,reason=TFJobHung -o json | jq '[.items[].message | select(startswith("TFJob default/again is restarting because it hangs."))] | length')" 1
ok "meanwhile a PS of the others has fallen silent" eventually 30 is_condition computes-ps-0 False
ok "and of another" eventually 30 is_condition prints-ps-0 False
is "but one who computes is not silent" "$(last computes type) $(condition computes-worker-0)" 'Running '
is "nor is one who prints" "$(last prints type) $(condition prints-worker-0)" 'Running '
is "and where nobody asked nobody is told" "$(last silent type) $(condition silent-worker-0)" 'Running '

kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
server_run main --gpus 1
is "what was told survives a crash" "$(condition computes-ps-0)" False
kubectl exec prints-ps-0 -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
ok "one who does something again is silent no more" eventually 30 is_condition prints-ps-0 True

kubectl delete tfjobs --all >/dev/null

# --- decided: nobody waits for those who do not hear that they should stop ---
S=$T/share
mkdir -m 777 "$S"
cat >"$S/save.py" <<-END
	import signal, sys, time
	def save(*_):
	    time.sleep(1)
	    open("/share/saved-" + sys.argv[1], "w").write("checkpoint")
	    sys.exit(0)
	signal.signal(signal.SIGTERM, save)
	open("/share/ready-" + sys.argv[1], "w")
	time.sleep(1000)
END
spec() { printf '{terminationGracePeriodSeconds: 120, volumes: [{name: share, hostPath: {path: %s}}], containers: [{name: tensorflow, image: host, volumeMounts: [{name: share, mountPath: /share}], resources: {limits: {nvidia.com/gpu: %s}}, command: [%s]}]}' "$S" "$1" "$2"; }
kubectl apply -f - >/dev/null <<-END
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: decided}
	spec:
	  tfReplicaSpecs:
	    Chief: {template: {spec: $(spec 0 "sh, -c, 'until [ -e /share/ready-pid1 ] && [ -e /share/ready-child ]; do sleep 0.1; done'")}}
	    PS: {template: {spec: $(spec 1 'sleep, "1000"')}}
	    Worker: {template: {spec: $(spec 0 '/usr/bin/python3, /share/save.py, pid1')}}
	    Evaluator: {template: {spec: $(spec 0 "sh, -c, '/usr/bin/python3 /share/save.py child; echo after >>/share/saved-child'")}}
	---
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: next}
	spec:
	  tfReplicaSpecs:
	    Worker: {template: {spec: $(spec 1 '/bin/true')}}
END
ok "the chief decides" eventually 60 is_state decided Succeeded
ok "the card is free for the next job" eventually 60 is_state next Succeeded
all_ended() { [ "$(kubectl get pods -l training.kubeflow.org/job-name=decided --field-selector status.phase=Running -o name)" = '' ]; }
ok "all others end" eventually 60 all_ended
late() { jq -n --arg a "$(kubectl get pod "$1" -o 'jsonpath={.status.containerStatuses[0].state.terminated.finishedAt}')" --arg b "$(kubectl get tfjob decided -o 'jsonpath={.status.completionTime}')" '($a | fromdate) - ($b | fromdate) < 60'; }
is "long before their grace period is over" "$(late decided-ps-0) $(late decided-worker-0) $(late decided-evaluator-0)" 'true true true'
is "who listens saves what it has, as the first process or as a shell's child" "$(cat "$S/saved-pid1") $(cat "$S/saved-child")" 'checkpoint checkpointafter'

for bad in 'stoker.dev/hang-after: soon' 'stoker.dev/restart: all'; do
	like "refused: $bad" "$(job bad "$bad" '' true | kubectl apply -f - 2>&1)" "metadata.annotations\[${bad%%:*}\]: .*\"${bad##* }\".*(such as 90s, 10m|supported values: \"gang\")"
done
done_testing

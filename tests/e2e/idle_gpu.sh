#!/bin/bash
# Work that holds GPUs without using them: warned, ended, and left alone where it should be.
. "$(dirname "$0")/lib.sh"
node_start main --gpus 8
USE=$T/main/data/gpu-use
stoker() { "$STOKER" "$1" --socket "$SOCKET" -n default "${@:2}"; }

queue() { printf -- '---\napiVersion: stoker.dev/v1\nkind: Queue\nmetadata: {name: %s}\nspec: {%s}\n' "$1" "$2"; }
refused() { kubectl apply --validate=false -f - 2>&1 <<<"$(queue bad "$1")"; }
like "a policy without a time is refused" "$(refused 'idleGpu: {}')" 'spec.idleGpu.warnAfter: Required value'
like "and one that ends before it warns" "$(refused 'idleGpu: {warnAfter: 2h, endAfter: 1h}')" 'spec.idleGpu.endAfter: Invalid value: "1h": must not be shorter than warnAfter'
{
	queue strict 'idleGpu: {warnAfter: 1s, endAfter: 3s, below: 10}'
	queue long 'idleGpu: {warnAfter: 1s, endAfter: 1h}'
	queue free ''
} | kubectl apply -f - >/dev/null
is "the threshold has a default" "$(kubectl get queue long -o 'jsonpath={.spec.idleGpu.below}')" 5

# By numbers of cards: pods get them in the order in which they are made.
container='{name: tensorflow, image: host, command: [sleep, "1000"], resources: {limits: {nvidia.com/gpu: 1}}}'
spec="{terminationGracePeriodSeconds: 1, containers: [$container]}"
object() { # KIND APIVERSION NAME QUEUE SPEC
	printf -- '---\napiVersion: %s\nkind: %s\nmetadata: {name: %s, labels: {stoker.dev/queue: %s}}\nspec: %s\n' "$2" "$1" "$3" "$4" "$5"
}
job() { object Job batch/v1 "$1" "$2" "{template: {spec: {restartPolicy: Never, ${spec#\{}}}"; }
pod() { get pod "$1" .status.phase; }
get() { kubectl get "$1" "$2" -o "jsonpath={$3}"; }
card_of() { kubectl get pods -l "$1" -o 'jsonpath={.items[0].metadata.annotations.stoker\.dev/gpus}'; }
is_running() { [ "$(kubectl get pods -l "$1" -o 'jsonpath={.items[*].status.phase}')" = "$2" ]; }
idle() { kubectl get pods -l "$1" -o 'jsonpath={.items[*].status.conditions[?(@.type=="stoker.dev/GPUActive")].status}'; }
is_idle() { [ "$(idle "$1")" = "$2" ]; }
failed() { [ "$(get "$1" "$2" '.status.conditions[?(@.type=="Failed")].status')" = True ]; }
why_failed() { get "$1" "$2" '.status.conditions[?(@.type=="Failed")].reason}: {.status.conditions[?(@.type=="Failed")].message'; }

# --- nobody knows how much the cards are used: nobody is idle ---
job lazy long | kubectl apply -f - >/dev/null
job busy strict | kubectl apply -f - >/dev/null
job elsewhere free | kubectl apply -f - >/dev/null
for j in lazy busy elsewhere; do ok "$j runs" eventually 30 is_running job-name=$j Running; done
sleep 4
is "what nobody knows is not idle" "$(idle job-name=busy)$(idle job-name=lazy)" ''
{
	echo "all 0"
	echo "$(card_of job-name=busy) 90"
} >"$USE.new" && mv "$USE.new" "$USE"
ok "one that does not use its card is warned" eventually 30 is_idle job-name=lazy False
like "in words" "$(kubectl get pods -l job-name=lazy -o 'jsonpath={.items[0].status.conditions[?(@.type=="stoker.dev/GPUActive")].message}')" '^its GPU was used less than 5% for [0-9]+s; queue long ends work that does so for 60m$'
warned() { [ "$(kubectl get events --field-selector "reason=GPUIdle,involvedObject.kind=$1" -o json | jq -r --arg n "$2" '[.items[] | select(.involvedObject.name | startswith($n))] | length')" -ge 1 ]; }
ok "an event tells the Job" eventually 10 warned Job lazy
ok "and its pod" eventually 10 warned Pod lazy
like "stoker why says so" "$(stoker why job/lazy)" 'its GPU was used less than 5% for '
like "and stoker describe" "$(stoker describe job/lazy)" 'GPUIdle.*its GPU was used less than 5% for '

# --- ended, each kind in its way ---
replica="{template: {spec: $spec}}"
{
	job idler strict
	object TFJob kubeflow.org/v1 gang strict "{tfReplicaSpecs: {Worker: {replicas: 2, restartPolicy: OnFailure, ${replica#\{}}}"
	object Pod v1 alone strict "$spec"
	object Deployment apps/v1 serve strict "{selector: {matchLabels: {app: serve}}, template: {metadata: {labels: {app: serve}}, spec: $spec}}"
} | kubectl apply -f - >/dev/null
ok "an idle Job fails" eventually 60 failed job idler
like "by the policy, in words" "$(why_failed job idler)" '^GPUIdle: ended by the policy of its queue: its GPU was used less than 10% for [0-9]+s; queue strict ends work that does so for 3s$'
ok "so does an idle gang" eventually 60 failed tfjob gang
like "for the same reason" "$(why_failed tfjob gang)" '^TFJobGPUIdle: TFJob default/gang has failed\. It was ended by the policy of its queue: its GPU was used less than 10% for '
ok "a pod alone fails" eventually 60 sh -c "[ \"\$(kubectl get pod alone -o 'jsonpath={.status.phase} {.status.reason}')\" = 'Failed GPUIdle' ]"
ok "a Deployment has no pods any more" eventually 60 sh -c "[ \"\$(kubectl get deployment serve -o 'jsonpath={.spec.replicas}')\" = 0 ]"
like "and says why" "$(get deployment serve '.metadata.annotations.stoker\.dev/idle-gpu-ended')" 'queue strict ends work'
no_pods() { [ -z "$(kubectl get pods -l "$1" --field-selector status.phase=Running -o name)" ]; }
for l in job-name=idler training.kubeflow.org/job-name=gang app=serve; do ok "nothing of $l runs" eventually 30 no_pods $l; done
is "nothing was started again" "$(kubectl get pods -l job-name=idler -o name | wc -l) $(get tfjob gang .status.gangRestarts)" "$(kubectl get pods -l job-name=idler -o name | wc -l) "
is "and nothing of it was said to be in use again" "$(kubectl get events --field-selector reason=GPUActive -o name | wc -l)" 0
is "who uses his card is left alone" "$(kubectl get pods -l job-name=busy -o 'jsonpath={.items[*].status.phase}') $(idle job-name=busy)" 'Running '
is "and where there is no policy nobody is told" "$(kubectl get pods -l job-name=elsewhere -o 'jsonpath={.items[*].status.phase}') $(idle job-name=elsewhere)" 'Running '

# --- a restart neither ends nor forgets ---
since() { kubectl get pods -l job-name=lazy -o 'jsonpath={.items[0].status.conditions[?(@.type=="stoker.dev/GPUActive")].lastTransitionTime}'; }
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
server_run main --gpus 8
is "after a crash it is warned still" "$(idle job-name=lazy)" False
ok "and runs" is_running job-name=lazy Running
{
	echo "all 0"
	echo "$(card_of job-name=busy) 90"
	echo "$(card_of job-name=lazy) 50"
} >"$USE.new" && mv "$USE.new" "$USE"
ok "the warning goes when it uses its card" eventually 30 is_idle job-name=lazy True
unlike "stoker why says no more of it" "$(stoker why job/lazy)" 'used less'
server_stop
done_testing

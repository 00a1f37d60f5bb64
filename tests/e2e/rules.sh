#!/bin/bash
# What keeps work from starting, besides room: holds, other workloads, slots, reservations; and draining a node.
. "$(dirname "$0")/lib.sh"
node_start main --runtime fake
NODE=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
export STOKER_SOCKET=$SOCKET
st() { "$STOKER" "$@" 2>&1; }

job() { # NAME ANNOTATIONS [FAKE-EXIT] [SPEC]
	local fake=
	[ -n "${3:-}" ] && fake="stoker.dev/fake-exit-code: '$3'"
	cat <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: $1, annotations: {$2}}
		spec:
		  ${4:-backoffLimit: 0}
		  template:
		    metadata: {annotations: {$fake}}
		    spec: {restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{name: c, image: host, command: [x]}]}
	END
}
make() { job "$@" | kubectl create -f - >/dev/null; }
why() { kubectl get pods -l job-name="$1" -o 'jsonpath={.items[*].status.conditions[?(@.type=="PodScheduled")].message}'; }
waits() { grep -qF -- "$2" <<<"$(why "$1")"; }
phases() { kubectl get pods -l job-name="$1" -o 'jsonpath={.items[*].status.phase}'; }
runs() { [ "$(phases "$1" | tr ' ' '\n' | grep -c Running)" = "${2:-1}" ]; }
complete() { kubectl wait --for=condition=complete --timeout=120s "job/$1"; }
note() { kubectl get job "$1" -o "jsonpath={.metadata.annotations.stoker\\.dev/$2}"; }

# Bad words are refused where they are written.
like "a kind that never ends" "$(job x 'stoker.dev/after: ok:deployment/web' | kubectl create -f - 2>&1)" \
	'metadata.annotations\[stoker.dev/after\]: Invalid value: "ok:deployment/web": "deployment" is no kind of workload that ends; there are job, tfjob'
like "a hold that nobody knows" "$(job x 'stoker.dev/hold: me' | kubectl create -f - 2>&1)" \
	'stoker.dev/hold\]: Invalid value: "me": must be user, operator or system'
like "in a template too" "$(job x '' | sed 's/template:/&/; s/annotations: {}}$/annotations: {stoker.dev\/not-before: noon}}/' | kubectl create -f - 2>&1)" \
	'template.metadata.annotations\[stoker.dev/not-before\]: Invalid value: "noon": must be a time'
like "no slots at all" "$(job x "stoker.dev/slots: '0'" | kubectl create -f - 2>&1)" 'must be a whole number from 1 to'

# Holds.
make held 'stoker.dev/hold: user' 0
ok "a job that is held says so" eventually 20 waits held 'held by its user'
is "an operator holds it too" "$(st hold --operator job/held)" 'job/held held'
ok "and that is said" eventually 20 waits held 'held by its user; held by an operator'
is "one hold is lifted" "$(st release held)" 'job/held released; still held by operator'
is "the other as well" "$(st release --operator held)" 'job/held released'
ok "and it runs" complete held
like "what has ended is not held" "$(st hold held)" 'job/held has ended'

# Dependencies.
make prepare 'stoker.dev/hold: user' 0
make train 'stoker.dev/after: ok:job/prepare' 0
make rescue 'stoker.dev/after: notok:job/prepare' 0
ok "a job waits for another" eventually 20 waits train 'waits until job/prepare has succeeded'
st release prepare >/dev/null
ok "and starts when that has succeeded" complete train
is "which is noted" "$(note train after-met)" ok:job/prepare
ok "who waits for its failure never starts, and is told" eventually 20 waits rescue \
	'can never start: it waits for job/prepare to fail, which has succeeded'
like "in an event too" "$(kubectl get events)" 'FailedScheduling .*can never start: it waits for job/prepare to fail'
make one 'stoker.dev/after: any:job/two'
make two 'stoker.dev/after: any:job/one'
ok "a circle is noticed" eventually 20 waits one 'can never start: job/one waits for job/two, which waits for job/one'
ok "by both" eventually 20 waits two 'can never start: job/two waits for job/one, which waits for job/two'
make alone 'stoker.dev/after: any:job/nothing'

# Arrays.
make array "stoker.dev/slots: '2'" '' 'parallelism: 5'
ok "of an array as many run as have slots" eventually 20 runs array 2
ok "the others are told" eventually 20 waits array 'its array runs as many jobs at a time as it may'
kubectl annotate --overwrite job array stoker.dev/slots=3 >/dev/null
ok "one more slot, one more pod" eventually 20 runs array 3

# A server that is killed has forgotten nothing.
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
server_run main --runtime fake
ok "after a crash the array is as it was" eventually 20 runs array 3
ok "and who waits still waits" eventually 20 waits rescue 'can never start'
kubectl delete job array one two rescue --cascade=foreground >/dev/null

# Reservations.
like "a reservation needs a length" "$(st reserve --gpus 1)" 'say how long it lasts'
like "there must be as many GPUs" "$(st reserve --gpus 400 --time 1h)" 'spec.gpus: Invalid value: 400: all nodes together have only'
like "and such a node" "$(st reserve --node zz --time 1h)" "spec.nodes: Invalid value: \"zz\": there is no such node, only $NODE"
is "nodes are reserved" "$(st reserve --name class --node "$NODE" --for anna --time 2h | sed 's/, from.*//')" 'reservation/class made'
like "and listed" "$(st reserve list)" "class .*$NODE +anna +Active"
like "by kubectl too" "$(kubectl get reservations --no-headers)" "^class .* $NODE +anna +Active"
phase_is() { [ "$(kubectl get reservation class -o "jsonpath={.status.phase}")" = "$1" ]; }
ok "the phase is written" eventually 20 phase_is Active
make other '' 0
ok "other work waits" eventually 20 waits other 'kept for reservation class until'
is "it is taken back" "$(st reserve delete class)" 'reservation/class deleted'
ok "and work goes on" complete other
ok "who waits for nothing is told after a while" eventually 20 waits alone 'waits for job/nothing, but there is no such workload in its namespace'

# Drain.
make long '' '' 'activeDeadlineSeconds: 7200'
ok "work runs" eventually 20 runs long
like "maintenance is announced" "$(st drain "$NODE" --at +1h)" "node/$NODE is reserved for maintenance from"
make late ''
ok "work without a walltime keeps away" eventually 20 waits late "kept for reservation drain-$NODE from"
like "what runs longer is listed" "$(st drain "$NODE" --at +30m)" 'default +long-[a-z0-9]+ +Job/long'
is "there is one reservation" "$(kubectl get reservations -o name)" "reservation.stoker.dev/drain-$NODE"
is "and back" "$(st drain "$NODE" --undo)" "node/$NODE takes pods again"
ok "it runs then" eventually 20 runs late
kubectl run lonely --image=host --restart=Never --overrides='{"spec":{"terminationGracePeriodSeconds":0}}' >/dev/null
ok "a pod of nobody's" kubectl wait --for=condition=Ready --timeout=120s pod/lonely
like "is not ended by mistake" "$(st drain "$NODE")" 'nobody would start these pods again: default/lonely. --force'
kubectl create pdb keep --selector=job-name=long --min-available=1 >/dev/null
allowed() { [ "$(kubectl get pdb keep -o 'jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}')" = "$1" ]; }
ok "a budget counts" eventually 20 allowed 1/0
OUT=$(st drain "$NODE" --force --timeout 3s)
is "a budget is respected" $? 124
like "which is said" "$OUT" 'pod default/long-[a-z0-9]+ may not go yet: .*disruption budget'
kubectl delete pdb keep >/dev/null
OUT=$(st drain "$NODE" --force --timeout 60s)
is "then it empties" $? 0
like "and says so" "$OUT" "node/$NODE is empty"
is "nothing is left there" "$(kubectl get pods --field-selector "spec.nodeName=$NODE,status.phase=Running" -o name)" ''
like "the node is cordoned" "$(kubectl get node "$NODE" --no-headers)" SchedulingDisabled
like "no such node" "$(st drain nowhere)" 'nodes "nowhere" not found'
done_testing

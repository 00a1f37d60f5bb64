#!/bin/bash
# stoker describe, events and top with real pods: some that fail, wait, run out of memory, and are deleted.
. "$(dirname "$0")/lib.sh"
chmod 755 "$T"
LAB=$T/lab
mkdir -m 777 "$LAB"
node_start main --gpus 2 --host-path "$LAB" || exit 1
export STOKER_SOCKET=$SOCKET
cd "$LAB" || exit 1
NODE=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
s() { "$STOKER" "$@"; }
OUT=$T/cmd.out ERR=$T/cmd.err
status() { "$@" >"$OUT" 2>"$ERR"; echo $?; }
terminal() { TERM=xterm /usr/bin/python3 -B "$ROOT/tests/lib/terminal.py" "$@"; }
# has PATTERN COMMAND...: is it in the output?
has() { grep -Eq -- "$1" <<<"$("$STOKER" "${@:2}" 2>&1)"; }

kubectl apply -f - >/dev/null <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: hungry}
	spec:
	  restartPolicy: Never
	  containers: [{name: main, image: host, command: [tail, /dev/zero], resources: {limits: {memory: 32Mi}}}]
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: unknown}
	spec: {containers: [{name: main, image: 'localhost:1/none:1'}]}
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: unset}
	spec: {containers: [{name: main, image: host, command: [sleep, '1000'], envFrom: [{configMapRef: {name: missing}}]}]}
	---
	apiVersion: apps/v1
	kind: Deployment
	metadata: {name: web}
	spec:
	  replicas: 2
	  selector: {matchLabels: {app: web}}
	  template:
	    metadata: {labels: {app: web}}
	    spec:
	      containers:
	      - {name: main, image: host, command: [sleep, '1000'], resources: {limits: {cpu: 100m, memory: 64Mi}}, volumeMounts: [{name: data, mountPath: /data}]}
	      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
	---
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: {name: data}
	spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
	---
	apiVersion: v1
	kind: Service
	metadata: {name: front}
	spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
	---
	apiVersion: v1
	kind: Service
	metadata: {name: nobody}
	spec: {selector: {app: nobody}, ports: [{port: 80}]}
	---
	apiVersion: batch/v1
	kind: CronJob
	metadata: {name: nightly}
	spec: {schedule: '30 2 * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: host}]}}}}}
	---
	apiVersion: v1
	kind: Namespace
	metadata: {name: small}
	---
	apiVersion: v1
	kind: ResourceQuota
	metadata: {name: few, namespace: small}
	spec: {hard: {pods: '0'}}
END
s run --name wide --gpus 5 -- true >/dev/null
s run --name busy --gpus 1 -- sh -c 'while :; do :; done' >/dev/null
s run -w --name broken -- sh -c 'echo no such file; exit 7' >/dev/null 2>&1
s run -w --name past -- sh -c 'echo done' >/dev/null 2>&1
s kill --remove past >/dev/null

# ---- describe: what went wrong ----
ok "a pod is killed for its memory" eventually 20 has '^Failed .*OOMKilled' describe hungry
like "its page says which limit" "$(s describe hungry)" 'more memory than its limit of 32Mi .*--mem'
like "and what it was" "$(s describe hungry)" '^  Command +tail /dev/zero$'
ok "an image cannot be had" eventually 20 has 'What to do' describe unknown
like "the registry's answer is on the page" "$(s describe unknown)" '^  The image "localhost:1/none:1" could not be had: .*connection refused'
ok "a ConfigMap is missing" eventually 20 has 'configmap "missing" not found\. Create what is missing' describe unset
like "a job that asks for too much waits" "$(s describe wide)" '^Pending for [0-9a-z]+: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu'
like "with advice" "$(s describe wide)" '`stoker gpus` shows who has the GPUs'
like "a command that failed" "$(s describe broken)" '^Failed [0-9a-z]+ ago after [0-9a-z]+: exit status 7$'
command=$(s describe broken | sed -n 's/.*`\(stoker logs pod.*\)`.*/\1/p')
is "its page has the command for what it said" "$(s ${command#stoker })" "no such file"
like "and its pods with their exit codes" "$(s describe broken)" "^  broken-[a-z0-9]+ +Error +0/1 +$NODE +0 +[0-9a-z]+ +7"
like "what is deleted has left something" "$(s describe past)" '^Deleted [0-9a-z]+ ago'
like "with its result" "$(s describe past)" '^  Result +it had succeeded'
like "and where its logs are" "$(s describe past)" '`stoker logs job/past -n default` shows them'
kubectl create -n small -f - >/dev/null <<-END
	apiVersion: apps/v1
	kind: ReplicaSet
	metadata: {name: none}
	spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: host}]}}}
END
ok "a quota in the way is named" eventually 20 has 'The quota "few" of namespace small' describe replicaset/none -n small
like "and can be looked at" "$(s describe resourcequota/few -n small)" '^  few +pods +0 +0'

# ---- describe: what is well ----
ok "a deployment comes up" s wait -q deployment/web --timeout 120s
like "its page says so" "$(s describe web)" "^Running on $NODE: 2 of 2 pods ready"
like "with its roll-out" "$(s describe web)" '^  Rollout +revision 1: 2 of 2 pods have the newest template'
like "its volume" "$(s describe web)" '^  data +claim data \(Bound, 1Gi\) +/data'
ok "and what it uses" eventually 20 has '^  Uses .* memory \([0-9]+% of the limit\), by 2 pods' describe web
unlike "needs no advice" "$(s describe web)" 'What to do'
ok "a service has endpoints" eventually 20 has '^2 of 2 endpoints ready' describe service/front
like "or nobody who answers" "$(s describe nobody)" '^No pod answers for it'
like "a claim has its users" "$(s describe pvc/data)" '^  Used by +pod/web-.*, pod/web-'
like "a CronJob its times" "$(s describe nightly)" '^  Next +[0-9-]{10} 02:30, '
like "a node its cards" "$(s describe "$NODE")" '^  '"$NODE"' +0 +Simulated GPU +16Gi +used +default +busy-'
like "and its pods" "$(s describe node "$NODE")" '^  default +web-.* Running'
like "a namespace its quotas" "$(s describe ns/small)" '^  few +pods'
is "programs get it all" "$(s describe broken -o json | jq -r '.object.kind, (.pods | length), (.advice | length), (.events[0].kind)' | tr '\n' ' ')" "Job 1 1 Event "
like "also as YAML" "$(s describe broken -o yaml)" "^state: .*exit status 7"
is "what is nowhere is told" "$(status s describe nothing)" 1
like "with advice" "$(cat "$ERR")" 'there is no workload "nothing" in namespace "default"; `stoker ps -a`'
is "and so is a word that is no kind" "$(status s describe thing/x) $(grep -c 'is no kind' "$ERR")" "1 1"
is "usage is 2" "$(status s describe) $(status s events --type Odd) $(status s top a b c)" "2 2 2"
like "colour is for terminals" "$(terminal -- "$STOKER" describe broken)" $'\033\\[31m'
is "not for pipes" "$(s describe broken | grep -c $'\033')" 0

# ---- events ----
like "events of a job are also its pods'" "$(s events broken)" '^[0-9a-z]+ +Normal +pod/broken-[a-z0-9]+ +Started +Started container main'
is "and no others'" "$(s events broken | grep -c past)" 0
like "also when both are deleted" "$(s events job/past)" '^[0-9a-z]+ +Normal +pod/past-[a-z0-9]+ +Started'
is "only warnings" "$(s events -A --type Warning | awk 'NR > 1' | grep -c ' Normal ')" 0
like "of all namespaces" "$(s events -A)" '^small +[0-9a-z]+ .*replicaset/none +FailedCreate'
like "wide says who reported it" "$(s events broken -o wide)" "kubelet, $NODE"
is "JSON is a list" "$(s events broken -o json | jq -r '.kind, .items[0].kind' | tr '\n' ' ')" "List Event "
is "nothing is told on stderr" "$(status s events nightly) $(cat "$OUT")$(grep -c 'There are no events about nightly' "$ERR")" "0 1"
s events -w soon >"$T/soon" 2>&1
like "a name that is nobody's cannot be watched" "$(cat "$T/soon")" 'there is no workload "soon"'
s run --name soon -- sleep 1 >/dev/null
"$STOKER" events -w job/soon >"$T/soon" 2>&1 &
WATCH=$!
PIDS+=("$WATCH")
ok "events are followed to the end" eventually 20 grep -q 'job/soon .*Completed' "$T/soon"
ends_on_interrupt "until Ctrl-C" $WATCH
like "with the time of day" "$(cat "$T/soon")" '^[0-9]{2}:[0-9]{2}:[0-9]{2} +Normal +pod/soon-[a-z0-9]+ +Started'
is "each once" "$(grep -c 'SuccessfulCreate' "$T/soon") $(grep -c REASON "$T/soon")" "1 1"

# ---- top ----
ok "what runs is measured" eventually 20 has '^busy-[a-z0-9]+ +[0-9.]+m? .* 1 +'"$NODE" top pods
like "nodes have their GPUs and pods" "$(s top nodes)" "^$NODE +[0-9.]+m? +[0-9]+% +[0-9.]+[MG]i +[0-9]+% +1 +1 +[0-9]+/"
like "percentages are of limits" "$(s top deployment/web)" '^web-[^ ]+ +[0-9]+m +[0-9]+% '
is "the busiest comes first" "$(s top pods | sed -n '2s/-.*//p')" busy
like "GPUs may count" "$(s top --sort gpu pods | sed -n 2p)" '^busy-'
is "numbers are for programs" "$(s top busy -o json | jq -r '.[] | .kind, .used.gpus, (.used.cpuMillis > 0)' | tr '\n' ' ')" "Pod 1 true "
like "both are shown by default" "$(s top)" '^POD '
"$STOKER" top -w pods >"$T/top" &
TOP=$!
PIDS+=("$TOP")
ok "--watch prints lines with the time" eventually 60 grep -Eq '^[0-9:]{8} +default +busy-' "$T/top"
ends_on_interrupt "and ends with Ctrl-C" $TOP
is "under one title" "$(grep -c '^TIME' "$T/top")" 1
out=$(terminal busy ^C -- "$STOKER" top -w)
is "on a terminal as a screen" $? 130
like "with what ends it" "$out" 'Ctrl-C ends it'
is "what uses nothing is told" "$(status s top service/front) $(grep -c 'uses nothing itself' "$ERR")" "1 1"
is "and so is a node that is not there" "$(status s top node/nowhere) $(grep -c 'there is no node "nowhere"' "$ERR")" "1 1"

# ---- another user ----
U=65534
me=$(getent passwd $U | cut -d: -f1)
cp "$STOKER" "$T/stoker"
chmod 755 "$T/main" "$T/stoker"
chmod 666 "$SOCKET"
u() { setpriv --reuid=$U --regid="$(id -g $me)" --clear-groups env -u KUBECONFIG "$T/stoker" "$@"; }
u run -q -w --name mine -- sh -c 'exit 3' >/dev/null 2>&1
like "a user sees who made it" "$(u describe mine)" "^  Made .*, by $me, with stoker"
like "and what to do" "$(u describe mine)" 'Its command ended with exit status 3'
like "and what happened" "$(u events mine)" ' job/mine +BackoffLimitExceeded'
is "top works without nodes" "$(status u top)" 0
is "others' are not shown" "$(status u describe broken -n default)" 1
server_stop
done_testing

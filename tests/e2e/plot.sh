#!/bin/bash
# The numbers that a training job prints: kept with it, drawn, and given out as JSON and CSV.
. "$(dirname "$0")/lib.sh"
node_start main
export STOKER_SOCKET=$SOCKET LC_ALL=C.UTF-8
S=$T/share
mkdir -m 777 "$S"

# learn.sh: lines as "Rank  0 , epoch  3 :  0.72" from the master, other forms from workers; the second half waits for a file.
cat >"$S/learn.sh" <<'END'
say() {
	if [ "$RANK" = 0 ]; then echo "Rank  0 , epoch  $1 :  0.$((90 - 6 * $1))"; else
		echo "step=$(($1 * 10))/100 loss=0.$((95 - 6 * $1)) accuracy=$((40 + 5 * $1)).5%"; fi
}
echo "listening on port 2222"
for i in 0 1 2 3 4; do say $i; done
until [ -e /share/go ]; do sleep 0.1; done
for i in 5 6 7 8 9; do say $i; done
END
cat >"$S/garbage.sh" <<'END'
head -c 200000 /dev/urandom
printf '\nepoch 1 loss nan\nepoch 2 loss inf\n\033[31mepoch\033[0m 3 loss 1e999\n'
i=0; while [ $i -lt 300 ]; do printf 'step %d loss\r' $i; i=$((i + 1)); done; echo
END
job() { # NAME SCRIPT WORKERS
	cat <<END
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: { name: $1 }
spec:
  pytorchReplicaSpecs:
END
	for role in Master Worker; do
		[ $role = Worker ] && [ "$3" = 0 ] && continue
		cat <<END
    $role:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          terminationGracePeriodSeconds: 0
          containers:
          - { name: pytorch, image: host, command: [sh, /share/$2], volumeMounts: [{ name: share, mountPath: /share }] }
          volumes: [{ name: share, hostPath: { path: $S } }]
END
	done
}
# points NAME METRIC REPLICA: "at ..." of one series, as it is kept.
points() {
	"$STOKER" plot "$1" -m "$2" -r "$3" -o json | field '[.series[].points[][0]] | map(tostring) | join(" ")'
}
# await SENTENCE WANTED COMMAND...: until it says so.
await() {
	local name=$1 wanted=$2 i got=
	shift 2
	for ((i = 0; i < 600; i++)); do
		got=$("$@" 2>&1)
		[ "$got" = "$wanted" ] && break
		sleep 0.1
	done
	is "$name" "$got" "$wanted"
}
state() { kubectl get pytorchjob "$1" -o jsonpath='{.status.conditions[?(@.status=="True")].type}'; }

job mnist learn.sh 1 | kubectl apply -f - >/dev/null
job noise garbage.sh 0 | kubectl apply -f - >/dev/null
await "the first points are there while it runs" "0 1 2 3 4" points mnist loss master-0
await "a worker's too" "0 10 20 30 40" points mnist accuracy worker-0

kill -9 "$SERVER_PID" && wait "$SERVER_PID" 2>/dev/null
touch "$S/go" # they go on while there is no server
server_run main
export STOKER_SOCKET=$SOCKET
await "after kill -9 of the server none is missing and none is there twice" "0 1 2 3 4 5 6 7 8 9" points mnist loss master-0
await "nor of the worker" "0 10 20 30 40 50 60 70 80 90" points mnist loss worker-0
ok "the job succeeds" kubectl wait --for=condition=Succeeded pytorchjob/mnist --timeout=180s

out=$("$STOKER" plot pytorchjob/mnist --width 60 --height 6)
like "the loss is drawn by epoch" "$out" '^loss of mnist by epoch$'
like "with the first and the last value" "$out" 'master-0  0\.9 → 0\.36  \(10 points\)'
like "by step it says of how many" "$out" '^accuracy of mnist by step \(of 100\)$'
like "in braille" "$out" '⣀'
unlike "without colours where there is no terminal" "$out" $'\033'
unlike "in ASCII for who has no more" "$(LC_ALL=C "$STOKER" plot mnist)" '[^ -~]'
is "CSV has a line a point" "$("$STOKER" plot mnist -m accuracy -o csv | cut -d, -f1-7 | sed -n '1p;2p;11p')" \
	"pod,container,run,metric,by,at,value
mnist-worker-0,pytorch,0,accuracy,step,0,0.405
mnist-worker-0,pytorch,0,accuracy,step,90,0.855"
is "the JSON is what dashboards get" "$(api GET /apis/stoker.dev/v1/namespaces/default/measures/mnist?metric=accuracy |
	field '[.kind, .apiVersion, .job, (.series[0] | .pod, .container, .run, .name, .by, .of, (.points | length))]')" \
	'["Measures","stoker.dev/v1","mnist","mnist-worker-0","pytorch",0,"accuracy","step",100,10]'
like "a metric that is not there: which are" "$("$STOKER" plot mnist -m los 2>&1)" 'there are: .*loss.*replicas: .*master-0'
like "a wrong width says what is allowed" "$("$STOKER" plot mnist --width 3 2>&1)" '30'
is "who may not read logs may not read them" \
	"$(api_code GET /apis/stoker.dev/v1/namespaces/default/measures/mnist -H 'Impersonate-User: eve')" 403

"$STOKER" plot mnist --watch >"$T/watched" &
watcher=$!
PIDS+=($watcher)
for ((i = 0; i < 1200; i++)); do grep -q worker-0 "$T/watched" && break; sleep 0.1; done
kill -INT $watcher
wait $watcher
is "who watches ends it with Ctrl-C" "$? $(grep -c 'by epoch' "$T/watched")" "130 1"

kubectl delete pytorchjob mnist --wait=true >/dev/null
for ((i = 0; i < 1200; i++)); do [ -z "$(kubectl get pods -o name | grep mnist)" ] && break; sleep 0.1; done
is "they outlive the job" "$(points mnist loss master-0)" "0 1 2 3 4 5 6 7 8 9"

ok "garbage does no harm" kubectl wait --for=condition=Succeeded pytorchjob/noise --timeout=180s
await "what is no number is kept as that" "[null,null,null]" \
	bash -c "'$STOKER' plot noise -o json | jq -c '[.series[] | select(.name == \"loss\" and .by == \"epoch\") | .points[][1]]'"
ok "and not drawn" "$STOKER" plot noise -m loss
kubectl run plain --image=host --restart=Never --command -- sh -c 'for i in 1 2 3; do echo "epoch $i loss 0.$i"; done; sleep 600' >/dev/null
await "a pod of no training job is read from its log" "1 2 3" points plain loss plain
like "nothing recognised says what would be" "$(kubectl run mute --image=host --restart=Never --command -- true >/dev/null
	eventually 60 phase_is Succeeded mute; "$STOKER" plot mute 2>&1)" 'epoch 3 loss 0.36'
like "a name that is not there is an error" "$("$STOKER" plot nobody 2>&1)" 'nobody'
done_testing

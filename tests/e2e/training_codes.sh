#!/bin/bash
# How a replica ends, and what its job makes of it: every exit code and every signal, in both versions of TFJob, all at once;
# then limits, and who holds cards after a failure.
. "$(dirname "$0")/lib.sh"
node_start main --gpus 4
S=$T/share
mkdir -m 777 "$S"

# replica JOB ROLE SCRIPT [GPUS]: a template's spec.  Each run notes itself; the shell is not the first process of its pid
# namespace, for that one does not die of its own signals.
replica() {
	local script="me=$2-$1; echo \$me >>/share/starts; $3"
	jq -nc --arg share "$S" --arg script "$script" --argjson gpus "${4:-0}" '{terminationGracePeriodSeconds: 0, shareProcessNamespace: true,
		volumes: [{name: "share", hostPath: {path: $share}}],
		containers: [{name: "tensorflow", image: "host", command: ["sh", "-c", $script],
			volumeMounts: [{name: "share", mountPath: "/share"}],
			resources: (if $gpus > 0 then {limits: {"nvidia.com/gpu": $gpus}} else {} end)}]}'
}
# tfjob NAME VERSION WORKER-SCRIPT [POLICY]: the chief ends well when its worker runs for the second time.
CHIEF='until [ $(grep -c "^worker-$job$" /share/starts) -ge 2 ]; do sleep 0.1; done'
tfjob() {
	cat <<-END
		---
		apiVersion: kubeflow.org/$2
		kind: TFJob
		metadata: {name: $1}
		spec:
		  cleanPodPolicy: None
		  tfReplicaSpecs:
		    Chief: {template: {spec: $(replica "$1" chief "job=$1; $CHIEF")}}
		    Worker: {restartPolicy: ExitCode, template: {spec: $(replica "$1" worker "[ \$(grep -c ^\$me\\$ /share/starts) = 1 ] || exec sleep 1000; $3")}}
	END
}
state() { kubectl get tfjob "$1" -o 'jsonpath={.status.conditions[-1:].type}' 2>/dev/null; }
is_state() { [ "$(state "$1")" = "$2" ]; }
message() { kubectl get tfjob "$1" -o "jsonpath={.status.conditions[-1:].message}"; }
starts() { grep -c "^$1$" "$S/starts"; }

# WAY V1 V1ALPHA2: again, or bad.  Words are signals, and a process ends of them for real.
WAYS='1 bad bad
2 bad bad
126 bad bad
127 bad bad
128 again bad
130 again again
137 again again
138 again again
139 again bad
143 again again
255 again bad
KILL again again
TERM again again
INT again again
USR1 again again
SEGV again bad'
codes() { # WAY
	case $1 in
	KILL) echo 137 ;; TERM) echo 143 ;; INT) echo 130 ;; USR1) echo 138 ;; SEGV) echo 139 ;;
	*) echo "$1" ;;
	esac
}
name() { echo "end-$(tr A-Z a-z <<<"$1")-$2"; }
while read -r way _; do
	case $way in
	[0-9]*) script="exit $way" ;;
	# As a program: a shell gives its children SIGINT to ignore when they are in the background.
	*) script="exec python3 -c \"import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIG$way)\"" ;;
	esac
	tfjob "$(name "$way" v1)" v1 "$script"
	tfjob "$(name "$way" v1alpha2)" v1alpha2 "$script"
done <<<"$WAYS" >"$T/jobs.yaml"
kubectl create -f "$T/jobs.yaml" >/dev/null || fail "the jobs are made"
all_ended() { ! kubectl get tfjobs -o 'jsonpath={range .items[*]}{.status.conditions[-1:].type}{"\n"}{end}' | grep -qv 'Succeeded\|Failed'; }
ok "every job ends" eventually 300 all_ended
kubectl get tfjobs -o json >"$T/ended"
check() { # WAY VERSION again|bad
	local job code got want
	job=$(name "$1" "$2") code=$(codes "$1")
	got=$(jq -r --arg n "$job" '.items[] | select(.metadata.name == $n) | .status | .conditions[-1].type + " " + (.replicas["worker-0"].restarts // 0 | tostring)' "$T/ended")
	case $3 in
	again) want="Succeeded 1 2" ;;
	bad) want="Failed 0 1" ;;
	esac
	is "$2: $1 is $3" "$got $(starts "worker-$job")" "$want"
	if [ "$3" = bad ]; then
		like "and the job says the code" "$(jq -r --arg n "$job" '.items[] | select(.metadata.name == $n).status.conditions[-1].message' "$T/ended")" "worker-0 exited with code $code( |\$|;)"
	fi
}
while read -r way v1 old; do
	check "$way" v1 "$v1"
	check "$way" v1alpha2 "$old"
done <<<"$WAYS"
kubectl delete tfjobs --all >/dev/null

# --- limits and cards ---
cards() { "$STOKER" gpus --socket "$SOCKET" -o json | jq -r '[.[] | select(.pod != "")] | length'; }
held() { [ "$(cards)" = "$1" ]; }
kubectl create -f - >/dev/null <<END
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: fast}
spec:
  tfReplicaSpecs:
    Chief: {template: {spec: $(replica fast chief 'exec sleep 1000' 1)}}
    Worker: {replicas: 2, template: {spec: $(replica fast worker 'until [ -e /share/fast ]; do sleep 0.1; done; exit 3' 1)}}
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: limit}
spec:
  runPolicy: {backoffLimit: 2}
  tfReplicaSpecs:
    Chief: {template: {spec: $(replica limit chief 'exec sleep 1000')}}
    Worker: {restartPolicy: ExitCode, template: {spec: $(replica limit worker 'exit 137')}}
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: gang, annotations: {stoker.dev/restart: gang}}
spec:
  runPolicy: {backoffLimit: 1}
  tfReplicaSpecs:
    Chief: {restartPolicy: OnFailure, template: {spec: $(replica gang chief 'exec sleep 1000')}}
    Worker: {restartPolicy: OnFailure, template: {spec: $(replica gang worker 'until [ $(grep -c ^chief-gang$ /share/starts) = $(grep -c ^worker-gang$ /share/starts) ]; do sleep 0.1; done; exit 1')}}
END
ok "a job holds its cards" eventually 60 held 3
ok "and runs" eventually 60 is_state fast Running
touch "$S/fast"
ok "one replica fails, and the job" eventually 60 is_state fast Failed
ok "then nobody of it holds a card" eventually 60 held 0
ok "new pods count towards backoffLimit" eventually 60 is_state limit Failed
is "the first run and as many more as it says" "$(starts worker-limit)" 3
like "which is what it says" "$(message limit)" 'reached the specified backoff limit. worker-0 exited with code 137'
ok "a gang that restarts counts once" eventually 60 is_state gang Failed
is "for all of it" "$(starts worker-gang) $(starts chief-gang) $(kubectl get tfjob gang -o 'jsonpath={.status.gangRestarts}')" '2 2 1'
kubectl delete tfjobs --all >/dev/null
gone() { [ -z "$(kubectl get pods -o name)" ]; }
ok "nothing is left" eventually 60 gone
server_stop
done_testing

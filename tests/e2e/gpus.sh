#!/bin/bash
# Simulated cards: each pod gets its own, counted from 0, never twice, and everyone can see whose they are.
. "$(dirname "$0")/lib.sh"
NODE_ARGS=(--gpus 4)
node_start main "${NODE_ARGS[@]}"
gpus() { "$STOKER" gpus --socket "$SOCKET" "$@"; }
# pod NAME RESOURCE N [COMMAND]
pod() {
	kubectl apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec:
		  restartPolicy: Never
		  terminationGracePeriodSeconds: 0
		  containers:
		  - name: main
		    image: host
		    command: [sh, -c, '${4:-sleep 1000}']
		    resources: {limits: {$2: $3}}
	END
}
phase() { kubectl get pod "$1" -o 'jsonpath={.status.phase}'; }
until_phase() {
	for _ in $(seq 300); do [ "$(phase "$1")" = "$2" ] && return; sleep 0.1; done
	kubectl get pod "$1" -o yaml
	return 1
}
cards() { kubectl get pod "$1" -o 'jsonpath={.metadata.annotations.stoker\.dev/gpus}'; }
show='env | grep -E "^(CUDA|NVIDIA)_VISIBLE" | sort | xargs; ls /dev | grep -c nvidia || :'

is "the node has them" "$(kubectl get node -o 'jsonpath={.items[0].status.capacity.nvidia\.com/gpu}')" 4
pod first nvidia.com/gpu 1
ok "a pod with a card runs" until_phase first Running
pod two alpha.kubernetes.io/nvidia-gpu 2 "$show"
ok "also by the older name" until_phase two Succeeded
is "its cards count from 0 inside" "$(kubectl logs two | head -n 1)" 'CUDA_VISIBLE_DEVICES=0,1 NVIDIA_VISIBLE_DEVICES=GPU-sim-1,GPU-sim-2'
pod none cpu 100m "$show"
ok "a pod without runs" until_phase none Succeeded
is "and sees none" "$(kubectl logs none | xargs)" 'NVIDIA_VISIBLE_DEVICES=void 0'
pod third nvidia.com/gpu 3
ok "cards of a finished pod are free again" until_phase third Running
is "the pod says which it has" "$(cards first) $(cards third)" '0 1,2,3'
for _ in $(seq 100); do gpus | grep -q '^0 of 4 free' && break; sleep 0.1; done
like "stoker gpus says whose they are" "$(gpus)" '2 +Simulated GPU +16384MiB +used +default +third +main'
is "as JSON too" "$(gpus -o json | jq -r '[.[].pod] | join(",")')" first,third,third,third
like "and kubectl describe node counts them" "$(kubectl describe node)" 'nvidia.com/gpu +4 +4'
pod late nvidia.com/gpu 1
sleep 1
is "one too many waits" "$(phase late)" Pending

kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
node_start main "${NODE_ARGS[@]}"
ok "after a crash its pods run" until_phase third Running
is "with the same cards" "$(gpus -o json | jq -r '[.[].pod] | join(",")')" first,third,third,third
is "and nobody else has them" "$(phase late)" Pending
kubectl delete pod third --now >/dev/null 2>&1
ok "the one that waited gets one of those given back" until_phase late Running
like "not the one in use" "$(cards late)" '^[123]$'
kubectl delete pod --all --now >/dev/null 2>&1
for _ in $(seq 100); do gpus | grep -q '^4 of 4 free' && break; sleep 0.1; done
like "in the end all are free" "$(gpus)" '^4 of 4 free'
server_stop
done_testing

#!/bin/bash
# The document on TensorFlow with a parameter server and two workers: its Services, ConfigMap and Jobs, whose processes find
# each other at the Services' addresses and train a (very small) model together.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/seeds/image.sh"
NODE=0c-c4-7a-82-c5-bc
node_start main --node-name $NODE --gpus 2 || exit 1
SEED=$ROOT/tests/e2e/seeds/tensorflow
IMAGE=harbor.ail.unisound.com/xuerq/tensorflow:0.10.0-devel-gpu
R=$(seed_root)
seed_python "$R"
like "the document's image is made here" "$(seed_image main $IMAGE "$R")" "^sha256:[0-9a-f]{64} $IMAGE\$"

described() { k describe "$@" | tr -s ' \t\n' ' '; }
pod_of() { k get pods -l "name=$1" -o "jsonpath={.items[*]$2}"; }
job() { get job "tensorflow-$1-rc" "$2"; }
settled() { [ "$(gpus_free)" = 2 ] && [ -z "$(k get pods -o name)" ]; }
gpus_free() { "$STOKER" gpus --socket "$SOCKET" -o json | jq '[.[] | select(.pod == "")] | length'; }

services() {
	local text
	is "$V: S2.4: three Services are created before any pod" "$(k create -f "$SEED/worker_ps_service_GPU.yaml" | tr '\n' ' ')" \
		'service/tensorflow-ps-service created service/tensorflow-wk-service0 created service/tensorflow-wk-service1 created '
	text=$(described service)
	PS=$(get svc tensorflow-ps-service .spec.clusterIP)
	W0=$(get svc tensorflow-wk-service0 .spec.clusterIP)
	W1=$(get svc tensorflow-wk-service1 .spec.clusterIP)
	is "$V: S2.6: each has an address of its own at once" "$(printf '%s\n' "$PS" "$W0" "$W1" | grep -E '^[0-9]+(\.[0-9]+){3}$' | sort -u | wc -l)" 3
	is "$V: S2.5: describe service without a name describes all" "$(grep -o 'Name: [^ ]*' <<<"$text" | tr '\n' ' ')" \
		'Name: tensorflow-ps-service Name: tensorflow-wk-service0 Name: tensorflow-wk-service1 '
	like "$V: S2.3: labels and selector" "$text" "Name: tensorflow-ps-service Namespace: $NS Labels: name=tensorflow-ps role=service Annotations: <none> Selector: name=tensorflow-ps "
	like "$V: S2.5: type, address, port without a name, no endpoints, no affinity, no events" "$text" \
		"Selector: name=tensorflow-worker0 Type: ClusterIP .*IP: $W0 .*Port: <unset> 2222/TCP TargetPort: 2222/TCP Endpoints: (<none> )?Session Affinity: None .*Events: <none> "
}

# The document says to fill in the addresses that `describe` showed.
fill_in() {
	H=$T/host-$V
	mkdir -p "$H/root/tensorflow/data" "$H/root/tensorflow/train_ps/of-last-time" "$H/usr/local/nvidia/lib64"
	touch "$H/usr/local/nvidia/lib64/libcuda.so.1"
	seed_text tensorflow-jobs.yaml translate.py >"$H/root/tensorflow/translate.py"
	for i in $(seq 40); do echo "$((i % 7 - 3)) $((3 * (i % 7 - 3)))"; done >"$H/root/tensorflow/data/numbers"
	sed -E "s/10\.100\.0\.153/$PS/; s/10\.100\.0\.174/$W0/; s/10\.100\.0\.119/$W1/
		s|^( *path: )(/root/tensorflow\|/usr/local/nvidia/lib64)\$|\1$H\2|" "$SEED/worker_ps_GPU.yaml" >"$T/worker_ps_GPU.yaml"
}

# args ROLE INDEX DIR [EXPORT]: the one string that the manifest writes over many lines
args() {
	printf 'cd /root/tensorflow; rm -rf ./%s; mkdir ./%s; %spython translate.py --job_name=%s --task_index=%d --ps_hosts=$(PS_KEY) --worker_hosts=$(WORKER_KEY) --num_layers=2  --size=200 --data_dir=./data  --train_dir=./%s 1>./%s/log 2>./%s/errlog |' \
		"$3" "$3" "${4:-}" "$1" "$2" "$3" "$3" "$3"
}

story() {
	services
	fill_in
	is "$V: S2.15: a ConfigMap and three Jobs are created" "$(k create -f "$T/worker_ps_GPU.yaml" | tr '\n' ' ')" \
		'configmap/tensorflow-cluster-config created job.batch/tensorflow-ps-rc created job.batch/tensorflow-worker0-rc created job.batch/tensorflow-worker1-rc created '
	is "$V: S2.7: a value on the next line, and one over an escaped line break" \
		"$(get cm tensorflow-cluster-config .data.ps) $(get cm tensorflow-cluster-config .data.worker)" "$PS:2222 $W0:2222,$W1:2222"
	is "$V: S2.8: one pod each, as nothing else is said" \
		"$(for j in ps worker0 worker1; do echo "$(job $j .spec.parallelism)/$(job $j .spec.completions)"; done | tr '\n' ' ')" '1/1 1/1 1/1 '
	is "$V: S2.8: labels of the template" "$(job worker1 .spec.template.metadata.labels.name) $(job worker1 .spec.template.metadata.labels.role)" 'tensorflow-worker1 worker'
	is "$V: S2.9: the command of the ps, in one piece" "$(job ps '.spec.template.spec.containers[0].args[0]')|" "$(args ps 0 train_ps)"
	is "$V: S2.9: and of a worker" "$(job worker0 '.spec.template.spec.containers[0].args[0]')|" \
		"$(args worker 0 train_worker0 'export CUDA_VISIBLE_DEVICES=0; ')"

	like "$V: S2.6: both workers reach the others and end" \
		"$(k wait --for=condition=complete --timeout=180s job/tensorflow-worker0-rc job/tensorflow-worker1-rc | tr '\n' ' ')" '^job.*worker0-rc condition met job.*worker1-rc condition met $'
	traffic
	placement
	is "$V: S2.8: the ps goes on serving, as server.join() does" "$(pod_of tensorflow-ps .status.phase) $(job ps .status.active)" 'Running 1'
	k delete -f "$T/worker_ps_GPU.yaml" -f "$SEED/worker_ps_service_GPU.yaml" >/dev/null
	k delete pods --all --now >/dev/null # the ps has 30 s otherwise, as Python does not listen to SIGTERM
	ok "$V: S2.11: everything goes, and the cards are free" eventually 60 settled
}

log() { cat "$H/root/tensorflow/train_$1/log"; }
traffic() {
	local ip0 ip1 model
	ip0=$(pod_of tensorflow-worker0 .status.podIP) ip1=$(pod_of tensorflow-worker1 .status.podIP)
	is "$V: S2.9: \$(PS_KEY) and \$(WORKER_KEY) are filled in before the shell sees them" "$(log worker1 | sed -n 's/^argv //p')" \
		"--job_name=worker --task_index=1 --ps_hosts=$PS:2222 --worker_hosts=$W0:2222,$W1:2222 --num_layers=2 --size=200 --data_dir=./data --train_dir=./train_worker1"
	is "$V: S2.6: worker 0 spoke to the ps and to worker 1 at their Services" "$(log worker0 | sed -n 's/^connected to //p' | tr '\n' ,)" \
		"ps 0 at $PS:2222,worker 1 at $W1:2222,"
	is "$V: S2.6: worker 1 to the ps and to worker 0" "$(log worker1 | sed -n 's/^connected to //p' | tr '\n' ,)" \
		"ps 0 at $PS:2222,worker 0 at $W0:2222,"
	is "$V: S2.6: the ps heard both of them, from their own addresses" "$(log ps | sed -n 's/^hello from //p' | sort | tr '\n' ,)" \
		"worker 0 at $ip0,worker 1 at $ip1,"
	is "$V: S2.14: both learned from the same data" "$(log worker0 | tail -n 1),$(log worker1 | tail -n 1)" \
		'trained on 20 of 40 lines,trained on 20 of 40 lines'
	model=$(cat "$H/root/tensorflow/train_worker0/model" "$H/root/tensorflow/train_worker1/model" | sort -u | tr '\n' ' ')
	is "$V: S2.14: into directories of their own, the same model" "$model" '3.000 '
	is "$V: S2.10: the old directory of the ps was removed first" "$(ls "$H/root/tensorflow/train_ps" | tr '\n' ' ')" 'errlog log '
	is "$V: S2.10: and nobody complained" "$(cat "$H"/root/tensorflow/train_*/errlog)" ''
}

placement() {
	local cards
	cards=$(for w in 0 1; do log worker$w | sed -n 's/^cards //p'; done | sort | tr '\n' ,)
	is "$V: S2.10: each worker has one card, which it calls 0" "$cards" '0 GPU-sim-0,0 GPU-sim-1,'
	is "$V: S2.11: by the old name, as a limit without a request" \
		"$(k get pods -l name=tensorflow-worker0 -o json | jq -c '.items[0].spec.containers[0].resources.limits')" '{"alpha.kubernetes.io/nvidia-gpu":"1"}'
	is "$V: S2.11: the ps has none" "$(log ps | sed -n 's/^cards //p')" 'none void'
	is "$V: S2.12: libraries, programs and work, read-only where that is asked for" \
		"$(log worker0 | sed -n 's/^mount \([^ ]*\) [0-9]* /\1 /p' | tr '\n' ,)" \
		'/usr/local/nvidia/lib64 read-only,/usr/local/nvidia/bin read-only,/root/tensorflow writable,'
	is "$V: S2.12: they are the host's" "$(log worker0 | sed -n 's/^mount [^ ]* \([0-9]*\) .*/\1/p' | head -n 2 | tr '\n' ' ')" \
		"1 $(ls -A /usr/bin | wc -l) "
	is "$V: S2.12: only where they are asked for" "$(log ps | grep -c ^mount)" 1
	is "$V: S2.13: on the node that the manifest names" "$(k get pods -o 'jsonpath={.items[*].spec.nodeName}')" "$NODE $NODE $NODE"
	is "$V: S2.13: without the scheduler" "$(k get events --field-selector reason=Scheduled -o name)" ''
	is "$V: S2.13: and never again" "$(k get pods -o 'jsonpath={.items[*].spec.restartPolicy}')" 'Never Never Never'
	is "$V: S2.9: the port is told" "$(pod_of tensorflow-ps '.spec.containers[0].ports[0].containerPort')" 2222
}
each_kubectl story
done_testing

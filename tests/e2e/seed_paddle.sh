#!/bin/bash
# The document on training Paddle with a Kubernetes Job: its manifest, what kubectl tells of it, and the results on the host.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/seeds/image.sh"
node_start main --node-name paddle-demo-let02 || exit 1
SEED=$ROOT/tests/e2e/seeds/paddle

# The image that the document makes with `docker commit`: the demo, its data, and the changed train.sh.
R=$(seed_root)
D=$R/root/paddle/demo/quick_start
seed_program "$R" /bin/bash
mkdir -p "$D/data"
seed_text paddle-job.yaml train.sh >"$D/train.sh" && chmod 755 "$D/train.sh"
echo '# a model' >"$D/trainer_config.lr.py"
seed_text paddle-job.yaml paddle >"$R/usr/bin/paddle" && chmod 755 "$R/usr/bin/paddle"
like "the document's image is made here" "$(seed_image main mypaddle/paddle:quickstart "$R")" '^sha256:[0-9a-f]{64} docker.io/mypaddle/paddle:quickstart$'

job() { get job quickstart "$1"; }
pod() { get pod "$POD" "$1"; }
described() { k describe "$@" | tr -s ' \t\n' ' '; }
passes() { (cd "$1" && echo *); }
all_passes=$(printf 'pass-%05d ' $(seq 0 14))

story() {
	local out=$T/host-$V/home/work/paddle_output uid text
	sed "s|path: /home/|path: $T/host-$V/home/|" "$SEED/paddle.yaml" >"$T/paddle.yaml"
	is "$V: S3.4: the manifest is taken as it is" "$(k create -f "$T/paddle.yaml")" 'job.batch/quickstart created'
	is "$V: S3.4: spaces after a value are no part of it" "$(job '.spec.template.spec.volumes[0].hostPath.path')" "$out"
	is "$V: S3.4: volumes before containers, one pod at a time, one in all" \
		"$(job .spec.parallelism) $(job .spec.completions) $(job '.spec.template.spec.containers[0].name')" '1 1 pi'
	like "$V: S3.5: kubectl get job lists it" "$(k get job)" '^quickstart +.*[01]/1 '
	like "$V: S3.4: the program with a relative path runs to its end" "$(k wait --for=condition=complete --timeout=180s job/quickstart)" 'condition met'
	like "$V: S3.5: and counts its success" "$(k get job quickstart --no-headers)" '^quickstart +(Complete +)?1/1 +[0-9]+s +[0-9]+s$'

	uid=$(job .metadata.uid)
	text=$(described job quickstart)
	like "$V: S3.6: describe job has name and namespace" "$text" "^Name: quickstart Namespace: $NS "
	like "$V: S3.6: the selector that was made for it" "$text" "Selector: (batch.kubernetes.io/)?controller-uid=$uid "
	like "$V: S3.6: its numbers" "$text" 'Parallelism: 1 Completions: 1 '
	like "$V: S3.6: its start" "$text" 'Start Time: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} '
	like "$V: S3.6: how its pods ended" "$text" 'Pods Statuses: 0 (Active|Running) (\([0-9]+ Ready\) )?/ 1 Succeeded / 0 Failed'
	like "$V: S3.6: labels of the pods" "$text" "Labels: .*controller-uid=$uid .*job-name=quickstart Containers:"
	like "$V: S3.6: the image" "$text" 'Image: mypaddle/paddle:quickstart '
	like "$V: S3.6: the volume" "$text" "Volumes: output: Type: HostPath \(bare host directory volume\) Path: $out "
	like "$V: S3.6: and the event of the pod" "$text" 'Normal SuccessfulCreate [0-9]+s job-controller Created pod: quickstart-[a-z0-9]{5}( |$)'

	POD=$(k get pods -l job-name=quickstart -o 'jsonpath={.items[*].metadata.name}')
	like "$V: S3.7: one pod, named after the job" "$POD" '^quickstart-[a-z0-9]{5}$'
	text=$(described pod "$POD")
	like "$V: S3.8: describe pod has name and namespace" "$text" "^Name: $POD Namespace: $NS "
	like "$V: S3.8: the node and its address" "$text" 'Node: paddle-demo-let02/[0-9.]+ Start Time: '
	like "$V: S3.8: the labels" "$text" "Labels: .*controller-uid=$uid .*job-name=quickstart "
	like "$V: S3.8: the end" "$text" 'Status: Succeeded IP: [0-9.]+ '
	like "$V: S3.8: whose it is" "$text" 'Controlled By: Job/quickstart '
	like "$V: S3.8: container and image by their ids" "$text" 'Container ID: [a-z]+://[^ ]+ Image: mypaddle/paddle:quickstart Image ID: [^ ]*[0-9a-f]{64} '
	like "$V: S3.8: the command, as it was written" "$text" 'Command: bin/bash -c /root/paddle/demo/quick_start/train.sh State:'
	like "$V: S3.8: how it ended and when" "$text" 'State: Terminated Reason: Completed Exit Code: 0 Started: [A-Z].* Finished: [A-Z].* Ready: False Restart Count: 0 '
	like "$V: S3.8: no variables, not ready, and its volume" "$text" "Environment: <none> .*Conditions: .* Ready False .*output: Type: HostPath \(bare host directory volume\) Path: $out "
	is "$V: S3.8: it asks for nothing" "$(pod .status.qosClass)" BestEffort

	is "$V: S3.10: its node is this machine" "$(k get node "$(pod .spec.nodeName)" -o 'jsonpath={.metadata.name} {.status.nodeInfo.bootID}')" \
		"paddle-demo-let02 $(cat /proc/sys/kernel/random/boot_id)"
	like "$V: S3.10: at one of its addresses" "$(ip -o -4 addr | tr '/' ' ')" " $(pod .status.hostIP) "
	is "$V: S3.10: where the results can be listed" "$(passes "$out") " "$all_passes"
	is "$V: S3.9: they are root's" "$(stat -c %U "$out"/pass-* | sort | uniq -c | tr -s ' ')" ' 15 root'
	is "$V: S3.9: with what each pass wrote" "$(wc -l <"$out/pass-00000/___fc_layer_0__.w0") $(wc -l <"$out/pass-00014/___fc_layer_0__.w0")" '1 15'
	like "$V: S3.9: the log of the training was shown, too" "$(k logs "$POD" | tail -n 1)" '^Pass=14 '
	k delete job quickstart >/dev/null
	ok "$V: S3.9: the container and its pod are gone" eventually 30 gone
	is "$V: S3.9: and the results are still there" "$(passes "$out") " "$all_passes"
}
gone() { ! "$K" -n "$NS" get pod "$POD"; }
each_kubectl story
done_testing

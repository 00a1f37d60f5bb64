#!/bin/bash
# The document on Kubeflow: its TFJob of v1alpha2 and its PyTorchJob of v1alpha1, with the commands that it shows, as it shows
# them.  The manifests are those of examples/, which have the document's shape and another program.
. "$(dirname "$0")/lib.sh"
cd "$ROOT/examples" || exit 1
node_start main --node-name localnode-1 || exit 1
# The document's lines are run as they are, by each kubectl.
kubectl() { "$K" "$@"; }

# like_all SENTENCE GOT PATTERN: for answers of several lines, as one.
like_all() { like "$1" "$(tr '\n' '~' <<<"$2")" "$3"; }

# --- 2.3 a TFJob ---
completed() { kubectl get pods | grep Completed; }
none() { [ -z "$(kubectl get pods -o name)" ]; }
settled() { [ "$(kubectl get pods -o name)" = pod/example-job-master-0 ]; }
log_of() { "$STOKER" logs "$1" --socket "$SOCKET" 2>&1; }
# resolved POD: how many names of the cluster it found, and that none was missing
resolved() { log_of "$1" | grep -cE '^INFO:root:example-job-[a-z0-9-]+\.default\.svc\.cluster\.local:2222 is 10\.[0-9.]+$'; }
tensorflow() {
	local config wanted
	like "$V: S1.9: the manifest is taken" "$(kubectl apply -f tfjob-v1alpha2.yaml)" '^tfjob.kubeflow.org/example-job created$'
	is "$V: S1.10: one master, one worker, two parameter servers" \
		"$(kubectl get tfjob example-job -o 'jsonpath={.spec.tfReplicaSpecs.Master.replicas}{.spec.tfReplicaSpecs.Worker.replicas}{.spec.tfReplicaSpecs.PS.replicas}')" 112
	like_all "$V: S1.11: kubectl get tfjob" "$(kubectl get tfjob)" '^NAME +(STATE +)?AGE~example-job .*~$'
	ok "$V: S1.11: it succeeds when the master does, though the others wait for ever" \
		kubectl wait --for=condition=Succeeded --timeout=180s tfjob/example-job
	is "$V: S1.11: and says whose it was" "$(kubectl get tfjob example-job -o 'jsonpath={.status.tfReplicaStatuses.Master.succeeded}')" 1
	ok "$V: S1.11: the others are stopped, and gone" eventually 60 settled
	like "$V: S1.12: only the master is listed as completed" "$(kubectl get pods | grep Completed)" '^example-job-master-0 +0/1 +Completed +0 +[0-9]+s$'
	is "$V: S1.12: and nothing else" "$(completed | wc -l)" 1
	config=$(kubectl logs $(kubectl get pods | grep Completed | tr -s ' ' | cut -d ' ' -f 1) | sed -n 's/^INFO:root:tf_config: //p')
	wanted='{"cluster": {"worker": ["example-job-worker-0.default.svc.cluster.local:2222"], "ps": ["example-job-ps-0.default.svc.cluster.local:2222", "example-job-ps-1.default.svc.cluster.local:2222"], "master": ["example-job-master-0.default.svc.cluster.local:2222"]}, "task": {"index": 0, "type": "master"}}'
	is "$V: S1.13, S1.14: the log of what is completed shows the document's TF_CONFIG" "$(jq -S . <<<"$config")" "$(jq -S . <<<"$wanted")"
	is "$V: S1.15: the names resolve in every replica" \
		"$(for pod in master-0 worker-0 ps-0 ps-1; do resolved example-job-$pod; done | tr '\n' ' ')" '4 4 4 4 '
	is "$V: S1.15: and somebody is there" \
		"$(kubectl logs example-job-master-0 | sed -n 's/^INFO:root:\([^.]*\)[^ ]*: \[\[19, 22\], \[43, 50\]\]$/\1/p' | tr '\n' ' ')" 'example-job-ps-0 example-job-ps-1 example-job-worker-0 '
	kubectl delete -f tfjob-v1alpha2.yaml >/dev/null
	ok "$V: nothing is left" eventually 30 none
}
# The document's are in the namespace default, so the two kubectls go one after the other.
each_kubectl tensorflow

# --- 3 a PyTorchJob ---
crds() {
	like_all "$V: S1.19: kubectl get crd has both kinds" "$(kubectl get crd | grep -E '^NAME|^(pytorch|tf)jobs')" \
		'^NAME +CREATED AT~pytorchjobs.kubeflow.org +[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z~tfjobs.kubeflow.org +[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z~$'
}
each_kubectl crds
like "S1.21: it is created" "$(kubectl create -f pytorch-v1alpha1.yaml)" 'pytorchjob.kubeflow.org/distributed-mnist created'
is "S1.20: backend and masterPort stay in it, as they were written" \
	"$(kubectl get pytorchjobs.v1alpha1.kubeflow.org distributed-mnist -o json | jq -c '[.spec.backend, .spec.masterPort, (.spec.replicaSpecs | map(.replicaType, .replicas))]')" \
	'["tcp","23456",["MASTER",1,"WORKER",3]]'
four() { [ "$(kubectl get pods -l pytorch_job_name=distributed-mnist -o name | wc -l)" = 4 ]; }
ok "S1.22: one master and three workers" eventually 30 four
is "S1.22: by their labels" "$(kubectl get pods -l pytorch_job_name=distributed-mnist -o 'jsonpath={range .items[*]}{.metadata.labels.job_type}{.metadata.labels.task_index} {end}')" \
	'MASTER0 WORKER1 WORKER2 WORKER3 '
is "S1.20: the container's own restart policy holds" "$(kubectl get pods -l pytorch_job_name=distributed-mnist -o 'jsonpath={.items[*].spec.restartPolicy}')" \
	'OnFailure OnFailure OnFailure OnFailure'
ok "S1.24: it ends" kubectl wait --for=condition=Succeeded --timeout=400s pytorchjob/distributed-mnist
# falls: reads "LOSS" a line, the last must be well below the first
falls() { awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR == 10 && first > 0.8 && last < 0.7 * first) }'; }
pytorch() {
	PODNAME=$(kubectl get pods -l pytorch_job_name=distributed-mnist,task_index=0 -o name)
	like "$V: S1.22: exactly one pod has task_index=0" "$PODNAME" '^pod/distributed-mnist-master-[a-z0-9]{4}-0-[a-z0-9]{5}$'
	is "$V: S1.23: its log has ten epochs in the document's form" "$(kubectl logs ${PODNAME} | sed -E 's/[0-9.]{5,}$//')" "$(printf 'Rank  0 , epoch  %d :  \n' 0 1 2 3 4 5 6 7 8 9)"
	ok "$V: S1.23: and the loss falls" falls < <(kubectl logs ${PODNAME} | awk '{ print $NF }')
	like_all "$V: S1.24: the job as YAML" "$(kubectl get -o yaml pytorchjobs distributed-mnist)" 'kind: PyTorchJob~.*  name: distributed-mnist~.*~  state: Succeeded~'
	is "$V: S1.24: its status" "$(kubectl get -o json pytorchjobs distributed-mnist  | jq .status | jq -c '[.phase, (.replicaStatuses | map(.replica_type, .state))]')" \
		'["Done",["MASTER","Succeeded","WORKER","Succeeded"]]'
	is "$V: S1.24: its state" "$(kubectl get -o json pytorchjobs distributed-mnist  | jq .status.state)" '"Succeeded"'
	is "$V: S1.25: the replicas shared one host" "$(kubectl get pods -l pytorch_job_name=distributed-mnist -o 'jsonpath={.items[*].spec.nodeName}')" \
		'localnode-1 localnode-1 localnode-1 localnode-1'
}
each_kubectl pytorch
done_testing

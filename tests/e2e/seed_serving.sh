#!/bin/bash
# The document on Kubeflow, its part on serving: a model server behind a Service, asked by a Job under a local image's name.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/seeds/image.sh"
node_start main || exit 1
SEED=$ROOT/tests/e2e/seeds/serving
IMAGE=katacoda/tensorflow_serving:localimage

R=$(seed_root)
seed_program "$R" /bin/bash
E=$R/serving/bazel-bin/tensorflow_serving/example
mkdir -p "$E" "$R/data" "$R/models/inception/1"
cp "$SEED/inception_client" "$E/inception_client"
cp "$SEED/tensorflow_model_server" "$R/usr/bin/tensorflow_model_server"
chmod 755 "$E/inception_client" "$R/usr/bin/tensorflow_model_server"
printf 'tabby cat\ngreat white shark\nespresso\n' >"$R/models/inception/1/classes"
head -c 70000 /dev/urandom >"$R/data/katacoda.jpg"
SUM=$(md5sum <"$R/data/katacoda.jpg" | cut -c 1-8)
like "the document's image is made here" "$(seed_image main $IMAGE "$R")" "^sha256:[0-9a-f]{64} docker.io/$IMAGE\$"

# The document's own words.
completed_log() { k logs $(k get pods | grep Completed | tail -n1 | tr -s ' ' | cut -d ' ' -f 1); }
shown() { k get pods | grep -Eq "$1"; }

story() {
	local set
	is "$V: S1.16: a Deployment and its Service" "$(k apply -f "$SEED/inception.yaml" | tr '\n' ' ')" 'service/inception created deployment.apps/inception-v1 created '
	like "$V: S1.16: the model server comes up" "$(k rollout status deployment/inception-v1 --timeout=180s)" 'successfully rolled out'
	like "$V: S1.16: as the document shows it" "$(k get pods --no-headers)" '^inception-v1-[a-z0-9]+-[a-z0-9]{5} +1/1 +Running +0 +[0-9]+s$'
	like "$V: S1.16: the Service has its port" "$(k get svc inception --no-headers)" '^inception +ClusterIP +[0-9.]+ +<none> +9000/TCP '
	like "$V: S1.16: and leads to the pod" "$(k describe svc inception)" "Endpoints: +$(k get pods -l app=inception -o 'jsonpath={.items[0].status.podIP}'):9000\$"

	like "$V: S1.18: the client Job is applied" "$(k apply -f "$SEED/model-client-job.yaml")" 'job.batch/model-client-job-katacoda created'
	is "$V: S1.17: its argument over two lines is one" "$(get job model-client-job-katacoda '.spec.template.spec.containers[0].args')" \
		'["/serving/bazel-bin/tensorflow_serving/example/inception_client --server=inception:9000 --image=/data/katacoda.jpg"]'
	is "$V: S1.17: a name in the template is kept" "$(get job model-client-job-katacoda .spec.template.metadata.name)" model-client-job-katacoda
	like "$V: S1.17: it reaches the model server by its short name" "$(k wait --for=condition=complete --timeout=180s job/model-client-job-katacoda)" 'condition met'
	like "$V: S1.17: the pod is named after the Job all the same" "$(k get pods -l job-name=model-client-job-katacoda -o name)" '^pod/model-client-job-katacoda-[a-z0-9]{5}$'
	is "$V: S1.17: the image is not looked for elsewhere" "$(k get events -o json | jq -r '[.items[] | select(.reason == "Pulling" or .reason == "Failed")] | length')" 0

	# Made last and ended last, but not the last by name.
	k run example-job-master-0 --image=$IMAGE --image-pull-policy=Never --restart=Never -- /bin/true >/dev/null
	ok "$V: S1.18: another pod is completed later" eventually 30 shown '^example-job-master-0 +0/1 +Completed '
	is "$V: S1.18: kubectl get pods lists by name" "$(k get pods --no-headers | awk '{ print $1, $3 }' | sed -E 's/-[a-z0-9]{5} / /; s/(v1)-[a-z0-9]+ /\1 /' | tr '\n' ,)" \
		'example-job-master-0 Completed,inception-v1 Running,model-client-job-katacoda Completed,'
	is "$V: S1.18: so that tail -n1 finds the client, with what the model says of the picture" "$(completed_log)" \
		"model_spec { name: \"inception\" version { value: 1 } }
classes: $(sed -n "$((0x$SUM % 3 + 1))p" "$R/models/inception/1/classes")
scores: $SUM"

	k run absent --image=katacoda/tensorflow_serving:other --image-pull-policy=Never --restart=Never >/dev/null
	ok "$V: S1.17: a tag that is not here is not pulled, and says so" eventually 30 shown '^absent +0/1 +ErrImageNeverPull '
	set=$(k get rs -o name)
	k delete pod --now -l app=inception >/dev/null
	like "$V: S1.16: a model server that is lost comes back" "$(k rollout status deployment/inception-v1 --timeout=180s; k get rs -o name)" "$set"
	k delete job model-client-job-katacoda >/dev/null
	k apply -f "$SEED/model-client-job.yaml" >/dev/null
	like "$V: S1.18: and the Service leads to the new one" "$(k wait --for=condition=complete --timeout=180s job/model-client-job-katacoda)" 'condition met'
	is "$V: S1.18: which says the same" "$(completed_log | tail -n 1)" "scores: $SUM"
	k delete -f "$SEED/inception.yaml" -f "$SEED/model-client-job.yaml" >/dev/null
	k delete pods --all --now >/dev/null
	ok "$V: S1.18: nothing is left" eventually 30 nothing
}
nothing() { [ -z "$("$K" -n "$NS" get pods,rs,jobs,endpoints,endpointslices -o name)" ]; }
each_kubectl story
done_testing

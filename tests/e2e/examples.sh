#!/bin/bash
# Every manifest in examples/, applied as it is to a fresh server, to its end.
. "$(dirname "$0")/lib.sh"
cd "$ROOT/examples" || exit 1
node_start main || exit 1

# psgd is beside stoker; pods do not see this machine's /tmp.
manifest() { if [ "$1" = psgd.yaml ]; then "$ROOT/tools/demo-manifest" "$ROOT/build"; else cat "$1"; fi; }
# ends FILE OBJECT CONDITION [SECONDS]
ends() { ok "$1: ${2##*/} ends well" kubectl wait "$2" --for="condition=$3" --timeout="${4:-400}s"; }
# Those of seed_kubeflow.sh, training.sh, operate.sh and crd.sh run there.
for f in *.yaml; do
	case $f in
	tfjob-v1alpha2.yaml | pytorch-v1alpha1.yaml | operate.yaml | definitions.yaml) continue ;;
	paddle-job.yaml | tensorflow-jobs.yaml | paddle.yaml | mpi.yaml | pytorch-mnist.yaml | psgd.yaml) ;;
	*) fail "$f is tested" ;;
	esac
	like "$f: it opens with what it is and how to run it" "$(head -n 8 "$f" | tr '\n' '~')" "^# [A-Za-z].*~#   kubectl (apply|create) -f examples/$f~"
	like "$f: it is applied" "$(manifest "$f" | kubectl apply -f -)" ' created$'
done

ends paddle-job.yaml job/quickstart Complete
is "paddle-job.yaml: fifteen passes are in the claim" "$(find "$T"/main/data/claims/default-paddle-output-* -name 'pass-*' | wc -l)" 15
ends tensorflow-jobs.yaml job/tensorflow-worker0-rc Complete
ends tensorflow-jobs.yaml job/tensorflow-worker1-rc Complete
is "tensorflow-jobs.yaml: a worker has met the others" "$(kubectl logs job/tensorflow-worker1-rc | sed -n 's/^connected to //p' | tr '\n' ,)" \
	'ps 0 at tensorflow-ps-service:2222,worker 0 at tensorflow-wk-service0:2222,'
ends paddle.yaml paddlejob/fit Succeeded
is "paddle.yaml: all ranks are there" "$(for i in 0 1 2; do kubectl logs fit-worker-$i; done | grep '^rank' | sort | tr '\n' ,)" \
	'rank 0 of 3 in fit,rank 1 of 3 in fit,rank 2 of 3 in fit,'
like "paddle.yaml: they have found the same line" "$(for i in 0 1 2; do kubectl logs fit-worker-$i | tail -n 1; done | sort | uniq -c)" '^ +3 y = (2\.9|3\.0). x \+ (1\.9|2\.0).$'
ends mpi.yaml mpijob/pi Succeeded
is "mpi.yaml: four processes, two in each worker" "$(kubectl logs pi-launcher | grep -oE '^rank [0-9] of 4 on pi-worker-[01]' | tr '\n' ,)" \
	'rank 0 of 4 on pi-worker-0,rank 1 of 4 on pi-worker-0,rank 2 of 4 on pi-worker-1,rank 3 of 4 on pi-worker-1,'
is "mpi.yaml: and their sum" "$(kubectl logs pi-launcher | tail -n 1)" 'pi is 3.141593'
workers_gone() { [ -z "$(kubectl get pods -o name -l training.kubeflow.org/job-name=pi,training.kubeflow.org/replica-type=worker)" ]; }
ok "mpi.yaml: the workers go when the launcher has ended" eventually 60 workers_gone
ends pytorch-mnist.yaml pytorchjob/mnist Succeeded
is "pytorch-mnist.yaml: ten epochs" "$(kubectl logs mnist-master-0 | grep -cE '^Rank  0 , epoch  [0-9] :  [0-9.]+$')" 10
over() { awk -v min="$1" '/accuracy=/ { sub(/.*accuracy=/, ""); a = $1 + 0 } END { exit !(a >= min) }'; }
ok "pytorch-mnist.yaml: it has learned" over 0.7 < <(kubectl logs mnist-master-0)
ends psgd.yaml tfjob/psgd Succeeded
ok "psgd.yaml: it has learned" over 0.86 < <(kubectl logs psgd-master-0)
ok "psgd.yaml: the model is in the claim" test -s "$(echo "$T"/main/data/claims/default-psgd-*/model.psgd)"
all_completed() { [ "$(kubectl get pods --no-headers | grep '^psgd-' | awk '{ print $3 }' | sort | uniq -c | tr -s ' ')" = ' 5 Completed' ]; }
ok "psgd.yaml: all five have ended by themselves" eventually 60 all_completed

none() { [ -z "$(kubectl get pods -o name)" ]; }
kubectl delete -f paddle-job.yaml -f tensorflow-jobs.yaml -f paddle.yaml -f mpi.yaml -f pytorch-mnist.yaml -f psgd.yaml >/dev/null
ok "deleted, nothing is left of them" eventually 60 none

# A worker that is slow to start is waited for; what mpirun is given arrives as it was.
kubectl apply -f - >/dev/null <<-'MPI'
	apiVersion: kubeflow.org/v1
	kind: MPIJob
	metadata: {name: slow}
	spec:
	  runPolicy: {cleanPodPolicy: All}
	  mpiReplicaSpecs:
	    Launcher: {template: {spec: {containers: [{name: mpi, image: host, command: [mpirun, -n, "2", -x, "WORD=two  spaces", sh, -c, 'echo "$OMPI_COMM_WORLD_RANK: $WORD"']}]}}}
	    Worker:
	      replicas: 2
	      template:
	        spec:
	          terminationGracePeriodSeconds: 1
	          initContainers: [{name: slow, image: host, command: [sleep, "2"]}]
	          containers: [{name: mpi, image: host}]
MPI
ends "a worker with an init container" mpijob/slow Succeeded
is "quotes and spaces stay" "$("$STOKER" logs slow-launcher --socket "$SOCKET" | grep '^[0-9]:' | sort | tr '\n' ,)" '0: two  spaces,1: two  spaces,'

# mpirun's way to a worker that is not there yet: it comes through as soon as there is one, and nobody is told of errors.
kubectl get configmap slow-config -o 'jsonpath={.data.kubexec\.sh}' | sed "s|/etc/mpi/|$T/|" >"$T/way.sh"
printf mpi >"$T/container"
sh "$T/way.sh" -x late.default.svc 'echo "arrived: $*"' >"$T/way.out" 2>&1 &
way=$!
sleep 1
kubectl run late --image=host --restart=Never --overrides='{"spec":{"containers":[{"name":"mpi","image":"host","command":["sleep","600"]}],"terminationGracePeriodSeconds":0}}' >/dev/null
wait $way
is "a worker that is made later is waited for in silence" "$(cat "$T/way.out")" 'arrived: '
done_testing

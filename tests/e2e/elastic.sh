#!/bin/bash
# An elastic PyTorchJob with the real torchrun: workers come, go and die while it trains.
. "$(dirname "$0")/lib.sh"
node_start main
S=$T/share
mkdir -m 777 "$S"
# Each round is a sum over all workers; rank 0 says how many there were.  It ends when the test says so.
cat >"$S/train.py" <<'END_PY'
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
open("/share/pid-%s" % os.environ["HOSTNAME"], "w").write(str(os.getpid()))
with open("/share/sizes", "a") as f:
    if rank == 0:
        f.write("%d\n" % size)
while True:
    stop = torch.tensor([1.0 if os.path.exists("/share/stop") else 0.0])
    dist.all_reduce(stop)
    if stop.item() > 0:
        break
    __import__("time").sleep(0.2)
print("rank", rank, "of", size, "ends", flush=True)
END_PY
# torch 1.13 with Python 3.11 cannot read its own default of --redirects and --tee: nothing for a rank that is not there.
job() { # MIN MAX REPLICAS
	cat <<-YAML
		apiVersion: kubeflow.org/v1
		kind: PyTorchJob
		metadata: {name: el}
		spec:
		  elasticPolicy: {minReplicas: $1, maxReplicas: $2, rdzvBackend: c10d, rdzvConf: [{key: last_call_timeout, value: "1"}], maxRestarts: 20}
		  nprocPerNode: "1"
		  pytorchReplicaSpecs:
		    Worker:
		      replicas: $3
		      restartPolicy: OnFailure
		      template: {spec: {terminationGracePeriodSeconds: 5, volumes: [{name: share, hostPath: {path: $S}}], containers: [{name: pytorch, image: host, env: [{name: OMP_NUM_THREADS, value: "1"}], volumeMounts: [{name: share, mountPath: /share}], command: [/usr/bin/python3, -m, torch.distributed.run, "--redirects=9:1", "--tee=9:1", "--monitor_interval=0.5", /share/train.py]}]}}
	YAML
}
state() { kubectl get pytorchjob el -o 'jsonpath={.status.conditions[-1:].type}'; }
is_state() { [ "$(state)" = "$1" ]; }
size_is() { [ "$(tail -n 1 "$S/sizes" 2>/dev/null)" = "$1" ]; }
times() { grep -c . "$S/sizes" 2>/dev/null; }
more_than() { [ "$(times)" -gt "$1" ] && size_is "$2"; }

like "refused: fewer than none" "$(job 3 2 2 | kubectl apply -f - 2>&1)" 'spec.elasticPolicy.maxReplicas: Invalid value: 2: must be greater than or equal to minReplicas'
job 1 3 1 | kubectl apply -f - >/dev/null
ok "one worker is enough to begin" eventually 180 size_is 1
is "torchrun is told the range" "$(kubectl get pod el-worker-0 -o json | jq -r '.spec.containers[0].env[] | select(.name | startswith("PET_")) | .name + "=" + .value' | sort | tr '\n' ' ')" 'PET_MAX_RESTARTS=20 PET_NNODES=1:3 PET_NPROC_PER_NODE=1 PET_RDZV_BACKEND=c10d PET_RDZV_CONF=last_call_timeout=1 PET_RDZV_ENDPOINT=el-worker-0:23456 '
ok "it is scaled by kubectl" kubectl scale pytorchjob/el --replicas=2
ok "and goes on with two" eventually 180 size_is 2
is "the scale says how many, and how to find them" "$(kubectl get --raw /apis/kubeflow.org/v1/namespaces/default/pytorchjobs/el/scale | jq -c '[.spec.replicas, .status.replicas]') $(kubectl get pods -o name -l "$(kubectl get --raw /apis/kubeflow.org/v1/namespaces/default/pytorchjobs/el/scale | jq -r .status.selector)" | tr '\n' ' ')" '[2,2] pod/el-worker-0 pod/el-worker-1 '
before=$(times)
# It says who it is a little later than its leader how many they are.
ok "a worker is killed" eventually 60 kubectl exec el-worker-1 -- sh -c 'kill -9 $(cat /share/pid-el-worker-1)'
ok "it is back, and they go on together" eventually 180 more_than "$before" 2
like "too many is refused" "$(kubectl scale pytorchjob/el --replicas=4 2>&1)" 'pytorchReplicaSpecs\[Worker\].replicas'
kubectl scale pytorchjob/el --replicas=1 >/dev/null
names() { [ "$(kubectl get pods -o name)" = pod/el-worker-0 ]; }
ok "scaled down, the last one goes" eventually 60 names
ok "and the first goes on alone" eventually 180 size_is 1
touch "$S/stop"
ok "the job ends well" eventually 180 is_state Succeeded
like "having said so" "$(kubectl logs el-worker-0)" 'rank 0 of 1 ends'
done_testing

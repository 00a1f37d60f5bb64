#!/bin/bash
# Training jobs with real pods that find each other and talk: what people see of them, and accidents.
. "$(dirname "$0")/lib.sh"
node_start main
S=$T/share
mkdir -m 777 "$S"
RANDOM=${SEED:=$$}
echo "# SEED=$SEED"

# task.py: every task of a TFJob.  Those that serve say who they are to whoever connects; the one that decides asks all.
cat >"$S/task.py" <<'END'
import json, os, socket, sys, time
config = json.loads(os.environ["TF_CONFIG"])
task = config["task"]
me = "%s-%d" % (task["type"], task["index"])
open("/share/starts-" + sys.argv[1], "a").write(me + "\n")
def serve():
    s = socket.create_server(("", 2222))
    while True:
        c = s.accept()[0]
        c.sendall(me.encode())
        c.close()
def ask(address):
    host, port = address.rsplit(":", 1)
    for _ in range(600):
        try:
            return socket.create_connection((host, int(port)), 5).recv(100).decode()
        except OSError:
            time.sleep(0.05)
    sys.exit("nobody at " + address)
if task["type"] not in ("master", "chief"):
    serve()
for kind in sorted(config["cluster"]):
    if kind != task["type"]:
        print(kind, [ask(a) for a in config["cluster"][kind]], flush=True)
time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
END
# rank.py: every process of a PyTorchJob.  The master hears of all ranks, then lets them go.
cat >"$S/rank.py" <<'END'
import os, socket, sys, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
open("/share/starts-" + sys.argv[1], "a").write("rank-%d\n" % rank)
port = int(os.environ["MASTER_PORT"])
if rank == 0:
    s = socket.create_server(("", port))
    heard = {}
    while len(heard) < size - 1:
        c = s.accept()[0]
        heard[int(c.recv(100))] = c
    for epoch in range(3):
        print("Rank ", rank, ", epoch ", epoch, ": ", 1.0 / (epoch + 1), flush=True)
    print("heard", sorted(heard), flush=True)
    time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
    sys.exit(0)
for _ in range(600):
    try:
        c = socket.create_connection((os.environ["MASTER_ADDR"], port), 5)
        break
    except OSError:
        time.sleep(0.05)
c.sendall(str(rank).encode())
try:
    c.recv(100)
except OSError:
    pass # the master has gone: whoever fails now would run again
time.sleep(1000)
END

# pod CONTAINER COMMAND...: a template's spec, in one line.
pod() {
	local c=$1
	shift
	printf '{terminationGracePeriodSeconds: 1, volumes: [{name: share, hostPath: {path: %s}}], containers: [{name: %s, image: host, volumeMounts: [{name: share, mountPath: /share}], command: [%s]}]}' \
		"$S" "$c" "$*"
}
state() { kubectl get "$1" "$2" -o 'jsonpath={.status.conditions[-1:].type}' 2>/dev/null; }
is_state() { [ "$(state "$1" "$2")" = "$3" ]; }
message() { kubectl get "$1" "$2" -o "jsonpath={.status.conditions[?(@.type==\"$3\")].message}"; }
pods() { kubectl get pods -l "training.kubeflow.org/job-name=$1" --no-headers 2>/dev/null | awk '{ print $1 "=" $3 }' | sort | tr '\n' ' '; }
pods_are() { [ "$(pods "$1")" = "$2" ]; }
starts() { sort "$S/starts-$1" 2>/dev/null | tr '\n' ' '; }

is "their definitions are there" "$(kubectl get crd --no-headers | awk '{ print $1 }' | tr '\n' ' ')" 'mpijobs.kubeflow.org paddlejobs.kubeflow.org pytorchjobs.kubeflow.org tfjobs.kubeflow.org '

# --- a TFJob of v1alpha2, as the first source document has it ---
tfjob_old() { # NAME SECONDS
	cat <<-END
		apiVersion: "kubeflow.org/v1alpha2"
		kind: "TFJob"
		metadata: {name: "$1"}
		spec:
		  tfReplicaSpecs:
		    Master: {replicas: 1, restartPolicy: Never, template: {spec: $(pod tensorflow /usr/bin/python3, /share/task.py, "$1", "\"$2\"")}}
		    Worker: {replicas: 1, restartPolicy: Never, template: {spec: $(pod tensorflow /usr/bin/python3, /share/task.py, "$1")}}
		    PS: {replicas: 2, restartPolicy: Never, template: {spec: $(pod tensorflow /usr/bin/python3, /share/task.py, "$1")}}
	END
}
tfjob_old example-job 0 | kubectl apply -f - >/dev/null
ok "the master decides, though the others only block" eventually 60 is_state tfjob example-job Succeeded
ok "they are stopped, and only the master's pod stays" eventually 30 pods_are example-job 'example-job-master-0=Completed '
is "its log, by the pipeline that people use" "$(kubectl logs "$(kubectl get pods | grep Completed | tr -s ' ' | cut -d ' ' -f 1)" | tr -d "'")" "ps [ps-0, ps-1]
worker [worker-0]"
like "kubectl get tfjob" "$(kubectl get tfjob)" '^example-job +Succeeded'
is "counters stay" "$(kubectl get tfjobs.v1alpha2.kubeflow.org example-job -o json | jq -c '.status.tfReplicaStatuses | map_values(del(.selector))')" '{"Master":{"succeeded":1},"PS":{"succeeded":2},"Worker":{"succeeded":1}}'
is "what its programs were told" "$(kubectl get pod example-job-master-0 -o json | jq -r '.spec.containers[0].env[0].value')" \
	'{"cluster":{"master":["example-job-master-0.default.svc.cluster.local:2222"],"ps":["example-job-ps-0.default.svc.cluster.local:2222","example-job-ps-1.default.svc.cluster.local:2222"],"worker":["example-job-worker-0.default.svc.cluster.local:2222"]},"task":{"type":"master","index":0}}'
is "selectors of every age find it" "$(kubectl get pods -o name -l group_name=kubeflow.org,tf_job_name=example-job,tf-replica-type=master) $(kubectl get pods -o name -l tf-job-name=example-job,tf-job-role=master) $(kubectl get pods -o name -l job-name=example-job,job-role=master)" 'pod/example-job-master-0 pod/example-job-master-0 pod/example-job-master-0'
kubectl delete tfjob example-job >/dev/null
ok "all goes with the job" eventually 20 pods_are example-job ''

# --- a PyTorchJob of v1alpha1 ---
kubectl create -f - >/dev/null <<-END
	apiVersion: "kubeflow.org/v1alpha1"
	kind: "PyTorchJob"
	metadata: {name: "distributed-mnist"}
	spec:
	  backend: "tcp"
	  masterPort: "23456"
	  replicaSpecs:
	  - replicas: 1
	    replicaType: MASTER
	    template: {spec: {restartPolicy: OnFailure, $(pod pytorch /usr/bin/python3, /share/rank.py, mnist | cut -c2-)}
	  - replicas: 3
	    replicaType: WORKER
	    template: {spec: {restartPolicy: OnFailure, $(pod pytorch /usr/bin/python3, /share/rank.py, mnist | cut -c2-)}
END
word() { [ "$(kubectl get -o json pytorchjobs distributed-mnist | jq .status.state)" = '"Succeeded"' ]; }
ok "a PyTorchJob of v1alpha1 says it in one word" eventually 60 word
is "one master, three workers" "$(kubectl get pods -l pytorch_job_name=distributed-mnist -o name | sed -E 's/-[a-z0-9]{4}-([0-9])-[a-z0-9]{5}$/-ID-\1-RANDOM/' | tr '\n' ' ')" \
	'pod/distributed-mnist-master-ID-0-RANDOM pod/distributed-mnist-worker-ID-1-RANDOM pod/distributed-mnist-worker-ID-2-RANDOM pod/distributed-mnist-worker-ID-3-RANDOM '
PODNAME=$(kubectl get pods -l pytorch_job_name=distributed-mnist,task_index=0 -o name)
like "the master's log" "$(kubectl logs "$PODNAME" | tr '\n' ' ')" '^Rank  0 , epoch  0 :  1.0 .*heard \[1, 2, 3\]'
ended() { [ "$(kubectl get pods -l pytorch_job_name=distributed-mnist --no-headers | grep -cv Running)" -eq 4 ]; }
ok "the workers are stopped too; their pods stay" eventually 30 ended
kubectl delete pytorchjob distributed-mnist >/dev/null

# --- failures ---
kubectl apply -f - >/dev/null <<-END
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: bad}
	spec:
	  pytorchReplicaSpecs:
	    Master: {restartPolicy: Never, template: {spec: $(pod pytorch sleep, '"1000"')}}
	    Worker: {replicas: 2, restartPolicy: Never, template: {spec: $(pod pytorch sh, -c, "'echo no such data; [ \$RANK = 2 ] && exit 3; sleep 1000'")}}
	---
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: again}
	spec:
	  runPolicy: {cleanPodPolicy: All, backoffLimit: 3}
	  tfReplicaSpecs:
	    Chief: {restartPolicy: Never, template: {spec: $(pod tensorflow sh, -c, "'echo chief >>/share/starts-again; while [ \$(grep -c worker /share/starts-again) -lt 2 ]; do sleep 0.1; done'")}}
	    Worker: {restartPolicy: ExitCode, template: {spec: $(pod tensorflow sh, -c, "'echo worker >>/share/starts-again; [ \$(grep -c worker /share/starts-again) = 1 ] && exit 137; sleep 1000'")}}
	---
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: together, annotations: {stoker.dev/restart: gang}}
	spec:
	  pytorchReplicaSpecs:
	    Master: {restartPolicy: OnFailure, template: {spec: $(pod pytorch sh, -c, "'echo master >>/share/starts-together; while [ ! -e /share/failed ]; do sleep 0.1; done; [ \$(grep -c master /share/starts-together) = 2 ] || sleep 1000'")}}
	    Worker: {restartPolicy: OnFailure, template: {spec: $(pod pytorch sh, -c, "'echo worker >>/share/starts-together; [ -e /share/failed ] || { while ! grep -q master /share/starts-together; do sleep 0.1; done; touch /share/failed; exit 1; }; sleep 1000'")}}
	---
	apiVersion: kubeflow.org/v1
	kind: PaddleJob
	metadata: {name: never}
	spec:
	  runPolicy: {backoffLimit: 1, ttlSecondsAfterFinished: 60, cleanPodPolicy: Running}
	  paddleReplicaSpecs:
	    Worker: {replicas: 2, restartPolicy: ExitCode, template: {spec: $(pod paddle sh, -c, "'echo \$PADDLE_MASTER; exit 143'")}}
	---
	apiVersion: kubeflow.org/v1
	kind: PyTorchJob
	metadata: {name: inplace}
	spec:
	  runPolicy: {backoffLimit: 0}
	  pytorchReplicaSpecs:
	    Master: {template: {spec: $(pod pytorch sleep, '"1000"')}}
	    Worker: {template: {spec: $(pod pytorch sh, -c, "'echo cannot open data; exit 3'")}}
	---
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: init}
	spec:
	  tfReplicaSpecs:
	    Worker: {restartPolicy: ExitCode, template: {spec: {initContainers: [{name: fetch, image: host, command: [sh, -c, 'echo init says no; exit 1']}], $(pod tensorflow sleep, '"1000"' | cut -c2-)}}
END
ok "a worker that may not restart ends its job" eventually 60 is_state pytorchjob bad Failed
is "which says who it was, and its last words" "$(message pytorchjob bad Failed)" 'PyTorchJob bad is failed because 1 Worker replica(s) failed. worker-1 exited with code 3; its last lines: no such data'
ends() { kubectl get pods -l training.kubeflow.org/job-name=bad -o 'jsonpath={range .items[*]}{.metadata.name}={.status.phase}/{.status.reason} {end}'; }
ends_are() { [ "$(ends)" = "$1" ]; }
ok "and nobody goes on without it" eventually 30 ends_are 'bad-master-0=Failed/DeadlineExceeded bad-worker-0=Failed/DeadlineExceeded bad-worker-1=Failed/ '
ok "one that was killed runs again" eventually 60 is_state tfjob again Succeeded
is "once, and nobody else" "$(starts again) $(kubectl get tfjob again -o 'jsonpath={.status.replicas.worker-0.restarts}')" 'chief worker worker  1'
ok "and all are cleaned away" eventually 30 pods_are again ''
ok "a gang restarts whole" eventually 60 is_state pytorchjob together Succeeded
is "everybody twice" "$(starts together) $(kubectl get pytorchjob together -o 'jsonpath={.status.gangRestarts}')" 'master master worker worker  1'
ok "new pods count towards the limit" eventually 60 is_state paddlejob never Failed
like "with the words of old" "$(message paddlejob never Failed)" '^Job never has failed because it has reached the specified backoff limit. worker-[01] exited with code 143; its last lines: (never-worker-0|[0-9.]+):36543$'
ok "so do restarts in place" eventually 60 is_state pytorchjob inplace Failed
is "with the same words" "$(message pytorchjob inplace Failed)" 'Job inplace has failed because it has reached the specified backoff limit. worker-0 exited with code 3; its last lines: cannot open data'
is "whoever failed is counted and remembered" "$(kubectl get pytorchjob inplace -o 'jsonpath={.status.replicaStatuses.Worker.failed} {.status.replicas.worker-0.exitCode}')" '1 3'
is "and stoker's exit status is its own" "$("$STOKER" follow inplace >/dev/null 2>&1; echo $?)" 3
at_rest() { [ "$(kubectl get pod inplace-worker-0 -o 'jsonpath={.status.phase} {.status.containerStatuses[0].state.terminated.exitCode}')" = 'Failed 3' ]; }
ok "nothing of it waits for another run" eventually 30 at_rest
ok "an init container that fails ends its job by its exit code" eventually 60 is_state tfjob init Failed
like "and is named" "$(message tfjob init Failed)" "worker-0's init container fetch exited with code 1; its last lines: init says no\$"
like "events tell the story" "$(kubectl get events --field-selector involvedObject.name=again -o 'jsonpath={range .items[*]}{.reason} {end}')" 'TFJobCreated.*SuccessfulCreateService.*SuccessfulCreatePod.*ExitedWithCode.*TFJobRestarting.*TFJobSucceeded'

# --- gangs: two jobs that each need the whole machine ---
CPUS=$(kubectl get nodes -o 'jsonpath={.items[0].status.allocatable.cpu}')
case $CPUS in *m) CPUS=${CPUS%m} ;; *) CPUS=$((CPUS * 1000)) ;; esac
gang() { # NAME
	cat <<-END
		apiVersion: kubeflow.org/v1
		kind: TFJob
		metadata: {name: $1}
		spec:
		  successPolicy: AllWorkers
		  tfReplicaSpecs:
		    Worker:
		      replicas: 2
		      template: {spec: {terminationGracePeriodSeconds: 1, containers: [{name: tensorflow, image: host, command: [sleep, "1"], resources: {requests: {cpu: $((CPUS * 45 / 100))m}}}]}}
	END
}
{ gang one; echo ---; gang two; } | kubectl apply -f - >/dev/null
both() { is_state tfjob one Succeeded && is_state tfjob two Succeeded; }
ok "two jobs that each need the whole machine both end" eventually 180 both
# Each job's pods ran in an interval of their own.
span() { kubectl get pods -l "training.kubeflow.org/job-name=$1" -o json | jq -r '[.items[].status.containerStatuses[0].state.terminated | .startedAt, .finishedAt] | min + " " + max'; }
apart() {
	local a b
	a=$(span one) b=$(span two)
	[[ ${a#* } < ${b% *} || ${a#* } == "${b% *}" || ${b#* } < ${a% *} || ${b#* } == "${a% *}" ]]
}
ok "one after the other" apart

# --- names: whoever starts can look for all the others at once ---
kubectl apply -f - >/dev/null <<-END
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: names}
	spec:
	  successPolicy: AllWorkers
	  tfReplicaSpecs:
	    Worker: {replicas: 6, template: {spec: $(pod tensorflow sh, -c, "'for i in 0 1 2 3 4 5; do getent hosts names-worker-\$i.default.svc || exit 1; done; sleep 1'")}}
END
ok "all names resolve before the first program starts" eventually 60 is_state tfjob names Succeeded

# --- suspended and resumed ---
tfjob_old pause 1000 | sed 's/v1alpha2/v1/' | kubectl apply -f - >/dev/null
ok "it runs" eventually 60 is_state tfjob pause Running
kubectl patch tfjob pause --type merge -p '{"spec":{"runPolicy":{"suspend":true}}}' >/dev/null
ok "suspended, nothing of it is left" eventually 30 pods_are pause ''
ok "and it says so" eventually 60 is_state tfjob pause Suspended
kubectl patch tfjob pause --type merge -p '{"spec":{"runPolicy":{"suspend":false,"activeDeadlineSeconds":4}}}' >/dev/null
ok "resumed, it begins anew, and ends at its deadline" eventually 60 is_state tfjob pause Failed
is "and says so" "$(message tfjob pause Failed)" 'Job pause has failed because it was active longer than specified deadline'

# --- MPI ---
mpijob() { # NAME
	cat <<-END
		apiVersion: kubeflow.org/v1
		kind: MPIJob
		metadata: {name: $1}
		spec:
		  slotsPerWorker: 2
		  mpiReplicaSpecs:
		    Launcher: {template: {spec: $(pod mpi sh, -c, "'cat /etc/mpi/hostfile; for h in \$(cut -d\" \" -f1 /etc/mpi/hostfile); do \$OMPI_MCA_plm_rsh_agent \$h hostname || exit 1; done'")}}
		    Worker: {replicas: 2, template: {spec: {terminationGracePeriodSeconds: 1, containers: [{name: mpi, image: host}]}}}
	END
}
mpijob mpi | kubectl apply -f - >/dev/null
ok "an MPIJob's launcher ends" eventually 60 is_state mpijob mpi Succeeded
is "it has a hostfile, and runs programs in its workers" "$(kubectl logs mpi-launcher)" 'mpi-worker-0 slots=2
mpi-worker-1 slots=2
mpi-worker-0
mpi-worker-1'

# --- the server is killed in every phase ---
kubectl delete tfjobs,pytorchjobs,paddlejobs,mpijobs --all >/dev/null
torchjob() { # NAME SECONDS
	cat <<-END
		apiVersion: kubeflow.org/v1
		kind: PyTorchJob
		metadata: {name: $1}
		spec:
		  runPolicy: {cleanPodPolicy: Running}
		  pytorchReplicaSpecs:
		    Master: {template: {spec: $(pod pytorch /usr/bin/python3, /share/rank.py, "$1", "\"$2\"")}}
		    Worker: {replicas: 2, template: {spec: $(pod pytorch /usr/bin/python3, /share/rank.py, "$1")}}
	END
}
{ tfjob_old crash-tf 1.5; echo ---; torchjob crash-torch 1.5; } | kubectl apply -f - >/dev/null
for pause in 0.0 0.3 0.5 0.9 1.2; do
	sleep "$pause"
	sleep "0.$((RANDOM % 3))"
	kill -9 "$SERVER_PID"
	wait "$SERVER_PID" 2>/dev/null
	server_run main || break
done
ok "killed again and again, a TFJob ends as it would" eventually 180 is_state tfjob crash-tf Succeeded
ok "and a PyTorchJob" eventually 180 is_state pytorchjob crash-torch Succeeded
ok "what is left of them is what should be" eventually 60 pods_are crash-tf 'crash-tf-master-0=Completed '
ok "also of the other" eventually 60 pods_are crash-torch 'crash-torch-master-0=Completed '
is "and nobody was started twice" "$(starts crash-tf)/ $(starts crash-torch)" 'master-0 ps-0 ps-1 worker-0 / rank-0 rank-1 rank-2 '
server_stop

# --- the controllers in a process of their own ---
node_start outside --controllers '*,-tfjob,-pytorchjob,-mpijob'
"$STOKER" operate --controllers tfjob,pytorchjob --lease-duration 15s >"$T/op.out" 2>"$T/op.err" &
OPERATOR=$!
PIDS+=($OPERATOR)
{ tfjob_old out-tf 0; echo ---; torchjob out-torch 0; } | kubectl apply -f - >/dev/null
ok "an operator outside runs a TFJob" eventually 180 is_state tfjob out-tf Succeeded
ok "and a PyTorchJob" eventually 180 is_state pytorchjob out-torch Succeeded
ok "and cleans up" eventually 60 pods_are out-tf 'out-tf-master-0=Completed '
is "each was started once" "$(starts out-tf)/ $(starts out-torch)" 'master-0 ps-0 ps-1 worker-0 / rank-0 rank-1 rank-2 '
kill "$OPERATOR"
wait "$OPERATOR" 2>/dev/null
kubectl apply -f "$ROOT/examples/operate.yaml" >/dev/null
kubectl delete deployment -n kube-system stoker-operate >/dev/null
"$STOKER" operate --controllers tfjob,mpijob --lease-duration 15s --as system:serviceaccount:kube-system:stoker-operate >"$T/op.out" 2>"$T/op.err" &
PIDS+=($!)
# What an ordinary account makes may not mount this machine's directories.
mpijob out-mpi | sed -E 's/ volumes: \[[^]]*\],//; s/ volumeMounts: \[[^]]*\],//' | kubectl apply -f - >/dev/null
ok "the rights of the example are enough" eventually 60 is_state mpijob out-mpi Succeeded
unlike "for all of it" "$(cat "$T/op.err")" 'forbidden'
done_testing

#!/bin/bash
# One replica that cannot start holds the programs of its job, and the job says who it is and why.
. "$(dirname "$0")/lib.sh"
node_start main
k() { kubectl "$@"; }

# job NAME FIELDS [VOLUME]: a chief and a worker that only need to run, and a server whose container has those fields.
job() {
	cat <<END
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: { name: $1 }
spec:
  tfReplicaSpecs:
    Chief: &role
      template: { spec: { containers: [ { name: tensorflow, image: host, command: [ sleep, "1000" ] } ] } }
    Worker: *role
    PS:
      template: { spec: { volumes: [ ${3:-} ], containers: [ { name: tensorflow, command: [ sleep, "1000" ], $2 } ] } }
END
}
running() { k get pods -l "training.kubeflow.org/job-name=$1" --field-selector=status.phase=Running -o name | sort | tr '\n' ' '; }
waits() { k get events --field-selector="involvedObject.name=$1,reason=Waiting" -o jsonpath='{range .items[*]}{.count} {.message}{"\n"}{end}'; }
says() { waits "$1" | grep -q "$2"; }
pods_are_made() { [ "$(k get pods -l "training.kubeflow.org/job-name=$1" -o jsonpath='{.items[*].status.podIP}' | wc -w)" = 3 ]; }
backs_off() { k get pod image-ps-0 | grep -q ImagePullBackOff; }
all_run() { [ "$(running "$1" | wc -w)" = 3 ]; }

{
	job image 'image: nosuch.invalid/x:1'
	job never 'image: "nosuch:1", imagePullPolicy: Never'
	job env 'image: host, envFrom: [ { configMapRef: { name: late } } ]'
	job volume 'image: host' '{ name: v, secret: { secretName: late } }'
} >"$T/jobs"
ok "jobs are created whose server cannot start" k apply -f "$T/jobs"
for j in image never env volume; do
	ok "$j: the pods are set up" eventually 60 pods_are_made $j
done
ok "an image that cannot be pulled is told on the job" eventually 60 says image 'ps-0 cannot start: ErrImagePull: .*nosuch'
ok "so is one that may not be" eventually 60 says never 'ps-0 cannot start: ErrImageNeverPull: .*nosuch:1'
ok "so is a ConfigMap that is missing" eventually 60 says env 'ps-0 cannot start: CreateContainerConfigError: .*late'
ok "so is a Secret that is to be mounted" eventually 60 says volume 'ps-0 cannot start: ContainerCreating: .*late'
ok "meanwhile the pull is tried again" eventually 60 backs_off
for j in image never env volume; do
	is "$j: none of its programs runs" "$(running $j)" ""
	like "$j: and it does not say that it does" "$(k get tfjob $j --no-headers)" "^$j +Created "
	is "$j: the reason is told once" "$(waits $j | grep -c '')" 1
done

# What was missing comes: all start.
k create configmap late --from-literal=a=b >/dev/null
k create secret generic late --from-literal=a=b >/dev/null
for j in env volume; do
	ok "$j: what was missing comes, and all programs start" eventually 60 all_run $j
	ok "$j: the job runs" k wait --for=condition=Running tfjob/$j --timeout=180s
done

# Somebody who restarts alone is not held by a gang that runs.
k delete pod env-worker-0 --grace-period=0 --force >/dev/null 2>&1
ok "a pod that comes later joins those that run" eventually 60 all_run env
is "image: still none of its programs runs" "$(running image)" ""

# A job that waits can be deleted like any other.
k delete tfjob --all --wait=false >/dev/null
none() { [ -z "$(k get pods -o name)" ]; }
ok "all of them can be deleted" eventually 60 none
done_testing

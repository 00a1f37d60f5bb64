#!/bin/bash
# A pod from its first container to its last: order, restarts, probes, hooks, ends, and what Kubernetes shows of each.
#
# Pods and this script meet in a directory that both see: a file there is a signal.
. "$(dirname "$0")/lib.sh"
node_start main
S=$T/share
mkdir -m 777 "$S"

# ctr NAME FIELDS SCRIPT: one container in flow style; FIELDS are further ones, each followed by a comma.
ctr() {
	echo "{name: $1, image: host, volumeMounts: [{name: share, mountPath: /share}, {name: own, mountPath: /own}], $2 command: [sh, -c, $(jq -Rs 'rtrimstr("\n")' <<<"$3")]}"
}
# pod NAME SPEC CONTAINERS...
pod() {
	local name=$1 spec=$2
	shift 2
	cat <<-END
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: $name}
		spec: {restartPolicy: ${RESTART:-Never}, $spec containers: [$(IFS=,; echo "$*")],
		  volumes: [{name: share, hostPath: {path: $S}}, {name: own, emptyDir: {}}]}
	END
}
look() { ALL=$(kubectl get pods -o json); }
of() { jq -rc --arg n "$1" ".items[] | select(.metadata.name == \$n) | $2" <<<"$ALL"; }
main() { of "$1" ".status.containerStatuses[0] | $2"; }
condition() { of "$1" ".status.conditions[] | select(.type == \"$2\") | [.status, .reason, .message] | map(. // \"-\") | join(\" \")"; }
# until_true POD FILTER; by curl, which asks more often than kubectl can.
until_true() { jq -e "$2" >/dev/null < <(api GET "/api/v1/namespaces/default/pods/$1"); }
soon() {
	if eventually 30 until_true "$2" "$3"; then pass "$1"; else fail "$1" "$(kubectl get pod "$2" -o json | jq .status)"; fi
}
events() { kubectl get events --field-selector "involvedObject.name=$1" -o json | jq -r '.items[] | .type + " " + .reason + " " + .message'; }
shown() { kubectl get pod "$1" --no-headers | awk '{ print $2, $3 }'; }
runs() { grep -q . < <(pgrep -f "^sleep $1\$"); }
gone() { ! runs "$1"; }
N=$((100000 + $$)) # durations that nobody else sleeps: how this script knows its own processes

kubectl apply -f - >"$T/applied" <<-END
	$(
		# --- ends and restarts
		pod good '' "$(ctr c '' 'echo done >/dev/termination-log')" "$(ctr d '' 'exit 0')"
		pod bad '' "$(ctr c '' 'exit 3')" "$(ctr d '' 'exit 0')"
		pod half '' "$(ctr c '' 'exit 3')" "$(ctr d '' "sleep $N")"
		RESTART=Always pod crash '' "$(ctr c '' 'echo run; exit 7')"
		RESTART=Always pod complete '' "$(ctr c '' 'exit 0')"
		RESTART=OnFailure pod twice '' "$(ctr c '' 'test -e /own/x && exit 0; touch /own/x; exit 4')"
		pod noprogram '' '{name: c, image: host, command: [/no/such/program]}'
		pod absent '' '{name: c, image: "lab/absent:1", imagePullPolicy: Never, command: [x]}' "$(ctr d '' "sleep $N")"
		pod text '' "$(ctr c 'terminationMessagePath: /tmp/why,' 'echo because >/tmp/why; exit 1')"
		pod fallback '' "$(ctr c 'terminationMessagePolicy: FallbackToLogsOnError,' 'echo last words; exit 1')"
		pod silent '' "$(ctr c '' 'echo not this; exit 1')"
		pod late 'activeDeadlineSeconds: 1, terminationGracePeriodSeconds: 1,' "$(ctr c '' 'trap "" TERM; while :; do sleep 0.1; done')"
		# --- init containers
		pod order "initContainers: [$(ctr one '' 'echo 1 >>/own/o'), $(ctr two '' 'echo 2 >>/own/o')]," "$(ctr c '' 'echo 3 >>/own/o; tr -d "\n" </own/o >/dev/termination-log')"
		pod halt "initContainers: [$(ctr one '' 'exit 5'), $(ctr two '' 'touch /share/never')]," "$(ctr c '' 'touch /share/never')"
		RESTART=OnFailure pod retry "initContainers: [$(ctr one '' 'test -e /own/x && exit 0; touch /own/x; exit 5')]," "$(ctr c '' 'exit 0')"
		pod slow "terminationGracePeriodSeconds: 1, initContainers: [$(ctr one '' "sleep $N"), $(ctr two '' 'exit 0')]," "$(ctr c '' 'exit 0')"
		pod sidecar "initContainers: [$(ctr side 'restartPolicy: Always, startupProbe: {periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 100, exec: {command: [test, -e, /own/up]}},' \
			'trap "echo side >>/own/ends; cp /own/ends /share/ends; exit 9" TERM; sleep 1; touch /own/up; while :; do sleep 0.05; done'), $(ctr two '' 'test -e /own/up')]," \
			"$(ctr c '' 'test -e /own/up || exit 1; echo main >>/own/ends')"
		RESTART=Always pod lastly "initContainers: [$(ctr side 'restartPolicy: Always,' 'trap "echo side >>/share/order; exit 0" TERM; while :; do sleep 0.05; done')]," \
			"$(ctr c '' 'trap "sleep 0.3; echo main >>/share/order; exit 0" TERM; while :; do sleep 0.05; done')"
		# --- probes
		RESTART=Always pod live 'terminationGracePeriodSeconds: 1,' \
			"$(ctr c 'livenessProbe: {exec: {command: [sh, -c, "echo sick >&2; test ! -e /own/sick"]}, periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 1},' "test -e /own/sick && rm /own/sick || touch /own/sick; sleep $N")"
		pod mortal 'terminationGracePeriodSeconds: 0,' "$(ctr c 'livenessProbe: {tcpSocket: {port: 9}, periodSeconds: 1, failureThreshold: 1},' "sleep $N")"
		web='mkdir -p /own/w; cd /own/w; ln -s /share/ready ready; exec busybox httpd -f -p 8080'
		pod web '' "$(ctr c 'ports: [{name: http, containerPort: 8080}], readinessProbe: {httpGet: {path: /ready, port: http}, periodSeconds: 1},' "$web")"
		pod tcp '' "$(ctr c 'readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1},' 'while [ ! -e /share/ready ]; do sleep 0.1; done; exec busybox httpd -f -p 8080')"
		pod begin 'terminationGracePeriodSeconds: 1,' "$(ctr c 'startupProbe: {exec: {command: [test, -e, /share/ready]}, periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 100}, livenessProbe: {exec: {command: [test, -e, /share/ready]}, periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 1},' "sleep $N")"
		RESTART=Always pod nobegin 'terminationGracePeriodSeconds: 1,' "$(ctr c 'startupProbe: {exec: {command: ["false"]}, periodSeconds: 1, failureThreshold: 1},' "exec sleep $N")"
		# --- hooks and ends
		pod hooks '' "$(ctr c 'lifecycle: {postStart: {exec: {command: [touch, /share/post]}}, preStop: {exec: {command: [sh, -c, "sleep 0.2; echo stop >>/share/pre"]}}},' \
			'trap "echo term >>/share/pre; exit 0" TERM; while :; do sleep 0.05; done')"
		RESTART=Always pod hookbad 'terminationGracePeriodSeconds: 1,' "$(ctr c 'lifecycle: {postStart: {exec: {command: ["false"]}}},' "exec sleep $N")"
		pod stubborn 'terminationGracePeriodSeconds: 1,' "$(ctr c '' "trap '' TERM; sleep ${N}1; sleep ${N}1")"
		pod forced '' "$(ctr c '' "trap '' TERM; sleep ${N}2; sleep ${N}2")"
		pod waits 'terminationGracePeriodSeconds: 60,' "$(ctr c '' 'trap "" TERM; while [ ! -e /share/go ]; do sleep 0.05; done')"
	)
END
is "everything is accepted" $? 0

soon "a pod whose containers end well has succeeded" good '.status.phase == "Succeeded"'
soon "one of them fails: the pod has" bad '.status.phase == "Failed"'
look
is "an end: reason, code and message" "$(main good '.state.terminated | .reason, .exitCode, .message' | xargs)" 'Completed 0 done'
is "times" "$(main good '.state.terminated | (.startedAt | fromdate) <= (.finishedAt | fromdate) and .containerID != null')" true
is "conditions of a pod that has succeeded" "$(for t in PodReadyToStartContainers Initialized Ready ContainersReady PodScheduled; do condition good $t; done)" 'False - -
True PodCompleted -
False PodCompleted -
False PodCompleted -
True - -'
is "of one that has failed" "$(condition bad Ready) $(condition bad Initialized)" 'False PodFailed - True - -'
is "an error" "$(main bad '.state.terminated | .reason, .exitCode' | xargs) $(shown bad)" 'Error 3 0/2 Error'
soon "a pod with one end and one runner runs" half '.status.phase == "Running" and .status.containerStatuses[0].state.terminated.exitCode == 3'
is "and is not ready" "$(shown half) $(look; condition half Ready)" '1/2 Error False ContainersNotReady containers with unready status: [c]'

soon "the first restart is immediate, the second waits" crash '.status.containerStatuses[0] | .restartCount >= 1 and .state.waiting.reason == "CrashLoopBackOff"'
# It may be running again when it is looked at; then it waits once more, longer.
backs_off() { look && grep -q '^back-off' <<<"$(main crash .state.waiting.message)"; }
eventually 60 backs_off
like "and says for what" "$(main crash .state.waiting.message)" "^back-off [0-9ms]+ restarting failed container=c pod=crash_default\\($(of crash .metadata.uid)\\)\$"
is "the last run is remembered" "$(main crash '.lastState.terminated | .reason, .exitCode' | xargs) $(of crash .status.phase)" 'Error 7 Running'
like "events" "$(events crash)" 'Warning BackOff Back-off restarting failed container c in pod crash_default\('
described() { kubectl describe pod crash | tr -s ' \n' ' ' | grep -Eq "$1"; }
ok "kubectl shows it" eventually 60 described 'State: Waiting Reason: CrashLoopBackOff Last State: Terminated Reason: Error Exit Code: 7 Started: .* Finished: .* Ready: False Restart Count: [1-9]'
[ -x "$KUBECTL_OLD" ] && like "also the old one" "$("$KUBECTL_OLD" describe pod good bad | tr -s ' \n' ' ')" 'Status: Succeeded .*Reason: Completed.*Status: Failed .*Reason: Error Exit Code: 3'
soon "success is restarted too, if always" complete '.status.containerStatuses[0] | .restartCount >= 1 and .state.waiting.reason == "CrashLoopBackOff" and .lastState.terminated.reason == "Completed"'
soon "a failure is repeated until it succeeds" twice '.status.phase == "Succeeded" and (.status.containerStatuses[0] | .restartCount == 1 and .lastState.terminated.exitCode == 4)'
soon "a program that is not there" noprogram '.status.phase == "Failed" and (.status.containerStatuses[0].state.terminated | .reason == "StartError" and .exitCode == 128)'
look
like "which" "$(main noprogram .state.terminated.message)" '/no/such/program.*[Nn]o such file'
soon "an image that is not there" absent '.status.containerStatuses[0].state.waiting | .reason == "ErrImageNeverPull" and .message == "Container image \"lab/absent:1\" is not present with pull policy of Never"'
soon "keeps the pod pending, whatever else runs" absent '.status.phase == "Pending" and .status.containerStatuses[1].state.running'
for p in text fallback silent; do eventually 60 until_true $p '.status.phase == "Failed"'; done
look
is "terminationMessagePath and policy" "$(main text .state.terminated.message) $(main fallback .state.terminated.message) $(main silent .state.terminated.message)" 'because last words null'
soon "activeDeadlineSeconds" late '.status | .phase == "Failed" and .reason == "DeadlineExceeded" and .message == "Pod was active on the node longer than the specified deadline" and .containerStatuses[0].state.terminated.exitCode == 137'
like "and its event" "$(events late)" 'Normal DeadlineExceeded Pod was active'

soon "init containers run in order" order '.status.phase == "Succeeded" and .status.containerStatuses[0].state.terminated.message == "123"'
look
is "each is ready when it has ended" "$(of order '.status.initContainerStatuses[] | [.name, .ready, .state.terminated.reason] | join(" ")' | xargs)" 'one true Completed two true Completed'
soon "one that fails is the end" halt '.status.phase == "Failed"'
look
is "the others wait for ever" "$(main halt .state.waiting.reason) $(of halt '.status.initContainerStatuses[1].state.waiting.reason') $(shown halt)" 'PodInitializing PodInitializing 0/1 Init:Error'
ok "and have not run" test ! -e "$S/never"
soon "or is repeated" retry '.status.phase == "Succeeded" and .status.initContainerStatuses[0].restartCount == 1'
soon "one that runs keeps the pod pending" slow '.status.phase == "Pending" and .status.initContainerStatuses[0].state.running'
look
is "as kubectl shows" "$(shown slow) $(condition slow Initialized)" '0/1 Init:0/2 False ContainersNotInitialized containers with incomplete status: [one two]'
soon "a sidecar goes when the others have ended" sidecar '.status.phase == "Succeeded" and .status.initContainerStatuses[0].state.terminated.exitCode == 9'
is "after them" "$(xargs <"$S/ends")" 'main side'
soon "a sidecar counts" lastly '.status.phase == "Running" and .status.initContainerStatuses[0].ready'
is "as kubectl shows" "$(shown lastly)" '2/2 Running'

soon "a liveness probe restarts" live '.status.containerStatuses[0] | .restartCount >= 1 and .ready'
like "events" "$(events live)" 'Warning Unhealthy Liveness probe failed: sick
'
like "and why it ended" "$(events live)" 'Normal Killing Container c failed liveness probe, will be restarted'
soon "or ends the pod" mortal '.status.phase == "Failed" and .status.containerStatuses[0].state.terminated.exitCode == 137'
like "with what was wrong" "$(events mortal)" 'Warning Unhealthy Liveness probe failed: dial tcp [0-9.]+:9: connect: connection refused'
soon "a startup probe that fails restarts" nobegin '.status.containerStatuses[0] | .restartCount >= 1'
like "and says so" "$(events nobegin)" 'Normal Killing Container c failed startup probe, will be restarted'
soon "readiness waits" web '.status.phase == "Running" and (.status.containerStatuses[0] | .started and (.ready | not))'
soon "tcp too" tcp '.status.phase == "Running" and (.status.containerStatuses[0] | .started and (.ready | not))'
soon "a startup probe comes first" begin '.status.phase == "Running" and (.status.containerStatuses[0] | (.started | not) and (.ready | not) and .state.running)'
eventually 10 sh -c 'kubectl get events --field-selector involvedObject.name=web | grep -q statuscode'
like "why" "$(events web)" 'Warning Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 404'
tells() { events "$1" | grep -Eq "$2"; }
ok "also for tcp" eventually 60 tells tcp 'Warning Unhealthy Readiness probe failed: dial tcp [0-9.]+:8080: connect: connection refused'
touch "$S/ready"
ok "then they are ready" kubectl wait --for=condition=Ready pod web tcp begin --timeout=120s
rm "$S/ready"
soon "and not any more" web '.status.containerStatuses[0].ready | not'
soon "liveness has its turn" begin '.status.phase == "Failed"'

soon "postStart" hooks '.status.containerStatuses[0].ready'
ok "has run" test -e "$S/post"
soon "one that fails ends the container" hookbad '.status.containerStatuses[0] | .restartCount >= 1'
like "and says so" "$(events hookbad)" 'Warning FailedPostStartHook PostStartHook failed'
eventually 10 runs "${N}1" && eventually 10 runs "${N}2"
kubectl delete pod waits --wait=false >/dev/null
soon "a pod that is ending is still there, and ready" waits '.metadata.deletionGracePeriodSeconds == 60 and (.status.containerStatuses[0] | .ready and .state.running)'
is "as kubectl shows" "$(shown waits)" '1/1 Terminating'
touch "$S/go"
ok "pods end" kubectl delete pod hooks stubborn lastly slow crash --timeout=120s
is "preStop runs before SIGTERM" "$(xargs <"$S/pre")" 'stop term'
is "sidecars after the others" "$(xargs <"$S/order")" 'main side'
like "an event says so" "$(events hooks)" 'Normal Killing Stopping container c$'
ok "one that ignores SIGTERM is dead" gone "${N}1"
ok "--force" kubectl delete pod forced --grace-period=0 --force --timeout=60s
ok "kills at once" eventually 5 gone "${N}2"
kubectl delete pod --all --grace-period=0 --force >/dev/null 2>&1
ok "nothing of ours runs any more" eventually 10 gone "$N"
ok "no cgroup is left" eventually 10 sh -c "! find /sys/fs/cgroup -maxdepth 3 -path '*stoker-*/pod*' -name 'pod$(of web .metadata.uid)' | grep -q ."
is "the server has nothing to complain about" "$(grep -vE '^.{0,40}(info|INFO)' "$T/main/err" | grep -iE 'warn|error|sanitizer' | head)" ""
done_testing

#!/bin/bash
# What can go wrong around a pod: a monitor that is killed, no processes to be had, a disk without room, a reboot.  Each
# ends in a state that is true and says why; nothing runs for ever only on paper.
. "$(dirname "$0")/lib.sh"
mkdir "$T/out"

# pod NAME POLICY SCRIPT [SPEC]: more of the spec in YAML's one-line form.
pod() {
	kubectl create -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec:
		  restartPolicy: $2
		  terminationGracePeriodSeconds: 1
		  volumes: [{name: out, hostPath: {path: $T/out}}]
		  ${4:-}
		  containers:
		  - name: main
		    image: host
		    volumeMounts: [{name: out, mountPath: /out}]
		    command: [bash, -c, $(jq -Rs . <<<"$3"), "$MARK-$1"]
	END
}
MARK=marker-$$
get() { api GET "/api/v1/namespaces/default/pods/$1" | jq -rc "$2"; }
phase() { [ "$(get "$1" .status.phase)" = "$2" ]; }
MAIN='.status.containerStatuses[0]'
restarts() { [ "$(get "$1" "$MAIN | [.restartCount, .state.running != null] | tostring")" = "[$2,true]" ]; }
waits() { [ "$(get "$1" "$MAIN.state.waiting.reason")" = "$2" ]; }
# nothing_of NAME: no process of that pod is there.
nothing_of() { ! grep -lsz "^$MARK-$1\$" /proc/[0-9]*/cmdline; }
monitor_of() { grep -lsz "[r]un/containers/$(get "$1" .metadata.uid)_main" /proc/[0-9]*/cmdline | cut -d/ -f3; }
server_kill() {
	kill -9 "$SERVER_PID"
	wait "$SERVER_PID" 2>/dev/null
}
# prefix NAME: the part of the host's names that is this server's own.
prefix() { printf %s "$(realpath "$T/$1/data")" | sha256sum | cut -c 1-8; }
# reboot NAME: what a reboot does to what that server, which is dead, has on this machine.  Files on disk stay.
reboot() {
	local x p groups
	p=$(prefix "$1")
	groups=$(ls -d "/sys/fs/cgroup/stoker-$p" /sys/fs/cgroup/*/"stoker-$p" 2>/dev/null)
	for ((x = 0; x < 3; x++)); do
		kill -9 $(grep -lsz "$T/$1/data/[r]un/containers" /proc/[0-9]*/cmdline | cut -d/ -f3) 2>/dev/null
		kill -9 $(find $groups -name cgroup.procs -exec cat {} + | sort -u) 2>/dev/null
		sleep 0.1
	done
	awk -v t="$T/$1/" 'index($2, t) == 1 { print $2 }' /proc/self/mounts | sort -r | while read -r x; do umount -l "$x"; done
	find $groups -depth -type d -exec rmdir {} + 2>/dev/null
	ip -o link | awk -F': ' -v p="$p" '$2 ~ "^(s|stk)" p { sub("@.*", "", $2); print $2 }' |
		while read -r x; do ip link delete "$x" 2>/dev/null; done
	nft list tables | grep "stoker_$p" | while read -r x; do nft delete $x; done
}
FORKS='(setsid sleep 1000 &); (setsid bash -c "sleep 1000; :" "$0" &); sleep 1000; :'

node_start main || done_testing

# --- a monitor that is killed
pod watched Always "$FORKS"
pod once Never "$FORKS"
pod shared Never "$FORKS" 'hostPID: true'
ok "pods with processes in the background run" eventually 20 sh -c "kubectl wait --for=condition=Ready pod --all --timeout=20s"
for p in watched once shared; do kill -9 "$(monitor_of $p)"; done
ok "a pod that is not to run again has failed when its monitor is killed" eventually 10 phase once Failed
is "and says that nobody knows how" "$(get once "$MAIN.state.terminated | [.exitCode, .reason] | tostring")" \
	'[255,"ContainerStatusUnknown"]'
ok "so has one that sees the machine's processes" eventually 10 phase shared Failed
ok "their processes are gone" nothing_of '\(once\|shared\)'
ok "one that is always to run is started again" eventually 10 restarts watched 1
is "and remembers why" "$(get watched "$MAIN.lastState.terminated.reason")" ContainerStatusUnknown
m=$(monitor_of watched)
server_kill
kill -9 "$m"
node_start main || done_testing
ok "the same, after a pause, if there was no server to see it" eventually 20 restarts watched 2
kubectl delete pod --all --wait=false >/dev/null

# --- no processes to be had: the server may not have children
pod late Never 'echo ran >>/out/late' 'initContainers: [{name: first, image: host, volumeMounts: [{name: out, mountPath: /out}],
  command: [bash, -c, "while [ ! -e /out/late-go ]; do sleep 0.1; done"]}]'
ok "a pod is at its first step" eventually 20 sh -c "kubectl get pod late | grep -q Init:0/1"
pids=/sys/fs/cgroup
[ -d $pids/pids ] && pids=$pids/pids
mkdir "$pids/$MARK"
echo "$SERVER_PID" >"$pids/$MARK/cgroup.procs"
echo 1 >"$pids/$MARK/pids.max"
touch "$T/out/late-go"
pod starved Never 'echo ran >>/out/starved'
events() { kubectl get events --field-selector "involvedObject.name=$1" -o 'jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}'; }
ok "a container that cannot be started for want of processes waits" eventually 10 waits late CreateContainerError
says_why() { get late "$MAIN.state.waiting.message" | grep -q 'Resource temporarily unavailable'; }
ok "and says why" eventually 60 says_why
is "its pod has not failed" "$(get late .status.phase)" Pending
ok "so does a new pod" eventually 10 sh -c "kubectl describe pod starved | grep -q 'FailedCreatePodSandBox.*Resource temporarily unavailable'"
is "the server lives" "$(api_code GET /livez)" 200
echo max >"$pids/$MARK/pids.max"
ok "both run when there are processes again" eventually 20 phase late Succeeded
ok "by themselves" eventually 20 phase starved Succeeded
is "and once" "$(cat "$T/out/late" "$T/out/starved" | wc -l)" 2
kubectl delete pod --all --wait=false >/dev/null

# --- a reboot: files stay, everything else goes
pod steady Always 'echo run >>/out/steady; sleep 1000; :'
pod fleeting Never 'echo run >>/out/fleeting; sleep 1000; :'
pod over Never 'exit 3'
ok "pods run before the reboot" eventually 20 restarts steady 0
ok "and others" eventually 20 restarts fleeting 0
ok "one has ended" eventually 20 phase over Failed
ok "what runs has said so" eventually 60 test -s "$T/out/steady" -a -s "$T/out/fleeting"
server_kill
reboot main
ok "nothing of it is left in the group" eventually 5 rmdir "$pids/$MARK"
node_start main || done_testing
ok "after a reboot a pod that is always to run does, as its next run" eventually 20 restarts steady 1
started_twice() { [ "$(wc -l <"$T/out/steady")" = 2 ]; }
ok "the program was started that often" eventually 60 started_twice
like "it has an address" "$(get steady .status.podIP)" '^10\.'
like "and a network" "$(kubectl exec steady -- ip -4 addr show eth0)" "$(get steady .status.podIP)"
ok "one that is to run once has failed" eventually 10 phase fleeting Failed
like "and says why" "$(get fleeting "$MAIN.state.terminated | [.exitCode, .reason] | tostring")" 'ContainerStatusUnknown'
is "it was not started again" "$(wc -l <"$T/out/fleeting")" 1
is "what had ended before ended as it did" "$(get over "$MAIN | [.restartCount, .state.terminated.exitCode] | tostring")" '[0,3]'
kubectl delete pod --all --wait=false >/dev/null

# --- a disk without room, with the data directory on it
mkdir "$T/small"
truncate -s 96M "$T/image"
if mkfs.ext4 -q -m 0 "$T/image" 2>"$T/mkfs" && mount -o loop "$T/image" "$T/small" 2>>"$T/mkfs"; then
	MOUNTS+=("$T/small")
elif mount -t tmpfs -o size=96m stoker-e2e "$T/small" 2>>"$T/mkfs"; then
	MOUNTS+=("$T/small")
else
	fail "a small file system can be mounted" "$(cat "$T/mkfs")"
	done_testing
fi
node_start small || done_testing
for i in 1 2 3; do pod "flood-$i" Never 'yes "all work and no play makes a dull log" | head -c 60000000; echo the end'; done
ok "three pods say more than the disk holds, and end" eventually 180 sh -c "[ \$(kubectl get pods | grep -c Completed) = 3 ]"
is "their logs have left room for the store" "$(api_code POST /api/v1/namespaces/default/configmaps \
	-H 'Content-Type: application/json' -d "{\"metadata\":{\"name\":\"note\"},\"data\":{\"k\":\"$(printf %0100000d 0)\"}}")" 201
kubectl delete pod --all --wait=false >/dev/null
pod patient Never 'echo ran >>/out/patient' 'initContainers: [{name: first, image: host, volumeMounts: [{name: out, mountPath: /out}],
  command: [bash, -c, "while [ ! -e /out/patient-go ]; do sleep 0.1; done"]}]'
pod worker Never 'while [ ! -e /out/worker-go ]; do echo working; sleep 0.1; done; exit 7'
pod doomed Always 'sleep 1000; :'
ok "pods run" eventually 20 restarts worker 0
ok "all of them" eventually 20 restarts doomed 0
ok "and begin" eventually 20 sh -c "kubectl get pod patient | grep -q Init:0/1"
dd if=/dev/zero of="$T/small/filler" bs=64k 2>/dev/null
dd if=/dev/zero of="$T/small/filler2" bs=512 2>/dev/null
touch "$T/out/patient-go" "$T/out/worker-go"
ok "a program ends while the disk is full" eventually 10 nothing_of worker
like "the server lives and answers" "$(kubectl get pods 2>&1)" 'worker'
like "what it cannot write it says" "$(kubectl create configmap no --from-literal="a=$(printf %0100000d 0)" 2>&1)" 'torage|space'
ok "a pod can be deleted" kubectl delete pod doomed --wait=true --timeout=120s
rm "$T/small/filler" "$T/small/filler2"
ok "when there is room again, what ended has ended" eventually 20 phase worker Failed
is "as it did" "$(get worker "$MAIN.state.terminated.exitCode")" 7
ok "and what could not go on goes on" eventually 40 phase patient Succeeded
is "once" "$(wc -l <"$T/out/patient")" 1

# --- a server that gets no network any more
node_start bare || done_testing
pod left Always 'sleep 1000; :'
ok "a pod runs" eventually 20 restarts left 0
server_kill
printf '#!/bin/sh\nexec setpriv --bounding-set -net_admin --inh-caps -net_admin "%s" "$@"\n' "$STOKER" >"$T/without"
chmod +x "$T/without"
STOKER=$T/without server_run bare || done_testing
ok "without a network the node is not ready" eventually 20 sh -c 'kubectl get nodes | grep -q NotReady'
ok "and can be shut down all the same" "$STOKER" down --data "$T/bare/data" --timeout 120s
ok "with what an earlier server has left" eventually 10 nothing_of left
done_testing

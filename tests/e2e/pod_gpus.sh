#!/bin/bash
# Cards of real pods: by either name, for one container or several, waited for, given back, and kept through a crash.
. "$(dirname "$0")/lib.sh"
node_start main --gpus 4 || exit 1
K=$(command -v kubectl) NS=default V=
gpus() { "$STOKER" gpus --socket "$SOCKET" "$@"; }
phase() { # POD WANTED
	[ "$(get pod "$1" .status.phase)" = "$2" ]
}
# pods: a Pod for each line "NAME LIMIT AMOUNT SCRIPT" of stdin
pods() {
	local name limit amount script
	while read -r name limit amount script; do
		cat <<-EOF
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: $name}
		spec:
		  restartPolicy: Never
		  terminationGracePeriodSeconds: 0
		  containers:
		  - {name: main, image: host, command: [sh, -c, '$script'], resources: {limits: {$limit: $amount}}}
		EOF
	done | k create -f - >/dev/null
}
cards() { get pod "$1" '.metadata.annotations.stoker\.dev/gpus'; }
# in use, by the pods' own words: "0 1 3", a card that two have twice
held() { k get pod -o json | jq -r '.items[] | select(.status.phase == "Running") | .metadata.annotations["stoker.dev/gpus"] // empty' | tr , '\n' | sort | xargs; }
holders() { gpus -o json | jq -r '[.[] | select(.pod != "") | .pod] | sort | join(" ")'; }
holders_are() { [ "$(holders)" = "$1" ]; }
waits_for_card() {
	k describe pod "$1" | grep -Eq 'FailedScheduling.* 0/1 nodes are available: 1 Insufficient nvidia.com/gpu'
}
show='env | grep -E "^(CUDA|NVIDIA)_VISIBLE" | sort | xargs; find /dev -name "nvidia*" | wc -l; sleep 1000'
seen() { k logs "$1" "${@:2}" | xargs; }

is "the node has them" "$(k get node -o json | jq -r '.items[0].status | [.capacity, .allocatable | .["nvidia.com/gpu"]] | join(" ")')" "4 4"
like "kubectl describe node counts them" "$(k describe node)" 'nvidia.com/gpu: +4'
is "stoker gpus finds all of them free" "$(gpus | tail -n 1)" "4 of 4 free"

pods <<EOF
one nvidia.com/gpu 1 $show
two alpha.kubernetes.io/nvidia-gpu 2 $show
none cpu 100m $show
EOF
for p in one two none; do ok "pod $p runs" eventually 20 phase $p Running; done
ok "and has said what it sees" eventually 10 sh -c 'for p in one two none; do kubectl logs $p | grep -qx 0 || exit 1; done'
like "limits without requests get a card, counted from 0" "$(seen one)" '^CUDA_VISIBLE_DEVICES=0 NVIDIA_VISIBLE_DEVICES=GPU-sim-[0-3] 0$'
like "the older name means the same cards" "$(seen two)" '^CUDA_VISIBLE_DEVICES=0,1 NVIDIA_VISIBLE_DEVICES=GPU-sim-[0-3],GPU-sim-[0-3] 0$'
is "a pod without sees none" "$(seen none)" "NVIDIA_VISIBLE_DEVICES=void 0"
is "nor has any" "$(cards none)" ""
is "requests are filled in" "$(get pod one '.spec.containers[0].resources.requests.nvidia\.com/gpu}{.status.phase')" 1Running
for p in one two; do
	is "the cards of $p are those on its annotation" "$(seen $p | sed 's/.*NVIDIA_VISIBLE_DEVICES=//; s/GPU-sim-//g; s/ .*//')" "$(cards $p)"
done
is "three different cards are held" "$(held | tr ' ' '\n' | sort -u | wc -l)" 3
ok "stoker gpus names the holders" eventually 5 holders_are "one two two"
like "with namespace and container" "$(gpus)" 'Simulated GPU.* used +default +one +main'
is "kubectl describe node shows who has which card" "$(k describe node | grep -Ec 'stoker.dev/gpu-[0-3]: .*default/(one|two)')" 3
like "and how many are asked for" "$(k describe node | sed -n '/^Allocated/,$p')" 'nvidia.com/gpu +[1-3] +[1-3]'

# One card is left.
pods <<EOF
big nvidia.com/gpu 2 sleep 1000
small nvidia.com/gpu 1 sleep 1000
never nvidia.com/gpu 5 true
EOF
ok "a pod that fits passes one that does not" eventually 20 phase small Running
ok "that one waits, and why" eventually 10 waits_for_card big
ok "more cards than there are wait too" eventually 10 waits_for_card never
is "neither has a container" "$(get pod big .status.phase) $(get pod big .status.containerStatuses) $(get pod never .status.phase)" "Pending  Pending"
like "the condition says so" "$(get pod never '.status.conditions[?(@.type=="PodScheduled")].message')" 'Insufficient nvidia.com/gpu'
is "no card is held twice" "$(held)" "0 1 2 3"

before=$(for p in one two small; do echo "$p $(cards $p)"; done)
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
node_start main --gpus 4 || exit 1
is "after a crash the same pods run with the same cards" "$(for p in one two small; do echo "$p $(cards $p)"; done)" "$before"
ok "stoker gpus says so" eventually 5 holders_are "one small two two"
ok "the waiting pod still waits" phase big Pending
k delete pod two --wait=false >/dev/null
ok "cards that are given back go to the pod that waits" eventually 20 phase big Running
is "each to one pod only" "$(held)" "0 1 2 3"
ok "in stoker gpus too" eventually 5 holders_are "big big one small"

# A pod that ended has no cards, even while its object stays; a restarted container keeps its own.
k delete pod --all --wait=true >/dev/null
ok "all are free again" eventually 10 holders_are ""
k create -f - >/dev/null <<'EOF'
apiVersion: v1
kind: Pod
metadata: {name: several}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: v, emptyDir: {}}]
  initContainers:
  - {name: first, image: host, command: [sh, -c, 'echo $CUDA_VISIBLE_DEVICES'], resources: {limits: {nvidia.com/gpu: 3}}}
  containers:
  - {name: a, image: host, command: [sh, -c, 'echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES; sleep 1000'], resources: {limits: {nvidia.com/gpu: 2}}}
  - {name: b, image: host, command: [sh, -c, 'echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES; sleep 1000'], resources: {limits: {nvidia.com/gpu: 1}}}
  - {name: c, image: host, command: [sh, -c, 'echo ${CUDA_VISIBLE_DEVICES-none} $NVIDIA_VISIBLE_DEVICES; test -e /v/again || { touch /v/again; exit 1; }; sleep 1000'], volumeMounts: [{name: v, mountPath: /v}]}
  - {name: d, image: host, command: [sh, -c, 'echo $NVIDIA_VISIBLE_DEVICES >>/v/d; test $(wc -l </v/d) = 2 || exit 1; sleep 1000'], volumeMounts: [{name: v, mountPath: /v}], resources: {limits: {nvidia.com/gpu: 1}}}
EOF
pods <<EOF
ended cpu 100m true
EOF
all_run() { [ "$(get pod "$1" '.status.containerStatuses[*].state.running.startedAt' | wc -w)" = 4 ]; }
# Two of them end once, and may be seen running before they do.
settled() { all_run "$1" && [ "$(get pod "$1" '.status.containerStatuses[*].restartCount')" = "0 0 1 1" ]; }
ok "a pod of several containers runs" eventually 30 settled several
is "its init container had cards of the others" "$(k logs several -c first)" "0,1,2"
own_cards() { echo "$(k logs several -c a | cut -d' ' -f1) $(k logs several -c b | cut -d' ' -f1) $(k logs several -c c)"; }
has_own() { [ "$(own_cards)" = "0,1 0 none void" ]; } # who runs may not have spoken yet
ok "each container has its own, from 0" eventually 60 has_own
is "none is shared between them" "$(for c in a b d; do k exec several -c $c -- sh -c 'echo $NVIDIA_VISIBLE_DEVICES'; done | tr , '\n' | sort -u | wc -l)" 4
is "a container that starts again has the same card" "$(k exec several -c d -- sort -u /v/d)" "$(k exec several -c d -- sh -c 'echo $NVIDIA_VISIBLE_DEVICES')"
is "the pod has them all" "$(cards several)" "0,1,2,3"
pods <<EOF
next nvidia.com/gpu 4 true
EOF
ok "the next one waits for all of them" eventually 10 waits_for_card next
k delete pod several --wait=false >/dev/null
ok "and ends when it has had them" eventually 20 phase next Succeeded
ok "then all are free, though the pod is still there" eventually 10 holders_are ""
is "nothing is left to hold in the file either" "$(jq -c .claims "$T/main/data/gpus.json")" "[]"
server_stop
done_testing

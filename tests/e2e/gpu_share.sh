#!/bin/bash
# The scheduler's choice of cards is what a pod has: by model, by NVLink, and shared where an admin allows it.
. "$(dirname "$0")/lib.sh"
SERVE="--gpus 2xA100-80G,4xV100-16G:pairs --share-gpus 4,5"
node_start main $SERVE || exit 1
K=$(command -v kubectl) NS=default V=
gpus() { "$STOKER" gpus --socket "$SOCKET" "$@"; }
phase() { [ "$(get pod "$1" .status.phase)" = "$2" ]; }
cards() { get pod "$1" '.metadata.annotations.stoker\.dev/gpus'; }
chosen() { get pod "$1" '.metadata.annotations.stoker\.dev/cards'; }
# pods: a Pod for each line "NAME LIMIT AMOUNT NODE MODEL" of stdin; - is none
pods() {
	local name limit amount node model
	while read -r name limit amount node model; do
		cat <<-EOF
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: $name, annotations: {stoker.dev/cards: "0", ${model:+stoker.dev/gpu-model: $model}}}
		spec:
		  restartPolicy: Never
		  terminationGracePeriodSeconds: 0
		  $([ "$node" = - ] || echo "nodeName: $node")
		  containers:
		  - {name: main, image: host, command: [sh, -c, 'env | grep -E "VISIBLE|GPU_MEMORY" | sort | xargs; sleep 1000'], resources: {limits: {$limit: $amount}}}
		EOF
	done | k create -f - >/dev/null
}
seen() { k logs "$1" | xargs; }
waits() { # POD WORDS
	k describe pod "$1" | grep -Eq "FailedScheduling.*$2"
}
states() { gpus -o json | jq -r 'map(.state[:1]) | join("")'; }
states_are() { [ "$(states)" = "$1" ]; }
NODE=$(k get node -o jsonpath='{.items[0].metadata.name}')

is "the node has cards, and memory of two to share" "$(k get node -o json | jq -r '.items[0].status | [.capacity, .allocatable | .["nvidia.com/gpu"], .["stoker.dev/gpu-memory"]] | join(" ")')" "6 32Gi 6 32Gi"
is "and says how they lie" "$(gpus -o json | jq -c 'map([.numa, .links[0], .shareable])')" "[[0,1,false],[0,0,false],[0,3,false],[0,2,false],[1,5,true],[1,4,true]]"

pods <<EOF
big nvidia.com/gpu 1 - A100
two nvidia.com/gpu 2 - V100
a stoker.dev/gpu-memory 10Gi -
EOF
for p in big two a; do ok "pod $p runs" eventually 20 phase $p Running; done
pods <<EOF
b stoker.dev/gpu-memory 4Gi -
c stoker.dev/gpu-memory 4Gi -
EOF
for p in b c; do ok "pod $p runs" eventually 20 phase $p Running; done
like "a model's card" "$(cards big)" '^[01]$'
is "two with NVLink between them that nobody may share" "$(cards two)" "2,3"
for p in big two a b c; do is "pod $p has what was chosen for it" "$(cards $p)" "$(chosen $p)"; done
is "the second shares the card of the first, the third fits there no more" "$([ "$(cards a)" = "$(cards b)" ] && [ "$(cards a)" != "$(cards c)" ] && echo yes)" yes
ok "each has said what it sees" eventually 10 sh -c 'for p in two a b; do kubectl logs $p | grep -q CUDA || exit 1; done'
is "its share is in its environment" "$(seen b)" "CUDA_VISIBLE_DEVICES=0 NVIDIA_VISIBLE_DEVICES=GPU-sim-$(cards b) STOKER_GPU_MEMORY_MIB=4096"
is "a whole card has none" "$(seen two)" "CUDA_VISIBLE_DEVICES=0,1 NVIDIA_VISIBLE_DEVICES=GPU-sim-2,GPU-sim-3"
# The node tells of its cards a moment later.
tells() { "$@" | grep -Eq "$WORDS"; }
WORDS="stoker.dev/gpu-$(cards b): +shared: default/a 10240MiB, default/b 4096MiB"
ok "kubectl describe node says who shares a card" eventually 60 tells k describe node
like "stoker gpus has a row for each" "$(gpus)" "Simulated V100-16G +16384MiB +1 +[45] +shared +4096MiB +default +b +main"
like "kubectl describe node sums them up" "$(k describe node | sed -n '/^Allocated/,$p')" 'stoker.dev/gpu-memory +18Gi +18Gi'

# One whole card is left, and 2 and 12 GiB of the shared ones.
pods <<EOF
whole nvidia.com/gpu 2 -
part stoker.dev/gpu-memory 13Gi -
EOF
ok "a card that is shared is no whole one" eventually 10 waits whole 'Insufficient nvidia.com/gpu'
ok "a part must fit one card" eventually 10 waits part 'Insufficient stoker.dev/gpu-memory'
is "a request that is not its limit is refused" "$(k run x --image=host --dry-run=server --overrides='{"spec":{"containers":[{"name":"x","image":"host","resources":{"limits":{"stoker.dev/gpu-memory":"2Gi"},"requests":{"stoker.dev/gpu-memory":"1Gi"}}}]}}' 2>&1 | grep -c 'must be equal to stoker.dev/gpu-memory limit of 2Gi')" 1

# On a node that was named by hand nobody chose; the choice of others is theirs still.
pods <<EOF
hand nvidia.com/gpu 1 $NODE
EOF
ok "a pod put on the node by hand runs" eventually 20 phase hand Running
is "no choice was made for it" "$(chosen hand)" ""
like "the node takes what is free" "$(cards hand)" '^[01]$'
ok "no card is whole for two" eventually 60 states_are uuuuss

before=$(for p in big two a b c hand; do echo "$p $(cards $p)"; done)
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
node_start main $SERVE || exit 1
is "after a crash all have the same" "$(for p in big two a b c hand; do phase $p Running && echo "$p $(cards $p)"; done)" "$before"
ok "in stoker gpus too" eventually 10 states_are uuuuss
k annotate pod b stoker.dev/cards=0 --overwrite >/dev/null
is "nobody else changes a choice" "$(chosen b)" "$(cards b)"

k delete pod a b c --wait=false >/dev/null
ok "what waited for a part has it" eventually 20 phase part Running
is "on a card that may be shared" "$(cards part | grep -c '^[45]$')" 1
k delete pod two --wait=false >/dev/null
ok "what waited for whole ones has them" eventually 20 phase whole Running
is "with NVLink between them" "$(cards whole)" 2,3
k delete pod --all --wait=true >/dev/null
ok "all are free again" eventually 10 states_are ffffff
is "nothing is left to hold in the file" "$(jq -c .claims "$T/main/data/gpus.json")" "[]"
server_stop

# Another machine, on which nothing may be shared.
node_start main --gpus 3 || exit 1
is "no memory to share" "$(k get node -o json | jq -r '.items[0].status.allocatable["stoker.dev/gpu-memory"] // "none"')" none
pods <<EOF
part stoker.dev/gpu-memory 1Gi -
EOF
ok "so nothing gets any" eventually 10 waits part 'gpu-memory'
server_stop
like "a card's number is checked" "$("$STOKER" serve --data "$T/bad" --socket "$T/bad.sock" --listen 127.0.0.1:0 --share-gpus one 2>&1)" '\-\-share-gpus: "one"'
done_testing

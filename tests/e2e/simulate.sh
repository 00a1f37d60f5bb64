#!/bin/bash
# `stoker simulate`: made-up jobs, accounts and a description; on a machine that is named, or on the server's.
. "$(dirname "$0")/lib.sh"

out=$("$STOKER" simulate --generate users=4,jobs=50,gpus='1|2',walltime=8h --nodes 2x4 --compare nodes=4x4 --svg "$T/a.svg" 2>&1)
like "both machines are shown" "$out" "capacity +8 GPUs +16 GPUs"
like "with a picture" "$out" "A user0"
ok "which is a file, too, and well-formed" /usr/bin/python3 -c 'import sys, xml.dom.minidom as m; assert m.parse(sys.argv[1]).documentElement.tagName == "svg"' "$T/a.svg"

cat >"$T/a.csv" <<'CSV'
job,user,submitted,started,ended,pods,gpus
a,anna,1000,1000,4600,1,4
b,ben,1000,4600,8200,1,4
CSV
is "accounts are played" "$("$STOKER" simulate "$T/a.csv" --nodes 1x4 -o json | jq -c '[.jobs, .makespanSeconds, .waitSeconds.max]')" "[2,7200,3600]"
is "on more nodes nobody waits" "$("$STOKER" simulate "$T/a.csv" --nodes 2x4 -o json | jq -c '.waitSeconds.max')" "0"
gzip -c "$T/a.csv" >"$T/b.csv.gz"
is "a month that is packed is read as well, and several" "$("$STOKER" simulate "$T/b.csv.gz" "$T/a.csv" --nodes 1x4 -o json | jq -c '[.jobs, .waitSeconds.max]')" "[4,10800]"
is "more cards" "$("$STOKER" simulate "$T/a.csv" --nodes 1x4,1x2 --compare gpus=+2 -o json | jq -c 'map([.capacity, .waitSeconds.max])')" "[[6,3600],[8,0]]"
like "how many is said as a number" "$("$STOKER" simulate "$T/a.csv" --nodes 1x4 --compare gpus=2 2>&1)" 'compare: gpus: "2" is not a number of GPUs more, like \+2'
like "and some is too much" "$("$STOKER" simulate "$T/a.csv" --nodes 1x4 --compare gpus=+61 2>&1)" 'gpus: \+61: no node takes more than 64 GPUs'
echo "c,carl,1000,2000,1500,1,4" >>"$T/a.csv"
like "a mistake is named with its line" "$("$STOKER" simulate "$T/a.csv" --nodes 1x4 2>&1)" "a.csv: line 4: ended: 1500 is before its start"

printf 'nodes: 1x4\nusers:\n- {name: anna, jobs: 4, gpus: 1, run: 1h}\n' >"$T/a.yaml"
is "a description has its own machine" "$("$STOKER" simulate "$T/a.yaml" -o json | jq -c '[.capacity, .utilisation]')" "[4,1]"
like "another is refused in words" "$("$STOKER" simulate "$T/a.yaml" --nodes 4 2>&1)" '"4" is not NODESxGPUS'

# A million jobs in line at once, of one minute each, on 800 cards: 1,250 minutes if no card is ever idle.
is "a million wait, and all get their turn" "$("$STOKER" simulate --generate users=100,jobs=1000000,span=1s,gpus=1,run=1m,walltime=2m --nodes 100x8 --no-picture -o json |
	jq -c '[.jobs, .neverStarted, .utilisation, .makespanSeconds, ([.users[] | .shareHad / .shareDue | . > 0.98 and . < 1.02] | all)]')" \
	"[1000000,0,1,75000,true]"

# Without --nodes the machine is the server's, and so are the rules of its queues.
server_start main
kubectl apply -f - >/dev/null <<<'{"apiVersion": "stoker.dev/v1", "kind": "Queue", "metadata": {"name": "few"}, "spec": {"started": false, "limits": {"total": {"gpus": 1}}}}'
kubectl create -f - >/dev/null <<<'{"apiVersion":"v1","kind":"Node","metadata":{"name":"far"}}'
api PATCH /api/v1/nodes/far/status -H 'Content-Type: application/strategic-merge-patch+json' -d '{"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"20","nvidia.com/gpu":"4"},
	"conditions":[{"type":"Ready","status":"True"}]}}' >/dev/null
printf 'job,user,queue,submitted,started,ended,pods,gpus\na,anna,few,1000,1000,2000,1,1\nb,ben,few,1000,2000,3000,1,1\n' >"$T/few.csv"
is "the queues are the server's as well" "$("$STOKER" simulate "$T/few.csv" --socket "$SOCKET" --compare nodes=2x4 --compare gpus=+2 -o json | jq -c 'map([.capacity, .waitSeconds.max])')" "[[4,1000],[10,1000]]"
is "and do not matter elsewhere" "$("$STOKER" simulate "$T/few.csv" --nodes 1x4 -o json | jq -c '[.capacity, .waitSeconds.max]')" "[4,0]"
done_testing

#!/bin/bash
# `stoker simulate`: made-up jobs, accounts and a description; on a machine that is named, or on the server's.
. "$(dirname "$0")/lib.sh"

out=$("$STOKER" simulate --generate users=4,jobs=50,gpus='1|2',walltime=8h --nodes 2x4 --compare nodes=4x4 --svg "$T/a.svg" 2>&1)
like "both machines are shown" "$out" "capacity +8 GPUs +16 GPUs"
like "with a picture" "$out" "A user0"
like "which is a file, too" "$(cat "$T/a.svg")" "</svg>"

cat >"$T/a.csv" <<'CSV'
job,user,submitted,started,ended,pods,gpus
a,anna,1000,1000,4600,1,4
b,ben,1000,4600,8200,1,4
CSV
is "accounts are played" "$("$STOKER" simulate "$T/a.csv" --nodes 1x4 -o json | jq -c '[.jobs, .makespanSeconds, .waitSeconds.max]')" "[2,7200,3600]"
is "on more nodes nobody waits" "$("$STOKER" simulate "$T/a.csv" --nodes 2x4 -o json | jq -c '.waitSeconds.max')" "0"
echo "c,carl,1000,2000,1500,1,4" >>"$T/a.csv"
like "a mistake is named with its line" "$("$STOKER" simulate "$T/a.csv" --nodes 1x4 2>&1)" "a.csv: line 4: ended: 1500 is before its start"

printf 'nodes: 1x4\nusers:\n- {name: anna, jobs: 4, gpus: 1, run: 1h}\n' >"$T/a.yaml"
is "a description has its own machine" "$("$STOKER" simulate "$T/a.yaml" -o json | jq -c '[.capacity, .utilisation]')" "[4,1]"
like "another is refused in words" "$("$STOKER" simulate "$T/a.yaml" --nodes 4 2>&1)" '"4" is not NODESxGPUS'
done_testing

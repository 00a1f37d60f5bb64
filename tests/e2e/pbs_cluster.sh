#!/bin/bash
# PBS jobs on another cluster: several nodes at once or not at all, and hands on what runs there.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pbs_operator.bash"

need_accounts
abroad_start --gpus 2
operator
ok "the operator answers" eventually 30 answers
ok "the cluster's nodes are PBS's" eventually 30 mirrored

# --- all nodes at once, or none ---
A=$(echo 'sleep 600' | qsub -l nodes=1:gpus=1,image=host)
ok "a job has one of two cards" eventually 60 state "$A" R
M=$(echo 'cat $PBS_NODEFILE' | qsub -l nodes=2:gpus=1,image=host -N both -j oe)
says() { qstat -s "$1" | grep -Eq "$2"; }
ok "a job of two nodes is told that there is room for one" eventually 60 says "$M" 'room for 2 pods at once'
is "it waits" "$(job "$M" .status.state)" Q
is "none of its pods has gone to the scheduler" "$(kubectl get pods -n "$U" -l "stoker.dev/pbsjob=${M%%.*}" -o json |
	jq -c '[.items[] | [.spec.nodeName, .spec.schedulingGates[0].name]] | unique')" '[[null,"stoker.dev/queue"]]'
crash
operator
ok "the operator is back" eventually 30 answers
qdel "$A"
ok "with room for all it runs" eventually 60 state "$M" C
is "on all of them" "$(tr '\n' ' ' <"$H/both.o${M%%.*}")" "$NODE $NODE "

# --- where there are no scheduling gates ---
crash
operator --admission delay
ok "the operator is back" eventually 30 answers
A=$(echo 'sleep 600' | qsub -l nodes=1:gpus=1,image=host)
ok "a job has one of two cards" eventually 60 state "$A" R
M=$(echo true | qsub -l nodes=2:gpus=1,image=host)
X=$(echo true | qsub -l nodes=2:gpus=1,image=host)
ok "a job of two nodes waits without pods" eventually 60 says "$M" 'room for 2 pods at once'
is "none is made" "$(pods "$M")" 0
qdel "$X"
ok "one that waits there can be deleted" eventually 30 state "$X" C
qdel "$A"
ok "with room for all it runs" eventually 60 state "$M" C
is "what was deleted never ran" "$(job "$X" .status.startCount)" null
as_root "$T/bin/qmgr" -c 'set queue batch max_running = 1'
A=$(echo 'sleep 600' | qsub -l image=host)
ok "a job runs" eventually 60 state "$A" R
B=$(echo true | qsub -l image=host)
ok "limits of queues hold" eventually 60 says "$B" "queue batch allows 1 running job in all"
as_root "$T/bin/qmgr" -c 'unset queue batch max_running'
ok "until they are gone" eventually 60 state "$B" C
qdel "$A"

done_testing

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

# --- hands on what runs ---
act() { as_user "$T/bin/$1" "${@:2}" 2>&1; }
cat >"$H/hear.pbs" <<'END'
#PBS -l image=host
#PBS -N hear
trap 'echo heard' USR1
echo begun
while [ ! -e "$PBS_O_WORKDIR/stop" ]; do sleep 0.1; n=$((n + 1)); echo $n >"$PBS_O_WORKDIR/count"; done
echo over
END
A=$(qsub hear.pbs)
O=$H/hear.o${A%%.*}
ok "a job runs" eventually 60 grep -qs begun "$O"
is "qsig is heard by its script" "$(act qsig -s USR1 "$A")" ""
ok "at once" eventually 30 grep -q heard "$O"
is "qmsg writes into its output" "$(act qmsg -O 'the end is near' "$A")" ""
ok "and the script goes on behind that" grep -q 'the end is near' "$O"
act qmsg 'an error' "$A"
ok "or into its errors" grep -q 'an error' "$H/hear.e${A%%.*}"
like "nobody else may" "$(setpriv --reuid=nobody --regid=nogroup --clear-groups env -u KUBECONFIG STOKER_SOCKET="$P" "$T/bin/qsig" "$A" 2>&1)" 'Unauthorized Request'
is "it can be suspended" "$(act qsig -s suspend "$A")" ""
ok "it is" eventually 30 state "$A" S
is "its processes stand still" "$(cat "$H/count"; sleep 0.5)" "$(cat "$H/count")"
act qsig -s resume "$A"
ok "and resumed" eventually 30 state "$A" R
STOOD=$(cat "$H/count")
moves() { [ "$(cat "$H/count")" -gt "${STOOD:-0}" ]; }
ok "they go on" eventually 30 moves
touch "$H/stop"
ok "it ends" eventually 30 state "$A" C
is "with all that was written" "$(tr '\n' ' ' <"$O")" 'begun heard the end is near over '
like "a job that has ended hears nothing" "$(act qsig "$A")" 'invalid state for job - COMPLETE'
A=$(echo 'exec sleep 600' | qsub -l image=host)
ok "a job runs" eventually 60 state "$A" R
killed() { act qsig -s KILL "$A" >/dev/null; state "$A" C; }
ok "a signal that nobody catches ends it" eventually 30 killed
is "as a shell counts signals" "$(job "$A" .status.exitStatus)" 137
A=$(echo 'echo in the log' | qsub -l image=host -j oe -o /no/such/dir/x)
ok "a job whose output has no place" eventually 60 state "$A" C
is "has it in its log" "$(act dockerlog "$A")" 'in the log'

# --- programs on several nodes ---
mkdir "$H/bin" && cp "$T/bin/stoker" "$T/bin/pbsdsh" "$H/bin/"
cat >"$H/many.pbs" <<'END'
#PBS -l nodes=2:ppn=2,image=host
#PBS -N dsh
#PBS -j oe
PATH=$PBS_O_WORKDIR/bin:$PATH
pbsdsh sh -c 'echo $PBS_NODENUM $PBS_VNODENUM $PBS_TASKNUM' | sort
pbsdsh -n 3 sh -c 'echo only $PBS_VNODENUM; exit 4'; echo $?
pbsdsh -h nowhere true; echo $?
mpirun --hostfile $PBS_NODEFILE -np 4 --mca plm_rsh_agent "$PBS_O_WORKDIR/bin/pbsdsh -h" sh -c 'echo rank $OMPI_COMM_WORLD_RANK' 2>&1 | sort
END
as_root "$T/bin/qmgr" -c "set node $NODE np = 16"
slots() { as_root "$T/bin/pbsnodes" "$NODE" | grep -q 'np = 16'; }
ok "a node of the cluster has the slots that PBS gives it" eventually 30 slots
M=$(qsub many.pbs)
ok "a job that may not start programs elsewhere" eventually 60 state "$M" C
like "says who could let it" "$(head -1 "$H/dsh.o${M%%.*}")" 'pbsdsh: this job may start nothing by the cluster: .*--pbs-account'
crash
operator --pbs-account launcher
ok "the operator is back" eventually 30 answers
M=$(qsub many.pbs)
ok "with an account it" eventually 60 state "$M" C
is "starts programs on slots, hosts and for mpirun" "$(cat "$H/dsh.o${M%%.*}")" "0 0 2
0 1 3
1 2 4
1 3 5
only 3
4
pbsdsh: host nowhere is not one of this job's
1
rank 0
rank 1
rank 2
rank 3"
can() { kubectl auth can-i "$@" -n "$U" --as "system:serviceaccount:$U:launcher" 2>/dev/null; }
is "the account can do this" "$(can create pods --subresource exec)" yes
is "and nothing else" "$(can get pods) $(can create pods) $(can get secrets) $(kubectl auth can-i create pods --subresource exec -n default --as "system:serviceaccount:$U:launcher")" 'no no no no'

# --- a terminal ---
cp "$ROOT/tests/lib/terminal.py" "$T/bin/"
echo "PS1='stoker> '" >"$H/.bashrc"
# terminal [TEXT KEYS]... -- ARGS...: a command on a terminal
terminal() { (cd "$H" && as_user timeout 300 /usr/bin/python3 -B "$T/bin/terminal.py" "$@"); }
SAT=$(terminal 'stoker> ' $'echo in=$PBS_ENVIRONMENT at=$PWD $((6 * 7)); exit 4\n' -- "$T/bin/qsub" -I -l image=host)
like "qsub -I sits down" "$SAT" 'job [0-9]+\..* ready'
like "at a shell of the job" "$SAT" "in=PBS_INTERACTIVE at=$H 42"
like "until it ends" "$SAT" 'job [0-9]+\..* completed'

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

#!/bin/bash
# PBS on a cluster that knows nothing of it: qsub speaks to the operator, jobs run as pods over there.
. "$(dirname "$0")/lib.sh"

. "$(dirname "$0")/pbs_operator.bash"

need_accounts
abroad_start --gpus 2

operator
ok "the operator answers on a socket of its own" eventually 30 answers
ok "the cluster's nodes are PBS's" eventually 30 mirrored
ok "a second operator of the same jobs is refused" eval '! "$STOKER" operate --pbs "$T/pbs" --pbs-socket "$T/other.sock" 2>"$T/second"'

# --- a job ---
like "a job needs an image" "$(echo true | qsub 2>&1)" '^qsub: submit error \(.*jobs run in containers here: name an image'
like "the nodes count at once" "$(echo true | qsub -l image=host,nodes=999 2>&1)" '^qsub: '
cat >"$H/a.pbs" <<'END'
#PBS -N hello
#PBS -l nodes=1:ppn=2:gpus=1,image=host
id -un; id -Gn; umask; pwd
echo "$PBS_JOBNAME $PBS_NP $PBS_QUEUE $CUDA_VISIBLE_DEVICES $WHO $1"
cat "$PBS_NODEFILE" "$PBS_GPUFILE"
echo oops >&2
exit 3
END
A=$(cd "$H" && qsub -v 'WHO=$(HOME)$$' a.pbs -F 'x$(y)')
like "qsub gives a number" "$A" '^[0-9]+\.'
ok "it completes" eventually 60 state "$A" C
is "with its script's status" "$(job "$A" .status.exitStatus)" 3
is "as its user, in its home, with its environment" "$(cat "$H/hello.o${A%%.*}")" "$U
$U $U-lab
0077
$H
hello 2 batch 0 \$(HOME)\$\$ x\$(y)
$NODE
$NODE
$NODE-gpu0"
is "what it said of errors is apart" "$(cat "$H/hello.e${A%%.*}")" oops
is "the files are the user's" "$(stat -c %U "$H/hello.o${A%%.*}")" "$U"
is "the pod is the cluster's, and nobody's" "$(pod "${A%%.*}-0" '[.metadata.ownerReferences, .spec.securityContext.runAsUser]')" "[null,$(id -u "$U")]"
like "it says whose job it is" "$(pod "${A%%.*}-0" '.metadata.annotations["stoker.dev/controller"]')" "\"name\":\"${A%%.*}\""
like "qstat knows it" "$(qstat -f "$A")" "exec_host = $NODE/0-1"
like "qstat -a too" "$(qstat -a)" "${A%%.*}.* C "
is "the cluster has no PBS jobs" "$(kubectl get pbsjobs -A -o name | wc -l)" 0

# --- what is deleted, held, refused ---
B=$(echo 'sleep 600' | qsub -l image=host)
ok "a job runs" eventually 60 state "$B" R
qdel "$B"
ok "qdel ends it" eventually 30 state "$B" C
is "with 271" "$(job "$B" .status.exitStatus)" 271
ok "and its pod" eventually 30 no_pods "$B"
C=$(echo 'echo later' | qsub -h -l image=host -N held)
D=$(echo true | qsub -l image=host -o /no/such/dir/x -j oe)
ok "output elsewhere than in a shared directory is in the log" eventually 60 state "$D" C
is "and the job is none the worse" "$(job "$D" .status.exitStatus)" 0
E=$(echo true | qsub -l image=host -o "$H/none/x" -j oe)
ok "a file that cannot be written" eventually 60 state "$E" C
is "is Torque's -9" "$(job "$E" .status.exitStatus)" -9

M=$(printf 'cat $PBS_NODEFILE; echo $PBS_NP' | qsub -l nodes=2,image=host -N many -j oe)
ok "a job of several nodes" eventually 60 state "$M" C
is "knows them all" "$(tr '\n' ' ' <"$H/many.o${M%%.*}")" "$NODE $NODE 2 "

# --- accidents ---
F=$(echo "echo began >>$H/once; sleep 3; echo ended >>$H/once; exit 5" | qsub -l image=host)
ok "it has begun" eventually 60 grep -qs began "$H/once"
crash
G=$(echo true | qsub -l image=host 2>&1)
like "without the operator there is no qsub" "$G" '^qsub: '
operator
ok "the operator is back" eventually 30 answers
ok "the job ends as if nothing had been" eventually 60 state "$F" C
is "it was run once" "$(tr '\n' ' ' <"$H/once")$(job "$F" '[.status.exitStatus, .status.startCount]')" 'began ended [5,1]'
is "what was held is held" "$(job "$C" .status.state)" H
as_user "$T/bin/qrls" "$C"
ok "and runs when it is released" eventually 60 state "$C" C

N=20
: >"$H/acked"
(
	for ((i = 0; i < N; i++)); do
		id=$(echo "echo \$PBS_JOBID >>$H/storm" | qsub -l image=host -o /dev/null -e /dev/null 2>/dev/null) && echo "$id" >>"$H/acked"
	done
) &
STORM=$!
for ((i = 0; i < 3; i++)); do
	sleep 0.4
	crash
	operator
	eventually 30 answers
done
wait "$STORM"
all_ran() { while read -r id; do grep -qx "$id" "$H/storm" || return 1; done <"$H/acked"; }
ok "nothing that qsub printed is lost ($(wc -l <"$H/acked") of $N)" eventually 90 all_ran
is "and nothing ran twice" "$(sort "$H/storm" | uniq -d)" ""

# --- what is left ---
as_root "$T/bin/qmgr" -c 'set server keep_completed = 1'
expired() { [ "$(job "$A" .code)" = 404 ] && [ "$(pods "$A")" = 0 ]; }
ok "a job that was shown long enough goes, and its pod" eventually 30 expired
STRAY=$(echo 'sleep 600' | qsub -l image=host)
ok "a job runs" eventually 60 state "$STRAY" R
curl -sS -X DELETE --unix-socket "$P" "http://localhost/apis/stoker.dev/v1/namespaces/$U/pbsjobs/${STRAY%%.*}" >/dev/null
ok "a job that is removed takes its pod along" eventually 30 no_pods "$STRAY"
kubectl create -n "$U" -f - >/dev/null <<-END
	{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other", "labels": {"stoker.dev/pbsjob": "77"}, "annotations": {
	 "stoker.dev/controller": "{\"apiVersion\":\"stoker.dev/v1\",\"kind\":\"PBSJob\",\"name\":\"77\",\"uid\":\"u\",\"store\":\"another\"}"}},
	 "spec": {"containers": [{"name": "c", "image": "host", "command": ["sleep", "600"]}]}}
END
as_root "$T/bin/pbsnodes" -o "$NODE"
closed() { [ "$(kubectl get node "$NODE" -o 'jsonpath={.spec.unschedulable}')" = true ]; }
ok "pbsnodes -o closes the node of the cluster" eventually 30 closed
kubectl uncordon "$NODE" >/dev/null
ok "what the cluster says comes back" eventually 30 mirrored
other_runs() { [ "$(pod other .status.phase)" = Running ]; }
ok "another operator's pods are left alone" eventually 60 other_runs
kubectl delete pod -n "$U" other --grace-period=0 --force >/dev/null 2>&1
kill -TERM "$OP"
wait "$OP"
is "it ends when it is told to" "$?" 0
unlike "nobody was turned away" "$(cat "$T/op.err")" 'forbidden|Forbidden|Sanitizer|runtime error'
done_testing

#!/bin/bash
# PBS jobs on another cluster when something goes wrong there: nothing that was printed is lost, and people are told.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pbs_operator.bash"

need_accounts
abroad_start
PORT=${URL##*:}
operator
ok "the operator answers" eventually 30 answers
ok "the cluster's nodes are PBS's" eventually 30 mirrored
says() { qstat -s "$1" | grep -Eq "$2"; }

# --- what cannot be ---
A=$(echo true | qsub -l image=127.0.0.1:1/none:1)
ok "an image that cannot be had is told" eventually 60 says "$A" 'Job has its nodes but does not begin: (ErrImagePull|ImagePullBackOff|InvalidImageName)'
qdel "$A"
ok "such a job can be deleted" eventually 30 state "$A" C
mkdir "$H/bin" && cp "$T/bin/stoker" "$T/bin/startdocker" "$H/bin/"
A=$(echo "$H/bin/startdocker -c true box; echo \$?" | qsub -l image=host -N dock -j oe)
ok "startdocker in a job" eventually 60 state "$A" C
like "says why it cannot be" "$(cat "$H/dock.o${A%%.*}")" 'startdocker: this job runs in a pod of another cluster.*qsub -l image='
like "with docker's status" "$(cat "$H/dock.o${A%%.*}")" '^125$'
like "and outside of jobs too" "$(as_user timeout 300 "$T/bin/startdocker" -c true box 2>&1)" "startdocker: .*pods are another cluster's here.*qsub -l image="

# --- pods that somebody else takes away ---
cat >"$H/again.pbs" <<'END'
#PBS -l image=host
echo run >>"$PBS_O_WORKDIR/runs"
while [ ! -e "$PBS_O_WORKDIR/stop" ]; do sleep 0.1; done
END
A=$(qsub -N again again.pbs)
ok "a job runs" eventually 60 grep -qs run "$H/runs"
kubectl delete pod -n "$U" "${A%%.*}-0" --grace-period=0 --force >/dev/null 2>&1
twice() { [ "$(grep -c run "$H/runs")" = 2 ]; }
ok "its pod is deleted on the cluster, and it runs again" eventually 60 twice
B=$(qsub -r n -N once again.pbs)
thrice() { [ "$(grep -c run "$H/runs")" = 3 ]; }
ok "one that may not be run again" eventually 60 thrice
kubectl delete pod -n "$U" "${B%%.*}-0" --grace-period=0 --force >/dev/null 2>&1
ok "ends" eventually 60 state "$B" C
is "as Torque says it" "$(job "$B" .status.exitStatus)" -4

# --- the cluster is away ---
D=$(echo 'sleep 600' | qsub -l image=host -N late)
ok "another runs" eventually 60 state "$D" R
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
# The first may come before the operator has noticed.
told() { echo true | qsub -l image=host >"$T/c" && says "$(cat "$T/c")" 'Not Running: the cluster does not answer'; }
ok "qsub is served without the cluster, and qstat -s says that it is away" eventually 30 told
C=$(cat "$T/c")
like "qstat has all jobs" "$(qstat)" "${A%%.*}\..* again .* R "
is "qdel is taken" "$(qdel "$D" 2>&1)" ""
like "qsig says why it cannot be" "$(as_user "$T/bin/qsig" -s USR1 "$A" 2>&1)" 'qsig: .*(onnect|answer)'
crash
operator
ok "the operator is killed, too, and back before the cluster" eventually 30 answers
ok "it still knows all" says "$C" "${C%%.*}.* Q "
touch "$H/stop"
server_run main --controllers '*,-pbsjob' --listen "127.0.0.1:$PORT" || done_testing
ok "the cluster is back: what was submitted meanwhile runs" eventually 60 state "$C" C
ok "what was deleted ends" eventually 60 state "$D" C
is "as deleted" "$(job "$D" .status.exitStatus)" 271
ok "what ran goes on to its end" eventually 60 state "$A" C
is "and nothing ran twice" "$(grep -c run "$H/runs") $(job "$A" '[.status.exitStatus, .status.startCount]')" '3 [0,2]'
ok "no pod is left of what was deleted" eventually 30 no_pods "$D"
done_testing

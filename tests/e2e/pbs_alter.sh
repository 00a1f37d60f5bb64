#!/bin/bash
# What qalter and the others change about real jobs that run: their time, and single elements of arrays.
. "$(dirname "$0")/lib.sh"
node_start main || exit 1
U=65534
me=$(getent passwd $U | cut -d: -f1)
mkdir -m 755 "$T/bin"
cp "${STOKER_PBS:-$ROOT/build/stoker-pbs}" "$T/bin/stoker-pbs"
for c in qsub qsig qdel qalter qrerun qhold qrls qrun qstat qorder qmove; do ln -s stoker-pbs "$T/bin/$c"; done
mkdir -m 777 "$T/work"
chmod 755 "$T" "$T/main"
chmod 666 "$SOCKET"
kubectl annotate node --all stoker.dev/np=12 >/dev/null
cd "$T/work" || exit 1
with() { env -u KUBECONFIG STOKER_SOCKET="$SOCKET" STOKER_TORQUE_CFG=/nonexistent HOME="$T/work" "$@"; }
as_root() {
	local command=$1
	shift
	with "$T/bin/$command" "$@"
}
as_user() {
	local command=$1
	shift
	with setpriv --reuid=$U --regid="$(id -g "$me")" --clear-groups "$T/bin/$command" "$@"
}
said() {
	"$@" 2>&1 </dev/null
	echo "[$?]"
}
# The home directory of this account is nowhere: hence -d.
submit() { as_user qsub -S /bin/bash -d "$T/work" -W umask=022 "$@"; }
status() { api GET "/apis/stoker.dev/v1/namespaces/$me/pbsjobs/${1%%[.\[]*}" | jq -cr ".status|$2"; }
is_in() { [ "$(status "$1" .state)" = "$2" ]; }

# ---- time ----
cat >waits.sh <<'END'
until [ -e go ]; do sleep 0.05; done
END
# On a slow machine its time may be over before it is given more: then another one is tried.
for ((i = 0; i < 10; i++)); do
	long=$(submit -N long -l walltime=5 waits.sh)
	eventually 30 is_in "$long" R && as_root qalter -l walltime=1:00:00 "$long" 2>/dev/null && break
done
short=$(submit -N short -e short.err -l walltime=1:00:00 waits.sh)
spins=$(echo 'while :; do :; done' | submit -N spins -e spins.err)
ok "a job runs" eventually 30 is_in "$short" R
is "its owner gives it less time" "$(said as_user qalter -l walltime=30:00 "$short")" "[0]"
is "and no more again" "$(said as_user qalter -l walltime=31:00 "$short")" "qalter: Unauthorized Request  MSG=operation not permitted $short
[159]"
is "but still less" "$(said as_user qalter -l walltime=7 "$short")" "[0]"
ok "another runs" eventually 30 is_in "$spins" R
is "and is limited in processor time" "$(said as_user qalter -l cput=1 "$spins")" "[0]"
ok "which ends it" eventually 60 is_in "$spins" C
is "with Torque's number" "$(status "$spins" .exitStatus)" -12
like "and its words" "$(cat spins.err)" '^=>> PBS: job killed: cput [0-9]+ exceeded limit 1$'
like "which why turns into advice" "$("$STOKER" why --socket "$SOCKET" -n "$me" "$spins")" '^what would help: It may use no more than `-l cput=[^ ]*1`: ask qsub for more'
ok "the one with less time ends" eventually 60 is_in "$short" C
is "as any that runs too long" "$(status "$short" .exitStatus)" -11
like "and its owner reads it" "$(cat short.err)" '^=>> PBS: job killed: walltime [0-9]+ exceeded limit 7$'
like "in PBS's words" "$("$STOKER" why --socket "$SOCKET" -n "$me" "$short")" '`-l walltime=[^ ]*7`'
is "the one that an administrator gave more has outlived its first limit" "$(status "$long" .state)" R
touch go
ok "and ends by itself" eventually 30 is_in "$long" C
is "well" "$(status "$long" .exitStatus)" 0
rm go

# ---- single elements of an array ----
cat >each.sh <<'END'
echo "up $PBS_ARRAYID in $PBS_QUEUE"
until [ -e "go-$PBS_ARRAYID" ]; do sleep 0.05; done
END
kubectl create -f - >/dev/null <<'END'
apiVersion: stoker.dev/v1
kind: Queue
metadata:
  name: other
END
x=$(submit -N each -o each -e each.err -l walltime=1:00:00 -t 0-7%4 each.sh)
n=${x%%\[*}
server=${x#*.}
# element INDEX FIELD: of those that run
element() { status "$x" ".active[]?|select(.index == $1)|.$2"; }
el_is() { [ "$(element "$1" "$2")" = "$3" ]; }
runs() { [ "$(status "$x" .elements.R)" = "$1" ]; }
# row INDEX FIELD: of qstat -t
row() { as_user qstat -t "$n[]" | awk -v id="$n[$1].$server" -v f="$2" '$1 == id { print $f }'; }
ok "four elements run" eventually 30 runs 0-3
is "one is suspended" "$(said as_user qsig -s suspend "$n[3]")" "[0]"
ok "and stands so" eventually 30 el_is 3 state S
is "the others do not" "$(element 2 state)$(row 2 5)$(row 3 5)" RRS
is "it goes on" "$(said as_user qsig -s resume "$n[3]")" "[0]"
ok "and runs" eventually 30 el_is 3 state R
is "one that waits is not suspended" "$(said as_user qsig -s suspend "$n[4]")" "qsig: Request invalid for state of job MSG=invalid state for job - QUEUED $n[4].$server
[170]"
is "one is run again" "$(said as_user qrerun "$n[2]")" "[0]"
ok "it alone" eventually 30 el_is 2 startCount 2
is "is" "$(element 1 startCount)" 1
is "somebody who is no operator has no such holds" "$(said as_user qhold -h o "$n[6]")" "qhold: Unauthorized Request  MSG=operation not permitted $n[6].$server
[159]"
is "an operator has" "$(said as_root qhold -h o "$n[6]") $(row 6 5)" "[0] H"
is "it is not for its user to lift" "$(said as_user qrls "$n[6]") $(row 6 5)" "[0] H"
is "two that wait change places" "$(said as_user qorder "$n[4]" "$n[7]")" "[0]"
held=$(submit -h waits.sh)
is "two of different kinds do not" "$(said as_user qorder "$n[4]" "$held")" "qorder: Invalid request MSG=elements change places with others of their array only $held
[156]"
is "some get another name" "$(said as_user qalter -t 5-6 -N x "$n[]") $(row 5 2) $(row 6 2) $(row 7 2)" "[0] x-5 x-6 each-7"
is "one goes to another queue" "$(said as_user qmove other "$n[5]") $(row 5 6) $(row 4 6)" "[0] other batch"
is "what runs does not" "$(said as_user qmove other "$n[1]")" "qmove: Request invalid for state of job MSG=invalid state for job - RUNNING $n[1].$server
[170]"
is "what all have alike is not one's own" "$(said as_user qalter -W depend= "$n[5]")" "qalter: Invalid request MSG=dependencies is the same for all elements of an array: name it with [] $n[5].$server
[156]"
is "one has less time" "$(said as_user qalter -l walltime=1 "$n[1]")" "[0]"
ended() { [ "$(status "$x" ".elements[\"C:$1\"]")" = "$2" ]; }
ok "and is killed" eventually 30 ended -11 1
like "for that" "$(cat each.err-1)" '^=>> PBS: job killed: walltime [0-9]+ exceeded limit 1$'
ok "the one that changed places comes next" eventually 30 runs 0,2-3,7
is "as qstat -f shows" "$(as_user qstat -f "$n[5]" | grep -E 'Job_Name|queue =|Hold' | tr -d '\n')" "    Job_Name = x-5    queue = other    Hold_Types = n"
touch go-{0..7}
ok "all end but the one that is held" eventually 60 ended 0 0,2-5,7
is "one of them in the other queue" "$(cat each-5)" "up 5 in other"
is "the operator lets it go" "$(said as_root qrls -h o "$n[6]")" "[0]"
ok "and it is done" eventually 30 is_in "$x" C
done_testing

#!/bin/bash
# qsig and qmsg with real processes: what the job gets, and what stands in its files.
. "$(dirname "$0")/lib.sh"
node_start main || exit 1
U=65534
me=$(getent passwd $U | cut -d: -f1)
mkdir -m 755 "$T/bin"
cp "${STOKER_PBS:-$ROOT/build/stoker-pbs}" "$T/bin/stoker-pbs"
for c in qsub qsig qmsg qdel; do ln -s stoker-pbs "$T/bin/$c"; done
mkdir -m 777 "$T/work"
chmod 755 "$T" "$T/main"
chmod 666 "$SOCKET"
cd "$T/work" || exit 1
as_user() {
	local command=$1
	shift
	setpriv --reuid=$U --regid="$(id -g "$me")" --clear-groups \
		env -u KUBECONFIG STOKER_SOCKET="$SOCKET" STOKER_TORQUE_CFG=/nonexistent HOME="$T/work" "$T/bin/$command" "$@"
}
cat >job.sh <<'END'
trap 'echo got USR1' USR1
trap 'echo got HUP' HUP
trap 'echo bye; exit' TERM
echo "started $PBS_JOBID"
while :; do sleep 0.05; done
END
has() { grep -q "$2" "$1" 2>/dev/null; }

# The home directory of this account is nowhere: hence -d.
id=$(as_user qsub -S /bin/bash -d "$T/work" -N job -o out -e err -W umask=022 job.sh)
ok "a job has started" eventually 20 has out "^started $id"
ok "a signal by its name" as_user qsig -s USR1 "$id"
ok "reaches it" eventually 20 has out '^got USR1'
ok "and by its number" as_user qsig -s 1 "$id"
ok "too" eventually 20 has out '^got HUP'
ok "a message" as_user qmsg 'look at this' "$id"
ok "is in the error file" eventually 20 has err '^look at this$'
ok "and another" as_user qmsg -O 'and that' "$id"
ok "in the output" eventually 20 has out '^and that$'
ok "qdel lets it say goodbye" as_user qdel -W 20 "$id"
ok "which it does" eventually 20 has out '^bye$'
x=$(as_user qsub -S /bin/bash -d "$T/work" -N many -o each -e each.err -W umask=022 -t 3 job.sh)
n=${x%%\[*}
ok "an element has started" eventually 20 has each-3 "^started $n\\[3\\]"
ok "a signal to it alone" as_user qsig -s SIGUSR1 "$n[3]"
ok "reaches it as well" eventually 20 has each-3 '^got USR1'
ok "and so does a message" as_user qmsg -O hello "$n[]"
ok "to all" eventually 20 has each-3 '^hello$'
ok "SIGTERM without a name" as_user qsig "$n[3]"
ok "ends it" eventually 20 has each-3 '^bye$'

# Among many that start a node tells of each a little later: who has seen one speak may ask it something all the same.
kubectl annotate "$(kubectl get nodes -o name)" stoker.dev/np=12 >/dev/null
x=$(as_user qsub -S /bin/bash -d "$T/work" -N crowd -o crowd -e crowd.err -W umask=022 -t 1-10 job.sh)
n=${x%%\[*}
asked=
for i in 1 2 3 4 5 6 7 8 9 10; do
	for ((k = 0; k < 3000; k++)); do has "crowd-$i" "^started" && break || sleep 0.01; done
	asked+=$(as_user qsig -s USR1 "$n[$i]" 2>&1)
done
is "each of a crowd is asked as soon as it speaks" "$asked" ""
all_got() {
	local i
	for i in 1 2 3 4 5 6 7 8 9 10; do has "crowd-$i" '^got USR1' || return 1; done
}
ok "and has heard it" eventually 20 all_got
as_user qdel "$n[]"
done_testing

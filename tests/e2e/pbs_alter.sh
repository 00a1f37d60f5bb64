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
is "its owner gives it less time" "$(said as_user qalter -l walltime=7 "$short")" "[0]"
is "and no more again" "$(said as_user qalter -l walltime=8 "$short")" "qalter: Unauthorized Request  MSG=operation not permitted $short
[159]"
ok "another runs" eventually 30 is_in "$spins" R
is "and is limited in processor time" "$(said as_user qalter -l cput=1 "$spins")" "[0]"
ok "which ends it" eventually 60 is_in "$spins" C
is "with Torque's number" "$(status "$spins" .exitStatus)" -12
like "and its words" "$(cat spins.err)" '^=>> PBS: job killed: cput [0-9]+ exceeded limit 1$'
ok "the one with less time ends" eventually 60 is_in "$short" C
is "as any that runs too long" "$(status "$short" .exitStatus)" -11
like "and its owner reads it" "$(cat short.err)" '^=>> PBS: job killed: walltime [0-9]+ exceeded limit 7$'
is "the one that an administrator gave more has outlived its first limit" "$(status "$long" .state)" R
touch go
ok "and ends by itself" eventually 30 is_in "$long" C
is "well" "$(status "$long" .exitStatus)" 0
rm go
done_testing

# Sourced by the tests of PBS on another cluster: an operator on a socket of its own, and a user who submits to it.
#
#	. "$(dirname "$0")/lib.sh"
#	. "$(dirname "$0")/pbs_operator.bash"
#	abroad_start [ARGS of the cluster]    # the cluster in $T/main, NODE; then: operator [ARGS]

# The cluster runs everything but PBS.
abroad_start() {
	local c
	lab_user "stko$$"
	P=$T/pbs.sock
	mkdir -m 755 "$T/bin"
	for c in qsub qstat qdel qmgr pbsnodes qhold qrls qsig qmsg pbsdsh startdocker dockerlog; do
		cp "${STOKER_PBS:-$ROOT/build/stoker-pbs}" "$T/bin/$c"
	done
	cp "$STOKER" "$T/bin/stoker"
	node_start main --controllers '*,-pbsjob' "$@" || done_testing
	NODE=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
}
operator() {
	"$STOKER" operate --pbs "$T/pbs" --pbs-socket "$P" "$@" >>"$T/op.out" 2>>"$T/op.err" &
	OP=$!
	PIDS+=("$OP")
}
crash() {
	kill -9 "$OP"
	wait "$OP" 2>/dev/null
}
as_root() { env -u KUBECONFIG STOKER_SOCKET="$P" "$@"; }
as_user() { setpriv --reuid="$U" --regid="$U" --init-groups env -u KUBECONFIG STOKER_SOCKET="$P" HOME="$H" USER="$U" "$@"; }
qsub() { (cd "$H" && as_user "$T/bin/qsub" "$@"); }
qstat() { as_user "$T/bin/qstat" "$@"; }
qdel() { as_user "$T/bin/qdel" "$@"; }
# job NUMBER FILTER: of the PBSJob, from the operator.
job() { curl -sS --unix-socket "$P" "http://localhost/apis/stoker.dev/v1/namespaces/$U/pbsjobs/${1%%[.\[]*}" | jq -rc "$2"; }
pod() { kubectl get pod -n "$U" "$1" -o json 2>/dev/null | jq -rc "$2"; }
pods() { kubectl get pods -n "$U" -l "stoker.dev/pbsjob=${1%%[.\[]*}" -o name 2>/dev/null | wc -l; }
no_pods() { [ "$(pods "$1")" = 0 ]; }
state() { [ "$(job "$1" .status.state)" = "$2" ]; }
answers() { curl -sS --unix-socket "$P" http://localhost/version >/dev/null 2>&1; }
mirrored() { as_root "$T/bin/pbsnodes" "$NODE" 2>/dev/null | grep -q 'state = free'; }

# Sourced by every end-to-end test: a private directory, private servers, and a line a check.
#
#	. "$(dirname "$0")/lib.sh"
#	server_start main                 # data in $T/main, $KUBECONFIG set
#	ok "namespaces are listed" test "$(kubectl get ns -o name | wc -l)" -ge 4
#	done_testing
#
# server_start serves the API alone; node_start also makes the machine a node that runs pods for real.
# Every name is derived from $T; everything started is ended by its pid on every way out.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
STOKER=${STOKER:-$ROOT/build/stoker}
T=$(mktemp -d "${TMPDIR:-/tmp}/stoker-e2e-XXXXXX")
# The preinstalled kubectl may be a dispatcher that remembers servers under $HOME: give each test its own.
export HOME=$T/home
mkdir -p "$HOME"
unset KUBECONFIG STOKER_SOCKET
# A kubectl lives too short to collect garbage: a fifth of its processor time.
export GOGC=${GOGC:-800}
KUBECTL_NEW=$(command -v kubectl || true)
KUBECTL_OLD=$ROOT/build/kubectl-1.20/usr/bin/kubectl
# A plain Debian 12 has only 1.20: then there is no newer one to try.
case $("${KUBECTL_NEW:-false}" version --client 2>/dev/null) in *'"v1.20'* | *' v1.20'*) KUBECTL_NEW= ;; esac
PIDS=()
MOUNTS=()
NODES=()
PASSED=0
FAILED=0

cleanup() {
	local p m
	{
		for p in "${PIDS[@]:-}"; do
			[ -n "$p" ] && kill -9 "$p" && wait "$p"
		done
		wait
	} 2>/dev/null
	for p in "${NODES[@]:-}"; do
		[ -n "$p" ] && "$STOKER" down --data "$p" --timeout 30s >/dev/null 2>>"$T/down.err"
	done
	for m in "${MOUNTS[@]:-}"; do
		[ -n "$m" ] && umount -l "$m" 2>/dev/null
	done
	# A killed server leaves its mounts, among them this machine's own root: nothing may be removed through them.
	awk -v t="$T/" 'index($2, t) == 1 { print $2 }' /proc/self/mounts | sort -r | while read -r m; do
		umount -l "$m" 2>/dev/null
	done
	if grep -qF " $T/" /proc/self/mountinfo; then
		echo "mounts are left below $T, so it is not deleted" >&2
	else
		rm -rf --one-file-system "$T"
	fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# need_accounts [PROGRAM...]: for tests that make users.  Only root can; what root lacks is a failure, not a reason to go.
need_accounts() {
	local program
	if [ "$(id -u)" != 0 ]; then
		echo "1..0 # skipped: needs root"
		exit 0
	fi
	for program in useradd "$@"; do
		command -v "$program" >/dev/null || ok "$program is here" false
	done
	share_programs
}
# share_programs: where only root may look at the checkout, other users get copies; $STOKER and its bin/ are what to use.
share_programs() {
	local built=${STOKER%/*}
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$STOKER" && return
	mkdir "$T/programs"
	cp -a "$built"/{bin,stoker,stoker-pbs,psgd} "$T/programs"
	chmod 711 "$T"
	STOKER=$T/programs/stoker
}
# lab_user NAME: an account with a home of its own, H, and a second group, which go with the test.
lab_user() {
	U=$1 H=$T/u
	chmod 711 "$T"
	groupadd "$U-lab"
	useradd -M -d "$H" -s /bin/bash -G "$U-lab" "$U"
	trap 'cleanup; userdel "$U"; groupdel "$U-lab"' EXIT
	mkdir "$H" && chown "$U:" "$H" && chmod 700 "$H"
}

# ok SENTENCE COMMAND...: passes if the command succeeds; its output is shown if not.
ok() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		pass "$name"
	else
		fail "$name" "$out"
	fi
}
pass() {
	PASSED=$((PASSED + 1))
	echo "ok - $1"
}
fail() {
	FAILED=$((FAILED + 1))
	echo "not ok - $1"
	[ -n "${2:-}" ] && printf '%s\n' "$2" | head -40 | sed 's/^/    /'
	# After a crash every further line would only say so again.
	if [ -n "${SERVER_PID:-}" ] && ! kill -0 "$SERVER_PID" 2>/dev/null; then
		echo "the server has died; its last words:"
		tail -n 5 "$T"/*/err
		done_testing
	fi
	return 0
}
# is SENTENCE GOT WANTED
is() {
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:    $2
wanted: $3"; fi
}
# like SENTENCE GOT PATTERN (extended regular expression)
like() {
	if grep -Eq -- "$3" <<<"$2"; then pass "$1"; else fail "$1" "got:     $2
pattern: $3"; fi
}
unlike() {
	if grep -Eq -- "$3" <<<"$2"; then fail "$1" "got:     $2
pattern: $3"; else pass "$1"; fi
}
done_testing() {
	echo "$PASSED passed, $FAILED failed"
	[ "$FAILED" -eq 0 ]
	exit
}

# server_start NAME [ARGS...]: waits for the ready line; sets SERVER_PID, SOCKET, URL, KUBECONFIG.
server_start() {
	local name=$1
	shift
	server_run "$name" --no-node "$@"
}
# node_start NAME [ARGS...]: the same with pods that run.
node_start() {
	local name=$1 i
	shift
	NODES+=("$T/$name/data")
	server_run "$name" "$@" || return 1
	for ((i = 0; i < 1500; i++)); do
		kubectl get nodes 2>/dev/null | grep -q ' Ready ' && return 0
		sleep 0.02
	done
	echo "the node of $name is not ready:" >&2
	kubectl describe nodes >&2
	return 1
}
server_run() {
	local name=$1
	shift
	mkdir -p "$T/$name"
	rm -f "$T/$name/out" # the ready line of an earlier start
	"$STOKER" serve --data "$T/$name/data" --listen 127.0.0.1:0 --socket "$T/$name/sock" "$@" \
		>"$T/$name/out" 2>>"$T/$name/err" &
	SERVER_PID=$!
	PIDS+=("$SERVER_PID")
	server_wait "$name"
}
server_wait() {
	local name=$1 i
	for ((i = 0; i < 3000; i++)); do
		if grep -q '^stoker: ready' "$T/$name/out" 2>/dev/null; then
			SOCKET=$T/$name/sock
			URL=$(awk '/^stoker: ready/ { print $3 }' "$T/$name/out")
			export KUBECONFIG=$T/$name/data/admin.kubeconfig
			return 0
		fi
		kill -0 "$SERVER_PID" 2>/dev/null || break
		sleep 0.02
	done
	echo "server $name did not become ready:" >&2
	cat "$T/$name/err" >&2
	return 1
}
# server_stop: SIGTERM and wait.
server_stop() {
	kill -TERM "$SERVER_PID" 2>/dev/null
	wait "$SERVER_PID" 2>/dev/null
	SERVER_PID=
}
# api METHOD PATH [CURL ARGS...]: over the Unix socket, as root.
api() {
	local method=$1 path=$2
	shift 2
	curl -sS --unix-socket "$SOCKET" -X "$method" "http://localhost$path" "$@"
}
# api_code METHOD PATH [...]: only the status code.
api_code() {
	api "$@" -o /dev/null -w '%{http_code}'
}
# helper PROGRAM ARGS...: a program of tests/lib/ that prints a line a check; counts them.  The servers it
# started end with it.
helper() {
	local program=$1 line status
	shift
	exec {HELPER_FD}< <(
		trap - EXIT INT TERM
		STOKER=$STOKER exec /usr/bin/python3 -B "$ROOT/tests/lib/$program.py" "$@" 2>&1
	)
	PIDS+=($!)
	while IFS= read -r line <&"$HELPER_FD"; do
		echo "$line"
		case $line in
		"ok - "*) PASSED=$((PASSED + 1)) ;;
		"not ok - "*) FAILED=$((FAILED + 1)) ;;
		esac
	done
	exec {HELPER_FD}<&-
	wait $!
	status=$?
	if [ "$status" -ne 0 ] && [ "$FAILED" -eq 0 ]; then fail "$program ends well" "status $status"; fi
	return 0
}
# field JSON-FILTER: one value out of the JSON on stdin (jq's language), "null" if it is not there.
field() {
	jq -rc "$1"
}
# each_kubectl FUNCTION: calls it for the kubectl on PATH and for 1.20, each time with a fresh $HOME and a namespace of its
# own. $K is the program, $V is new or old, $NS the namespace; k is kubectl in that namespace, get reads one value back.
each_kubectl() {
	for V in new old; do
		if [ $V = new ]; then K=$KUBECTL_NEW; else K=$KUBECTL_OLD; fi
		[ $V = new ] && [ -z "$K" ] && continue
		if [ ! -x "$K" ]; then
			fail "kubectl 1.20 is here; tools/bootstrap test brings it"
			continue
		fi
		export HOME=$T/home-$V
		mkdir -p "$HOME"
		NS=ns-$V
		"$K" get namespace "$NS" >/dev/null 2>&1 || "$K" create namespace "$NS" >/dev/null || fail "$V: namespace $NS is made"
		"$1"
	done
	V=
}
k() {
	"$K" -n "$NS" "$@" 2>&1
}
# get RESOURCE NAME JSONPATH (without braces)
get() {
	"$K" -n "$NS" get "$1" "$2" -o "jsonpath={$3}" 2>&1
}
# ends_on_interrupt SENTENCE PID: Ctrl-C ends one of our own processes as it ends a command.
ends_on_interrupt() {
	kill -INT "$2"
	wait "$2"
	is "$1" $? 130
}
# eventually SECONDS COMMAND...: until it succeeds; a minute at least, for the machine may do five times as much besides.
eventually() {
	local deadline=$((SECONDS + ($1 > 60 ? $1 : 60)))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -ge "$deadline" ] && return 1
		sleep 0.05
	done
}
# phase_is PHASE POD...: all of them have it.  Debian's kubectl cannot wait for that.
phase_is() {
	local phase=$1
	shift
	[ "$(kubectl get pods "$@" -o 'jsonpath={range .items[*]}{.status.phase}{"\n"}{end}{.status.phase}' | sort -u | grep .)" = "$phase" ]
}

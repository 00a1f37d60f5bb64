#!/bin/bash
# Pods of PBS jobs are processes of the host: whose they are, what they see, where their output goes, how they end.
# The controller is not asked: the script makes the pods itself.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" != 0 ] || ! command -v useradd >/dev/null; then
	echo "1..0 # skipped: needs root and useradd"
	exit 0
fi
U=stkp$$
H=$T/u
chmod 711 "$T"
groupadd "$U-lab"
useradd -M -d "$H" -s /bin/bash -G "$U-lab" "$U"
trap 'cleanup; userdel "$U"; groupdel "$U-lab"' EXIT
mkdir "$H" && chown "$U:" "$H" && chmod 700 "$H"

begin() { node_start main --gpus 4; }
begin || done_testing
NODE=$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')
kubectl create ns "$U" >/dev/null
kubectl annotate ns "$U" stoker.dev/owner="$U" >/dev/null
k() { kubectl -n "$U" "$@"; }

# put METHOD PATH BODY: as root, by the socket; kubectl would take most of the time.
put() {
	local type=application/json
	[ "$1" = PATCH ] && type=application/merge-patch+json
	api "$1" "$2" -H "Content-Type: $type" -d "$3"
}
JOBS=/apis/stoker.dev/v1/namespaces/$U/pbsjobs
PODS=/api/v1/namespaces/$U/pods
# job NAME SPEC [POD-SPEC]: a PBSJob and its pod.
job() {
	local spec=$2 pod=${3:-'{}'} uid
	put POST "$JOBS" "$(jq -n --arg n "$1" --arg u "$U" --arg w "$H" --argjson s "$spec" '{apiVersion: "stoker.dev/v1",
		kind: "PBSJob", metadata: {name: $n}, spec: ({owner: $u, name: "n", queue: "batch", workingDir: $w} + $s)}')" >/dev/null
	uid=$(put PATCH "$JOBS/$1/status" "{\"status\":{\"id\":\"$1.Ghead\",\"sequence\":$1}}" | jq -r .metadata.uid)
	put POST "$PODS" "$(jq -n --arg n "$1" --arg uid "$uid" --argjson s "$pod" '{apiVersion: "v1", kind: "Pod",
		metadata: {name: ($n + "-0"), labels: {"stoker.dev/pbsjob": $n, "stoker.dev/pbs-rank": "0"},
		annotations: ($s.annotations // {}),
		ownerReferences: [{apiVersion: "stoker.dev/v1", kind: "PBSJob", name: $n, uid: $uid, controller: true}]},
		spec: ({restartPolicy: "Never", runtimeClassName: "host-process", automountServiceAccountToken: false,
		terminationGracePeriodSeconds: 2, containers: [{name: "job", image: "host"}]} * ($s | del(.annotations)))}')" >/dev/null
}
pod() { api GET "$PODS/$1-0" | jq -r "$2 // \"\""; }
phase() { pod "$1" .status.phase; }
reason() { pod "$1" .status.reason; }
term() { pod "$1" ".status.containerStatuses[0].state.terminated.$2"; }
ended() {
	for ((i = 0; i < 600; i++)); do
		case $(phase "$1") in Succeeded | Failed) return ;; esac
		sleep 0.05
	done
}
# says FILE PATTERN: waits for a line.
says() {
	for ((i = 0; i < 600; i++)); do
		grep -Eqs -- "$2" "$1" && return
		sleep 0.05
	done
	return 1
}

# What it is, and what it sees.
job 101 '{"script": "id -un; id -Gn; umask; pwd; echo $0; echo $PBS_JOBID $PBS_NP $CUDA_VISIBLE_DEVICES; cat $PBS_NODEFILE $PBS_GPUFILE; cat; echo oops >&2; exit 3",
	"resources": {"nodes": "1:ppn=2:gpus=2"}, "env": {"PBS_JOBID": "1.evil"}}' \
	'{"containers": [{"name": "job", "image": "host", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]}'
job 102 '{"script": "#!/bin/sh\necho $# \"$1\"; touch mine", "arguments": ["a b"], "joinPath": "oe", "umask": "022"}'
ended 101
ended 102
is "a job is its user's, in its home, with its environment" "$(sed 's#/.*/spool/#SPOOL/#' "$H/n.o101")" "$U
$U $U-lab
0077
$H
SPOOL/101.Ghead.SC
101.Ghead 2 1,0
$NODE
$NODE
$NODE-gpu1
$NODE-gpu0"
is "its errors are in a file of their own" "$(cat "$H/n.e101")" oops
is "the files are the user's and nobody else's" "$(stat -c '%U %a' "$H/n.o101" "$H/n.e101" | sort -u)" "$U 600"
is "how it ended is known" "$(term 101 exitCode) $(term 101 signal) $(phase 101)" "3  Failed"
like "the container is a process" "$(pod 101 '.status.containerStatuses[0].containerID')" '^process://[0-9]+$'
like "what it used is told" "$(pod 101 '.status.used | tostring')" '"cput":"00:00:0[0-9]","mem":"[1-9][0-9]*kb","vmem":'
is "the log has the same" "$(k logs 101-0 | head -n 1)" "$U"
is "#! is honoured, arguments arrive, a mask is obeyed" "$(cat "$H/n.o102") $(stat -c %a "$H/mine" "$H/n.o102" | tr '\n' ' ')" "1 a b 644 644 "
ok "a joined file is the only one" test ! -e "$H/n.e102"
ok "node files and scripts are gone with their jobs" test -z "$(ls /var/spool/stoker/*/aux/10[12].* /var/spool/stoker/*/spool/10[12].* 2>/dev/null)"

# What must not work.
echo "root's" >"$T/secret"
chmod 600 "$T/secret"
su "$U" -c "ln -s $T/secret $H/link"
job 111 "{\"script\": \"echo pwned\", \"outputPath\": \"$H/link\"}"
job 112 '{"script": "true", "initialDir": "/nowhere"}'
job 113 '{"command": ["/no/such/program"]}'
job 114 '{"script": "true", "outputPath": "/x/$NOBODY"}'
job 115 '{"script": "true", "outputPath": "/proc/self/comm"}'
for n in 111 112 113 114 115; do ended $n; done
is "what cannot be is told apart" "$(reason 111) $(reason 112) $(reason 113) $(reason 114) $(reason 115)" \
	"OutputUnwritable ChdirFailed ExecFailed OutputUnwritable OutputUnwritable"
is "a link leads nowhere the user may not write" "$(cat "$T/secret")" "root's"
is "the user reads why" "$(cat "$H/n.e112")" "PBS: chdir to '/nowhere' failed: No such file or directory"

# A job in a container has the same files.
uid=$(id -u "$U")
job 118 '{"script": "cat $1; echo said >&2", "outputPath": "in.out"}' "$(jq -n --argjson u "$uid" --arg h "$H" '{
	runtimeClassName: null, securityContext: {runAsUser: $u, runAsGroup: $u}, containers: [{name: "job", image: "host",
	command: ["/bin/sh", "/var/spool/pbs/spool/118.Ghead.SC", "/var/spool/pbs/aux/118.Ghead"],
	volumeMounts: [{name: "pbs", mountPath: "/var/spool/pbs"}]}], volumes: [{name: "pbs", csi: {driver: "pbs.stoker.dev"}}]}')"
ended 118
is "a job in a container has its node file, script and output" "$(cat "$H/in.out" "$H/n.e118")" "$NODE
said"
is "which is the user's too" "$(stat -c '%U %a' "$H/in.out")" "$U 600"

# Signals, words, time, and who stays behind.
job 121 '{"script": "trap \"echo got usr1\" USR1; (setsid sleep 7777 >/dev/null 2>&1 </dev/null &) & echo ready; while :; do sleep 0.1; done"}'
job 122 '{"script": "echo on; sleep 1000"}' '{"activeDeadlineSeconds": 2}'
job 123 '{"script": "while :; do :; done", "resources": {"cput": "1"}}'
job 124 '{"script": "echo before; i=0; while [ ! -e go ]; do sleep 0.05; done; echo after; exit 9"}'
job 125 '{"script": "sleep 1000"}' '{"annotations": {"stoker.dev/suspend": "true"}}'
ok "output is there while it runs" says "$H/n.o121" ready
left=$(pgrep -u "$U" -f 'sleep 7777')
api DELETE "$PODS/121-0" >/dev/null
for ((i = 0; i < 600; i++)); do
	[ -z "$(pod 121 .spec.nodeName)" ] && break
	sleep 0.05
done
ok "who wanted to stay behind is gone" test -n "$left" -a ! -e "/proc/$left"
ended 122
is "time is over in PBS's words" "$(reason 122) $(term 122 exitCode) $(term 122 signal)" "DeadlineExceeded 143 15"
like "and the user reads it" "$(cat "$H/n.e122")" '^=>> PBS: job killed: walltime [3-9] exceeded limit 2$'
ended 123
is "processor time is limited" "$(reason 123)" CputExceeded
like "and the user reads that" "$(cat "$H/n.e123")" '^=>> PBS: job killed: cput [2-9] exceeded limit 1$'

pid=$(pod 125 '.status.containerStatuses[0].containerID')
pid=${pid#process://}
state() { sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null; }
for ((i = 0; i < 600; i++)); do
	[ "$(state)" = T ] && break
	sleep 0.05
done
is "a suspended job stands still" "$(state)" T

# A server that is killed loses nothing.
ok "a job runs" says "$H/n.o124" before
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
touch "$H/go"
ok "it goes on without a server" says "$H/n.o124" after
begin
ended 124
is "and how it ended is known" "$(term 124 exitCode)" 9
put PATCH "$PODS/125-0" '{"metadata":{"annotations":{"stoker.dev/suspend":null}}}' >/dev/null
for ((i = 0; i < 600; i++)); do
	[ "$(state)" = S ] && break
	sleep 0.05
done
is "and goes on when it may" "$(state)" S
api DELETE "$PODS/125-0" >/dev/null

# The node.
is "a node has its name as a property" "$(kubectl get nodes -l "property.stoker.dev/$NODE=" -o name)" "node/$NODE"
kubectl annotate node "$NODE" stoker.dev/np=48 >/dev/null
for ((i = 0; i < 600; i++)); do
	[ "$(api GET "/api/v1/nodes/$NODE" | jq -r .status.allocatable.cpu)" = 48 ] && break
	sleep 0.05
done
is "an admin may say how many slots it has" "$(kubectl get node "$NODE" -o jsonpath='{.status.allocatable.cpu}')" 48
done_testing

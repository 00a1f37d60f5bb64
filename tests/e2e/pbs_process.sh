#!/bin/bash
# PBS jobs are processes of the host: whose they are, what they see, where their output goes, how they end.
. "$(dirname "$0")/lib.sh"

need_accounts
lab_user stkp$$

begin() {
	node_start main --gpus 4 "$@" || return 1
	chmod 711 "$T/main"
	chmod 666 "$SOCKET"
}
begin || done_testing
NODE=$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')
JOBS=/apis/stoker.dev/v1/namespaces/$U/pbsjobs
PODS=/api/v1/namespaces/$U/pods
# put METHOD PATH BODY: as the user.
put() {
	local type=application/json
	[ "$1" = PATCH ] && type=application/merge-patch+json
	setpriv --reuid="$U" --regid="$U" --init-groups curl -sS --unix-socket "$SOCKET" -X "$1" \
		"http://localhost$2" -H "Content-Type: $type" -d "$3"
}
# job NAME SPEC: a PBSJob; its number goes to N[NAME].
declare -A N
job() {
	N[$1]=$(put POST "$JOBS" "$(jq -n --arg n "$1" --arg w "$H" --argjson s "$2" '{apiVersion: "stoker.dev/v1",
		kind: "PBSJob", metadata: {}, spec: ({name: $n, workingDir: $w} + $s)}')" | jq -r .status.sequence)
}
out() { echo "$H/$1.o${N[$1]}"; }
err() { echo "$H/$1.e${N[$1]}"; }
pod() { api GET "$PODS/${N[$1]}-0" | jq -r "select(.kind == \"Pod\") | $2 // \"\""; }
phase() { pod "$1" .status.phase; }
reason() { pod "$1" .status.reason; }
term() { pod "$1" ".status.containerStatuses[0].state.terminated.$2"; }
# The final status is told once; the pod is the controller's to remove after that, so it is looked at here.
ended() {
	for ((i = 0; i < 1200; i++)); do
		case $(phase "$1") in Succeeded | Failed) return ;; esac
		[ "$(api GET "$JOBS/${N[$1]}" | jq -r .status.state)" = C ] && return
		sleep 0.05
	done
}
# says FILE PATTERN: waits for a line.
says() {
	for ((i = 0; i < 1200; i++)); do
		grep -Eqs -- "$2" "$1" && return
		sleep 0.05
	done
	return 1
}

# The node.
is "a node has its name as a property" "$(kubectl get nodes -l "property.stoker.dev/$NODE=" -o name)" "node/$NODE"
kubectl annotate node "$NODE" stoker.dev/np=48 >/dev/null
for ((i = 0; i < 1200; i++)); do
	[ "$(api GET "/api/v1/nodes/$NODE" | jq -r .status.allocatable.cpu)" = 48 ] && break
	sleep 0.05
done
is "an admin may say how many slots it has" "$(kubectl get node "$NODE" -o jsonpath='{.status.allocatable.cpu}')" 48

# What it is, and what it sees.
job a '{"script": "id -un; id -Gn; umask; pwd; echo $0; echo $PBS_JOBID $PBS_NP $CUDA_VISIBLE_DEVICES; cat $PBS_NODEFILE $PBS_GPUFILE; cat; echo oops >&2; exit 3",
	"resources": {"nodes": "1:ppn=2:gpus=2"}, "env": {"PBS_JOBID": "1.evil"}}'
job nice '{"script": "nice", "resources": {"nice": "5"}}'
job b '{"script": "#!/bin/sh\necho $# \"$1\"; touch mine", "arguments": ["a b"], "joinPath": "oe", "umask": "022"}'
ended a
ended nice
is "it can be nice" "$(cat "$(out nice)")" 5
ended b
id=$(api GET "$JOBS/${N[a]}" | jq -r .status.id)
is "a job is its user's, in its home, with its environment" "$(sed 's#/.*/spool/#SPOOL/#' "$(out a)")" "$U
$U $U-lab
0077
$H
SPOOL/$id.SC
$id 2 1,0
$NODE
$NODE
$NODE-gpu1
$NODE-gpu0"
is "its errors are in a file of their own" "$(cat "$(err a)")" oops
is "the files are the user's and nobody else's" "$(stat -c '%U %a' "$(out a)" "$(err a)" | sort -u)" "$U 600"
is "how it ended is known" "$(term a exitCode) $(term a signal) $(phase a)" "3  Failed"
like "the container is a process" "$(pod a '.status.containerStatuses[0].containerID')" '^process://[0-9]+$'
like "what it used is told" "$(pod a '.status.used | tostring')" '"cput":"00:00:0[0-9]","mem":"[1-9][0-9]*kb","vmem":"[1-9][0-9]*kb"'
is "the log has the same" "$(kubectl -n "$U" logs "${N[a]}-0" | head -n 1)" "$U"
is "#! is honoured, arguments arrive, a mask is obeyed" "$(cat "$(out b)") $(stat -c %a "$H/mine" "$(out b)" | tr '\n' ' ')" "1 a b 644 644 "
ok "a joined file is the only one" test ! -e "$(err b)"
# Other servers of this machine have jobs of the same numbers.
script=$(sed -n 5p "$(out a)") spool=${script%/spool/*}
gone() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[ -z "$(ls "$spool/aux/$id"* "$spool/spool/$id"* 2>/dev/null)" ] && return
		sleep 0.05
	done
	return 1
}
ok "node file and script are gone with the job" gone

# Files that are copied before and after.
mkdir "$T/shared" && chown "$U:" "$T/shared" && echo data >"$T/shared/a b"
job stage "{\"script\": \"cat in; mkdir -p d; echo result >d/r; kill \$\$\", \"stageIn\": [\"in@localhost:$T/shared/a b\"],
	\"stageOut\": [\"d@localhost:$T/shared/out\", \"none@localhost:x\"]}"
job nostage "{\"script\": \"echo ran\", \"stageIn\": [\"in@localhost:$T/shared/none\"]}"
job code "{\"script\": \"exit 9\", \"stageOut\": [\"in@localhost:$T/shared/x\"]}"
for n in stage nostage code; do ended $n; done
is "files are there before" "$(cat "$(out stage)")" data
is "and after, however the job ended" "$(cat "$T/shared/out/r") $(stat -c %U "$T/shared/out/r") $(term stage signal)" "result $U 15"
like "what is not there is told" "$(cat "$(err stage)")" "^PBS: stage-out of $H/none failed\$"
like "without its files a job is not run" "$(cat "$(out nostage)" "$(err nostage)") $(term nostage exitCode)" "failed, the job was not run 1\$"
is "its own status is kept" "$(term code exitCode)" 9

# What must not work.
echo "root's" >"$T/secret"
chmod 600 "$T/secret"
setpriv --reuid="$U" --regid="$U" --init-groups ln -s "$T/secret" "$H/link"
job link "{\"script\": \"echo pwned\", \"outputPath\": \"$H/link\"}"
job dir '{"script": "true", "initialDir": "/nowhere"}'
job exec '{"command": ["/no/such/program"]}'
job unset '{"script": "true", "outputPath": "/x/$NOBODY"}'
job proc '{"script": "true", "outputPath": "/proc/self/comm"}'
for n in link dir exec unset proc; do ended $n; done
is "what cannot be is told apart" "$(reason link) $(reason dir) $(reason exec) $(reason unset) $(reason proc)" \
	"OutputUnwritable ChdirFailed ExecFailed OutputUnwritable OutputUnwritable"
comment() { api GET "$JOBS/${N[$1]}" | jq -r .status.comment; }
is "and the comment says what is wrong" "$(comment dir)$(comment unset)" \
	"Job not started: cannot enter the working directory /nowhere: No such file or directoryJob not started: variable NOBODY is not in the job's environment"
is "a link leads nowhere the user may not write" "$(cat "$T/secret")" "root's"
is "the user reads why" "$(cat "$(err dir)")" "PBS: chdir to '/nowhere' failed: No such file or directory"

# Signals, words, time, and who stays behind.
job stay '{"script": "(setsid sh -c \"echo \\$\\$ >left; exec sleep 7777\" >/dev/null 2>&1 </dev/null &) & while [ ! -s left ]; do sleep 0.02; done; echo ready; while :; do sleep 0.1; done"}'
job walltime '{"script": "echo on; sleep 1000", "resources": {"walltime": "2"}}'
job cput '{"script": "while :; do :; done", "resources": {"cput": "1"}}'
job go '{"script": "trap \"echo got it\" USR1; echo before; while [ ! -e go ]; do sleep 0.05; done; echo after; exit 9"}'
job two '{"script": "echo $CUDA_VISIBLE_DEVICES $(cat $PBS_GPUFILE) >cards; cat $PBS_NODEFILE; sleep 1000", "resources": {"nodes": "2:ppn=2:gpus=1"}}'
job still '{"script": "echo on; exec sleep 1000"}'
job ice '{"script": "echo on; exec sleep 1000"}'
ok "output is there while it runs" says "$(out stay)" ready
left=$(cat "$H/left")
runs() { [ "$(api GET "$JOBS/${N[$1]}" | jq -r .status.state)" = R ]; }
for n in still ice; do
	ok "a job runs" says "$(out $n)" on
	ok "and is known to run" eventually 30 runs $n
	put PATCH "$JOBS/${N[$n]}" '{"spec":{"suspend":true}}' >/dev/null
done
api DELETE "$PODS/${N[stay]}-0" >/dev/null
for ((i = 0; i < 1200; i++)); do
	[ -z "$(pod stay .spec.nodeName)" ] && break
	sleep 0.05
done
ok "who wanted to stay behind is gone" test -n "$left" -a ! -e "/proc/$left"
ended walltime
is "time is over in PBS's words" "$(reason walltime) $(term walltime exitCode) $(term walltime signal)" "DeadlineExceeded 143 15"
like "and the user reads it" "$(cat "$(err walltime)")" '^=>> PBS: job killed: walltime [0-9]+ exceeded limit 2$'
ended cput
is "processor time is limited" "$(reason cput)" CputExceeded
like "and the user reads that" "$(cat "$(err cput)")" '^=>> PBS: job killed: cput [0-9]+ exceeded limit 1$'
ok "a job of several nodes has them in its node file" says "$(out two)" "^$NODE\$"
is "a line for each slot" "$(wc -l <"$(out two)")" 4
is "the cards of all of a machine" "$(cat "$H/cards")" "1,0 $NODE-gpu1 $NODE-gpu0"
# A node tells of each pod a little later than it runs.
ok "a program on the others" eventually 60 kubectl -n "$U" exec "${N[two]}-1" -- true
is "has them, too" "$(kubectl -n "$U" exec "${N[two]}-1" -- sh -c 'echo $CUDA_VISIBLE_DEVICES')" 1,0
is "on the others a program is the user's too" "$(kubectl -n "$U" exec "${N[two]}-1" -- sh -c 'id -un; echo $PBS_NODENUM')" "$U
1"
# process NAME: the first of a job; it is told a little later than it runs.
process() {
	for ((i = 0; i < 600; i++)); do
		pid=$(pod "$1" '.status.containerStatuses[0].containerID')
		[ -n "$pid" ] && break
		sleep 0.05
	done
	pid=${pid#process://}
}
process still
frozen() {
	local v1=/sys/fs/cgroup/freezer v2=/sys/fs/cgroup group
	if [ -d $v1 ]; then
		group=$(sed -n 's/^[0-9]*:freezer://p' "/proc/$pid/cgroup")
		grep -q FROZEN "$v1$group/freezer.state"
	else
		group=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
		grep -q 'frozen 1' "$v2$group/cgroup.events"
	fi
}
# stands: it does, or is about to; what is frozen looks like a sleeper on v2, and never gets as far as its SIGSTOP there.
stands() {
	case $(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) in [TD]) return ;; esac
	frozen
}
goes_on() { ! stands && [ -e "/proc/$pid" ]; }
ok "a suspended job stands still" eventually 60 stands
ok "in a group that is frozen" eventually 30 frozen
setpriv --reuid="$U" --regid="$U" --init-groups kill -CONT "$pid"
put POST "$JOBS/${N[still]}/signal" '{"signal": "CONT"}' >/dev/null
ok "from which no signal of its user's frees it" frozen
old=$pid
process ice
ok "another is frozen" eventually 30 frozen
put PATCH "$JOBS/${N[ice]}" '{"spec":{"cancel":{}}}' >/dev/null
melts() { [ -n "$pid" ] && [ ! -e "/proc/$pid" ]; }
ok "and can be deleted" eventually 30 melts
pid=$old

# A server that is killed loses nothing.
ok "a job runs" says "$(out go)" before
put POST "$JOBS/${N[go]}/signal" '{"signal": "USR1"}' >/dev/null
ok "a signal reaches it" says "$(out go)" 'got it'
put POST "$JOBS/${N[go]}/message" '{"stream": "err", "text": "hello"}' >/dev/null
ok "a message is in its file" says "$(err go)" '^hello$'
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
touch "$H/go"
ok "it goes on without a server" says "$(out go)" after
begin --controllers=-pbsjob
ended go
is "and how it ended is known" "$(term go exitCode)" 9
api PATCH "$PODS/${N[still]}-0" -H 'Content-Type: application/merge-patch+json' \
	-d '{"metadata":{"annotations":{"stoker.dev/suspend":null}}}' >/dev/null
ok "who was suspended goes on when it may" eventually 60 goes_on

# Without the controller, for a pod made by hand: a job in a container.
job image '{"script": "cat $1; echo said >&2", "hold": "u"}'
uid=$(api GET "$JOBS/${N[image]}" | jq -r .metadata.uid)
api POST "$PODS" -H 'Content-Type: application/json' -o /dev/null -d "$(jq -n --arg n "${N[image]}" --arg uid "$uid" \
	--argjson u "$(id -u "$U")" --argjson g "$(id -g "$U")" --arg id "${N[image]}.${id#*.}" '{apiVersion: "v1", kind: "Pod", metadata: {name: ($n + "-0"),
	ownerReferences: [{apiVersion: "stoker.dev/v1", kind: "PBSJob", name: $n, uid: $uid, controller: true}]},
	spec: {restartPolicy: "Never", automountServiceAccountToken: false, securityContext: {runAsUser: $u, runAsGroup: $g},
	containers: [{name: "job", image: "host", command: ["/bin/sh", "/var/spool/pbs/spool/\($id).SC",
	"/var/spool/pbs/aux/\($id)"], volumeMounts: [{name: "pbs", mountPath: "/var/spool/pbs"}]}],
	volumes: [{name: "pbs", csi: {driver: "pbs.stoker.dev"}}]}}')"
says "$(err image)" said
is "a job in a container has its files too" "$(cat "$(out image)" "$(err image)")" "$NODE
said"
is "which are the user's" "$(stat -c '%U %a' "$(out image)")" "$U 600"

# A server that is an ordinary user's runs that user's jobs, and nobody else's.
run_as() { cd "$H" && exec setpriv --reuid="$U" --regid="$U" --init-groups env HOME="$H" USER="$U" LOGNAME="$U" \
	STOKER_SOCKET="$H/own.sock" PATH="$(dirname "$STOKER")/bin:$PATH" "$@"; }
as_user() { (run_as "$@"); }
own_start() {
	rm -f "$H/own.out"
	run_as "$STOKER" serve --data "$H/own" --listen 127.0.0.1:0 --socket "$H/own.sock" --gpus 2 \
		>"$H/own.out" 2>>"$H/own.err" &
	OWN_PID=$!
	PIDS+=("$OWN_PID")
	says "$H/own.out" '^stoker: ready' && eventually 30 eval 'as_user pbsnodes | grep -q "state = free"'
}
own_start
ok "a user starts a server" grep -q ready "$H/own.out"
as_user qsub -W block=true -N own -l nodes=1:gpus=1 >"$H/own.id" <<'END'
id -u; id -un; pwd; cat $PBS_GPUFILE; umask
exit 3
END
is "qsub there works, and ends as the job does" $? 3
like "it has an id" "$(cat "$H/own.id")" '^1\.'
is "the job is the user's in everything" "$(cat "$H/own.o1")" "$(id -u "$U")
$U
$H
$NODE-gpu0
0077"
is "and so is its output" "$(stat -c '%U %a' "$H/own.o1")" "$U 600"
A=$(as_user qsub -N tree <<<'trap "" TERM; sleep 7001 & setsid sleep 7002 & touch tree.up; sleep 7003')
ok "another one runs" eventually 30 test -e "$H/tree.up"
kill -9 "$OWN_PID"
wait "$OWN_PID" 2>/dev/null
ok "without the server it goes on" eventually 60 pgrep -u "$U" -f 'sleep 7003'
own_start
ok "the next one starts" grep -q ready "$H/own.out"
ok "and finds it" eventually 30 eval "as_user qstat $A | grep -q ' R '"
as_user qdel "$A"
ok "qdel ends it" eventually 30 eval "as_user qstat $A | grep -q ' C '"
ok "and all it has started" eventually 30 eval "! pgrep -u $U -f 'sleep 700[123]'"
like "walltime counts" "$(as_user qsub -W block=true -N slow -l walltime=1 <<<'sleep 7004'; cat "$H"/slow.e*)" \
	'=>> PBS: job killed: walltime [0-9]+ exceeded limit 1$'
like "whose jobs it cannot run is said at once, and what to do" "$(KUBECONFIG=$H/own/admin.kubeconfig kubectl create -f - 2>&1 <<'END'
{"apiVersion": "stoker.dev/v1", "kind": "PBSJob", "spec": {"owner": "nobody", "script": "true"}}
END
)" "PBS 15025: .*this server is run by user $(id -u "$U"), not by root, and runs jobs of nobody else: root must start it"
kill -9 "$OWN_PID"
wait "$OWN_PID" 2>/dev/null
ok "down ends what a killed server left" as_user "$STOKER" down --data "$H/own" --timeout 120s
ok "nothing of it is left" eventually 20 eval "! pgrep -u $U -f ^stoker"
done_testing

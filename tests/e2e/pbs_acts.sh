#!/bin/bash
# The commands that act on PBS jobs, and qmgr: as two ordinary users, an operator and an administrator.  Containers are
# timers here.
. "$(dirname "$0")/lib.sh"
node_start main --runtime fake || exit 1
NODE=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')

# Accounts that every machine has.
ALICE=nobody BOB=games OPER=mail
mkdir -m 755 "$T/bin"
cp "$STOKER" "$T/bin/stoker"
cp "${STOKER_PBS:-$ROOT/build/stoker-pbs}" "$T/bin/stoker-pbs"
"$ROOT/tools/pbs-links" "$T/bin" >/dev/null
for f in "$T"/bin/q*; do ln -sfn stoker-pbs "$f"; done
mkdir -m 777 "$T/work"
chmod 755 "$T" "$T/main"
chmod 666 "$SOCKET"
cd "$T/work" || exit 1
# as USER COMMAND...; without a user it is root, the administrator.
as() {
	local user=$1 command=$2
	shift 2
	setpriv --reuid="$(id -u "$user")" --regid="$(id -g "$user")" --clear-groups \
		env -u KUBECONFIG STOKER_SOCKET="$SOCKET" STOKER_TORQUE_CFG=/nonexistent HOME="$T/work" "$T/bin/$command" "$@"
}
# said USER COMMAND...: what it says, and its exit status in brackets.
said() {
	as "$@" 2>&1 </dev/null
	echo "[$?]"
}
until_true() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}
# spec ID FILTER, status ID FILTER: of a job of ALICE
object() { api GET "/apis/stoker.dev/v1/namespaces/$ALICE/pbsjobs/${1%%[.\[]*}"; }
spec() { object "$1" | field ".spec|$2"; }
status() { object "$1" | field ".status|$2"; }
is_in() { case $(status "$1" .state) in [$2]) return 0 ;; *) return 1 ;; esac }
state() { until_true is_in "$1" "$2" || { object "$1" && false; }; }
elements_are() { [ "$(status "$1" .elements)" = "$2" ]; }
submit() { echo 'sleep 1000' | as $ALICE qsub -W umask=022 "$@"; }

# ---- who may ----
a=$(submit -N a)
server=${a#*.}
ok "a job runs" state "$a" R
for command in qdel qhold qrls qrerun "qalter -N x" "qsig -s suspend"; do
	# shellcheck disable=SC2086
	is "somebody else may not: $command" "$(said $BOB $command "$a")" "${command%% *}: Unauthorized Request  MSG=operation not permitted $a
[159]"
done
is "nothing has changed" "$(spec "$a" '[.name,.hold,.cancel]')" '["a","n",null]'
is "an unknown job" "$(said $ALICE qdel 99999)" "qdel: Unknown Job Id Error 99999.$server
[153]"
is "to another command" "$(said $ALICE qhold 99999.$server)" "qhold: Unknown Job Id Error MSG=cannot locate job 99999.$server
[153]"
is "no id" "$(said $ALICE qdel job1)" "qdel: illegally formed job identifier: job1
[1]"
is "two ids, one wrong: the other is done" "$(said $ALICE qhold 99999 "$a")" "qhold: Unknown Job Id Error MSG=cannot locate job 99999.$server
[153]"
is "as is seen" "$(spec "$a" .hold)" u
is "the owner releases it, by its number alone" "$(said $ALICE qrls "${a%%.*}")" "[0]"
is "and so it is" "$(spec "$a" .hold)" n
is "an operator's hold is not for everyone" "$(said $ALICE qhold -h o "$a")" "qhold: Unauthorized Request  MSG=operation not permitted $a
[159]"

# ---- running jobs ----
is "suspend" "$(said $ALICE qsig -s suspend "$a")" "[0]"
ok "it is suspended" state "$a" S
is "resume" "$(said $ALICE qsig -s resume "$a")" "[0]"
ok "it goes on" state "$a" R
is "a signal that is none" "$(said $ALICE qsig -s NOPE "$a")" "qsig: Unknown/illegal signal name $a
[167]"
is "qrerun" "$(said $ALICE qrerun -f -m 'once more' "$a")" "[0]"
ok "it is run again" until_true eval '[ "$(status "$a" .startCount)" = 2 ]'
like "for a reason" "$(kubectl get events -n $ALICE --field-selector reason=Requeued -o 'jsonpath={.items[*].message}')" 'run again: once more'
ok "and runs" state "$a" R
is "what runs is not moved" "$(said $ALICE qmove batch "$a")" "qmove: Request invalid for state of job MSG=invalid state for job - RUNNING $a
[170]"
is "nor are its nodes changed" "$(said $ALICE qalter -l nodes=2 "$a")" "qalter: Cannot modify attribute while job running  MSG=Resource_List $a
[169]"
is "it may take less time" "$(said $ALICE qalter -l walltime=1:00:00 "$a") $(spec "$a" .resources.walltime)" "[0] 01:00:00"
is "but not more" "$(said $ALICE qalter -l walltime=2:00:00 "$a")" "qalter: Unauthorized Request  MSG=operation not permitted $a
[159]"
is "an administrator gives more" "$(said root qalter -l walltime=2:00:00 "$a") $(spec "$a" .resources.walltime)" "[0] 02:00:00"
is "qdel with a reason" "$(said $ALICE qdel -m 'too slow' "$a")" "[0]"
ok "it ends" state "$a" C
is "with 271" "$(status "$a" .exitStatus)" 271
like "it says why" "$(status "$a" .comment)" "too slow"
for command in qdel qhold qrls "qalter -N x" qrerun "qsig -s TERM"; do
	# shellcheck disable=SC2086
	is "a completed job: $command" "$(said $ALICE $command "$a")" "${command%% *}: Request invalid for state of job MSG=invalid state for job - COMPLETE $a
[170]"
done
b=$(submit -r n)
ok "one that is not rerunnable" state "$b" R
is "is not rerun" "$(said $ALICE qrerun "$b")" "qrerun: job is not rerunnable $b
[192]"
is "qdel of all" "$(said $BOB qdel all)" "[0]"
is "is of one's own" "$(spec "$b" .cancel)" null
chain=$b
for _ in 1 2 3 4 5; do chain=$(submit -W "depend=afterok:$chain"); done
is "the owner's, those that end with the first too" "$(said $ALICE qdel all)" "[0]"
ok "is the chain's end" state "$chain" C
ok "ends" state "$b" C

is "what has ended is not for its owner to forget" "$(said $ALICE qdel -c "$b")" "qdel: Unauthorized Request  MSG=must have operator or manager privilege to use -c parameter $b
[159]"
is "an administrator does" "$(said root qdel -c "$b")$(said root qdel -c "$b")" "[0]qdel: Unknown Job Id Error $b
[153]"
is "all of them" "$(said root qdel -c)$(said $ALICE qstat "$a")" "[0]qstat: Unknown Job Id Error $a
[153]"
like "a server that is not there is asked for a while" "$(STOKER_SOCKET=$T/nowhere "$T/bin/qdel" -b 1 1 2>&1)" '^qdel: cannot connect to server'

# ---- jobs that start together ----
s1=$(submit -W depend=synccount:1)
ok "the first waits for the other" state "$s1" H
s2=$(submit -W "depend=syncwith:$s1")
ok "and then they run" state "$s1" R
ok "both" state "$s2" R
is "a set of which one runs" "$(submit -W "depend=runone:$s1" 2>&1)" "qsub: submit error (Invalid Job Dependency MSG=runone is not supported here)"
as $ALICE qdel all

# ---- waiting jobs ----
w=$(submit -h -N w -l walltime=1:00:00)
is "qalter" "$(said $ALICE qalter -N name -l walltime=2:00:00,nodes=1:ppn=2 -p 5 -m be -M me@x -j oe -o out -v A=1 -r n -W umask=077 -a 202912312359 "$w")" "[0]"
is "everything is there" "$(spec "$w" '[.name,.resources.walltime,.resources.nodes,.priority,.mail.points,.mail.users[0],.joinPath,.env.A,.rerunnable,.umask]')" '["name","02:00:00","1:ppn=2",5,"be","me@x","oe","1",false,"0077"]'
like "paths are from here" "$(spec "$w" .outputPath)" ":$T/work/out\$"
like "a time, too" "$(spec "$w" .executionTime)" '^20(29-12-31|30-01-01)T'
like "a bad value" "$(said $ALICE qalter -p 5000 "$w" | tr '\n' '|')" '^\[qalter: illegal -p value\]\|qalter: -p "5000": .*\|\|usage: qalter .*\|\[2\]\|$'
like "no job" "$(said $ALICE qalter -N x | tr '\n' '|')" '^usage: qalter .*\|\[2\]\|$'
like "what no job can ask for" "$(said $ALICE qalter -l foo=1 -N x "${w%%.*}" | tr '\n' '|')" "^qalter: Unknown resource type  MSG=.* $w\\|\\[189\\]\\|\$"
is "qalter releases" "$(said $ALICE qalter -h n "$w") $(spec "$w" .hold)" "[0] n"
first=$(submit -h)
is "qalter of what it waits for" "$(said $ALICE qalter -W "depend=afterok:$first" "$w") $(spec "$w" '.dependencies[0].type')" "[0] afterok"
is "and no more" "$(said $ALICE qalter -W depend= "$w") $(spec "$w" .dependencies)" "[0] []"
holders=()
for letter in u o s; do
	as root qhold -h $letter "$first" &
	holders+=($!)
done
wait "${holders[@]}"
is "holds at the same time do not undo each other" "$(spec "$first" .hold)" uos
w2=$(submit -h)
w3=$(submit -h)
is "qorder" "$(said $ALICE qorder "$w2" "$w3")" "[0]"
is "they have changed places" "$(spec "$w2" .rank) $(spec "$w3" .rank)" "${w3%%.*} ${w2%%.*}"
is "qrun is for operators" "$(said $ALICE qrun "$w2")" "qrun: Unauthorized Request  MSG=operation not permitted $w2
[159]"
is "to an unknown queue" "$(said $ALICE qmove nope "$w2")" "qmove: Unknown queue MSG=requested queue not found $w2
[172]"
is "qmsg needs a running job" "$(said $ALICE qmsg hello "$w2")" "qmsg: Request invalid for state of job MSG=invalid state for job - HELD $w2
[170]"

# ---- arrays ----
x=$(submit -h -t 0-9%2)
n=${x%%\[*}
is "a range" "$(said $ALICE qdel -t 2-4 "$n[]")" "[0]"
is "and one element" "$(said $ALICE qdel "$n[6]")" "[0]"
ok "have ended" until_true elements_are "$x" '{"C":"2-4,6"}'
is "one that has ended" "$(said $ALICE qdel "$n[3]")" "qdel: Request invalid for state of job MSG=invalid state for job - COMPLETE $n[3].$server
[170]"
is "one that never was" "$(said $ALICE qdel "$n[77]")" "qdel: Unknown Job Id Error $n[77].$server
[153]"
is "a range needs an array" "$(said $ALICE qdel -t 2-4 "$n")" "qdel: Error: job id '$n' isn't a job array but -t was specified.
[1]"
is "not every job is one" "$(said $ALICE qdel "${w2%%.*}[1]")" "qdel: Unknown Job Id Error ${w2%%.*}[1].$server
[153]"
is "some elements are released" "$(said $ALICE qrls -t 0-1 "$n[]")" "[0]"
is "the others are still held" "$(spec "$x" '[.hold,.elementHold]')" '["n","2-9"]'
ok "those run" until_true eval '[ "$(status "$x" "[.active[]?.index]|sort")" = "[0,1]" ]'
is "one more" "$(said $ALICE qrls "$n[5]") $(spec "$x" .elementHold)" "[0] 2-4,6-9"
is "and held again" "$(said $ALICE qhold "$n[5]") $(spec "$x" .elementHold)" "[0] 2-9"
is "more slots" "$(said $ALICE qalter -t %4 "$n[]") $(spec "$x" .array.slots)" "[0] 4"
is "qdel of an element that runs" "$(said $ALICE qdel "$n[0]")" "[0]"
ok "ends it alone" until_true elements_are "$x" '{"R":"1","C":"2-4,6","C:271":"0"}'
is "qdel of the array" "$(said $ALICE qdel "$n[]")" "[0]"
ok "ends all" state "$x" C

# ---- qmgr ----
Q() { said root qmgr -c "$1"; }
is "a user changes nothing" "$(said $BOB qmgr -c 's s scheduling=false' | sed 's/ MSG=.*//')" "qmgr obj= svr=default: Unauthorized Request 
[2]"
is "torque.setup" "$(as root qmgr 2>&1 <<'END'; echo "[$?]"
# a set-up that everybody types
create queue long
set queue long queue_type = execution
set queue long started = true; set queue long enabled = true
set queue long resources_default.walltime = 168:00:00
set queue long resources_default.nodes = 1
set server default_queue = batch
set server scheduling=true
set server keep_completed = \
  600
END
)" "[0]"
is "is what was asked for" "$(kubectl get queue long -o json | field '.spec|[.type,.enabled,.started,.defaultWalltime,.resourcesDefault.nodes]')" '["Execution",true,true,"168:00:00","1"]'
is "of the server, too" "$(kubectl get pbsserver default -o json | field .spec.keepCompletedSeconds)" 600
is "a queue that is there" "$(Q 'create queue batch')" "qmgr obj=batch svr=default: Queue already exists
[2]"
is "one that is not" "$(Q 'set queue nope enabled = true')" "qmgr obj=nope svr=default: Unknown queue
[2]"
is "an attribute that is none" "$(Q 's q batch colour = red')" "qmgr obj=batch svr=default: Undefined attribute  MSG=colour
[2]"
like "a value that is none" "$(Q 's q batch max_running = many')" '^qmgr obj=batch svr=default: Illegal attribute or resource value for MSG=max_running = "many": must be a whole number$'
is "no command" "$(Q 'frobnicate queue x')" "qmgr: Illegal operation: frobnicate
Try 'help' if you are having trouble.
[1]"
is "where it is wrong" "$(Q 'create queue a,')" "qmgr: Syntax error: a name is missing
create queue a,
               ^
[1]"
is "a queue in a route, word by word" "$(Q 'c q way; s q way queue_type=route; s q way route_destinations=long,enabled=t,started=t,acl_user_enable=t; s q way acl_users += alice,bob')" "[0]"
is "is one" "$(kubectl get queue way -o json | field '.spec|[.type,.destinations[0],.acl.users]')" '["Route","long",["alice","bob"]]'
is "a route to a queue that is not there" "$(Q 's q way route_destinations += lnog')" "qmgr: warning: queue way leads to lnog, which does not exist
[0]"
is "and back" "$(Q 's q way route_destinations -= lnog')" "[0]"
is "a node" "$(Q "s n $NODE properties = S,D; s n $NODE np = 7; s n $NODE note = 'a \"note\"'; s n $NODE state = offline")" "[0]"
is "is changed" "$(kubectl get node "$NODE" -o json | field '[.spec.unschedulable,.metadata.annotations["stoker.dev/np"],.metadata.annotations["stoker.dev/note"],.metadata.labels["property.stoker.dev/D"]]')" '[true,"7","a \"note\"",""]'
is "and back" "$(Q "s n $NODE state -= offline; u n $NODE np,note,properties")" "[0]"
like "list" "$(Q 'l q long' | tr '\n\t' '|>')" '^Queue long\|>queue_type = Execution\|.*>total_jobs = 0\|.*>resources_default.walltime = 168:00:00\|'
like "and when it was changed" "$(Q 'l q long')" '^	mtime = [0-9]{10}$'
like "how many cards a node has it says itself" "$(Q "s n $NODE gpus = 77")" 'Illegal attribute or resource value for MSG=gpus = 77: the node itself finds '
like "a refusal is in qmgr's words" "$(Q 's q long resources_max.walltime = 1:00:00')" 'MSG=resources_default.walltime: .*must not be longer than resources_max.walltime'
is "operators" "$(Q "s s operators += $OPER@$server; s s managers = $BOB; s s comment = 'it is \"new\"'")" "[0]"
as root qmgr -c 'p s' >"$T/first"
is "print begins as Torque's" "$(sed -n '1,10p' "$T/first")" "#
# Create queues and set their attributes.
#
#
# Create and define queue batch
#
create queue batch
set queue batch queue_type = Execution
set queue batch Priority = 0
set queue batch enabled = True"
as root qmgr <"$T/first" 2>"$T/again"
is "said again only the queues are there already" "$(cat "$T/again")" "$(for q in batch long way; do echo "qmgr obj=$q svr=default: Queue already exists"; done)"
is "and nothing has changed" "$(as root qmgr -c 'print server' | diff - "$T/first")" ""
like "on a terminal it asks" "$(script -qec "env -u KUBECONFIG STOKER_SOCKET='$SOCKET' '$T/bin/qmgr'" /dev/null <<<$'p q long max_running\nquit' | tr -d '\r' | tr '\n' '|')" 'Max open servers: 9.*Qmgr: '
is "deleted" "$(Q 'd q way,long; u s comment,keep_completed')" "[0]"
as root qmgr <"$T/first" 2>/dev/null
is "it comes back whole" "$(as root qmgr -c 'print server' | diff - "$T/first")" ""
is "a manager may" "$(said $BOB qmgr -c 's q long max_running = 3')" "[0]"
is "-n does nothing" "$(said root qmgr -n -c 'd q long')" "[0]"
is "-a ends at the first that fails" "$(said root qmgr -a -c 'd q nope; d q long' | tail -1)" "[2]"
is "the queue is still there" "$(kubectl get queue long -o name)" queue.stoker.dev/long
busy=$(submit -h -q long)
is "it is busy" "$(Q 'd q long')" "qmgr obj=long svr=default: Cannot delete busy queue
[2]"
is "qstop and qdisable" "$(said root qstop long)$(said root qdisable long)$(kubectl get queue long -o json | field '.spec|[.started,.enabled]')" "[0][0][false,false]"
is "a disabled queue takes nothing" "$(submit -q long 2>&1)" "qsub: submit error (Queue is not enabled MSG=queue is disabled: user $ALICE@$(hostname -s), queue long)"
is "qstart and qenable" "$(said root qstart long)$(said root qenable long)$(kubectl get queue long -o json | field '.spec|[.started,.enabled]')" "[0][0][true,true]"
is "an unknown queue" "$(said root qstart nope)" "qstart: Unknown queue nope
[172]"

is "a queue needs nodes of a sort" "$(Q 'c q feat enabled=t,started=t,resources_default.neednodes=odd; p q feat resources_default')" "set queue feat resources_default.neednodes = odd
[0]"
like "which there must be" "$(submit -q feat 2>&1)" 'requested feature\): no node has property odd\)$'
Q "s n $NODE properties += odd" >/dev/null
feat=$(submit -q feat)
ok "and its jobs run there" state "$feat" R
as $ALICE qdel "$feat"
ok "until they are deleted" state "$feat" C

# ---- operators ----
is "an operator acts on everyone's jobs" "$(said $OPER qhold -h o "$busy") $(spec "$busy" .hold)" "[0] uo"
is "the owner cannot lift that" "$(said $ALICE qrls -h o "$busy")" "qrls: Unauthorized Request  MSG=operation not permitted $busy
[159]"
is "an operator can" "$(said $OPER qrls -h uo "$busy") $(spec "$busy" .hold)" "[0] n"
is "what a job runs is its owner's word" "$(said $OPER qalter -S /bin/evil "$w2" | sed 's/:[^:]*word/: .../')" "qalter: Unauthorized Request  MSG=operation not permitted: ... $w2
[159]"
is "an operator stops and starts queues" "$(said $OPER qstop batch)$(said $OPER qstart @$server)$(said $ALICE qstop batch)" "[0][0]qstop: Unauthorized Request  batch
[159]"
is "and takes nodes out of use" "$(said $OPER qmgr -c "s n $NODE state = offline")$(said $OPER qmgr -c "s n $NODE state = free")" "[0][0]"
is "but sets no limits" "$(said $OPER qmgr -c 's q batch max_running = 1')" "qmgr obj=batch svr=default: Unauthorized Request  MSG=operation not permitted
[2]"
is "without a default queue" "$(Q 'unset server default_queue')$(said $ALICE qsub -- /bin/true)" "[0]qsub: submit error (No default queue specified MSG=requested queue not found)
[191]"
is "with one" "$(Q 'set server default_queue = batch')" "[0]"
Q 's s scheduling = false' >/dev/null
w4=$(submit)
is "qrun is not on a node that is none" "$(said $OPER qrun -H nosuch "$w4")" "qrun: Unknown node  MSG=cannot locate specified node nosuch $w4
[216]"
is "nor of what is held" "$(said $OPER qrun "$w3")" "qrun: Request invalid for state of job MSG=invalid state for job - HELD $w3
[170]"
is "qrun" "$(said $OPER qrun -H "$NODE" "$w4") $(spec "$w4" '[.runNow,.runHosts]')" "[0] [true,[\"$NODE\"]]"
Q 's s scheduling = true' >/dev/null
ok "it runs" state "$w4" R
is "a node on which jobs run is not deleted" "$(Q "d n $NODE")" "qmgr obj=$NODE svr=default: Invalid request MSG=jobs run on node $NODE
[2]"
Q "s s operators -= $OPER@$server; s s operators += $OPER@elsewhere.invalid" >/dev/null
is "an operator of another host has only what is his" "$(said $OPER qdel all)$(spec "$w2" .cancel)" "[0]null"
Q "s s operators += $OPER@$server" >/dev/null
is "qdel of all, by an operator" "$(said $OPER qdel all)" "[0]"
ok "ends everyone's" state "$w2" C
like "--help" "$(said $ALICE qdel --help)" '^usage: qdel '
like "--version" "$(said $ALICE qmgr --version)" '^Version: 6'
done_testing

#!/bin/bash
# psgd: trainings with real processes on loopback, in every mode; processes that are killed; checkpoints; bad input.
. "$(dirname "$0")/lib.sh"
PSGD=${PSGD:-$ROOT/build/psgd}
cd "$T" || exit 1
export OPENBLAS_NUM_THREADS=1
# A twentieth of the pictures, unpacked: most of what follows is not about accuracy.
python3 - <<'END'
import gzip, os
os.mkdir("few")
for name, n, head in (("train-images-idx3", 3000, 16), ("train-labels-idx1", 3000, 8), ("t10k-images-idx3", 1500, 16), ("t10k-labels-idx1", 1500, 8)):
    with gzip.open("/usr/share/datasets/fashion-mnist/%s-ubyte.gz" % name) as f:
        top = f.read(head)
        body = f.read(n * (784 if head == 16 else 1))
    open("few/%s-ubyte" % name, "wb").write(top[:4] + n.to_bytes(4, "big") + top[8:] + body)
END
FEW=(--data few)
SMALL=("${FEW[@]}" --epochs 2)
mkdir doors

# accuracy_over MINIMUM TEXT: that of the last line which has one.
accuracy_over() {
	awk -v min="$1" '{ for (i = 1; i <= NF; i++) if ($i ~ /^accuracy=/) a = substr($i, 10) } END { exit !(a >= min) }' <<<"$2"
}
ports() {
	python3 -c 'import socket, sys
all = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in all:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in all))' "$1"
}

# The whole data set: the accuracy that is promised.  It takes longest, so it goes on beside everything else and is looked
# at in the end.
mkdir whole
for mode in sync easgd; do
	share=()
	[ $mode = sync ] && share=(--shm whole)
	"$PSGD" -q --mode $mode --rate 0.15 --decay 0.7 --epochs 5 --workers 2 "${share[@]}" 2>&1
done >whole.out &
WHOLE=$!
PIDS+=($WHOLE)

# Every mode, all processes by one command, over TCP and over shared memory.
for mode in sync async ssp easgd eamsgd; do
	rate=0.1
	[ $mode = eamsgd ] && rate=0.02
	"$PSGD" --mode $mode --rate $rate "${SMALL[@]}" --workers 2 --servers 2 --shm doors >shared 2>err &
	pid=$!
	PIDS+=($pid)
	out=$("$PSGD" --mode $mode --rate $rate "${SMALL[@]}" --workers 2 --servers 2 2>err)
	is "$mode: ends well" $? 0
	like "$mode: says how each epoch went" "$out" '^epoch 2 loss [0-9.]+ accuracy 0\.[0-9]+ step=([0-9]+)/[0-9]+ '
	ok "$mode: has learned" accuracy_over 0.6 "$out"
	unlike "$mode: all goes over TCP" "$out" 'shared-bytes'
	wait $pid
	is "$mode, shared memory: ends well" $? 0
	shared=$(cat shared)
	ok "$mode, shared memory: has learned" accuracy_over 0.6 "$shared"
	like "$mode, shared memory: it is used" "$shared" ' shared-bytes=[0-9]'
	# With two trainers a synchronous step is the same sum in any order.
	[ $mode = sync ] && is "sync: the same accuracy with and without" \
		"$(grep -o 'accuracy=[^ ]*' <<<"$shared")" "$(grep -o 'accuracy=[^ ]*' <<<"$out")"
done
one=$("$PSGD" -q "${SMALL[@]}" --workers 2 2>&1)
is "sync: a slice of more blocks is changed as often as small ones" "$(grep -o '^step=.* accuracy=[^ ]*' <<<"$one")" \
	"$("$PSGD" -q "${SMALL[@]}" --workers 2 --servers 2 2>&1 | grep -o '^step=.* accuracy=[^ ]*')"
out=$("$PSGD" --model softmax "${SMALL[@]}" 2>&1)
ok "softmax regression: one worker, one server, has learned" accuracy_over 0.6 "$out"
out=$(PSGD_SHM=doors "$PSGD" --hidden 64,32 --backup 1 "${SMALL[@]}" --workers 3 2>&1)
ok "two hidden layers and a backup worker: has learned" accuracy_over 0.6 "$out"

# A job as an operator starts it: TF_CONFIG says who is who.  job FORM SERVERS WORKERS sets up, task TYPE INDEX ARGS... starts.
job() {
	local form=$1 servers=$2 workers=$3 i
	# shellcheck disable=SC2046
	set -- $(ports $((servers + workers + 1)))
	PS="" WORKERS="" LEADER=$form EXTRA=""
	for ((i = 0; i < servers; i++)); do PS+=",\"127.0.0.1:$1\"" && shift; done
	for ((i = 0; i < workers; i++)); do WORKERS+=",\"127.0.0.1:$1\"" && shift; done
	[ "$form" = chief ] && EXTRA=',"environment":"cloud"'
	CLUSTER="{\"$form\":[\"localhost:$1\"],\"ps\":[${PS#,}],\"worker\":[${WORKERS#,}]}"
	declare -gA TASK=()
}
task() {
	local type=$1 index=$2
	shift 2
	rm -f "$type-$index.out" "$type-$index.err" # at once: nobody is to read of an earlier task of this name
	TF_CONFIG="{\"cluster\":$CLUSTER,\"task\":{\"type\":\"$type\",\"index\":$index}$EXTRA}" "$PSGD" "$@" >"$type-$index.out" 2>"$type-$index.err" &
	TASK[$type-$index]=$!
	PIDS+=($!)
}
# ends NAME: waits for a task, its exit status is in NAME.status.
ends() {
	wait "${TASK[$1]}"
	echo $? >"$1.status"
}
all_end() {
	local name
	for name in "${!TASK[@]}"; do
		ends "$name"
		is "$1: $name ends well" "$(cat "$name.status")" 0
	done
}
start_all() {
	local i
	for i in 0 1; do task ps $i "$@"; done
	for i in 0 1; do task worker $i "$@"; done
	task "$LEADER" 0 "$@"
}
epoch_reached() { grep -q "^epoch $1 " "$LEADER-0.out"; }
killed() {
	kill -9 "${TASK[$1]}"
	wait "${TASK[$1]}" 2>/dev/null
}

for form in master chief; do
	job $form 2 2
	start_all "${SMALL[@]}" -c "job-$form"
	[ $form = chief ] && task evaluator 0 "${SMALL[@]}" --eval-every 1s
	all_end "a job with a $form"
	like "a job with a $form: it leads" "$(cat $form-0.out)" '^step=[0-9]+/[0-9]+ accuracy=0\.'
	like "a job with a $form: workers say their loss" "$(cat worker-1.out)" '^epoch 2 loss [0-9.]+ rank 2 step=[0-9]+/[0-9]+$'
	ok "a job with a $form: the model is saved" test -s job-$form/model.psgd
done
like "the evaluator says how good the model is" "$(cat evaluator-0.out)" '^step=[0-9]+/[0-9]+ accuracy=0\.'

# A killed worker comes back; one that does not is not waited for.
LONG=("${FEW[@]}" --epochs 20 --patience 1s)
job chief 2 2
start_all "${LONG[@]}" --shm doors
ok "training has begun" eventually 60 epoch_reached 1
killed worker-1
task worker 1 "${LONG[@]}" --shm doors
all_end "a killed worker came back"
like "and shares memory again" "$(cat worker-1.err)" 'share memory with a parameter server'
job chief 2 2
start_all "${LONG[@]}"
ok "training has begun" eventually 60 epoch_reached 1
killed worker-0
unset 'TASK[worker-0]'
all_end "a killed worker stayed away"
like "the servers say that they go on without it" "$(cat ps-0.err)" 'go on without a trainer rank=1'

# A killed server goes on from its checkpoint, or from the leader's parameters; the first over TCP, the second over shared
# memory.
for dir in saved ""; do
	job master 2 2
	share=(--shm doors)
	[ "$dir" ] && share=(-c "$dir")
	start_all "${LONG[@]}" --save-every 1s "${share[@]}"
	ok "training has begun" eventually 60 epoch_reached 3
	killed ps-1
	task ps 1 "${LONG[@]}" "${share[@]}"
	all_end "a killed server came back ${dir:+with its checkpoint}"
	like "it goes on ${dir:+from its checkpoint}" "$(cat ps-1.err)" "${dir:+resume path=saved/ps-1-of-2.psgd}"
	ok "and the model is good ${dir:+there}" accuracy_over 0.75 "$(cat master-0.out)"
done
is "trainers share memory with the new server" "$(grep -c 'share memory with a parameter server' master-0.err)" 3
is "no door is left, not even the killed server's" "$(ls doors)" ""
like "without a checkpoint the leader gives it a model" "$(cat ps-1.err)" 'take a model from the leader ticks=[1-9]'

# Who does not see the server's directory uses TCP, and says so.
mkdir elsewhere
job chief 1 1
task ps 0 --shm doors
task worker 0 "${SMALL[@]}" --shm elsewhere
task chief 0 "${SMALL[@]}" --shm doors
all_end "one worker has another directory"
like "it says that it uses TCP" "$(cat worker-0.err)" 'use TCP with a parameter server .* elsewhere/psgd-[0-9a-f]+ does not lead to the server'
like "the other one shares memory" "$(cat chief-0.out)" 'shared-bytes='

# The leader itself is killed, and comes back.  The others would be through by then on a fast machine, so they stand still.
LONGEST=("${FEW[@]}" --epochs 80 --patience 1s)
job chief 2 2
start_all "${LONGEST[@]}" -c again
ok "training has begun" eventually 60 epoch_reached 2
kill -STOP "${TASK[worker-0]}" "${TASK[worker-1]}"
killed chief-0
task chief 0 "${LONGEST[@]}" -c again
eventually 60 grep -q resume chief-0.err
kill -CONT "${TASK[worker-0]}" "${TASK[worker-1]}"
all_end "a killed leader came back"
like "it goes on where training is" "$(cat chief-0.err)" 'resume step=[1-9]'

# Another run goes on from a checkpoint, with another number of servers and in another mode.
out=$("$PSGD" "${SMALL[@]}" -c run --servers 2 --workers 2 2>&1)
out=$("$PSGD" "${FEW[@]}" --epochs 4 -c run --servers 3 --workers 2 2>&1)
like "a second run resumes" "$out" 'resume step=[0-9]+ epoch=2'
unlike "and does not do the first epochs again" "$out" '^epoch [12] '
like "but the next ones" "$out" '^epoch 4 '
out=$("$PSGD" "${FEW[@]}" --epochs 4 -c run --workers 2 2>&1)
like "a run that has nothing left to do says so and scores the model" "$out" 'all --epochs are done'
like "and its accuracy" "$out" '^step=[0-9]+/[0-9]+ accuracy='

# Ctrl-C.
"$PSGD" "${FEW[@]}" --epochs 1000 --workers 2 --servers 2 -c stopped >ctrlc.out 2>&1 &
pid=$!
PIDS+=($pid)
ok "a long training runs" eventually 60 grep -q '^epoch 1 ' ctrlc.out
children=$(pgrep -P $pid | tr '\n' ' ')
kill -TERM $pid
wait $pid
is "a signal ends it with its number" $? 143
# shellcheck disable=SC2086
is "and all its processes" "$(ps -o pid= -p ${children// /,}1 | grep -vw 1)" ""
ok "servers have saved" test -s stopped/ps-1-of-2.psgd

# Nobody comes: nobody sits for ever.
out=$("$PSGD" --task ps:0 --ps "127.0.0.1:$(ports 1)" --idle 1s 2>&1)
is "a server without trainers gives up" $? 1
like "and says why" "$out" 'no trainer for 1 seconds'
out=$("$PSGD" --task worker:0 --ps "127.0.0.1:$(ports 1)" --limit 100 --give-up 1s 2>&1)
is "a trainer without servers gives up" $? 1
like "and says which" "$out" 'parameter server 0, tried for 1 seconds: 127.0.0.1:[0-9]+: Connection refused'

# Strangers that connect and say nothing keep nobody out.
port=$(ports 1)
(
	ulimit -n 24
	exec "$PSGD" --task ps:0 --ps "127.0.0.1:$port" --idle 600s
) >crowd.out 2>&1 &
PIDS+=($!)
python3 -c 'import socket, sys, time
crowd = []
while len(crowd) < 40:
    try:
        crowd.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1))
    except OSError:
        time.sleep(0.1)
print("crowded", flush=True)
time.sleep(600)' "$port" >crowd.log 2>&1 &
PIDS+=($!)
ok "a crowd is at the server's door" eventually 20 grep -q crowded crowd.log
out=$("$PSGD" --task worker:0 --ps "127.0.0.1:$port" "${SMALL[@]}" --give-up 300s 2>&1)
is "a worker gets past them" $? 0

# Bad input.
bad() {
	local sentence=$1 want=$2 out status
	shift 2
	out=$("$@" 2>&1)
	status=$?
	like "$sentence: the error says so" "$out" "$want"
	ok "$sentence: it fails" test $status -ne 0
}
bad "a bad TF_CONFIG" 'TF_CONFIG: task.type: "boss" is not one of' env 'TF_CONFIG={"cluster":{},"task":{"type":"boss"}}' "$PSGD"
bad "a TF_CONFIG that is no JSON" 'TF_CONFIG: ' env 'TF_CONFIG={' "$PSGD"
bad "a missing data set" 'nowhere/train-images-idx3-ubyte: no such file' "$PSGD" --data nowhere
mkdir damaged
cp /usr/share/datasets/fashion-mnist/*.gz damaged
truncate -s 100000 damaged/train-images-idx3-ubyte.gz
bad "a damaged data set" 'damaged/train-images-idx3-ubyte.gz: ' "$PSGD" --data damaged
bad "another model's checkpoint" 'holds a model 784-128-10, not 784-32-10' "$PSGD" -c run --hidden 32 --limit 100
printf 'no checkpoint' >run/model.psgd
bad "a file that is no checkpoint" 'run/model.psgd: not a checkpoint of psgd' "$PSGD" -c run --limit 100
bad "an unknown option" 'unknown option --epoch; did you mean --epochs' "$PSGD" --epoch 3
bad "a rate that is too high" 'diverged at step=[0-9]+: a --rate of 900 is too high' "$PSGD" --rate 900 --limit 3000
job chief 1 2
rm -f ps-0.err # of an earlier job, which says the same
task ps 0
task chief 0 "${FEW[@]}" --epochs 100
ok "a chief is there" eventually 30 grep -q "take a model" ps-0.err
task worker 0 "${FEW[@]}" --epochs 100 --mode async
ends worker-0
is "a worker of another mode is refused" "$(cat worker-0.status)" 1
like "and told why" "$(cat worker-0.err)" 'works in mode sync, not async'
wait $WHOLE
for n in 1 2; do
	ok "$(sed -n ${n}p <<<"sync
easgd"): 87 % of the test pictures are recognised" accuracy_over 0.87 "$(grep '^step=.*accuracy=' whole.out | sed -n ${n}p)"
done
like "--help" "$("$PSGD" --help)" '--staleness N'
done_testing

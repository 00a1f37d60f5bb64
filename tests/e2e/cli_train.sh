#!/bin/bash
# stoker train and stoker follow with real pods: every framework, transcripts, a terminal, Ctrl-C, failures, a server that
# goes and comes back, manifests, wrong usage.
. "$(dirname "$0")/lib.sh"
chmod 755 "$T"
LAB=$T/lab
mkdir -m 777 "$LAB"
node_start main --gpus 3 --host-path "$LAB" || exit 1
SOCK=$SOCKET
export STOKER_SOCKET=$SOCK
cd "$LAB" || exit 1
s() { "$STOKER" "$@"; }
# status COMMAND...: its exit status; output in $OUT, errors in $ERR.
OUT=$T/cmd.out ERR=$T/cmd.err
status() { "$@" >"$OUT" 2>"$ERR"; echo $?; }
terminal() { TERM=xterm LC_ALL=C.UTF-8 /usr/bin/python3 -B "$ROOT/tests/lib/terminal.py" "$@"; }
# epochs N [NAP]: a training program.
cat >epochs <<'END'
#!/bin/sh
for i in $(seq 1 "$1"); do echo "epoch $i/$1 loss $(awk "BEGIN { printf \"%.4f\", 2 / $i }")"; sleep "${2:-0.1}"; done
END
chmod 755 epochs

# ---- pytorch ----
# The master decides, and nobody goes on without it: it waits for the others.
is "a PyTorchJob is trained to its end" "$(status s train --framework pytorch --workers 2 --gpus 1 --name mnist -- sh -c 'echo rank $RANK of $WORLD_SIZE at $MASTER_ADDR >rank-$RANK; ./epochs 3; touch done-$RANK; [ $RANK -gt 0 ] || until [ -e done-1 ] && [ -e done-2 ]; do sleep 0.1; done')" 0
is "all replicas ran here" "$(cat rank-*)" "rank 0 of 3 at mnist-master-0
rank 1 of 3 at mnist-master-0
rank 2 of 3 at mnist-master-0"
is "it is said what was made" "$(head -1 "$OUT")" "pytorchjob/mnist created"
like "each replica says where it runs" "$(cat "$OUT")" '^worker-1 runs on [^ ]+ with 1 GPU$'
like "the master's numbers are told" "$(cat "$OUT")" '^master-0: epoch [123]/3 loss [0-9.]+'
is "then what became of it" "$(tail -2 "$OUT" | sed 's/after [0-9]*s/after Ns/')" "pytorchjob/mnist succeeded after Ns: epoch 3/3 loss 0.6667
\`stoker logs mnist\` shows what it printed, \`stoker plot mnist\` draws its numbers."
# The sentence itself, as a reader would type it.
eval "set -- $(tail -1 "$OUT" | sed 's/^`stoker \([^`]*\)`.*/\1/')"
is "what it advises shows what each replica printed" "$(s "$@" | grep -c 'epoch 3/3') $(s "$@" | grep '^\[mnist-worker-1\] epoch 3/3' | wc -l)" "3 1"
is "it is a PyTorchJob" "$(kubectl get pytorchjob mnist -o jsonpath='{.spec.pytorchReplicaSpecs.Worker.replicas} {.status.conditions[-1:].type}')" "2 Succeeded"
is "whoever comes late sees the same end" "$(status s follow mnist) $(tail -2 "$OUT" | head -1 | sed 's/after [0-9]*s/after Ns/')" "0 pytorchjob/mnist succeeded after Ns: epoch 3/3 loss 0.6667"
is "programs get an object for each change" "$(s follow mnist -o json | jq -r 'select(.type == "measurement" and .replica == "master-0") | "\(.epoch) of \(.of): \(.values.loss)"')" "1 of 3: 2
2 of 3: 1
3 of 3: 0.6667"
is "and one for the end" "$(s follow mnist -o json | jq -c 'select(.type == "end") | [.phase, .exitStatus, .values.loss]')" '["Succeeded",0,0.6667]'
is "--logs shows all output" "$(s follow mnist --logs | grep '^\[worker-1\]')" "[worker-1] epoch 1/3 loss 2.0000
[worker-1] epoch 2/3 loss 1.0000
[worker-1] epoch 3/3 loss 0.6667"
is "a kubeconfig will do" "$(unset STOKER_SOCKET; s follow --kubeconfig "$KUBECONFIG" pytorchjob/mnist | grep -c 'succeeded after')" 1

# ---- others, at the same time ----
s train --ps 1 --workers 1 --name tf -- sh -c 'case $TF_CONFIG in *"\"task\":{\"type\":\"chief\""*) until [ -e tf-told ]; do sleep 0.1; done; exec ./epochs 2;; esac; sleep 1000' >"$T/tf" 2>&1 &
TF=$!
s train --framework pytorch --workers 1 --name bad -- sh -c '[ $RANK = 1 ] || exec sleep 1000; echo reading data; echo no such file >&2; exit 3' >"$T/bad" 2>&1 &
BAD=$!
s train --framework pytorch --backoff-limit 2 --name again -- sh -c '[ -e tried ] && until [ -e again-told ]; do sleep 0.1; done && exec ./epochs 2; touch tried; echo epoch 1 loss 9; exit 4' >"$T/again" 2>&1 &
AGAIN=$!
s train --framework paddle --time 2s --name late -- sleep 1000 >"$T/late" 2>&1 &
LATE=$!
s train --framework pytorch --name doomed -- sleep 1000 >"$T/doomed" 2>&1 &
DOOMED=$!
if command -v mpirun >/dev/null; then
	is "an MPIJob is started by mpirun" "$(status s train --framework mpi --workers 2 --name ring --logs -- sh -c 'echo "Rank $OMPI_COMM_WORLD_RANK , epoch 1 : 0.5 on $(hostname)"')" 0
	is "on all workers" "$(grep -o 'Rank [01].*on .*' "$OUT" | sort)" "Rank 0 , epoch 1 : 0.5 on ring-worker-0
Rank 1 , epoch 1 : 0.5 on ring-worker-1"
fi
# They go on when the watcher has said what is looked for.
eventually 60 grep -q '^ps-0 runs on' "$T/tf"
touch tf-told
wait $TF
is "a TFJob ends with its chief" $? 0
like "whose numbers count" "$(cat "$T/tf")" '^tfjob/tf succeeded after [0-9]+s: epoch 2/2 loss 1$'
like "its servers are part of it" "$(cat "$T/tf")" '^ps-0 runs on'
wait $BAD
is "a failure has the replica's status" $? 3
like "its reason is told, to the last lines" "$(tr '\n' '|' <"$T/bad")" 'worker-0 failed: exit status 3\|.*pytorchjob/bad failed after [0-9]+s\|.*worker-0 exited with code 3; its last lines: reading data\|  no such file\|`stoker logs bad` shows'
eventually 60 grep -q 'runs again' "$T/again"
touch again-told
wait $AGAIN
is "a replica is restarted if that is asked for" $? 0
like "and its numbers are those of its last run" "$(tr '\n' '|' <"$T/again")" 'master-0 runs again \(restart 1\).*succeeded after [0-9]+s: epoch 2/2 loss 1\|'
wait $LATE
is "the time limit is 124" $? 124
s kill doomed >/dev/null
wait $DOOMED
is "a job that somebody ends is 143" "$? $(tail -2 "$T/doomed" | head -1 | sed 's/after [0-9]*s/after Ns/')" "143 pytorchjob/doomed was deleted after Ns"

# ---- a terminal ----
rm -f go
# shellcheck disable=SC2016 # the job's own
out=$(terminal '2 of 2 running' ^C -- "$STOKER" train --framework pytorch --workers 1 --name tty -- sh -c './epochs 2; until [ -e go ]; do sleep 0.1; done; ./epochs 4')
is "Ctrl-C leaves a job alone" $? 130
like "and says how to come back" "$out" 'pytorchjob/tty goes on; `stoker follow tty` comes back to it, `stoker kill tty` ends it'
is "it goes on" "$(kubectl get pytorchjob tty -o jsonpath='{.status.conditions[-1:].type}')" Running
touch go
out=$(terminal -- "$STOKER" follow tty)
is "one comes back to it" $? 0
like "the picture has a bar" "$out" 'master-0 .*██████████ 100%  epoch 4/4 loss 0\.5'
like "and the loss as it falls" "$out" 'loss  2 █.* 0\.5'
like "drawn in its place" "$out" $'\033\\[[0-9]+A'

# ---- a server that goes and comes back ----
"$STOKER" train --framework pytorch --name steady -o json -- ./epochs 20 >"$T/steady" 2>&1 &
STEADY=$!
ok "a job runs" eventually 30 grep -q '"epoch":3' "$T/steady"
{ kill -9 "$SERVER_PID" && wait "$SERVER_PID"; } 2>/dev/null
node_start main --gpus 3 --host-path "$LAB"
wait $STEADY
is "each number comes once across a crash of the server" "$? $(jq -r 'select(.type == "measurement") | .epoch' <"$T/steady" | tr '\n' ' ')" "0 $(seq 1 20 | tr '\n' ' ')"

# ---- detached, and other kinds ----
is "--detach comes back with the name" "$(s train -d --framework pytorch --name away -- ./epochs 2)" pytorchjob/away
is "which can be followed" "$(s follow away | grep -c 'succeeded after')" 1
is "a name that is taken is told with advice" "$(status s train -d --framework pytorch --name away -- true) $(grep -c 'already exists; choose another --name' "$ERR")" "1 1"
s run --name plain --workers 2 -- ./epochs 2 >/dev/null
is "so can a Job" "$(status s follow plain) $(grep -c '^worker-[01] succeeded' "$OUT")" "0 2"
is "and a pod" "$(status s follow "$(kubectl get pods -l job-name=plain -o name | head -1)") $(tail -2 "$OUT" | grep -c ': epoch 2/2 loss 1')" "0 1"
kubectl create deployment web --image=host --replicas=0 >/dev/null
is "what does not end cannot" "$(status s follow web) $(grep -c 'does not end by itself; `stoker logs -f web`' "$ERR")" "1 1"
is "nor what is not there" "$(status s follow nothing)" 1

# ---- manifests ----
for f in "pytorch --workers 2 --gpus 1 -v $LAB:/data:ro" 'tensorflow --ps 1 --workers 2 --evaluator -e A=1' 'paddle --workers 2 --restart gang --hang-after 5m' 'mpi --workers 2 --slots 2' 'pytorch --elastic 1:3 --ttl 1h --deadline 2h'; do
	# shellcheck disable=SC2086 # words
	is "kubectl takes --dry-run of $f" "$(s train --dry-run --name dry --framework $f -- ./prog | kubectl apply --dry-run=server -f - | grep -c 'job.kubeflow.org/dry created (server dry run)')" 1
done
is "as JSON too" "$(s train --dry-run -o json --name dry --framework mpi -- ./prog | jq -r '.kind, .metadata.name' | tr '\n' ' ')" "MPIJob dry "
is "and nothing else happens" "$(kubectl get mpijob,pytorchjob,paddlejob dry 2>&1 | grep -c NotFound)" 3
s train --dry-run --framework pytorch --name made -- ./epochs 2 >made.yaml
is "a manifest is trained" "$(status s train -f made.yaml) $(grep -c '^pytorchjob/made succeeded' "$OUT")" "0 1"
is "if it is there already it is said what to do" "$(status s train -f made.yaml) $(grep -c 'already exists; `stoker follow made` watches that one, `stoker kill --remove made` makes room' "$ERR")" "1 1"
is "from stdin" "$(sed 's/name: made/name: piped/' made.yaml | s train -d -f -)" pytorchjob/piped

# ---- wrong usage ----
printf 'import torch\n' >t.py
is "a script's imports tell the framework" "$(s train --dry-run -o name --name t -- python3 t.py)" pytorchjob/t
is "nothing tells it here" "$(status s train -- ./epochs 1) $(head -1 "$ERR")" '2 stoker train: --framework: nothing here says which it is; choose tensorflow, pytorch, paddle or mpi'
is "usage is 2" "$(status s train) $(status s follow) $(status s train --workers many -- true) $(status s follow mnist -o yaml)" "2 2 2 2"
for o in '--framework caffe' '--framework pytorch --ps 1' '--framework mpi --workers 0' '--elastic 3' '--hang-after soon --ps 1' '--ps 1 --mem lots' '--ps 1 --name Bad_Name' '-f made.yaml' '--ps 1 -o yaml' '--ps 1 -d --logs'; do
	# shellcheck disable=SC2086 # words
	is "also train $o" "$(status s train $o -- true)" 2
done
is "a manifest has its own options" "$(status s train -f made.yaml --workers 2) $(head -1 "$ERR")" '2 stoker train: --workers: the manifest of --filename says how the job is'
is "and is a training job" "$(s run --dry-run -- true | status s train -f -)" 2
is "that can be read" "$(status s train -f nosuch.yaml)" 1

# ---- another user, for the first time ----
U=65534
me=$(getent passwd $U | cut -d: -f1)
cp "$STOKER" "$T/stoker"
chmod 755 "$T/main" "$T/stoker"
chmod 666 "$SOCKET"
u() { setpriv --reuid=$U --regid="$(id -g "$me")" --clear-groups env -u KUBECONFIG "$T/stoker" "$@"; }
is "a user trains as that user, on the user's files" "$(status u train --framework pytorch --workers 1 --name mine -- sh -c 'id -u >id-$RANK; mv id-$RANK of-$RANK; until [ -e of-1 ]; do sleep 0.1; done; exec ./epochs 1') $(cat of-0 of-1 | tr '\n' ' ')$(stat -c %u of-0)" "0 $U $U $U"
is "and follows" "$(u follow mine | grep -c 'succeeded after')" 1
done_testing

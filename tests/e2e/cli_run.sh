#!/bin/bash
# stoker run, ps, wait and kill with real containers: output, exit statuses, workers, limits, Ctrl-C, another user.
. "$(dirname "$0")/lib.sh"
chmod 755 "$T"
LAB=$T/lab
mkdir -m 777 "$LAB"
node_start main --gpus 2 --host-path "$LAB" || exit 1
export STOKER_SOCKET=$SOCKET
cd "$LAB" || exit 1
s() { "$STOKER" "$@"; }
# status COMMAND...: its exit status; output in $OUT, errors in $ERR.
OUT=$T/cmd.out ERR=$T/cmd.err
status() { "$@" >"$OUT" 2>"$ERR"; echo $?; }
terminal() { TERM=xterm /usr/bin/python3 -B "$ROOT/tests/lib/terminal.py" "$@"; }

# ---- run ----
is "a command runs here and ends with its own status" "$(status s run -w --name one -- sh -c 'pwd; echo mine >file; echo oops >&2; exit 3')" 3
is "its output is ours, as it is" "$(sort "$OUT")" "$LAB
oops"
is "and its files are the real ones" "$(cat "$LAB/file")" mine
is "what happens is told on stderr" "$(grep -v '^job/one waits' "$ERR")" "job/one created
job/one started on $(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
job/one failed with exit status 3"
is "with -q nothing is" "$(s run -q -w -- sh -c 'printf "no newline"' 2>&1)" "no newline"
is "a signal is 128 and its number" "$(status s run -q -w -- sh -c 'kill -9 $$') $(status s run -q -w -- sh -c 'kill -TERM $$')" "137 143"
is "a command that is not there is 127" "$(status s run -w --name nosuch -- nosuchcmd)" 127
like "and it is said" "$(cat "$ERR")" 'job/nosuch could not start: .*nosuchcmd.* not found'
unlike "it never started" "$(cat "$ERR")" 'started on'
is "also with -q" "$(s run -q -w -- nosuchcmd 2>&1 | grep -c 'could not start')" 1
touch plain
is "one that cannot be executed is 126" "$(status s run -q -w -- ./plain)" 126
is "text that looks like a variable of Kubernetes' stays" "$(MINE=my s run -q -w -e A='$(B) $$' -e MINE -- sh -c 'echo "$A" "$MINE" "$HOME"x $(echo sub)')" '$(B) $$ my /rootx sub'
is "options of the command are its own" "$(s run -q -w echo --name -w)" "--name -w"
is "the time limit is 124" "$(status s run -w --time 1 -- sleep 1000)" 124
like "and says so" "$(cat "$ERR")" 'reached its time limit of 1s'
is "out of memory is 137" "$(status s run -w --name hungry --mem 32M -- tail /dev/zero)" 137
like "with the limit and advice" "$(cat "$ERR")" '^job/hungry failed with exit status 137: out of memory \(limit 32Mi\); raise --mem$'
is "a failure is tried again" "$(status s run -w --name again --retries 1 -- sh -c '[ -e tried ] && echo second || { touch tried; exit 4; }')" 0
like "after it was told" "$(cat "$ERR")" 'again failed: exit status 4'
is "and only the output counts" "$(cat "$OUT")" second
s run --name first -- sleep 1 >/dev/null
is "a job may wait for another" "$(s run -q -w --name second --after ok:job/first -- sh -c 'echo after') $(kubectl get job first -o 'jsonpath={.status.succeeded}')" "after 1"
s run --name later --begin +1h -- true >/dev/null
begins() { s why job/later | grep -q 'not to start before'; }
ok "and for a time" eventually 10 begins
s kill job/later >/dev/null
is "what it cannot wait for is said" "$(status s run --after first -- true)" 2
like "with what it could" "$(cat "$ERR")" "^stoker run: --after: \"first\""
is "nor is there such a time" "$(status s run --begin noon -- true) $(head -n 1 "$ERR")" '2 stoker run: --begin: "noon" is no time such as 14:00, "tomorrow 9:00", "2026-11-20 09:00" or +2h'
is "without --watch the name is all there is" "$(status s run --name quick -l team=vision -- true) $(cat "$OUT" "$ERR")" "0 job/quick"
is "a name that is taken is told with advice" "$(status s run --name quick -- true)" 1
like "it is" "$(cat "$ERR")" 'already exists; choose another --name'
like "--dry-run prints a manifest" "$(s run --dry-run --gpus 1 --name dry -- true)" '^kind: Job'
is "that kubectl takes" "$(s run --dry-run --workers 2 --name dry -- true | kubectl apply --dry-run=server -f - | wc -l)" 2
is "and nothing else happens" "$(status s wait --for deleted dry)" 0
is "usage is 2" "$(status s run) $(status s run --gpus many -- true)" "2 2"
for o in '--mem lots' '--cpus x' '--time never' '--name Bad_Name' '-v foo' '--workdir here'; do
	# shellcheck disable=SC2086 # two words
	is "also run $o" "$(status s run $o -- true)" 2
done
is "also of others" "$(status s wait one --for foo) $(status s operate --controllers job --listen foo)" "2 2"
is "there is no job of no workers" "$(status s run --workers 0 -- true) $(head -1 "$ERR")" '2 stoker run: --workers: "0" is not a number from 1 to 10000'
is "a host path that is not there is not made" "$(status s run -v "$LAB/nope:/x" -- true) $(cat "$ERR")" "1 stoker run: --volume $LAB/nope:/x: $LAB/nope does not exist on this machine"
ok "it is not" [ ! -e "$LAB/nope" ]

# ---- evicted for another ----
for c in lo:1 hi:10; do kubectl create priorityclass "${c%:*}" --value="${c#*:}" >/dev/null; done
s run --name victim --gpus 2 --priority-class lo -- sh -c '[ -e again ] && exit 0; touch again; exec sleep 1000' >/dev/null
ok "a job has all GPUs" eventually 20 [ -e again ]
is "one of a higher priority gets them" "$(status s run -q -w --name better --gpus 2 --priority-class hi -- true)" 0
is "who was evicted waits again without --retries, and ends well" "$(status s wait victim --timeout 60s) $(cat "$OUT")" "0 job/victim succeeded"
like "it was told by whom" "$(kubectl get events)" 'pod/victim-.*Preempted by job/better, which has a higher priority'
like "and so was its job" "$(kubectl get events)" 'job/victim +Preempted by job/better, which has a higher priority'
like "which remembers when" "$(kubectl get job victim -o 'jsonpath={.metadata.annotations}')" '"stoker.dev/preempted":"20[-0-9T:]+Z by job/better, which has a higher priority"'

# ---- workers ----
is "workers share the command" "$(status s run -w --name crew --workers 3 -- sh -c 'until getent hosts $MASTER_ADDR >/dev/null; do sleep 0.1; done; touch met-$WORKER; until [ -e met-0 -a -e met-1 -a -e met-2 ]; do sleep 0.1; done; echo "I am $WORKER of $WORKERS, $RANK/$WORLD_SIZE"')" 0
is "and their lines say whose they are" "$(sort "$OUT")" "crew[0] | I am 0 of 3, 0/3
crew[1] | I am 1 of 3, 1/3
crew[2] | I am 2 of 3, 2/3"
is "the first that fails says how it ended" "$(status s run -w --workers 2 -- sh -c '[ $WORKER = 1 ] && exit 7; sleep 100')" 7
is "their service goes with them" "$(s kill --remove crew; eventually 10 eval '! kubectl get service crew'; kubectl get service crew 2>&1 | grep -c NotFound)" "job/crew removed
1"

# ---- a server that comes and goes ----
"$STOKER" run -q -w --name steady -- sh -c 'for i in $(seq 1 30); do echo $i; sleep 0.1; done' >"$T/steady" 2>&1 &
STEADY=$!
ok "a job runs" eventually 60 grep -q 3 "$T/steady"
{ kill -9 "$SERVER_PID" && wait "$SERVER_PID"; } 2>/dev/null
node_start main --gpus 2 --host-path "$LAB"
wait $STEADY
is "output is whole across a crash of the server" "$? $(tr '\n' ' ' <"$T/steady")" "0 $(seq 1 30 | tr '\n' ' ')"

# ---- ps and wait ----
is "what asks for too much waits" "$(s run --name wide --gpus 3 -- true)" job/wide
is "waiting for it takes as long as one likes" "$(status s wait wide --timeout 1s)" 124
like "and it is said why" "$(cat "$ERR")" 'job/wide is pending.* after 1s'
like "ps says it too" "$(s ps)" '^job/wide +Pending +0/1 +3 +[0-9]+s +- +0/1 nodes are available: 1 Insufficient nvidia.com/gpu'
like "and what has ended" "$(s ps)" '^job/one +Failed +0/1 +0 +[0-9a-z]+ +[0-9]+s +exit status 3$'
like "wide says more" "$(s ps -o wide)" '^job/one .* sh -c pwd; echo mine'
is "JSON is a list of the objects" "$(s ps -o json | jq -r '.kind, (.items[] | select(.metadata.name == "quick") | .kind, .metadata.labels.team)' | tr '\n' ' ')" "List Job vision "
like "pods are seen by their kind" "$(s ps po -o name)" '^pod/one-[a-z0-9]{5}$'
is "names are for scripts" "$(s ps -o name | grep -c '^job/')" "$(s ps | grep -c '^job/')"
is "an old server's colours are not for pipes" "$(s ps | grep -c $'\033')" 0
is "wait has the job's verdict" "$(status s wait quick) $(cat "$OUT"); $(status s wait one) $(cat "$ERR")" "0 job/quick succeeded; 1 job/one failed: BackoffLimitExceeded: Job has reached the specified backoff limit"
is "of several any will do" "$(status s wait --any wide quick)" 0
is "it prints the object if one likes" "$(s wait quick -o json | jq -r '.kind, .metadata.name, .status.succeeded' | tr '\n' ' ')" "Job quick 1 "
is "several are a list" "$(s wait quick again -o json | jq -r '.kind, (.items[] | .kind + "/" + .metadata.name)' | tr '\n' ' ')" "List Job/quick Job/again "
is "in YAML, and when it failed" "$(status s wait one -o yaml) $(grep -c '^kind: Job' "$OUT")" "1 1"
like "or as a row" "$(s wait quick -o wide)" '^job/quick +Succeeded +1/1 .* true +-$'
is "by any condition" "$(status s wait --for condition=complete quick)" 0
is "what is not there is told" "$(status s wait nothing)" 1
like "with advice" "$(cat "$ERR")" 'there is no workload "nothing" in namespace "default"; `stoker ps -a`'

# ---- ps and a quota ----
kubectl create namespace tight >/dev/null
kubectl -n tight create quota q --hard=pods=0 >/dev/null
until [ "$(kubectl -n tight get quota q -o 'jsonpath={.status.hard.pods}')" = 0 ]; do sleep 0.1; done
s run -n tight --name held -- true >/dev/null
held() { s ps "$@" | grep '^job/held .*exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0$'; }
ok "ps says what a quota holds back" eventually 20 held -n tight
timeout 60 "$STOKER" ps -w -n tight >"$T/watched" 2>&1 &
WATCHER=$!
ok "also as it goes on" eventually 20 grep -q 'exceeded quota: q' "$T/watched"
{ kill -INT $WATCHER && wait $WATCHER; } 2>/dev/null
s kill -n tight held >/dev/null

# ---- kill ----
s run --name long -- sh -c 'trap "echo saved; exit 0" TERM; echo ready; while :; do sleep 0.1; done' >/dev/null
ok "a job is running" s wait -q --for running long --timeout 120s
ok "and has said so" eventually 10 eval '[ "$("$STOKER" logs long)" = ready ]'
is "kill ends it, and waits for that" "$(s kill long)" "job/long ended (1 pod stopped)"
is "its output stays, to the last word" "$(s logs long | tr '\n' ' ')" "ready saved "
is "what has ended is left alone" "$(status s kill one) $(cat "$ERR")" "0 job/one had ended before (Failed); nothing was done. --remove removes its record."
like "run can print a row" "$(s run --name rowed -o wide -- sleep 1000)" '^job/rowed +Pending +0/1 .* sleep 1000 '
is "kill says what it ended" "$(s kill rowed -o json | jq -r '.kind + "/" + .metadata.name')" Job/rowed
is "in all forms" "$(s run --name rowed -- sleep 1000 >/dev/null; s kill rowed -o name)" job/rowed
is "and nothing if it ended nothing" "$(s kill one -o json 2>/dev/null | jq -r '.kind, (.items | length)' | tr '\n' ' ')" "List 0 "
s run --name stubborn -- sh -c 'trap "" TERM; while :; do sleep 0.1; done' >/dev/null
s wait -q --for running stubborn
is "--now does not ask" "$(s kill --now stubborn)" "job/stubborn ended (1 pod stopped)"
kubectl create -f - >/dev/null <<-END
	apiVersion: v1
	kind: Pod
	metadata: {name: wide}
	spec: {containers: [{name: c, image: host, command: [sleep, '1000'], resources: {limits: {nvidia.com/gpu: 5}}}]}
END
is "two of a name are told apart" "$(status s kill wide) $(cat "$ERR")" '1 stoker kill: "wide" is the name of several workloads; say which one: job/wide -n default, pod/wide -n default'
is "--all must be meant" "$(status s kill --all)" 1
is "then it ends what is left" "$(s kill --all -y | sort)" "job/wide ended (1 pod stopped)
pod/wide ended"
is "one is not several" "$(s run --name single -- sleep 1000 >/dev/null; status s kill --all) $(cat "$ERR")" '1 stoker kill: --all would end 1 workload of namespace "default": say -y if you mean it'
s kill --now single >/dev/null

# ---- Ctrl-C ----
SLEEPER='trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.1; done'
out=$(terminal ready ^C 'again within' ^C 'again within' ^C -- "$STOKER" run -w --name twice -- sh -c "$SLEEPER")
is "Ctrl-C twice ends the job" $? 130
like "which may clean up" "$(tr '\n' ' ' <<<"$out")" 'goes on\. Ctrl-C again within.*Ending job/twice.*bye.*job/twice ended'
is "it is gone" "$(s ps -o name | grep -c twice)" 0
out=$(terminal ready ^C 'again within' '^\' -- "$STOKER" run -w --name leave -- sh -c "$SLEEPER")
is "Ctrl-\\ leaves it" $? 131
like "running" "$(s ps)" '^job/leave +Running '
out=$(terminal ready ^C -- "$STOKER" run -w --rm --name once -- sh -c "$SLEEPER")
is "with --rm once is enough" "$? $(s ps -o name | grep -c once)" "130 0"
"$STOKER" run -q -w --name term -- sleep 1000 >"$OUT" 2>"$ERR" &
RUN=$!
s wait -q --for running leave
ok "another one runs" eventually 20 s wait -q --for running term
kill -TERM $RUN
wait $RUN 2>/dev/null
is "a signal that means it ends the job too" "$? $(s ps -o name | grep -c term)" "143 0"
s kill --now leave >/dev/null
like "colour is for terminals" "$(terminal -- "$STOKER" ps)" $'\033'
unlike "unless NO_COLOR is set" "$(NO_COLOR=1 terminal -- "$STOKER" ps)" $'\033'

# ---- another user, for the first time ----
U=65534
me=$(getent passwd $U | cut -d: -f1)
cp "$STOKER" "$T/stoker"
chmod 755 "$T/main" "$T/stoker"
chmod 666 "$SOCKET"
u() { setpriv --reuid=$U --regid="$(id -g $me)" --clear-groups env -u KUBECONFIG "$T/stoker" "$@"; }
is "a user's first command just runs, as that user" "$(u run -q -w -- sh -c 'id -u; pwd; echo theirs >of-user' 2>&1)" "$U
$LAB"
is "on the user's files" "$(stat -c %u "$LAB/of-user")" $U
like "in the user's namespace" "$(u ps)" '^job/sh-[a-z0-9]{5} +Succeeded'
is "others' are not shown" "$(status u ps -A)" 1
mkdir -m 755 "$T/elsewhere"
cd "$T/elsewhere" || exit 1
is "a directory that may not be mounted is refused" "$(status u run -w -- true)" 1
like "in words" "$(cat "$ERR")" "^stoker run: $T/elsewhere cannot be mounted into the job: .* Go to a directory below your home"
is "unless it is not needed" "$(u run -q -w --no-mount -- pwd)" /
server_stop
done_testing

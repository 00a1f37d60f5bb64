#!/bin/bash
# Pods keep running: a server that is killed or stopped under them, at any moment, is not noticed by them, and the next
# one knows everything: who runs, since when, who ended meanwhile and how, and every byte they wrote.
#
# Each container appends a line to a shared file when it starts, so a second start cannot hide; what it prints it also
# writes to a file of its own, with which its log is compared.
. "$(dirname "$0")/lib.sh"
mkdir "$T/out"
LONG=50

# pod NAME EXIT-CODE SECONDS: prints numbered lines until $T/out/go-on is there, or for so long.
pod() {
	cat <<-END
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: $1, labels: {batch: "${1%%-*}"}}
		spec:
		  restartPolicy: Never
		  terminationGracePeriodSeconds: 1
		  volumes: [{name: out, hostPath: {path: $T/out}}]
		  containers:
		  - name: main
		    image: host
		    volumeMounts: [{name: out, mountPath: /out}]
		    command:
		    - bash
		    - -c
		    - |
		      echo $1 >>/out/starts
		      exec 3<>/out/never 4>/out/$1.text
		      end=\$((\${EPOCHREALTIME/./} + $3 * 1000))
		      for ((i = 1; \${EPOCHREALTIME/./} < end; i++)); do
		        line="$1 line \$i of \$EPOCHREALTIME"
		        echo "\$line"
		        echo "\$line" >&4
		        [ -e /out/go-on ] && break
		        read -t 0.2 -u 3
		      done
		      exit $2
	END
}
mkfifo "$T/out/never"
pods() { api GET "/api/v1/namespaces/default/pods?labelSelector=batch%3D$1"; }
count() { pods "$1" | jq --arg p "$2" '[.items[] | select(.status.phase == $p)] | length'; }
all_are() { [ "$(count "$1" "$2")" = "$3" ]; }
# all_over BATCH N: so many have come to their end.
all_over() { [ "$(pods "$1" | jq '[.items[] | select(.status.phase | IN("Succeeded", "Failed"))] | length')" = "$2" ]; }
# Who they are and since when; nothing of it may change.
faces() {
	pods "$1" | jq -r '.items[] | .status as $s | [.metadata.name, .metadata.uid, $s.phase, $s.podIP, $s.startTime,
		($s.containerStatuses[0] | .containerID, .restartCount, .ready, .state.running.startedAt, .lastState)] |
		tostring'
}
# same_faces BATCH: as in $T/before
same_faces() { diff "$T/before" <(faces "$1"); }
# again: the next server on the same directory.
again() { server_run main; }
# adopted: it knows its pods, and has had time to say so.
adopted() { eventually 20 kubectl exec "long-$LONG" -- true && sleep 0.5; }
server_kill() {
	kill -9 "$SERVER_PID"
	wait "$SERVER_PID" 2>/dev/null
}
# wrong_logs NAMES: those whose log is not what they wrote.
wrong_logs() {
	local n
	for n in $1; do
		api GET "/api/v1/namespaces/default/pods/$n/log" | cmp -s - "$T/out/$n.text" || echo "$n"
	done
}
# wrong_ends BATCH: those that did not end as they were told: the code is the number in the name modulo 5.
wrong_ends() {
	pods "$1" | jq -r '.items[] | (.metadata.name | split("-")[1] | tonumber % 5) as $code |
		.status.containerStatuses[0] as $c | ($c.state.terminated // {}) as $t |
		select($t.exitCode != $code or $c.restartCount != 0 or
		       $t.reason != (if $code == 0 then "Completed" else "Error" end) or
		       .status.phase != (if $code == 0 then "Succeeded" else "Failed" end)) |
		[.metadata.name, .status.phase, $c.restartCount, $t] | tostring'
}

node_start main || done_testing
for ((i = 1; i <= LONG; i++)); do pod "long-$i" $((i % 5)) 600000; done | kubectl create -f - >/dev/null
ok "$LONG pods run" eventually 30 all_are long Running "$LONG"
# The status is told a moment after the start.
ok "and all are ready" eventually 10 sh -c "[ \$(kubectl get pods -l batch=long | grep -c ' 1/1 ') = $LONG ]"
faces long >"$T/before"

server_kill
again || done_testing
ok "a new server talks to the pods of one that was killed" adopted
ok "they are the same, since the same time" same_faces long
server_stop
again || done_testing
ok "the next one talks to those of one that was stopped" adopted
ok "and they are the same" same_faces long
ok "they write on" eventually 5 sh -c "[ \$(wc -l <'$T/out/long-7.text') -gt $(wc -l <"$T/out/long-7.text") ]"

# Killed at random moments while pods start and end: a batch of each is under way each time.  Three that fail are run
# again and again, and count their runs themselves.
for i in 1 2 3; do pod "again-$i" 3 0; done | sed 's/restartPolicy: Never/restartPolicy: Always/' | kubectl create -f - >/dev/null
short=0
for round in 1 2 3 4 5 6; do
	for ((i = short + 1; i <= short + 8; i++)); do pod "short-$i" $((i % 5)) $((RANDOM % 600)); done |
		kubectl create -f - >/dev/null
	short=$((short + 8))
	[ $((round % 2)) = 0 ] || sleep "0.$((RANDOM % 5))"
	server_kill
	again || done_testing
	sleep "0.0$((RANDOM % 10))"
	server_kill
	again || done_testing
done
ok "$short pods that started and ended under twelve kills come to their end" eventually 30 all_over short "$short"
is "each as it was to end" "$(wrong_ends short)" ""
is "their logs are complete to the byte" "$(wrong_logs "$(seq -f 'short-%g' 1 $short)")" ""
ok "those that ran before still run, and are the same" same_faces long
# Counted twice: one may be starting just now.
recount() {
	diff <(pods again | jq -r '.items[] | .status.containerStatuses[0] as $c |
		"\(.metadata.name) \($c.restartCount) \($c.lastState.terminated.exitCode)"' | sort) \
		<(grep again "$T/out/starts" | sort | uniq -c | awk '{ print $2, $1 - 1, 3 }')
}
ok "those that fail were started as often as their status says, which says how they ended" eventually 5 recount
kubectl delete pods -l batch=again --wait=false >/dev/null
# Without those: one more may just have started.
starts() { grep -v again "$T/out/starts"; }
is "nobody was started twice or not at all" "$(starts | sort | uniq -c | awk '$1 == 1' | wc -l)" $((LONG + short))
is "not even once too often" "$(starts | wc -l)" $((LONG + short))

# They end with no server there: it must not matter when somebody asks.
server_kill
nobody() { ! grep -qs "$T/main/data.*_main_[0-9]" /proc/[0-9]*/cmdline; }
is "their monitors are there" "$(nobody || echo yes)" yes
touch "$T/out/go-on"
ok "all end while there is no server" eventually 20 nobody
over=$(date +%s)
sleep 1.1
again || done_testing
ok "and have ended for the next one" eventually 20 all_over long "$LONG"
is "with their true exit codes" "$(wrong_ends long)" ""
is "at the time they really did" "$(pods long | jq -r --argjson over "$over" '.items[] |
	select(.status.containerStatuses[0].state.terminated.finishedAt | fromdate > $over) | .metadata.name')" ""
is "logs are complete to the byte" "$(wrong_logs "$(seq -f 'long-%g' 1 $LONG)")" ""
is "and it started none of them again" "$(starts | wc -l)" $((LONG + short))

# A kill during ends that were asked for: no pod stays behind, and no process.
rm "$T/out/go-on"
for ((i = 1; i <= 20; i++)); do pod "gone-$i" 0 600000; done | kubectl create -f - >/dev/null
ok "twenty more run" eventually 20 all_are gone Running 20
kubectl delete pods -l batch=gone --wait=false >/dev/null
sleep "1.0$((RANDOM % 10))"
server_kill
again || done_testing
none() { [ "$(pods gone | jq '.items | length')" = 0 ]; }
ok "deleted pods go, whoever began with it" eventually 20 none
is "and none of their processes is left" "$(grep -ls '[g]one-[0-9]* >>/out/starts' /proc/[0-9]*/cmdline | wc -l)" 0
done_testing

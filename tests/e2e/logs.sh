#!/bin/bash
# Logs: kubectl's options, rotation under a reader, a server that is killed, and pods that are gone.
. "$(dirname "$0")/lib.sh"
node_start main
logs() { "$STOKER" logs --socket "$SOCKET" -n default "$@"; }
raw() { curl -s --unix-socket "$SOCKET" "http://x/api/v1/namespaces/default/pods/$1"; }
# pod NAME LABELS SCRIPT [SCRIPT of a second container]
pod() {
	local second=""
	[ -n "${4:-}" ] && second=', {name: side, image: host, command: [sh, -c, '"$(jq -Rs . <<<"$4")"']}'
	kubectl create -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $1, labels: {$2}}
		spec:
		  restartPolicy: ${RESTART:-Never}
		  terminationGracePeriodSeconds: 0
		  hostNetwork: true
		  containers: [{name: main, image: host, command: [sh, -c, $(jq -Rs . <<<"$3")]}$second]
	END
}
# until_true SECONDS COMMAND...
until_true() {
	local i n=$((($1 > 60 ? $1 : 60) * 20)) # at least a minute, for the machine may be busy
	shift
	for ((i = 0; i < n; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}
phase() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = "$2" ]; }

pod plain 'job-name: counting' 'for i in 1 2 3 4 5; do echo "line $i"; done; sleep 0.2; echo oops >&2; sleep 0.2; printf end'
ok "a pod runs to its end" until_true 20 phase plain Succeeded
for k in "$KUBECTL_NEW" "$KUBECTL_OLD"; do
	[ -x "$k" ] || continue
	is "its log is what it printed" "$("$k" logs plain | tr '\n' ' ')" "line 1 line 2 line 3 line 4 line 5 oops end"
	is "--tail counts lines" "$("$k" logs plain --tail=2)" "oops
end"
	is "--limit-bytes is exact" "$("$k" logs plain --limit-bytes=9)" "line 1
li"
	like "--timestamps are RFC 3339" "$("$k" logs plain --timestamps --tail=2)" '^20[0-9]{2}-[0-9-]{5}T[0-9:]{8}\.[0-9]+Z '
	is "--since leaves out what is old" "$(sleep 1.1; "$k" logs plain --since=1s)" ""
	like "--previous needs a restart" "$("$k" logs plain --previous 2>&1)" 'previous terminated container "main" in pod "plain" not found'
	is "-f of what has ended ends" "$(timeout 60 "$k" logs -f plain | wc -l)" "$("$k" logs plain | wc -l)"
done

pod double 'a: b' 'sleep 300' 'echo aside; sleep 300'
ok "two containers run" until_true 20 phase double Running
like "which container must be said" "$(raw double/log)" 'a container name must be specified for pod double, choose one of: \[main side\]'
like "and it must be one of them" "$(raw 'double/log?container=x')" 'container x is not valid for pod double'
ok "one of them is shown" until_true 5 test aside = "$(kubectl logs double -c side)"
like "a wrong number is named" "$(raw 'double/log?container=side&tailLines=many')" 'tailLines: Invalid value: \\?"many'

RESTART=Always pod again 'a: b' 'echo "run $(date +%N)"; sleep 1; exit 1'
ok "a container is restarted" until_true 30 sh -c 'kubectl logs again --previous'
before=$(kubectl logs again --previous) # first: meanwhile it may start once more
unlike "the log of the run before is another one" "$(kubectl logs again)" "$before"

# 80 MB in several files, while a client follows.  The oldest file goes when there are too many, whoever reads it: on a
# slow machine the flood waits for the client, a quarter of it at a time.
pod flood 'stoker.dev/job: deluge' 'echo 1; n=1; while [ $n -lt 1600000 ]; do until [ -e /tmp/go-$n ]; do sleep 0.1; done; seq $((n + 1)) $((n + 399999 + (n > 1))); n=$((n + 399999 + (n > 1))); done'
ok "a flood is due" until_true 60 phase flood Running
timeout 600 kubectl logs -f flood >"$T/followed" 2>&1 &
FOLLOWER=$!
has_come() { [ "$(tail -n 1 "$T/followed")" = "$1" ]; }
for n in 1 400000 800000 1200000; do
	eventually 120 has_come $n
	kubectl exec flood -- touch /tmp/go-$n
done
wait $FOLLOWER
is "a follower has every line once, in order" "$(awk '$1 != NR { print "line", NR, "is", $1; exit }' "$T/followed")" ""
is "up to the last" "$(tail -n 1 "$T/followed")" 1600000
pod survivor 'a: b' 'for i in $(seq 1 40); do echo $i; sleep 0.1; done'
ok "another pod runs" until_true 60 sh -c 'kubectl logs survivor | grep -q 3'
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
sleep 1
node_start main
ok "it ends under the next server" until_true 20 phase survivor Succeeded
is "its log is complete to the byte" "$(kubectl logs survivor | md5sum)" "$(seq 1 40 | md5sum)"

kubectl delete pod --all --wait=true >/dev/null
like "kubectl has no log of a pod that is gone" "$(kubectl logs plain 2>&1)" 'pods "plain" not found'
is "stoker logs has, by its name" "$(logs plain --tail 1000 | wc -l)" 6
is "by its job's" "$(logs job/counting | wc -l)" 6
is "also if the server knows it only by a label" "$(logs deluge --tail 1)" 1600000
like "the list says what there is" "$(logs counting --list)" '^plain +main +0 +[0-9]+ +[0-9]+s ago +job/counting'
is "in JSON too" "$(logs counting --list -o json | jq -r '.[0].pod')" plain
is "lines are objects for programs" "$(logs counting --tail 1 -o json | jq -r '[.pod, .container, .line] | join(" ")')" "plain main $(logs counting --tail 1)"
like "and say when" "$(logs counting --tail 1 -o json | jq -r .time)" '^20[0-9-]+T[0-9:.]+Z$'
like "containers are asked for" "$(logs double 2>&1)" 'choose one of: \[main side\]; use -c NAME or --all-containers'
is "and marked" "$(logs double --all-containers)" "[double/side] aside"
like "a name that means nothing is answered with advice" "$(logs nix 2>&1)" 'there are no logs of "nix" in namespace "default"; .*-n looks in another namespace'
server_stop
node_start main
is "logs outlive the server as well" "$(logs job/counting | wc -l)" 6
server_stop
done_testing

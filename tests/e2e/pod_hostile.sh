#!/bin/bash
# Containers that do harm, by mistake or not: whatever they do stays in their pod, and when the pod is gone from the API
# no process of it is left.  Each pod's processes carry a marker in their arguments, wherever they have gone.
. "$(dirname "$0")/lib.sh"

MARK=hostile-$$
# pod NAME SCRIPT [SPEC] [CONTAINER]: more of either in YAML's one-line form.
pod() {
	kubectl create -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec:
		  restartPolicy: Never
		  terminationGracePeriodSeconds: 1
		  ${3:-}
		  containers:
		  - name: main
		    image: host
		    ${4:-}
		    command: [bash, -c, $(jq -Rs . <<<"$2"), "$MARK-$1"]
	END
}
get() { api GET "/api/v1/namespaces/default/pods/$1" | jq -rc "$2"; }
phase() { [ "$(get "$1" .status.phase)" = "$2" ]; }
running() { [ "$(get "$1" '.status.containerStatuses[0].state.running != null')" = true ]; }
count() { grep -lsz "^$MARK-$1\$" /proc/[0-9]*/cmdline | wc -l; }
more_than() { [ "$(count "$1")" -gt "$2" ]; }
groups_of() { ls -d /sys/fs/cgroup/*/stoker-*/*"$1"* /sys/fs/cgroup/stoker-*/*"$1"* 2>/dev/null; }
rss_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$SERVER_PID/status"; }
# gone NAME: deletes it, waits until the API does not have it any more, and looks at once.
gone() {
	local uid left
	uid=$(get "$1" .metadata.uid)
	api DELETE "/api/v1/namespaces/default/pods/$1" >/dev/null
	until [ "$(api_code GET "/api/v1/namespaces/default/pods/$1")" = 404 ]; do sleep 0.02; done
	left=$(count "$1")
	is "$1: when it is gone, so are its processes" "$left" 0
	is "$1: and its control groups" "$(groups_of "$uid")" ""
}

node_start main || done_testing

# Nobody of these minds SIGTERM, and each has left its session, its parent, or its name behind.
pod deaf 'trap "" TERM INT HUP QUIT; while :; do sleep 1; done'
pod daemon 'trap "" TERM HUP; for i in 1 2 3; do (setsid nohup bash -c "trap \"\" TERM HUP; (setsid bash -c \"trap : TERM; while :; do sleep 1; done\" \"\$0\" &); while :; do sleep 1; done" "$0" >/dev/null 2>&1 &); done; while :; do sleep 1; done'
pod abroad 'trap "" TERM; (setsid bash -c "trap : TERM; while :; do sleep 1; done" "$0" &); while :; do sleep 1; done' 'hostPID: true'
pod stopped 'kill -STOP 0; (setsid bash -c "kill -STOP \$\$" "$0" &); kill -STOP $$; while :; do sleep 1; done'
for p in deaf daemon abroad stopped; do ok "$p runs" eventually 20 running $p; done
ok "daemons are there" eventually 10 more_than daemon 6
ok "kubectl exec adds one more" sh -c "kubectl exec deaf -- bash -c '(setsid bash -c \"trap : TERM; while :; do sleep 1; done\" $MARK-deaf >/dev/null 2>&1 &)'"
unlike "it has control groups" "$(groups_of "$(get deaf .metadata.uid)")" '^$'
for p in deaf daemon abroad stopped; do gone $p; done

# A fork bomb: it has as many processes as its pod may have, and the others do not mind.
pod bomb 'b() { b | b & b; }; b; wait' '' 'resources: {limits: {stoker.dev/pids: "200"}}'
ok "a fork bomb goes off" eventually 20 more_than bomb 100
is "and stays within its limit" "$([ "$(count bomb)" -le 200 ] && echo yes)" yes
pod neighbour 'echo hello'
ok "another pod runs beside it" eventually 30 phase neighbour Succeeded
gone bomb
# Without a pid namespace of its own the kernel does not end it at one stroke.
pod bomb-abroad 'b() { b | b & b; }; b; wait' 'hostPID: true' 'resources: {limits: {stoker.dev/pids: "200"}}'
ok "another one goes off among the machine's processes" eventually 20 more_than bomb-abroad 100
gone bomb-abroad

# As much output as it can make.
pod flood 'yes "$0: a line like any other, only that there are very many of it"'
ok "a flood of output begins" eventually 20 running flood
before=$(rss_kb)
logs_of() { find "$T/main/data/logs" -path '*flood*' -name '*.log*' -type f; }
rotated() { [ "$(logs_of | wc -l)" -ge 5 ]; }
ok "its log is rotated" eventually 180 rotated
is "it is never more than five files" "$(for i in {1..20}; do logs_of | wc -l; sleep 0.05; done | sort -n | tail -n 1)" 5
is "of at most 10 MiB" "$(logs_of | xargs -r stat -c %s 2>/dev/null | awk '$1 > 10 * 1024 * 1024')" ""
is "kubectl shows its end" "$(kubectl logs flood --tail=3 | sort -u)" "$MARK-flood: a line like any other, only that there are very many of it"
is "the server has not grown by it" "$([ $(($(rss_kb) - before)) -lt 8192 ] && echo yes)" yes
is "and answers" "$(api_code GET /readyz)" 200
gone flood

# More disk than it may have.
pod hoarder 'dd if=/dev/zero of=/var/tmp/hoard bs=1M count=24; sleep 1000; :' '' \
	'resources: {limits: {ephemeral-storage: 8Mi}}'
pod packrat 'dd if=/dev/zero of=/scratch/hoard bs=1M count=24; sleep 1000; :' 'volumes: [{name: s, emptyDir: {sizeLimit: 8Mi}}]' \
	'volumeMounts: [{name: s, mountPath: /scratch}]'
pod memory 'dd if=/dev/zero of=/scratch/hoard bs=1M count=24; echo "dd ended with $?"' \
	'volumes: [{name: s, emptyDir: {medium: Memory, sizeLimit: 8Mi}}]' 'volumeMounts: [{name: s, mountPath: /scratch}]'
for p in hoarder packrat; do
	ok "$p: a pod that takes more disk than it may is failed" eventually 20 phase $p Failed
	is "$p: evicted, as it says" "$(get $p .status.reason)" Evicted
	is "$p: its processes are gone" "$(count $p)" 0
done
like "hoarder: with a message" "$(get hoarder .status.message)" 'exceeded its local ephemeral storage limit "8Mi"'
like "packrat: with a message" "$(get packrat .status.message)" 'Usage of EmptyDir volume "s" exceeds the limit "8Mi"'
ok "memory is not even given" eventually 20 phase memory Succeeded
like "but an error" "$(kubectl logs memory)" 'No space left on device'
for p in hoarder packrat memory neighbour; do gone $p; done
eventually 10 sh -c "! find '$T/main/data/pods' -name hoard | grep -q ."
is "what they have written is gone" "$(find "$T/main/data" -xdev -name hoard)" ""
done_testing

#!/bin/bash
# The accounts: each workload that ran once, however often the server is killed; stoker usage; shares across restarts.
. "$(dirname "$0")/lib.sh"
node_start main --gpus 8 || exit 1
K=$(command -v kubectl) NS=default V=
ACCOUNTS=$T/main/data/accounting
usage() { "$STOKER" usage --socket "$SOCKET" "$@" 2>&1; }
phase() { # POD WANTED
	[ "$(get pod "$1" .status.phase)" = "$2" ]
}
# pods: a Pod for each line "NAME GPUS SCRIPT" of stdin
pods() {
	local name gpus script
	while read -r name gpus script; do
		cat <<-EOF
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: $name}
		spec:
		  restartPolicy: Never
		  terminationGracePeriodSeconds: 0
		  containers:
		  - {name: main, image: host, command: [sh, -c, '$script'], resources: {limits: {nvidia.com/gpu: $gpus, cpu: 50m}}}
		EOF
	done | k create -f - >/dev/null
}
records() { cat "$ACCOUNTS"/20*.csv 2>/dev/null | grep -v '^job,'; }
# "STATE GPUS PODS" of a job's record, or how many lines it has
recorded() { records | awk -F, -v j="$1" '$1 == j { n++; s = $16 " " $12 " " $11 } END { print n == 1 ? s : n + 0 " lines" }'; }
recorded_is() { [ "$(recorded "$1")" = "$2" ]; }
has_gone() { ! k get pod "$1"; }
crash() {
	kill -9 "$SERVER_PID"
	wait "$SERVER_PID" 2>/dev/null
	server_run main --gpus 8
}

like "before anything has run it says so" "$(usage)" '^Nothing ran between .* and '
is "and an empty list is empty" "$(usage -o json | field .items)" '[]'

# ---- killed again and again ----
pods <<EOF
stays 1 sleep 1000
fails 0 exit 3
EOF
ok "a pod runs" eventually 20 phase stays Running
for i in 1 2 3; do
	pods <<-EOF
	quick$i 1 true
	short$i 1 sleep 0.$((i * 3))
	gone$i 1 sleep 1000
	EOF
	ok "round $i: pods run" eventually 20 phase gone$i Running
	k delete pod gone$i --wait=false >/dev/null
	# at three different times after it
	case $i in 1) ok "and one has gone" eventually 20 has_gone gone1 ;; 2) sleep 0.5 ;; esac
	crash
done
for i in 1 2 3; do
	ok "what ended by itself before or after kill -9 is recorded once" eventually 20 recorded_is quick$i "Succeeded 1 1"
	ok "so is what ended about then" eventually 20 recorded_is short$i "Succeeded 1 1"
	ok "and what was deleted" eventually 20 recorded_is gone$i "Deleted 1 1"
done
ok "a failure is one" eventually 10 recorded_is fails "Failed 0 1"
is "what runs has no record yet" "$(recorded stays)" "0 lines"

# ---- a gang and a job ----
k create -f - >/dev/null <<EOF
apiVersion: batch/v1
kind: Job
metadata: {name: array}
spec:
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: host, command: ["true"]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: gang}
spec:
  completions: 2
  parallelism: 2
  template:
    metadata: {annotations: {stoker.dev/gang: together, stoker.dev/gang-size: "2"}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: host, command: [sleep, "0.2"], resources: {limits: {nvidia.com/gpu: 2}}}]
EOF
ok "a gang is one record of all its pods" eventually 20 recorded_is gang "Succeeded 4 2"
ok "pods of a job that start one by one are one each" eventually 20 recorded_is array "2 lines"
crash
k delete job array gang >/dev/null
crash
is "they are recorded no more than once" "$(recorded gang), $(recorded array)" "Succeeded 4 2, 2 lines"
is "no uid is there twice" "$(records | cut -d, -f17 | sort | uniq -d)" ""

# ---- stoker usage ----
user=$(usage -o json | field '.items[0].name')
like "a table says who" "$(usage)" "^$user +14 +1 .*█"
like "by job, with what runs" "$(usage --by job)" "^default +Pod +stays +$user +1 +1 .*█"
like "as CSV" "$(usage --by queue -o csv)" '^batch,14,1,[0-9.]+,'
ok "what runs counts up to now" sh -c "'$STOKER' usage --socket '$SOCKET' --by job -o json | jq -e '.items[] | select(.name == \"stays\") | .gpuSeconds > 1'"
is "of a time long ago there is nothing" "$(usage --since 2020-01-01 --until 2020-02-01 -o json | field .items)" '[]'
like "a time that is none is refused" "$(usage --since tomorrow)" '^stoker usage: --since: "tomorrow" is no time; 7d,'
like "and one that runs backwards" "$(usage --since 1h --until 2h)" 'until is before --since'
like "and sums by colour" "$(usage --by colour)" 'is not one of user.group.queue.job'
like "the API refuses it too" "$(api GET '/apis/stoker.dev/v1/usage?by=colour')" 'by: \\"colour\\" is not one of'
is "and a bad time" "$(api_code GET '/apis/stoker.dev/v1/usage?from=x')" 400

# ---- whose it is ----
token=$("$STOKER" token create --socket "$SOCKET" --user "$user" | tail -n 1)
other=$("$STOKER" token create --socket "$SOCKET" --user eve | tail -n 1)
as() { curl -sSk -H "Authorization: Bearer $1" "$URL/apis/stoker.dev/v1/$2"; }
is "everyone sees his own" "$(as "$token" usage | field '.items | map(.name) | join(" ")')" "$user"
is "and nobody else's" "$(as "$other" usage | field '.items | length')" 0
is "not even when he asks for it" "$(as "$other" "usage?user=$user" | field .reason)" Forbidden
is "nor in the shares" "$(as "$other" shares | field '[.queues[].groups[].users[]] | length')" 0
is "without a name one sees nothing" "$(curl -sSk -o /dev/null -w '%{http_code}' "$URL/apis/stoker.dev/v1/usage")" 403

# ---- shares ----
like "the shares show what each had" "$(usage --shares)" "$user +1 +100.0% +100.0% "
had() { usage --shares -o json | field '.queues[] | select(.name == "batch") | .use'; }
before=$(had)
crash
ok "and are remembered across kill -9" awk -v a="$before" -v b="$(had)" 'BEGIN { exit !(a > 0.05 && b >= a * 0.98) }'
server_stop
server_run main --gpus 8 --fair-half-life 0
like "unless they are turned off" "$(had)" '^0(\.0)?$'
ok "the rest ends" k delete pod --all
ok "and is recorded" eventually 20 recorded_is stays "Deleted 1 1"
done_testing

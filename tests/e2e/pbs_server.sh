#!/bin/bash
# PBS jobs at the API, as users of the machine meet it over the Unix socket: numbers that outlive a killed server, whose
# a job is, what others may see of it and do to it, managers and operators, refusals in the words of PBS.
. "$(dirname "$0")/lib.sh"
server_start main

JOBS=/apis/stoker.dev/v1/namespaces
BOARD=/apis/stoker.dev/v1/pbs/jobs
ANNA=1 # daemon
BEN=2  # bin
anna_name=$(id -nu $ANNA) ben_name=$(id -nu $BEN)

as() { # UID METHOD PATH [CURL ARGS]
	local uid=$1 method=$2 path=$3
	shift 3
	setpriv --reuid="$uid" --regid="$uid" --clear-groups curl -sSg --unix-socket "$SOCKET" -X "$method" "http://localhost$path" -H 'User-Agent: e2e' "$@"
}
sends() { # UID METHOD PATH JSON
	as "$1" "$2" "$3" -H 'Content-Type: application/json' -d "$4"
}
patch() { # UID NAMESPACE/pbsjobs/NAME JSON
	as "$1" PATCH "$JOBS/$2" -H 'Content-Type: application/merge-patch+json' -d "$3"
}
# submit UID SPEC [NAMESPACE]: into the user's own namespace
submit() { sends "$1" POST "$JOBS/${3:-$(id -nu "$1")}/pbsjobs" "{\"spec\":{\"script\":\"echo secret-script\",\"env\":{\"KEY\":\"secret-key\"},$2}}"; }
says() { field .message; }
ids() { as "$1" GET "$BOARD${2:-}" | cut -f 1 | xargs; }
chmod 755 "$T" "$T/main" # the socket is for everyone; the way to it must be, too

# --- numbers, names, owners ---
kubectl patch pbsserver default --type merge -p '{"spec":{"serverName":"Ghead"}}' >/dev/null
like "the server's settings are there, for everyone" "$(as $ANNA GET /apis/stoker.dev/v1/pbsservers/default | field '.spec | "\(.serverName) \(.defaultQueue) \(.keepCompletedSeconds)"')" '^Ghead batch 300$'
one=$(submit $ANNA '"name":"one","resources":{"nodes":"1:ppn=1","walltime":"3600"}')
is "a job is named by its number" "$(field '.metadata.name + " " + .status.id + " " + .spec.owner + " " + .spec.resources.walltime' <<<"$one")" "1 1.Ghead $anna_name 01:00:00"
is "an array has brackets" "$(submit $ANNA '"array":{"request":"0-99999%2"}' | field .status.id)" '2[].Ghead'
like "and indexes as PBS has them" "$(submit $ANNA '"array":{"request":"1-100000"}' | says)" '^PBS 15083: Bad Job Array Request MSG=index 100000: must be at most 99999'
is "kubectl finds a job by its number" "$(kubectl get pbsjobs -A --field-selector status.sequence=2 -o name)" pbsjob.stoker.dev/2
kubectl -n "$anna_name" delete pbsjob 2 >/dev/null
{ kill -9 "$SERVER_PID" && wait "$SERVER_PID"; } 2>/dev/null
server_start main
is "a number is not given twice, whatever happens" "$(submit $BEN '"name":"three"' | field .status.id)" 3.Ghead
is "root has no jobs" "$(submit 0 '"name":"x"' default | says)" 'PBS 15025: Bad UID for job execution MSG=root user not allowed: user root'
is "nobody submits for another" "$(submit $BEN "\"owner\":\"$anna_name\"" | says)" "PBS 15007: Unauthorized Request  MSG=spec.owner is $anna_name, but the job would be $ben_name's"
like "nor in another's namespace" "$(submit $BEN '"name":"x"' "$anna_name" | says)" 'is forbidden: .*: PBS 15007: Unauthorized Request  MSG=operation not permitted$'

# --- what others see ---
is "the board shows everyone's jobs" "$(ids $BEN)" '1.Ghead 3.Ghead'
unlike "but no script and no environment" "$(as $BEN GET "$BOARD?format=full")" 'secret-script'
is "one sees one's own environment" "$(as $BEN GET "$BOARD?format=full&ids=3" | field '.items[0].spec.env.KEY')" secret-key
is "and nobody else's" "$(as $BEN GET "$BOARD?format=full&ids=1" | field '.items[0].spec.env')" null
like "an object is its owner's alone" "$(as $BEN GET "$JOBS/$anna_name/pbsjobs/1" | says)" 'PBS 15007: Unauthorized Request'
kubectl patch pbsserver default --type merge -p '{"spec":{"queryOtherJobs":false}}' >/dev/null
is "the server may show each user his own" "$(ids $BEN)" 3.Ghead
is "but root all" "$(ids 0)" '1.Ghead 3.Ghead'
kubectl patch pbsserver default --type merge -p '{"spec":{"queryOtherJobs":true}}' >/dev/null

# --- what others do ---
for change in '"priority":5' '"cancel":{}' '"hold":"u"' '"owner":"'"$ben_name"'"' '"queue":"batch"' '"suspend":true'; do
	like "another may not: $change" "$(patch $BEN "$anna_name/pbsjobs/1" "{\"spec\":{$change}}" | says)" 'PBS 15007: Unauthorized Request'
done
like "nor signal" "$(sends $BEN POST "$JOBS/$anna_name/pbsjobs/1/signal" '{"signal":"KILL"}' | says)" 'PBS 15007: Unauthorized Request'
like "nor delete" "$(as $BEN DELETE "$JOBS/$anna_name/pbsjobs/1" | says)" 'PBS 15007: Unauthorized Request'
like "nor be root's" "$(as $BEN GET "$JOBS/$anna_name/pbsjobs/1" -H 'Impersonate-User: root' | says)" 'cannot impersonate'
is "the owner may" "$(patch $ANNA "$anna_name/pbsjobs/1" '{"spec":{"priority":5,"hold":"u"}}' | field '"\(.spec.priority) \(.spec.hold)"')" '5 u'
is "but an operator's hold is not the owner's" "$(patch $ANNA "$anna_name/pbsjobs/1" '{"spec":{"hold":"uo"}}' | says)" 'PBS 15007: Unauthorized Request  MSG=operation not permitted'
like "and the script stays what it was" "$(patch $ANNA "$anna_name/pbsjobs/1" '{"spec":{"script":"x"}}' | says)" 'spec.script: Invalid value: .*field is immutable'
is "without a node there is nobody to signal" "$(sends $ANNA POST "$JOBS/$anna_name/pbsjobs/1/signal" '{"signal":"USR1"}' | says)" 'this server runs no pods'

# --- operators and managers ---
kubectl patch pbsserver default --type merge -p "{\"spec\":{\"managers\":[\"$ben_name@elsewhere.invalid\"]}}" >/dev/null
like "a manager on another host is none here" "$(sends $BEN POST /apis/stoker.dev/v1/queues '{"metadata":{"name":"bens"}}' | says)" 'cannot create resource "queues"'
kubectl patch pbsserver default --type merge -p "{\"spec\":{\"managers\":null,\"operators\":[\"$ben_name@*\"]}}" >/dev/null
is "an operator holds any job" "$(patch $BEN "$anna_name/pbsjobs/1" '{"spec":{"hold":"uo"}}' | field .spec.hold)" uo
like "but does not say what it runs" "$(patch $BEN "$anna_name/pbsjobs/1" '{"spec":{"env":{"LD_PRELOAD":"/tmp/x.so"}}}' | says)" "spec.env is its owner's word"
like "and changes no queues" "$(sends $BEN POST /apis/stoker.dev/v1/queues '{"metadata":{"name":"bens"}}' | says)" 'cannot create resource "queues"'
kubectl patch pbsserver default --type merge -p "{\"spec\":{\"operators\":[],\"managers\":[\"$ben_name\"]}}" >/dev/null
is "a manager does" "$(sends $BEN POST /apis/stoker.dev/v1/queues '{"metadata":{"name":"bens"},"spec":{"maxWalltime":"1:00:00","enabled":true}}' | field .metadata.name)" bens
like "but makes the server run nothing" "$(as $BEN PATCH /apis/stoker.dev/v1/pbsservers/default -H 'Content-Type: application/merge-patch+json' -d '{"spec":{"mailCommand":"/bin/sh"}}' | says)" 'spec.mailCommand is changed by admins only'
kubectl patch pbsserver default --type merge -p '{"spec":{"managers":null}}' >/dev/null
like "until he is none any more" "$(sends $BEN POST /apis/stoker.dev/v1/queues '{"metadata":{"name":"more"}}' | says)" 'cannot create resource "queues"'

like "the settings stay" "$(kubectl delete pbsserver default 2>&1)" 'every PBS job needs it'

# --- refusals ---
is "an unknown queue" "$(submit $ANNA '"queue":"none"' | says)" 'PBS 15020: Unknown queue MSG=requested queue not found'
is "an unknown resource" "$(submit $ANNA '"resources":{"walltim":"1"}' | says)" 'PBS 15037: Unknown resource type  MSG=detected request for an unknown resource'
is "too long" "$(submit $ANNA '"queue":"bens","resources":{"walltime":"2:00:00"}' | says)" 'PBS 15038: Job exceeds queue resource limits MSG=cannot satisfy queue max walltime requirement'
is "a dependency on nothing" "$(submit $ANNA '"dependencies":[{"type":"afterok","jobs":["4711.Ghead"]}]' | says)" 'PBS 15056: Invalid Job Dependency MSG=job 4711.Ghead does not exist'
is "a dependency on a job that is there" "$(submit $ANNA '"dependencies":[{"type":"afterok","jobs":["1.Ghead"]}]' | field .status.id)" 4.Ghead
like "a pod is no process of the host" "$(kubectl run x --image=host --overrides='{"spec":{"runtimeClassName":"host-process"}}' 2>&1)" 'runtimeClassName: "host-process" is for pods of PBS jobs only: no PBSJob controls this one'
done_testing

#!/bin/bash
# What pods may ask for: levels by namespace label, warnings, denials, and the rights of users who are no admins.
. "$(dirname "$0")/lib.sh"
chmod 755 "$T" # other accounts must reach the socket
server_start main --host-path "$T/shared"
chmod 755 "$T/main"

LABEL=pod-security.kubernetes.io
pod() { # pod NAME JSON-OF-SPEC-BESIDE-CONTAINERS [JSON-OF-SECURITY-CONTEXT]
	jq -nc --arg n "$1" --argjson s "$2" --argjson c "${3:-null}" \
		'{apiVersion: "v1", kind: "Pod", metadata: {name: $n}, spec: ($s + {containers: [{name: "c", image: "host"} + (if $c then {securityContext: $c} else {} end)]})}'
}
SAFE_POD='{"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}}}'
SAFE_CONTAINER='{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}'
LACKING='allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'

levels() {
	local out
	out=$("$K" label ns "$NS" $LABEL/enforce=strict 2>&1)
	like "$V: a label that is no level is refused with those that are" "$out" "$LABEL/enforce\]: Invalid value: \"strict\": must be one of privileged, baseline, restricted"
	out=$("$K" label ns "$NS" $LABEL/warn-version=1.2 2>&1)
	like "$V: and a version that is none" "$out" 'must be "latest" or "v1.x"'
	ok "$V: a pod before any label asks for what it likes" k create -f - <<<"$(pod early '{"hostPID":true}')"
	out=$("$K" label ns "$NS" $LABEL/enforce=restricted 2>&1)
	like "$V: a new level tells of pods that are there" "$out" "Warning: existing pods in namespace \"$NS\" violate the new PodSecurity enforce level \"restricted:latest\""
	like "$V: and what is wrong with them" "$out" 'Warning: early: host namespaces, allowPrivilegeEscalation != false'
	out=$(k create -f - <<<"$(pod bad '{}')")
	is "$V: a pod below the level is refused in Kubernetes' words" "$out" "Error from server (Forbidden): error when creating \"STDIN\": pods \"bad\" is forbidden: violates PodSecurity \"restricted:latest\": $LACKING"
	out=$(k create --dry-run=server -f - <<<"$(pod bad '{}')")
	like "$V: also on a dry run" "$out" 'pods "bad" is forbidden: violates PodSecurity'
	out=$(k create --dry-run=server -f - <<<"$(pod good "$SAFE_POD" "$SAFE_CONTAINER")")
	is "$V: one that keeps the rules is not" "$out" "pod/good created (server dry run)"
	out=$(k run quick --image=host --dry-run=server)
	like "$V: kubectl run is refused too" "$out" 'violates PodSecurity "restricted:latest"'
	out=$(k create deployment web --image=host)
	is "$V: a Deployment is made, with a warning" "$out" "Warning: would violate PodSecurity \"restricted:latest\": ${LACKING//\"c\"/\"host\"}
deployment.apps/web created"
	out=$(k create job once --image=host --dry-run=server)
	like "$V: and a Job" "$out" '^Warning: would violate PodSecurity "restricted:latest": '
	out=$(k create cronjob often --image=host --schedule='0 0 * * *' --dry-run=server)
	like "$V: and a CronJob" "$out" '^Warning: would violate PodSecurity "restricted:latest": '
	"$K" label ns "$NS" --overwrite $LABEL/enforce=baseline $LABEL/warn=restricted >/dev/null 2>&1
	out=$(k create --dry-run=server -f - <<<"$(pod soft '{}')")
	is "$V: a lower level lets it in, and the warning stays" "$out" "Warning: would violate PodSecurity \"restricted:latest\": $LACKING
pod/soft created (server dry run)"
	out=$(k create --dry-run=server -f - <<<"$(pod host '{"hostNetwork":true,"volumes":[{"name":"v","hostPath":{"path":"/"}}]}' '{"privileged":true}')")
	like "$V: baseline refuses the host" "$out" 'violates PodSecurity "baseline:latest": host namespaces \(hostNetwork=true\), hostPath volumes \(volume "v"\), privileged \(container "c" must not set securityContext.privileged=true\)'
	"$K" label ns "$NS" $LABEL/enforce- $LABEL/warn- >/dev/null 2>&1
	out=$(k create --dry-run=server -f - <<<"$(pod host '{"hostNetwork":true}' '{"privileged":true}')")
	is "$V: without labels everything is allowed" "$out" "pod/host created (server dry run)"
}
each_kubectl levels

audited() {
	kubectl create namespace watched >/dev/null
	kubectl label namespace watched $LABEL/audit=baseline >/dev/null
	is "a level to audit lets a pod in without a word" "$(kubectl -n watched create -f - 2>&1 <<<"$(pod quiet '{"hostIPC":true}')")" "pod/quiet created"
	ok "and the audit log says what it breaks" eventually 5 grep -q "audit-violations\":\"would violate PodSecurity .*baseline:latest.*hostIPC=true" "$T/main/data/audit.log"
}
audited

# ---- users ----

JSON='Content-Type: application/json'
# local_user UID METHOD PATH [...]: over the socket, as the account with that number
local_user() {
	local uid=$1 method=$2 path=$3
	shift 3
	setpriv --reuid="$uid" --regid="$uid" --clear-groups curl -sS --unix-socket "$SOCKET" -X "$method" "http://localhost$path" "$@"
}

as_robot() {
	KUBECONFIG=$T/robot kubectl "$@"
}

users() {
	local out
	local_user 1 GET /api/v1/namespaces/daemon >/dev/null # daemon's home is made
	out=$(local_user 1 POST /api/v1/namespaces/daemon/pods -H "$JSON" -d "$(pod mine '{}')")
	is "a user's pod runs as the user" "$(field '[.spec.securityContext.runAsUser, .spec.securityContext.runAsGroup, .metadata.annotations["stoker.dev/uid"], .spec.containers[0].securityContext.allowPrivilegeEscalation] | join(" ")' <<<"$out")" "1 1 1 false"
	out=$(local_user 1 POST /api/v1/namespaces/daemon/pods -H "$JSON" -d "$(pod root '{"securityContext":{"runAsUser":0}}')")
	is "never as root" "$(field .message <<<"$out")" 'pods "root" is forbidden: beyond the rights of user "daemon": spec.securityContext.runAsUser: 0 is not allowed, only 1'
	out=$(local_user 1 POST /api/v1/namespaces/daemon/pods -H "$JSON" -d "$(pod host '{"hostNetwork":true}' '{"privileged":true}')")
	like "nor with the host's network or privileges" "$(field .message <<<"$out")" 'host namespaces \(hostNetwork=true\), privileged'
	out=$(local_user 1 POST /api/v1/namespaces/daemon/pods -H "$JSON" -d "$(pod etc '{"volumes":[{"name":"v","hostPath":{"path":"/etc"}}]}')")
	like "a host path outside the roots is refused" "$(field .message <<<"$out")" "spec.volumes\[0\].hostPath.path: \"/etc\" is not allowed, only below \"$T/shared\""
	out=$(local_user 1 POST /api/v1/namespaces/daemon/pods -H "$JSON" -d "$(pod data "{\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"$T/shared/x\"}}]}")")
	is "one below them is not" "$(field .metadata.name <<<"$out")" data
	out=$(kubectl -n daemon create -f - 2>&1 <<<"$(pod admins '{"hostPID":true}')")
	like "an admin's pod in a user's namespace is the user's" "$out" 'beyond the rights of user "daemon": host namespaces \(hostPID=true\)'
	is "in a namespace without an owner it is the admin's" "$(kubectl create -f - <<<"$(pod free '{"hostPID":true}')")" "pod/free created"
	is "and no uid is noted on it" "$(kubectl get pod free -o 'jsonpath={.metadata.annotations}')" ""
	kubectl -n daemon annotate pod mine --overwrite stoker.dev/uid=0 >/dev/null 2>&1
	is "the uid on a pod stays what it is" "$(kubectl -n daemon get pod mine -o 'jsonpath={.metadata.annotations.stoker\.dev/uid}')" 1
	kubectl create rolebinding robot --clusterrole=edit --user=robot >/dev/null
	jq -nc --arg u "$URL" --arg t "$("$STOKER" token create --user robot --socket "$SOCKET" | tail -1)" \
		'{apiVersion: "v1", kind: "Config", clusters: [{name: "s", cluster: {server: $u, "insecure-skip-tls-verify": true}}], users: [{name: "r", user: {token: $t}}], contexts: [{name: "s", context: {cluster: "s", user: "r"}}], "current-context": "s"}' >"$T/robot"
	out=$(as_robot create -f - -o 'jsonpath={.spec.securityContext.runAsUser}' <<<"$(pod robots '{}')" 2>&1)
	like "a user without an account gets a number that is nobody's" "$out" '^(1[89]|20|21)[0-9]{8}$'
	out=$(as_robot create -f - 2>&1 <<<"$(pod robots2 '{"securityContext":{"runAsUser":0}}')")
	like "and is not root either" "$out" 'beyond the rights of user "robot"'
	out=$(as_robot set image pod/free c=evil 2>&1)
	like "nor by the image of an admin's pod" "$out" 'pods "free" is forbidden: it has the rights of an admin, not of user "robot"'
}
users

server_stop
like "an option that is no absolute path is named" "$("$STOKER" serve --data "$T/x" --host-path here 2>&1)" 'host-path: "here": an absolute path is expected'
done_testing

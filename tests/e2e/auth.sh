#!/bin/bash
# Who may do what: tokens, certificates, service accounts, local users, roles, impersonation; secrets at rest; the audit log.
. "$(dirname "$0")/lib.sh"
chmod 755 "$T" # other accounts must reach the socket
share_programs
server_start main
chmod 755 "$T/main"
DATA=$T/main/data
CA=$T/ca.crt
JSON='Content-Type: application/json'
sed -n 's/.*certificate-authority-data: *//p' "$KUBECONFIG" | tr -d '" ' | base64 -d >"$CA"

stoker_token() {
	"$STOKER" token "$@" --socket "$SOCKET"
}
# as TOKEN METHOD PATH [CURL ARGS...]: over HTTPS, checking the server's certificate
as() {
	local token=$1 method=$2 path=$3
	shift 3
	curl -sS --cacert "$CA" ${token:+-H "Authorization: Bearer $token"} -X "$method" "$URL$path" "$@"
}
as_code() {
	as "$@" -o /dev/null -w '%{http_code}'
}
# local_user UID METHOD PATH [...]: over the socket, as the account with that number
local_user() {
	local uid=$1 method=$2 path=$3
	shift 3
	setpriv --reuid="$uid" --regid="$uid" --clear-groups curl -sS --unix-socket "$SOCKET" -X "$method" "http://localhost$path" "$@"
}
whoami_of() { # reads a SelfSubjectReview
	field '.status.userInfo | .username + " " + ((.groups // []) | sort | join(","))'
}
SSR=/apis/authentication.k8s.io/v1/selfsubjectreviews

tokens() {
	local alice boss short name

	alice=$(stoker_token create --user alice --group lab --group dept | tail -1)
	like "a token is its own kind of text" "$alice" '^stk_[a-z0-9]+_[A-Za-z0-9_-]{30,}$'
	is "it says who it is" "$(as "$alice" POST $SSR -H "$JSON" -d '{}' | whoami_of)" "alice dept,lab,system:authenticated"
	is "alice may not list pods" "$(as "$alice" GET /api/v1/pods | field '[.code, .message] | join(" ")')" '403 pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope'
	boss=$(stoker_token create --user boss --group system:masters | tail -1)
	is "an admin's token may" "$(as_code "$boss" GET /api/v1/pods)" 200
	short=$(stoker_token create --user short --group system:masters --ttl 1s | tail -1)
	ok "a token that has run out is refused" eventually 5 sh -c "curl -s --cacert '$CA' -H 'Authorization: Bearer $short' -o /dev/null -w '%{http_code}' '$URL/api/v1/pods' | grep -q 401"
	like "tokens are listed" "$(stoker_token list)" 'alice.*lab|lab.*alice|alice'
	unlike "without their secrets" "$(stoker_token list -o json 2>/dev/null; stoker_token list)" "${alice##*_}"
	name=$(cut -d_ -f2 <<<"$boss")
	ok "a token is revoked" stoker_token revoke "$name"
	is "and refused at once" "$(as_code "$boss" GET /api/v1/pods)" 401
	is "a token that was never" "$(as_code stk_aaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb GET /api/v1/pods)" 401
	is "a token with one letter changed" "$(as_code "${alice%?}$([ "${alice: -1}" = A ] && echo B || echo A)" GET /version)" 401
	is "alice makes none for others" "$(as_code "$alice" POST /apis/stoker.dev/v1/tokens -H "$JSON" -d '{"metadata":{"name":"x1"},"spec":{"user":"root","groups":["system:masters"],"hash":"'"$(printf x | sha256sum | cut -d' ' -f1)"'"}}')" 403
	is "the store has no token in the clear" "$(cat "$DATA"/*.db* | grep -c -a "${alice##*_}")" 0
	ALICE=$alice
}

others() {
	local cert key sa out

	sed -n 's/.*client-certificate-data: *//p' "$KUBECONFIG" | tr -d '" ' | base64 -d >"$T/c.crt"
	sed -n 's/.*client-key-data: *//p' "$KUBECONFIG" | tr -d '" ' | base64 -d >"$T/c.key"
	is "a client certificate" "$(curl -sS --cacert "$CA" --cert "$T/c.crt" --key "$T/c.key" -X POST -H "$JSON" -d '{}' "$URL$SSR" | whoami_of)" "admin system:authenticated,system:masters"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=system:masters/CN=evil -keyout "$T/e.key" -out "$T/e.crt" 2>/dev/null
	ok "a certificate of another authority is nobody's" test "$(curl -sk --cert "$T/e.crt" --key "$T/e.key" -o /dev/null -w '%{http_code}' "$URL/api/v1/pods")" != 200
	is "admin.kubeconfig is private" "$(stat -c %a "$KUBECONFIG")" 600

	is "nobody sees health" "$(as '' GET /healthz) $(as '' GET /livez) $(as '' GET /readyz)" "ok ok ok"
	is "nobody sees the version" "$(as '' GET /version | field .major)" 1
	is "nobody sees nothing else" "$(for p in /api /apis /api/v1 /openapi/v2 /openapi/v3 /metrics /api/v1/namespaces /apis/stoker.dev/v1/tokens; do as_code '' GET $p; done)" "$(printf 403%.0s 1 2 3 4 5 6 7 8)"
	is "nobody writes nothing" "$(as_code '' POST /api/v1/namespaces -H "$JSON" -d '{"metadata":{"name":"x"}}')" 403

	api POST /api/v1/namespaces -H "$JSON" -d '{"metadata":{"name":"lab"}}' -o /dev/null
	api POST /api/v1/namespaces/lab/serviceaccounts -H "$JSON" -d '{"metadata":{"name":"bot"}}' -o /dev/null
	out=$(api POST /api/v1/namespaces/lab/serviceaccounts/bot/token -H "$JSON" -d '{"spec":{"expirationSeconds":600}}')
	sa=$(field .status.token <<<"$out")
	is "a service account's token says when it ends" "$(field '.status.expirationTimestamp | type' <<<"$out")" string
	is "and whose it is" "$(as "$sa" POST $SSR -H "$JSON" -d '{}' | whoami_of)" "system:serviceaccount:lab:bot system:authenticated,system:serviceaccounts,system:serviceaccounts:lab"
	is "a review of it agrees" "$(api POST /apis/authentication.k8s.io/v1/tokenreviews -H "$JSON" -d "{\"spec\":{\"token\":\"$sa\"}}" | field '[.status.authenticated, .status.user.username] | join(" ")')" "true system:serviceaccount:lab:bot"
	is "a review of nonsense" "$(api POST /apis/authentication.k8s.io/v1/tokenreviews -H "$JSON" -d '{"spec":{"token":"nonsense"}}' | field '.status.authenticated // false')" false
	is "it may do nothing yet" "$(as_code "$sa" GET /api/v1/namespaces/lab/configmaps)" 403
	api POST /apis/rbac.authorization.k8s.io/v1/namespaces/lab/rolebindings -H "$JSON" -o /dev/null \
		-d '{"metadata":{"name":"bot"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"ServiceAccount","name":"bot","namespace":"lab"}]}'
	is "bound to view it reads" "$(as_code "$sa" GET /api/v1/namespaces/lab/configmaps)" 200
	is "but no secrets" "$(as_code "$sa" GET /api/v1/namespaces/lab/secrets)" 403
	is "and writes nothing" "$(as_code "$sa" POST /api/v1/namespaces/lab/configmaps -H "$JSON" -d '{"metadata":{"name":"x"}}')" 403
	is "elsewhere it may nothing" "$(as_code "$sa" GET /api/v1/namespaces/default/configmaps)" 403
	is "a changed token is refused" "$(as_code "${sa%????}AAAA" GET /version)" 401
	api DELETE /api/v1/namespaces/lab/serviceaccounts/bot -o /dev/null
	is "the account gone, its token is refused" "$(as_code "$sa" GET /api/v1/namespaces/lab/configmaps)" 401
}

roles() {
	local rbac=/apis/rbac.authorization.k8s.io/v1

	api POST $rbac/namespaces/lab/roles -H "$JSON" -o /dev/null -d '{"metadata":{"name":"cm"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","create"]},{"apiGroups":[""],"resources":["secrets"],"resourceNames":["one"],"verbs":["get"]},{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"],"verbs":["create","get","patch"]}]}'
	api POST $rbac/namespaces/lab/rolebindings -H "$JSON" -o /dev/null -d '{"metadata":{"name":"cm"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"cm"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]}'
	is "alice may create there" "$(as_code "$ALICE" POST /api/v1/namespaces/lab/configmaps -H "$JSON" -d '{"metadata":{"name":"x"}}')" 201
	is "and not delete" "$(as "$ALICE" DELETE /api/v1/namespaces/lab/configmaps/x | field .message)" 'configmaps "x" is forbidden: User "alice" cannot delete resource "configmaps" in API group "" in the namespace "lab"'
	is "by group and subresource" "$(as "$ALICE" PATCH /apis/apps/v1/namespaces/lab/deployments/d/scale -H 'Content-Type: application/merge-patch+json' -d '{}' | field .message)" 'deployments.apps "d" is forbidden: User "alice" cannot patch resource "deployments/scale" in API group "apps" in the namespace "lab"'
	api POST /api/v1/namespaces/lab/secrets -H "$JSON" -d '{"metadata":{"name":"one"},"stringData":{"a":"OPEN-SESAME-4711"}}' -o /dev/null
	api POST /api/v1/namespaces/lab/secrets -H "$JSON" -d '{"metadata":{"name":"two"}}' -o /dev/null
	is "one secret by its name" "$(as_code "$ALICE" GET /api/v1/namespaces/lab/secrets/one)$(as_code "$ALICE" GET /api/v1/namespaces/lab/secrets/two)$(as_code "$ALICE" GET /api/v1/namespaces/lab/secrets)" 200403403
	is "a watch is asked for like a list" "$(as_code "$ALICE" GET '/api/v1/namespaces/lab/configmaps?watch=1&timeoutSeconds=1')" 403
	is "an update through apply needs create and patch" "$(as_code "$ALICE" PATCH '/api/v1/namespaces/lab/configmaps/new?fieldManager=x' -H 'Content-Type: application/apply-patch+yaml' -d '{"apiVersion":"v1","kind":"ConfigMap"}')" 403
	like "nobody gives what he has not" "$(as "$ALICE" POST $rbac/namespaces/lab/roles -H "$JSON" -d '{"metadata":{"name":"more"},"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["list"]}]}' | field .message)" \
		'roles.rbac.authorization.k8s.io "more" is forbidden: user "alice" \(groups=.*\) is attempting to grant RBAC permissions not currently held'
	like "nor binds it" "$(as "$ALICE" POST $rbac/namespaces/lab/rolebindings -H "$JSON" -d '{"metadata":{"name":"more"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]}' | field .message)" 'is attempting to grant RBAC permissions not currently held'
	is "what he has he may give" "$(as_code "$ALICE" POST $rbac/namespaces/lab/roles -H "$JSON" -d '{"metadata":{"name":"less"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}')" 201
	is "a roleRef never changes" "$(api PATCH $rbac/namespaces/lab/rolebindings/cm -H 'Content-Type: application/merge-patch+json' -d '{"roleRef":{"name":"less"}}' | field '[.code, .details.causes[0].field] | join(" ")')" "422 roleRef"
	is "a review of alice" "$(api POST /apis/authorization.k8s.io/v1/subjectaccessreviews -H "$JSON" -d '{"spec":{"user":"alice","resourceAttributes":{"verb":"create","resource":"configmaps","namespace":"lab"}}}' | field .status.allowed)" true
	is "a review in another namespace" "$(api POST /apis/authorization.k8s.io/v1/subjectaccessreviews -H "$JSON" -d '{"spec":{"user":"alice","resourceAttributes":{"verb":"create","resource":"configmaps","namespace":"default"}}}' | field .status.allowed)" false
	api POST $rbac/clusterroles -H "$JSON" -o /dev/null -d '{"metadata":{"name":"extra","labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}},"rules":[{"apiGroups":["extra.example"],"resources":["things"],"verbs":["get"]}]}'
	ok "view gathers what is labelled for it" eventually 5 sh -c "curl -s --unix-socket '$SOCKET' http://localhost$rbac/clusterroles/view | grep -q extra.example"
	api DELETE $rbac/namespaces/lab/rolebindings/cm -o /dev/null
	is "a binding gone, the right is gone" "$(as_code "$ALICE" GET /api/v1/namespaces/lab/configmaps)" 403
}

impersonating() {
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=carol -keyout "$T/r.key" -out "$T/r.csr" 2>/dev/null
	is "who asks for a certificate is the server's word" "$(api POST /apis/certificates.k8s.io/v1/certificatesigningrequests -H "$JSON" -H 'Impersonate-User: carol' -H 'Impersonate-Group: system:masters' -d "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"username\":\"root\",\"groups\":[\"g\"],\"uid\":\"7\",\"request\":\"$(base64 -w0 "$T/r.csr")\",\"signerName\":\"example.org/s\",\"usages\":[\"client auth\"]}}" | field '.spec | .username + " " + (.groups | sort | join(",")) + ((.uid // "") | tostring)')" "carol system:authenticated,system:masters"
	is "an admin speaks as another" "$(api POST $SSR -H "$JSON" -H 'Impersonate-User: carol' -H 'Impersonate-Group: lab' -d '{}' | whoami_of)" "carol lab,system:authenticated"
	is "with that one's rights" "$(api GET /api/v1/nodes/x -H 'Impersonate-User: carol' | field .code)$(api GET /api/v1/pods -H 'Impersonate-User: carol' | field .code)" 404403
	is "alice does not" "$(as "$ALICE" GET /api/v1/pods -H 'Impersonate-User: root' | field '[.code, .message] | join(" ")')" '403 users "root" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope'
	is "nor joins a group" "$(as_code "$ALICE" GET /api/v1/pods -H 'Impersonate-User: alice' -H 'Impersonate-Group: system:masters')" 403
	is "a group without a user is refused" "$(api_code GET /api/v1/pods -H 'Impersonate-Group: lab')" 400
}

local_users() {
	local me other out

	me=$(getent passwd 65534 | cut -d: -f1)
	is "the socket knows root" "$(api POST $SSR -H "$JSON" -d '{}' | field .status.userInfo.username)" root
	is "the socket knows the account" "$(local_user 65534 POST $SSR -H "$JSON" -d '{}' | field .status.userInfo.username)" "$me"
	is "it has a namespace of its own" "$(local_user 65534 GET "/api/v1/namespaces/$me/configmaps" | field .kind)" ConfigMapList
	is "and is at home there" "$(local_user 65534 POST "/api/v1/namespaces/$me/secrets" -H "$JSON" -d '{"metadata":{"name":"mine"},"stringData":{"a":"b"}}' | field .metadata.name)" mine
	is "it reads no other's secrets" "$(local_user 65534 GET /api/v1/namespaces/lab/secrets/one | field '[.code, .message] | join(" ")')" "403 secrets \"one\" is forbidden: User \"$me\" cannot get resource \"secrets\" in API group \"\" in the namespace \"lab\""
	is "nor everybody's" "$(local_user 65534 GET /api/v1/secrets | field .code)" 403
	is "nor kube-system's" "$(local_user 65534 GET /api/v1/namespaces/kube-system/secrets | field .code)" 403
	is "it deletes no namespace of others" "$(local_user 65534 DELETE /api/v1/namespaces/lab | field .code)" 403
	is "it does not become an admin" "$(local_user 65534 POST "/apis/rbac.authorization.k8s.io/v1/namespaces/$me/rolebindings" -H "$JSON" -d '{"metadata":{"name":"x"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"'"$me"'"}]}' | field .code)" 403
	is "no header makes it another" "$(local_user 65534 GET /api/v1/secrets -H 'Impersonate-User: root' -H 'X-Remote-User: root' | field .code)" 403
	out=$(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$T" "$STOKER" token create --socket "$SOCKET" | tail -1)
	is "it takes a token for itself" "$(as "$out" POST $SSR -H "$JSON" -d '{}' | field .status.userInfo.username)" "$me"
	is "with the same home" "$(as_code "$out" GET "/api/v1/namespaces/$me/secrets/mine")" 200
	unlike "but none for root" "$(setpriv --reuid=65534 --regid=65534 --clear-groups "$STOKER" token create --user root --group system:masters --socket "$SOCKET" 2>/dev/null)" '^stk_'
	# One that the server has not seen before, and that may not look into the data directory.
	setpriv --reuid=2 --regid=2 --clear-groups env HOME="$T" "$STOKER" token create --socket "$SOCKET" -o kubeconfig >"$T/bin.kubeconfig"
	is "kubectl takes the kubeconfig that a user has made" "$(kubectl --kubeconfig "$T/bin.kubeconfig" create configmap mine -o 'jsonpath={.metadata.namespace}' 2>&1)" "$(id -un 2)"
	stoker_token create --user "$me" -o kubeconfig >"$T/me.kubeconfig"
	is "an admin makes one for another user" "$(kubectl --kubeconfig "$T/me.kubeconfig" get secret mine -o name 2>&1)" secret/mine
	is "and finds the machine's server where it is usually" "$(unshare -m bash -c 'mount -t tmpfs run /run && mkdir /run/stoker && ln -s "$1" /run/stoker/stoker.sock &&
		env -u STOKER_SOCKET -u KUBECONFIG -u XDG_RUNTIME_DIR HOME="$2" setpriv --reuid=65534 --regid=65534 --clear-groups "$3" token create -o json 2>&1' _ "$SOCKET" "$T" "$STOKER" | field .user)" "$me"
	is "another account has another home" "$(local_user 1 GET "/api/v1/namespaces/$me/secrets" | field .code)" 403
}

at_rest() {
	local plain=OPEN-SESAME-4711 coded

	coded=$(printf %s "$plain" | base64)
	is "the secret is there" "$(api GET /api/v1/namespaces/lab/secrets/one | field .data.a)" "$coded"
	is "but not in the files" "$(cat "$DATA"/*.db* | grep -c -a -e "$plain" -e "$coded")" 0
	is "a configmap is" "$(api POST /api/v1/namespaces/lab/configmaps -H "$JSON" -d '{"metadata":{"name":"plain"},"data":{"a":"READ-ME-4712"}}' -o /dev/null; cat "$DATA"/*.db* | grep -c -a READ-ME-4712 | sed 's/^[1-9].*/some/')" some
	is "the data directory is private" "$(stat -c %a "$DATA")" 700
	is "so are the keys" "$(find "$DATA" -name '*key*' -type f -perm /077 | wc -l)" 0
	server_stop
	server_start main
	is "it is readable after a restart" "$(api GET /api/v1/namespaces/lab/secrets/one | field .data.a)" "$coded"
	is "and alice's token still good" "$(as "$ALICE" POST $SSR -H "$JSON" -d '{}' | field .status.userInfo.username)" alice
}

audit() {
	local log=$DATA/audit.log line

	eventually 3 grep -q '"name":"plain"' "$log"
	line=$(grep '"name":"plain"' "$log" | head -1)
	is "a write is audited" "$(field '[.user, .verb, .resource, .namespace, .name, .code] | join(" ")' <<<"$line")" "root create configmaps lab plain 201"
	like "with its time" "$(field .time <<<"$line")" '^20[0-9]{2}-.*Z$'
	is "a refusal is audited" "$(grep '"code":403' "$log" | grep '"user":"alice"' | head -1 | field .verb)" list
	ok "a bad credential is audited" grep -q '"code":401' "$log"
	is "impersonation names both" "$(grep '"user":"carol"' "$log" | head -1 | field .impersonator)" root
	is "every line is JSON with a chain" "$(jq -rc .chain "$log" | grep -c '^[0-9a-f]\{64\}$')" "$(wc -l <"$log")"
	is "reads that were allowed are not" "$(grep -c '"verb":"get".*"code":200' "$log")" 0
	is "no secret and no token is written there" "$(grep -c -e "${ALICE##*_}" -e OPEN-SESAME-4711 "$log")" 0
	is "it is private" "$(stat -c %a "$log")" 600
}

tokens
others
roles
impersonating
local_users
at_rest
audit
done_testing

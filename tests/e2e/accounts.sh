#!/bin/bash
# Service accounts and their tokens, down to a pod that talks to the API; priority classes; many events.
. "$(dirname "$0")/lib.sh"
node_start main
SA=/var/run/secrets/kubernetes.io/serviceaccount

events() { k get events --field-selector "involvedObject.name=$1" -o 'jsonpath={range .items[*]}{.count} {.reason} {.message}{"\n"}{end}'; }
ended() { [[ $(get pod "$1" .status.phase) =~ ^(Succeeded|Failed)$ ]]; }
# as TOKEN PATH: the status code
as() { curl -sS -o /dev/null -w '%{http_code}' --cacert "$T/ca.crt" -H "Authorization: Bearer $1" "$URL$2"; }

namespaces() {
	ok "$V: a namespace has an account at once" eventually 20 "$K" -n "$NS" get serviceaccount default
	ok "$V: and the CA" eventually 20 "$K" -n "$NS" get configmap kube-root-ca.crt
	get configmap kube-root-ca.crt .data.ca\\.crt >"$T/ca.crt"
	like "$V: it says what it is" "$(get configmap kube-root-ca.crt .metadata.annotations)" 'Contains a CA bundle that can be used to verify the kube-apiserver'
	is "$V: it is the server's" "$(curl -sS -o /dev/null -w '%{http_code}' --cacert "$T/ca.crt" "$URL/healthz")" 200
	k patch configmap kube-root-ca.crt -p '{"data":{"ca.crt":"mine"}}' >/dev/null
	ok "$V: and is put right" eventually 20 sh -c "[ \"\$('$K' -n $NS get configmap kube-root-ca.crt -o 'jsonpath={.data.ca\\.crt}')\" != mine ]"
	k delete serviceaccount default >/dev/null
	ok "$V: the account comes back" eventually 20 "$K" -n "$NS" get serviceaccount default
	"$K" delete service kubernetes -n default >/dev/null
	ok "$V: so does the Service kubernetes" eventually 60 sh -c "[ \"\$('$K' -n default get service kubernetes -o 'jsonpath={.spec.clusterIP}')\" = 10.96.0.1 ]"
	like "$V: a pod of no account is refused" "$(k run x --image=host --overrides='{"spec":{"serviceAccountName":"who"}}')" "pods \"x\" is forbidden: error looking up service account $NS/who: serviceaccount \"who\" not found"
	"$K" create namespace "fresh-$V" >/dev/null && like "$V: a pod in a fresh namespace is not" "$("$K" -n "fresh-$V" run x --image=host --restart=Never -- true 2>&1)" 'pod/x created'
	"$K" delete namespace "fresh-$V" --wait=false >/dev/null
	ok "$V: and the namespace goes with all it was given" eventually 40 sh -c "! '$K' get namespace fresh-$V"
}

inside() {
	k apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: caller}
		spec:
		  restartPolicy: Never
		  securityContext: {runAsUser: 12345}
		  containers:
		  - name: c
		    image: host
		    command: [sh, -c, 'read ns <$SA/namespace; ask() { curl -sS --cacert $SA/ca.crt -H "Authorization: Bearer \$(cat $SA/token)" https://\$1/api/v1/namespaces/\$ns/pods; }; ask \$KUBERNETES_SERVICE_HOST:\$KUBERNETES_SERVICE_PORT; until ask kubernetes.default.svc | grep -q "name.*: .*caller"; do sleep 0.2; done; echo; echo seen']
	END
	eventually 30 sh -c "'$K' -n $NS logs caller | grep -q code"
	like "$V: a pod speaks to the API as its account" "$(k logs caller)" "\"message\": \"pods is forbidden: User .\"system:serviceaccount:$NS:default.\" cannot list resource .\"pods.\" in API group .\".\" in the namespace .\"$NS.\"\""
	k create rolebinding read --clusterrole=view --serviceaccount="$NS:default" >/dev/null
	ok "$V: which a binding gives rights" eventually 30 ended caller
	is "$V: so that it sees itself" "$(k logs caller | tail -n 1) $(get pod caller .status.phase)" 'seen Succeeded'
	like "$V: describe shows what it got" "$(k describe pod caller | tr -s ' \n' ' ')" "Mounts: $SA from kube-api-access-[a-z0-9]{5} \(ro\).*TokenExpirationSeconds: 3607 ConfigMapName: kube-root-ca.crt"
	is "$V: a pod may do without" "$(k run quiet --image=host --restart=Never --overrides='{"spec":{"automountServiceAccountToken":false}}' -o 'jsonpath={.spec.volumes}' -- sh -c "cat $SA/token")" ''
	ok "$V: and finds nothing then" eventually 30 ended quiet
	is "$V: really" "$(get pod quiet .status.phase)" Failed
}

tokens() {
	k create serviceaccount robot >/dev/null
	local token pods=/api/v1/namespaces/$NS/pods
	k create rolebinding robot --clusterrole=view --serviceaccount="$NS:robot" >/dev/null
	token=$(api POST "/api/v1/namespaces/$NS/serviceaccounts/robot/token" -H 'Content-Type: application/json' -d '{}' | field .status.token)
	is "$V: a token of an account" "$(as "$token" "$pods")" 200
	k apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: Secret
		metadata: {name: old, annotations: {kubernetes.io/service-account.name: robot}}
		type: kubernetes.io/service-account-token
	END
	ok "$V: a secret for a token is filled" eventually 20 sh -c "'$K' -n $NS get secret old -o 'jsonpath={.data.token}' | grep -q ."
	like "$V: describe secret" "$(k describe secret old | tr -s ' \n' ' ')" "Type: kubernetes.io/service-account-token Data ====.* token: ey"
	is "$V: and its token works" "$(as "$(get secret old .data.token | base64 -d)" "$pods")" 200
	like "$V: a pod of another account gets no such token" "$(api POST "/api/v1/namespaces/$NS/serviceaccounts/robot/token" -H 'Content-Type: application/json' -d '{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"caller"}}}')" 'cannot bind token for serviceaccount ..robot.. to pod running with different serviceaccount name'
	token=$(api POST "/api/v1/namespaces/$NS/serviceaccounts/default/token" -H 'Content-Type: application/json' -d '{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"caller"}}}' | field .status.token)
	is "$V: its own account does" "$(as "$token" "$pods")" 200
	k delete pod caller >/dev/null
	is "$V: until the pod is gone" "$(as "$token" "$pods")" 401
	token=$(get secret old .data.token | base64 -d)
	k delete serviceaccount robot >/dev/null
	is "$V: tokens end with their account" "$(as "$token" "$pods")" 401
	ok "$V: and so do its secrets" eventually 20 sh -c "! '$K' -n $NS get secret old"
}

priorities() {
	like "$V: two classes are there" "$("$K" get priorityclass --no-headers | tr -s ' ')" 'system-cluster-critical 2000000000 false .*'
	is "$V: a class" "$("$K" create priorityclass "high-$V" --value=1000 --description=x)" "priorityclass.scheduling.k8s.io/high-$V created"
	is "$V: its pods" "$(k run first --image=host --restart=Never --overrides="{\"spec\":{\"priorityClassName\":\"high-$V\"}}" -o 'jsonpath={.spec.priority} {.spec.preemptionPolicy}' -- true)" '1000 PreemptLowerPriority'
	like "$V: of no class" "$(k run x --image=host --overrides='{"spec":{"priorityClassName":"none"}}')" 'pods "x" is forbidden: no PriorityClass with name none was found'
	like "$V: names that are ours" "$("$K" create priorityclass system-mine --value=1 2>&1)" "priority class names with 'system-' prefix are reserved for system use only"
	is "$V: one default" "$("$K" create priorityclass "usual-$V" --value=7 --global-default)" "priorityclass.scheduling.k8s.io/usual-$V created"
	like "$V: and no second" "$("$K" create priorityclass "more-$V" --value=8 --global-default 2>&1)" "PriorityClass usual-$V is already marked as default. Only one default can exist"
	is "$V: pods of no class get it" "$(k run second --image=host --restart=Never -o 'jsonpath={.spec.priorityClassName} {.spec.priority}' -- true)" "usual-$V 7"
	"$K" delete priorityclass "usual-$V" "high-$V" >/dev/null
}

many_events() {
	k apply -f - >/dev/null <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: crowd}
		spec:
		  completions: 14
		  parallelism: 14
		  template: {spec: {restartPolicy: Never, automountServiceAccountToken: false, containers: [{name: c, image: host, command: ['true']}]}}
	END
	k wait --for=condition=complete --timeout=180s job/crowd >/dev/null
	ok "$V: similar events become one, with their count" eventually 20 sh -c "'$K' -n $NS get events -o 'jsonpath={range .items[*]}{.count} {.message}{\"\n\"}{end}' | grep -q '^5 (combined from similar events): Created pod: crowd-'"
	is "$V: and the others are there one by one" "$(events crowd | grep -c '^1 SuccessfulCreate Created pod: crowd-')" 9
}

one() {
	namespaces
	inside
	tokens
	priorities
	many_events
}
each_kubectl one
done_testing

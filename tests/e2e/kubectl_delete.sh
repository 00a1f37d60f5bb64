#!/bin/bash
# delete with all its options, owners and dependents, finalizers, namespaces; and wait.
. "$(dirname "$0")/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
server_start main
# Pods of a node that has been missing for a while go without grace; this one stays.
kubectl create -f - >/dev/null <<<'{"apiVersion":"v1","kind":"Node","metadata":{"name":"nowhere"}}'

gone() {
	! "$K" -n "$NS" get "$@" -o name 2>/dev/null | grep -q .
}
# owned NAME OWNER: a configmap that belongs to the configmap OWNER
owned() {
	k create -f - >/dev/null <<-EOF
	apiVersion: v1
	kind: ConfigMap
	metadata:
	  name: $1
	  ownerReferences:
	  - {apiVersion: v1, kind: ConfigMap, name: $2, uid: $(get cm "$2" .metadata.uid), controller: true, blockOwnerDeletion: true}
	EOF
}

deleting() {
	local n uid out

	for n in a b c d e f; do
		k create cm $n --from-literal=x=1 >/dev/null
	done
	k label cm a b group=one >/dev/null
	is "$V: delete by name" "$(k delete cm f)" 'configmap "f" deleted'
	ok "$V: it is gone" gone cm f
	like "$V: delete what is gone" "$(k delete cm f)" 'Error from server \(NotFound\): configmaps "f" not found'
	is "$V: --ignore-not-found" "$(k delete cm f --ignore-not-found)" ""
	is "$V: delete -l" "$(k delete cm -l group=one | tr '\n' ';')" 'configmap "a" deleted;configmap "b" deleted;'
	is "$V: --dry-run=server" "$(k delete cm c --dry-run=server) $(k get cm c -o name)" 'configmap "c" deleted (server dry run) configmap/c'
	is "$V: -o name" "$(k delete cm c -o name)" configmap/c
	k delete cm --field-selector metadata.name=d >/dev/null
	ok "$V: delete --field-selector" gone cm d
	k delete cm --all >/dev/null
	ok "$V: delete --all" gone cm e
	k create -f "$HERE/manifests/multi.yaml" >/dev/null
	is "$V: delete -f" "$(k delete -f "$HERE/manifests/multi.yaml" | wc -l)" 4
	k create -f "$HERE/manifests/pod.yaml" >/dev/null
	is "$V: delete a pod that runs nowhere" "$(timeout 120 "$K" -n "$NS" delete pod p)" 'pod "p" deleted'
	ok "$V: the pod is gone" gone pod p
	sed 's/schedulerName: nobody/nodeName: nowhere/' "$HERE/manifests/pod.yaml" | k create -f - >/dev/null
	k delete pod p --wait=false >/dev/null
	is "$V: a pod on a node is given time" "$(get pod p .metadata.deletionGracePeriodSeconds)" 30
	like "$V: it shows as terminating" "$(k get pod p)" 'Terminating'
	k delete pod p --grace-period=5 --wait=false >/dev/null
	is "$V: time can be shortened" "$(get pod p .metadata.deletionGracePeriodSeconds)" 5
	like "$V: delete --force --grace-period=0" "$(k delete pod p --force --grace-period=0)" 'pod "p" force deleted'
	ok "$V: it is gone at once" gone pod p
	sed 's/schedulerName: nobody/nodeName: nowhere/' "$HERE/manifests/pod.yaml" | k create -f - >/dev/null
	k delete pod p --now --wait=false >/dev/null
	is "$V: delete --now gives a second" "$(get pod p .metadata.deletionGracePeriodSeconds)" 1
	k delete pod p --force --grace-period=0 >/dev/null
}

cascading() {
	k create cm owner >/dev/null
	owned child owner
	owned grandchild child
	k delete cm owner --cascade=background >/dev/null
	ok "$V: background: dependents follow" eventually 5 gone cm child grandchild

	k create cm owner >/dev/null
	owned child owner
	k delete cm owner --cascade=orphan >/dev/null
	ok "$V: orphan: the owner goes" eventually 5 gone cm owner
	is "$V: orphan: the dependent stays, free" "$(get cm child .metadata.ownerReferences)" ""
	k delete cm child >/dev/null

	k create cm owner >/dev/null
	owned child owner
	k patch cm child --type=merge -p '{"metadata":{"finalizers":["example.org/hold"]}}' >/dev/null
	k delete cm owner --cascade=foreground --wait=false >/dev/null
	is "$V: foreground: the owner waits" "$(get cm owner .metadata.finalizers)" '["foregroundDeletion"]'
	ok "$V: foreground: the dependent is being deleted" eventually 5 sh -c "'$K' -n $NS get cm child -o yaml | grep -q deletionTimestamp"
	like "$V: a finalizer holds it" "$(k get cm child -o name)" configmap/child
	k patch cm child --type=json -p '[{"op":"remove","path":"/metadata/finalizers/0"}]' >/dev/null
	ok "$V: foreground: both go once it lets go" eventually 5 gone cm owner child

	k create cm held >/dev/null
	k patch cm held --type=merge -p '{"metadata":{"finalizers":["example.org/hold"]}}' >/dev/null
	k delete cm held --wait=false >/dev/null
	ok "$V: a finalizer keeps the object" test -n "$(get cm held .metadata.deletionTimestamp)"
	like "$V: no finalizer can be added any more" "$(k patch cm held --type=merge -p '{"metadata":{"finalizers":["example.org/hold","example.org/more"]}}')" 'Forbidden: no new finalizers can be added if the object is being deleted'
	(sleep 0.5 && "$K" -n "$NS" patch cm held --type=merge -p '{"metadata":{"finalizers":[]}}' >/dev/null) &
	is "$V: delete --wait waits for it" "$(timeout 120 "$K" -n "$NS" delete cm held --wait=true)" 'configmap "held" deleted'
	ok "$V: and then it is gone" gone cm held
}

waiting() {
	k create -f "$HERE/manifests/job.yaml" >/dev/null
	like "$V: wait runs out of time" "$(k wait job/train --for=condition=Complete --timeout=1s)" 'timed out waiting for the condition on jobs/train'
	(sleep 0.5 && api PATCH "/apis/batch/v1/namespaces/$NS/jobs/train/status" -H 'Content-Type: application/merge-patch+json' \
		-d '{"status":{"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:01Z","succeeded":1,"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}}' -o "$T/status-$V") &
	is "$V: wait --for=condition" "$(k wait job/train --for=condition=Complete --timeout=60s)" "job.batch/train condition met"
	is "$V: wait for what is already so" "$(k wait job/train --for=condition=complete=true --timeout=60s)" "job.batch/train condition met"
	k create cm w --from-literal=state=old >/dev/null
	if [ "$V" = new ]; then
		(sleep 0.5 && k patch cm w -p '{"data":{"state":"new"}}' >/dev/null) &
		is "new: wait --for=jsonpath" "$(k wait cm/w --for=jsonpath='{.data.state}'=new --timeout=60s)" "configmap/w condition met"
		is "new: wait by a watch that lists first" "$(KUBE_FEATURE_WatchListClient=true k wait cm/w --for=jsonpath='{.data.state}'=new --timeout=60s)" "configmap/w condition met"
		(sleep 0.5 && k create cm late >/dev/null) &
		is "new: wait --for=create" "$(k wait cm/late --for=create --timeout=60s)" "configmap/late condition met"
	fi
	(sleep 0.5 && k delete cm w >/dev/null) &
	is "$V: wait --for=delete" "$(k wait cm/w --for=delete --timeout=60s)" "configmap/w condition met"
	k delete job train >/dev/null
	wait_jobs
}
# Only the subshells above; the server goes on.
wait_jobs() {
	local p

	for p in $(jobs -p); do
		[ "$p" = "$SERVER_PID" ] || wait "$p"
	done
}

namespaces() {
	"$K" create ns "doomed-$V" >/dev/null
	"$K" -n "doomed-$V" create cm x >/dev/null
	"$K" -n "doomed-$V" create deployment d --image=registry.example/a:1 --replicas=0 >/dev/null
	"$K" -n "doomed-$V" create -f "$HERE/manifests/pod.yaml" >/dev/null
	"$K" -n "doomed-$V" patch cm x --type=merge -p '{"metadata":{"finalizers":["example.org/hold"]}}' >/dev/null
	"$K" delete ns "doomed-$V" --wait=false >/dev/null
	is "$V: a namespace terminates" "$(get ns "doomed-$V" .status.phase)" Terminating
	like "$V: nothing is made in it any more" "$("$K" -n "doomed-$V" create cm y 2>&1)" "forbidden: unable to create new content in namespace doomed-$V because it is being terminated"
	ok "$V: its content goes" eventually 5 sh -c "! '$K' -n doomed-$V get pod,deploy -o name 2>/dev/null | grep -q ."
	eventually 5 sh -c "'$K' get ns doomed-$V -o json | grep -q 'configmaps. has 1 resource instances\"'"
	is "$V: it says what is left" "$(get ns "doomed-$V" '.status.conditions[?(@.status=="True")].message')" \
		"Some resources are remaining: configmaps. has 1 resource instances Some content in the namespace has finalizers remaining: example.org/hold in 1 resource instances"
	"$K" -n "doomed-$V" patch cm x --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
	"$K" wait "ns/doomed-$V" --for=delete --timeout=60s >/dev/null 2>&1
	ok "$V: the namespace is gone" eventually 5 gone ns "doomed-$V"
	is "$V: delete ns waits" "$(k create ns "quick-$V" >/dev/null && timeout 120 "$K" delete ns "quick-$V")" "namespace \"quick-$V\" deleted"
	like "$V: default cannot be deleted" "$("$K" delete ns default 2>&1)" 'namespaces "default" is forbidden: this namespace may not be deleted'
}

each() {
	deleting
	cascading
	waiting
	namespaces
}
each_kubectl each
done_testing

#!/bin/bash
# Claims and volumes through kubectl: binding, why not, classes, and the end of both.
. "$(dirname "$0")/lib.sh"
server_start main

# volume NAME SIZE [MORE SPEC]: a PersistentVolume of this test
volume() {
	k create -f - >/dev/null <<-EOF
	apiVersion: v1
	kind: PersistentVolume
	metadata: {name: $1-$V, labels: {of: $1}}
	spec: {capacity: {storage: $2}, accessModes: [ReadWriteOnce], hostPath: {path: /srv}, storageClassName: "$V"${3:+, $3}}
	EOF
}
# claim NAME SIZE [MORE SPEC]
claim() {
	k create -f - >/dev/null <<-EOF
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: {name: $1}
	spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: $2}}, ${3-storageClassName: $V}}
	EOF
}
says() { # RESOURCE NAME JSONPATH WANTED
	[ "$(get "$1" "$2" "$3")" = "$4" ]
}

each() {
	volume large 10Gi
	volume small 5Gi
	volume meant 1Gi "claimRef: {name: preferred, namespace: $NS}"
	ok "$V: a volume is available" eventually 5 says pv "large-$V" .status.phase Available
	claim data 3Gi
	ok "$V: a claim is bound" eventually 5 says pvc data .status.phase Bound
	is "$V: to the smallest volume that fits" "$(get pvc data .spec.volumeName)" "small-$V"
	like "$V: get pvc shows it" "$(k get pvc data)" "data +Bound +small-$V +5Gi +RWO +$V"
	ok "$V: the volume says so too" eventually 5 says pv "small-$V" .status.phase Bound
	claim preferred 1Gi
	ok "$V: a volume waits for the claim it names" eventually 5 says pvc preferred .spec.volumeName "meant-$V"
	claim picky 1Gi "storageClassName: $V, selector: {matchLabels: {of: none}}"
	claim nothing 1Gi 'storageClassName: ""'
	claim lost 1Gi "storageClassName: missing"
	claim standard 1Gi ""
	is "$V: a claim without a class gets the default one" "$(get pvc standard .spec.storageClassName)" stoker-local
	ok "$V: an event says why a claim waits" eventually 5 sh -c "'$K' -n $NS describe pvc nothing | \
		grep -q 'FailedBinding.*no persistent volumes available for this claim and no storage class is set'"
	ok "$V: a missing class is named" eventually 5 sh -c "'$K' -n $NS describe pvc lost | \
		grep -q 'ProvisioningFailed.*storageclass.storage.k8s.io \"missing\" not found'"
	is "$V: a selector keeps a claim from other volumes" "$(get pvc picky .status.phase)" Pending
	is "$V: a claim can be deleted" "$(timeout 120 "$K" -n "$NS" delete pvc data)" 'persistentvolumeclaim "data" deleted'
	ok "$V: its volume is released" eventually 5 says pv "small-$V" .status.phase Released
	claim data 3Gi
	ok "$V: a new claim of that name does not get the old data" eventually 5 says pvc data .spec.volumeName "large-$V"
	"$K" delete pv "large-$V" --wait=false >/dev/null
	like "$V: a bound volume stays until its claim goes" "$(k get pv "large-$V")" Terminating
	is "$V: and then goes" "$(timeout 120 "$K" -n "$NS" delete pvc --all >/dev/null && eventually 5 sh -c "! '$K' get pv large-$V" && echo gone)" gone
	is "$V: what is left can be deleted" "$(timeout 120 "$K" delete pv "small-$V" "meant-$V" | wc -l)" 2
}
each_kubectl each
is "there is one default class" "$(kubectl get sc -o name)" storageclass.storage.k8s.io/stoker-local
done_testing

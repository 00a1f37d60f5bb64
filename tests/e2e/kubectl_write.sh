#!/bin/bash
# kubectl's ways to change an object: patch, label, annotate, edit, replace, scale, set, rollout, taint and cordon.
. "$(dirname "$0")/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
server_start main

patching() {
	local out

	k create -f "$HERE/manifests/deployment.yaml" >/dev/null
	k create cm c --from-literal=a=1 --from-literal=b=2 >/dev/null
	is "$V: patch (strategic) says so" "$(k patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"registry.example/side:2"}]}}}}')" \
		"deployment.apps/web patched"
	is "$V: patch (strategic) merges by name" "$(get deploy web '.spec.template.spec.containers[*].image')" "registry.example/web:1 registry.example/side:2"
	is "$V: generation counts changes of the spec" "$(get deploy web .metadata.generation)" 2
	is "$V: patch that changes nothing says so" "$(k patch deploy web -p '{"spec":{"replicas":0}}')" "deployment.apps/web patched (no change)"
	k patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}' >/dev/null
	is "$V: \$patch: delete" "$(get deploy web '.spec.template.spec.containers[*].name')" web
	k patch deploy web -p '{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}' >/dev/null
	is "$V: \$retainKeys" "$(get deploy web .spec.strategy)" '{"type":"Recreate"}'
	k patch cm c --type=merge -p '{"data":{"a":null,"c":"3"}}' >/dev/null
	is "$V: patch --type=merge" "$(get cm c .data)" '{"b":"2","c":"3"}'
	k patch cm c --type=json -p '[{"op":"test","path":"/data/b","value":"2"},{"op":"move","from":"/data/b","path":"/data/d"},{"op":"remove","path":"/data/c"},{"op":"copy","from":"/data/d","path":"/data/e"},{"op":"replace","path":"/data/e","value":"9"},{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]' >/dev/null
	is "$V: patch --type=json" "$(get cm c .data)$(get cm c .metadata.labels.x)" '{"d":"2","e":"9"}y'
	like "$V: a test that fails" "$(k patch cm c --type=json -p '[{"op":"test","path":"/data/d","value":"no"}]')" "$([ "$V" = new ] && echo 'the server rejected our request due to an error in our request' || echo 'The request is invalid')"
	like "$V: a patch that is not JSON" "$(k patch cm c --type=json -p '{}')" 'Error from server \(BadRequest\)|cannot unmarshal|Expected'
	like "$V: patch of what is not there" "$(k patch cm none -p '{}')" 'configmaps "none" not found'
	is "$V: patch -o yaml of a dry run" "$(k patch cm c -p '{"data":{"f":"1"}}' --dry-run=server -o 'jsonpath={.data.f}')$(get cm c .data.f)" 1
	k patch ns "$NS" -p '{"metadata":{"finalizers":["example.org/x","example.org/y"]}}' >/dev/null
	"$K" patch ns "$NS" -p '{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.org/x"]}}' >/dev/null
	is "$V: \$deleteFromPrimitiveList" "$(get ns "$NS" .metadata.finalizers)" '["example.org/y"]'
	"$K" patch ns "$NS" --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
	if [ "$V" = new ]; then
		k patch deploy web --subresource=status --type=merge -p '{"status":{"observedGeneration":77},"spec":{"replicas":5}}' >/dev/null
		is "new: patch --subresource=status changes only the status" "$(get deploy web .spec.replicas)" 0
	fi
	like "$V: a name cannot change" "$(k patch cm c -p '{"metadata":{"name":"other"}}')" 'the name of the object \(other\) does not match the name on the URL \(c\)|field is immutable'
}

labelling() {
	is "$V: label" "$(k label cm c team=red size=big) $(get cm c .metadata.labels.team)" "configmap/c labeled red"
	like "$V: label does not overwrite unasked" "$(k label cm c team=blue)" "already has a value \(red\), and --overwrite is false"
	k label cm c team=blue --overwrite >/dev/null
	is "$V: label --overwrite" "$(get cm c .metadata.labels.team)" blue
	k label cm c size- >/dev/null
	is "$V: label removes" "$(get cm c .metadata.labels.size)" ""
	k label cm -l team=blue seen=yes >/dev/null
	is "$V: label by selector" "$(k get cm -l seen=yes -o name)" configmap/c
	like "$V: label refuses a bad value" "$(k label cm c bad='a b')" 'invalid'
	like "$V: label --resource-version that is old" "$(k label cm c z=1 --resource-version=1)" 'the object has been modified'
	is "$V: annotate" "$(k annotate cm c note='a b c') $(get cm c .metadata.annotations.note)" "configmap/c annotated a b c"
	k annotate cm c note='d' --overwrite >/dev/null
	is "$V: annotate --overwrite" "$(get cm c .metadata.annotations.note)" d
	k annotate cm c note- >/dev/null
	is "$V: annotate removes" "$(get cm c .metadata.annotations.note)" ""
}

editing() {
	local uid

	printf '#!/bin/sh\nexec sed -i "s/^  d: .*/  d: edited/" "$1"\n' >"$T/editor"
	chmod +x "$T/editor"
	is "$V: edit" "$(KUBE_EDITOR=$T/editor k edit cm c) $(get cm c .data.d)" "configmap/c edited edited"
	like "$V: edit without a change" "$(KUBE_EDITOR=true k edit cm c)" 'Edit cancelled, no changes made'
	printf '#!/bin/sh\nexec sed -i "s/replicas: 0/replicas: -1/" "$1"\n' >"$T/bad-editor"
	chmod +x "$T/bad-editor"
	like "$V: edit to something invalid" "$(KUBE_EDITOR=$T/bad-editor k edit deploy web </dev/null)" 'spec.replicas: Invalid value: -1|Edit cancelled'
	k get cm c -o yaml | sed 's/^  d: .*/  d: replaced/' >"$T/c.yaml"
	is "$V: replace" "$(k replace -f "$T/c.yaml") $(get cm c .data.d)" "configmap/c replaced replaced"
	like "$V: replace of an old revision" "$(k replace -f "$T/c.yaml")" 'Error from server \(Conflict\).*Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again'
	uid=$(get cm c .metadata.uid)
	sed -i '/resourceVersion:/d; /uid:/d' "$T/c.yaml"
	like "$V: replace --force" "$(k replace --force -f "$T/c.yaml")" 'configmap/c replaced'
	ok "$V: replace --force made another" test "$uid" != "$(get cm c .metadata.uid)"
	like "$V: replace of what is not there" "$(sed 's/name: c$/name: cc/' "$T/c.yaml" | k replace -f -)" 'configmaps "cc" not found'
}

scaling() {
	# Only on the object: a paused deployment with no selector match is left alone by every controller.
	k patch deploy web -p '{"spec":{"paused":true}}' >/dev/null
	is "$V: scale" "$(k scale deploy web --replicas=3) $(get deploy web .spec.replicas)" "deployment.apps/web scaled 3"
	is "$V: scale --current-replicas" "$(k scale deploy web --current-replicas=3 --replicas=2) $(get deploy web .spec.replicas)" "deployment.apps/web scaled 2"
	like "$V: scale with the wrong --current-replicas" "$(k scale deploy web --current-replicas=7 --replicas=1) $(get deploy web .spec.replicas)" "Expected replicas to be 7, was 2.*2$"
	is "$V: scale --resource-version" "$(k scale deploy web --resource-version="$(get deploy web .metadata.resourceVersion)" --replicas=0) $(get deploy web .spec.replicas)" "deployment.apps/web scaled 0"
	like "$V: scale below nothing" "$(k scale deploy web --replicas=-1)" 'must be|negative|required'
	is "$V: set image" "$(k set image deploy/web web=registry.example/web:9) $(get deploy web '.spec.template.spec.containers[0].image')" "deployment.apps/web image updated registry.example/web:9"
	k set env deploy/web C=3 B- >/dev/null
	is "$V: set env" "$(get deploy web '.spec.template.spec.containers[0].env[*].name')" "A C"
	k set env deploy/web --from=configmap/c --prefix=CM_ >/dev/null
	is "$V: set env --from" "$(get deploy web '.spec.template.spec.containers[0].env[?(@.name=="CM_D")].valueFrom.configMapKeyRef.key')" d
	like "$V: set env --list" "$(k set env deploy/web --list)" '^C=3$'
	k set resources deploy web --limits=cpu=200m,memory=64Mi --requests=cpu=0.1 >/dev/null
	is "$V: set resources" "$(get deploy web '.spec.template.spec.containers[0].resources.limits.memory') $(get deploy web '.spec.template.spec.containers[0].resources.requests.cpu')" "64Mi 100m"
	k create sa runner >/dev/null
	k set serviceaccount deploy web runner >/dev/null
	is "$V: set serviceaccount" "$(get deploy web .spec.template.spec.serviceAccountName)" runner
	k create service clusterip s --tcp=80 >/dev/null
	k set selector svc s app=other >/dev/null
	is "$V: set selector" "$(get svc s .spec.selector.app)" other
	k create rolebinding rb --clusterrole=view --user=a >/dev/null
	k set subject rolebinding rb --user=b >/dev/null
	is "$V: set subject" "$(get rolebinding rb '.subjects[*].name')" "a b"
}

rolling() {
	k patch deploy web -p '{"spec":{"paused":null}}' >/dev/null
	is "$V: rollout pause" "$(k rollout pause deploy web) $(get deploy web .spec.paused)" "deployment.apps/web paused true"
	is "$V: rollout resume" "$(k rollout resume deploy web) $(get deploy web .spec.paused)" "deployment.apps/web resumed "
	is "$V: rollout restart" "$(k rollout restart deploy web)" "deployment.apps/web restarted"
	like "$V: rollout restart marks the template" "$(get deploy web '.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt')" '^20..-'
	like "$V: rollout history" "$(k rollout history deploy web)" 'deployment.apps/web|no rollout history'
	api PATCH "/apis/apps/v1/namespaces/$NS/deployments/web/status" -H 'Content-Type: application/merge-patch+json' \
		-d '{"status":{"observedGeneration":99,"conditions":[]}}' -o /dev/null
	is "$V: rollout status" "$(timeout 120 "$K" -n "$NS" rollout status deploy web 2>&1 | tail -1)" 'deployment "web" successfully rolled out'
}

node() {
	"$K" create -f "$HERE/manifests/node.yaml" >/dev/null
	is "$V: cordon" "$("$K" cordon node-by-hand) $(get node node-by-hand .spec.unschedulable)" "node/node-by-hand cordoned true"
	like "$V: get nodes shows it" "$(k get node node-by-hand)" '^node-by-hand +[A-Za-z]+,SchedulingDisabled +worker '
	is "$V: uncordon" "$("$K" uncordon node-by-hand) $(get node node-by-hand .spec.unschedulable)" "node/node-by-hand uncordoned "
	is "$V: taint" "$("$K" taint node node-by-hand gpu=broken:NoSchedule)" "node/node-by-hand tainted"
	is "$V: taint is there" "$(get node node-by-hand '.spec.taints[?(@.key=="gpu")].value')" broken
	"$K" taint node node-by-hand gpu=slow:NoSchedule --overwrite >/dev/null
	is "$V: taint --overwrite" "$(get node node-by-hand '.spec.taints[?(@.key=="gpu")].value')" slow
	"$K" taint node node-by-hand gpu- >/dev/null
	is "$V: taint is gone" "$(get node node-by-hand '.spec.taints[?(@.key=="gpu")].value')" ""
	"$K" label node node-by-hand disk=ssd >/dev/null
	is "$V: nodes by label" "$("$K" get nodes -l disk=ssd -o name)" node/node-by-hand
	sed "s/schedulerName: nobody/nodeName: node-by-hand/" "$HERE/manifests/pod.yaml" | k create -f - >/dev/null
	like "$V: drain evicts the pods" "$(timeout 120 "$K" drain node-by-hand --force --ignore-daemonsets --grace-period=0 --timeout=100s 2>&1)" "pod/p evicted"
	"$K" delete node node-by-hand >/dev/null
}

each() {
	patching
	labelling
	editing
	scaling
	rolling
	node
}
each_kubectl each
done_testing

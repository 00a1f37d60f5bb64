#!/bin/bash
# What kubectl asks before it does anything: versions, discovery, documentation, permissions, its own configuration.
. "$(dirname "$0")/lib.sh"
server_start main

info() {
	local out

	out=$(k version)
	like "$V: version shows the server's" "$out" 'Server Version.*v?1\.32'
	unlike "$V: version gives no warning of its own" "$(k version 2>&1 >/dev/null | grep -v 'skew\|deprecated')" .

	out=$(k api-resources --no-headers)
	like "$V: api-resources lists pods with their short name" "$out" '^pods +po +v1 +true +Pod$'
	like "$V: api-resources lists deployments in their group" "$out" '^deployments +deploy +apps/v1 +true +Deployment$'
	like "$V: api-resources lists nodes as cluster-scoped" "$out" '^nodes +no +v1 +false +Node$'
	like "$V: api-resources lists the training kinds" "$out" '^pytorchjobs .*kubeflow.org/v1 +true +PyTorchJob$'
	like "$V: api-resources lists queues" "$out" '^queues .*stoker.dev/v1 .*Queue$'
	like "$V: api-resources lists ingresses in their group" "$out" '^ingresses +ing +networking.k8s.io/v1 +true +Ingress$'
	[ "$V" = new ] && unlike "$V: and not in the old one" "$out" ' extensions/'
	is "$V: api-resources picks namespaced ones of one group" \
		"$(k api-resources --api-group=apps --namespaced=true -o name | sort | tr '\n' ' ')" \
		"controllerrevisions.apps daemonsets.apps deployments.apps replicasets.apps statefulsets.apps "
	like "$V: api-resources picks by verb" "$(k api-resources --verbs=create --api-group=authorization.k8s.io -o name)" selfsubjectaccessreviews
	like "$V: api-resources -o wide names the verbs" "$(k api-resources -o wide | grep '^configmaps ')" 'create.*delete.*deletecollection.*get.*list.*patch.*update.*watch'

	out=$(k api-versions)
	is "$V: api-versions has every group's versions" \
		"$(printf '%s\n' "$out" | grep -cxE 'v1|apps/v1|batch/v1|batch/v1beta1|rbac.authorization.k8s.io/v1|apiextensions.k8s.io/v1|kubeflow.org/v1|stoker.dev/v1|events.k8s.io/v1|policy/v1')" 10

	like "$V: cluster-info names this server" "$(k cluster-info)" "is running at .*$URL"
	ok "$V: cluster-info dump writes its files" "$K" cluster-info dump --output-directory="$T/dump-$V"
	ok "$V: cluster-info dump has the services" grep -q '"name": "kubernetes"' "$T/dump-$V/default/services.json"

	for out in pod.spec.containers.image job.spec.backoffLimit cronjob.spec.schedule deployment.spec.replicas \
		statefulset.spec.serviceName daemonset.spec.template tfjob.spec pytorchjob.spec paddlejob.spec \
		queue.spec pbsjob.spec; do
		is "$V: explain describes $out" "$(k explain "$out" | sed -n '/^DESCRIPTION/,/^FIELDS/p' | sed 1d | grep -c '[a-z][a-z]' | sed 's/^[1-9][0-9]*$/some/')" some
	done
	like "$V: explain --recursive goes to the leaves" "$(k explain pod --recursive)" 'configMapKeyRef'
	like "$V: explain takes --api-version" "$(k explain cronjob --api-version=batch/v1beta1)" 'VERSION: +(batch/)?v1beta1'
	if [ "$V" = new ]; then
		like "new: explain by the old documents" "$(k explain job.spec.backoffLimit --output=plaintext-openapiv2)" 'How many failures'
	fi
	like "$V: explain refuses a field that is not there" "$(k explain pod.spec.nothing)" 'field "nothing" does not exist'

	is "$V: an admin can do everything" "$(k auth can-i '*' '*')" yes
	is "$V: an unknown user can do nothing" "$(k auth can-i create pods --as=stranger)" no
	like "$V: can-i --list shows the rules" "$(k auth can-i --list)" '^\*\.\* '
	like "$V: can-i --list --as shows that user's" "$(k auth can-i --list --as=stranger)" 'selfsubjectaccessreviews'
	unlike "$V: can-i --list --as shows no more than that" "$(k auth can-i --list --as=stranger)" '^\*\.\* '
	is "$V: can-i takes subresources and names" "$(k auth can-i get pods/p --subresource=log)" yes
	is "$V: can-i takes non-resource URLs" "$(k auth can-i get /version --as=stranger)" yes
	if [ "$V" = new ]; then
		like "new: auth whoami names the user" "$(k auth whoami)" '^Username +.*admin'
		like "new: auth whoami names the groups" "$(k auth whoami)" '^Groups .*system:masters'
		like "new: auth whoami follows --as" "$(k auth whoami --as=jane --as-group=lab -o yaml)" 'username: jane'
		like "new: auth whoami follows --as-group" "$(k auth whoami --as=jane --as-group=lab)" 'lab'
	fi

	like "$V: config view shows the server and no secrets" "$(k config view)" "server: $URL"
	like "$V: config view redacts" "$(k config view)" 'REDACTED|DATA\+OMITTED'
	is "$V: config view --minify -o jsonpath" "$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')" "$URL"
	ok "$V: config current-context is set" test -n "$(k config current-context)"

	k create -f - >/dev/null <<-EOF
	apiVersion: v1
	kind: Event
	metadata: {name: e1}
	involvedObject: {kind: Pod, apiVersion: v1, name: p1, namespace: $NS}
	reason: Testing
	message: the cat sat on the mat
	type: Warning
	count: 3
	firstTimestamp: "$(date -u -d '-5 min' +%FT%TZ)"
	lastTimestamp: "$(date -u -d '-3 min' +%FT%TZ)"
	source: {component: tester}
	EOF
	out=$(k get events)
	like "$V: get events shows type, reason, object and message" "$out" '^3m[0-9s]* +Warning +Testing +pod/p1 +the cat sat'
	like "$V: get events -o wide shows count and source" "$(k get events -o wide)" 'tester +the cat sat on the mat +5m[0-9s]* +3 +e1'
	is "$V: get events by reason" "$(k get events --field-selector reason=Testing,type!=Normal -o name)" event/e1
	is "$V: get events by another reason" "$(k get events --field-selector reason=Other -o name)" ""
	if [ "$V" = new ]; then
		like "new: events shows it" "$(k events)" '^3m[0-9s]* \(x3 over 5m[0-9s]*\) +Warning +Testing +[Pp]od/p1 +the cat sat'
		like "new: events --for finds it" "$(k events --for pod/p1)" 'the cat sat'
		like "new: events --types" "$(k events --types=Normal)" 'No events found'
	fi
	is "$V: get --raw reaches health" "$(k get --raw /readyz)" ok
	is "$V: get --raw reaches an object" "$(k get --raw "/api/v1/namespaces/$NS" | field .metadata.name)" "$NS"
}
each_kubectl info
done_testing

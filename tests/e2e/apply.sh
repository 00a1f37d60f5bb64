#!/bin/bash
# apply: on the client's side with its strategic patches, on the server's side with its managers; prune, -k, diff.
. "$(dirname "$0")/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
server_start main

client_side() {
	local f=$T/web-$V.yaml rv

	cp "$HERE/manifests/deployment.yaml" "$f"
	is "$V: apply creates" "$(k apply -f "$f")" "deployment.apps/web created"
	rv=$(get deploy web .metadata.resourceVersion)
	is "$V: apply of the same changes nothing" "$(k apply -f "$f")" "deployment.apps/web unchanged"
	is "$V: not even the revision" "$(get deploy web .metadata.resourceVersion)" "$rv"
	sed -i '/containerPort: 443/d; /{name: B,/d' "$f"
	is "$V: apply configures" "$(k apply -f "$f")" "deployment.apps/web configured"
	is "$V: a dropped port is removed" "$(get deploy web '.spec.template.spec.containers[0].ports[*].containerPort')" 80
	is "$V: a dropped variable is removed" "$(get deploy web '.spec.template.spec.containers[0].env[*].name')" A
	is "$V: the other container is left alone" "$(get deploy web '.spec.template.spec.containers[1].image')" registry.example/side:1
	k set env deploy/web -c web OTHER=live >/dev/null
	sed -i 's/{name: A, value: "1"}/{name: Z, value: "26"}\n        - {name: A, value: "1"}/' "$f"
	k apply -f "$f" >/dev/null
	is "$V: others' items survive, ours keep our order" "$(get deploy web '.spec.template.spec.containers[0].env[*].name' | tr ' ' '\n' | grep -v OTHER | tr '\n' ' ')" "Z A "
	is "$V: a live item is still there" "$(get deploy web '.spec.template.spec.containers[0].env[?(@.name=="OTHER")].value')" live
	awk '/- name: web$/ { sub(/- name: web/, "- name: side"); sub(/side/, "first") } { print }' "$f" >"$f.new"
	sed -i 's/image: registry.example\/web:1/image: registry.example\/first:1/' "$f.new"
	k apply -f "$f.new" >/dev/null
	is "$V: containers are taken out and put in by name" "$(get deploy web '.spec.template.spec.containers[*].name')" "first side"
	sed -i 's/replicas: 0/replicas: 0\n  strategy: {type: Recreate}/' "$f.new"
	k apply -f "$f.new" >/dev/null
	is "$V: a union field drops its other members" "$(get deploy web .spec.strategy)" '{"type":"Recreate"}'
	is "$V: the last applied configuration is kept" "$(k apply view-last-applied deploy web -o json | field .spec.strategy.type)" Recreate
	is "$V: apply --dry-run=server" "$(sed 's/side:1/side:7/' "$f.new" | k apply --dry-run=server -f -) $(get deploy web '.spec.template.spec.containers[1].image')" \
		"deployment.apps/web configured (server dry run) registry.example/side:1"
	like "$V: apply to what create made warns" "$(k create cm bare --from-literal=a=1 >/dev/null; echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bare"},"data":{"a":"2"}}' | k apply -f -)" 'missing the kubectl.kubernetes.io/last-applied-configuration annotation|should be created by either'
	is "$V: and works" "$(get cm bare .data.a)" 2
	like "$V: apply of an immutable field" "$(sed 's/matchLabels: {app: web}/matchLabels: {app: other}/; s/      labels: {app: web}/      labels: {app: other}/' "$f.new" | k apply -f -)" 'spec.selector: Invalid value: .*field is immutable'
	if [ "$V" = new ]; then
		like "new: apply of an unknown field" "$(sed 's/replicas: 0/replicaz: 0/' "$f.new" | k apply -f -)" 'strict decoding error: unknown field "spec.replicaz"'
		like "new: --validate=warn warns" "$(sed 's/replicas: 0/replicas: 0\n  replicaz: 0/' "$f.new" | k apply --validate=warn -f -)" 'Warning: unknown field "spec.replicaz"'
	fi
}

tools() {
	k create -f "$HERE/manifests/job.yaml" --save-config >/dev/null
	like "$V: diff shows the change" "$(sed 's/suspend: true/suspend: true\n  activeDeadlineSeconds: 5/' "$HERE/manifests/job.yaml" | k diff -f -)" '^\+  activeDeadlineSeconds: 5$'
	is "$V: diff changes nothing" "$(get job train .spec.activeDeadlineSeconds)" ""
	if [ "$V" = new ]; then
		like "new: diff --server-side" "$(sed 's/suspend: true/suspend: true\n  activeDeadlineSeconds: 6/' "$HERE/manifests/job.yaml" | k diff --server-side -f -)" '^\+  activeDeadlineSeconds: 6$'
	fi
	ok "$V: diff of the same is silent" k diff -f "$HERE/manifests/job.yaml"
	like "$V: diff of a new object" "$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fresh}\ndata: {x: "1"}\n' | k diff -f -)" '^\+  x: "1"$'
	is "$V: apply -k" "$(k apply -k "$HERE/manifests/kustom" | grep -v '^#' | sed 's/gen-[a-z0-9]*/gen/' | sort | tr '\n' ';')" "configmap/k-conf created;configmap/k-gen created;"
	is "$V: -k's labels" "$(k get cm -l made-by=kustomize -o name | wc -l)" 2
	is "$V: delete -k" "$(k delete -k "$HERE/manifests/kustom" | grep -vc '^#')" 2

	cat >"$T/prune.yaml" <<-EOF
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: keep, labels: {set: prune}}
	---
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: drop, labels: {set: prune}}
	EOF
	k apply -f "$T/prune.yaml" >/dev/null
	sed -i '/^---/,$d' "$T/prune.yaml"
	# 1.20 looks through extensions/v1beta1 too, and stops if it is not there.
	like "$V: apply --prune removes what the file lost" "$(k apply -f "$T/prune.yaml" --prune -l set=prune)" 'configmap/drop pruned'
	is "$V: and nothing else" "$(k get cm -l set=prune -o name)" configmap/keep
}

# manifest of a Service applied on the server's side by $1
served() {
	cat <<-EOF
	apiVersion: v1
	kind: Service
	metadata: {name: s, labels: {$1}}
	spec:
	  selector: {app: s}
	  ports: [$2]
	EOF
}

server_side() {
	local out

	is "$V: apply --server-side creates" "$(served 'a: "1", b: "1"' '{port: 80, name: http}' | k apply --server-side --field-manager=one -f -)" "service/s serverside-applied"
	is "$V: the manager is recorded" "$(get svc s '.metadata.managedFields[?(@.manager=="one")].operation')" Apply
	is "$V: list items are keyed with defaults" "$(get svc s '.metadata.managedFields[?(@.manager=="one")].fieldsV1.f:spec.f:ports' | field 'keys[0]')" 'k:{"port":80,"protocol":"TCP"}'
	served 'c: "1"' '{port: 443, name: https}' | k apply --server-side --field-manager=two -f - >/dev/null
	is "$V: another manager's items are added" "$(get svc s '.spec.ports[*].port')" "80 443"
	out=$(served 'a: "2"' '{port: 443, name: https}' | k apply --server-side --field-manager=two -f -)
	like "$V: a conflict is refused" "$out" 'Apply failed with 1 conflict: conflict with "one": .metadata.labels.a'
	served 'a: "2"' '{port: 443, name: https}' | k apply --server-side --field-manager=two --force-conflicts -f - >/dev/null
	is "$V: --force-conflicts takes it" "$(get svc s .metadata.labels.a)" 2
	is "$V: what two no longer applies is gone" "$(get svc s .metadata.labels.c)" ""
	unlike "$V: one has lost the field" "$(get svc s '.metadata.managedFields[?(@.manager=="one")].fieldsV1.f:metadata.f:labels')" '"f:a"'
	served 'a: "2", b: "1"' '{port: 443, name: https}' | k apply --server-side --field-manager=two -f - >/dev/null
	served 'a: "2"' '{port: 80, name: http}' | k apply --server-side --field-manager=one --force-conflicts -f - >/dev/null
	is "$V: a shared field stays when one lets go" "$(get svc s .metadata.labels.b)" 1
	served 'a: "2"' '{port: 443, name: https}' | k apply --server-side --field-manager=two -f - >/dev/null
	is "$V: and goes with the last" "$(get svc s .metadata.labels.b)" ""
	k label svc s a=3 --overwrite >/dev/null
	like "$V: other writes own their fields" "$(served 'a: "4"' '{port: 443, name: https}' | k apply --server-side --field-manager=two -f -)" 'conflict with "kubectl(-label)?"( using v1)?: .metadata.labels.a'
	served 'a: "3"' '{port: 443, name: https}' | k apply --server-side --field-manager=two -f - >/dev/null
	is "$V: the same value is no conflict" "$(get svc s .metadata.labels.a)" 3
	served 'a: "3"' '{port: 80, name: http}' | k apply --server-side --field-manager=two --force-conflicts -f - >/dev/null
	is "$V: a list item nobody applies is removed" "$(get svc s '.spec.ports[*].port')" 80
	is "$V: apply --server-side --dry-run=server" "$(served 'a: "3", z: "1"' '{port: 80, name: http}' | k apply --server-side --field-manager=two --dry-run=server -f - -o 'jsonpath={.metadata.labels.z}')$(get svc s .metadata.labels.z)" 1
}

both_sides() {
	local f=$T/both-$V.yaml

	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: both}\ndata: {a: "1", b: "2"}\n' >"$f"
	k apply -f "$f" >/dev/null
	sed -i 's/a: "1"/a: "9"/' "$f"
	is "$V: from client-side to server-side apply without a conflict" "$(k apply --server-side -f "$f") $(get cm both .data.a)" "configmap/both serverside-applied 9"
	is "$V: the last applied configuration follows" "$(k apply view-last-applied cm both -o json | field '.kind + .data.a')" ConfigMap9
	sed -i 's/, b: "2"//' "$f"
	k apply -f "$f" >/dev/null
	is "$V: and back, dropping a field" "$(get cm both .data)" '{"a":"9"}'
}

by_curl() {
	local out path=/api/v1/namespaces/default/configmaps/ssa

	out=$(api PATCH "$path" -H 'Content-Type: application/apply-patch+yaml' --data-binary 'data: {a: "1"}')
	like "no manager: refused" "$(field .message <<<"$out")" 'fieldManager: Required value: is required for apply patch'
	is "no manager: the code" "$(field .code <<<"$out")" 422
	is "applied YAML creates: 201" "$(api_code PATCH "$path?fieldManager=x" -H 'Content-Type: application/apply-patch+yaml' --data-binary $'apiVersion: v1\nkind: ConfigMap\ndata: {a: "1", b: "1"}')" 201
	out=$(api PATCH "$path?fieldManager=y" -H 'Content-Type: application/apply-patch+yaml' --data-binary $'apiVersion: v1\nkind: ConfigMap\ndata: {a: "2", b: "2"}')
	is "two conflicts: the message" "$(field .message <<<"$out")" 'Apply failed with 2 conflicts: conflicts with "x":
- .data.a
- .data.b'
	is "two conflicts: the causes" "$(field '[.details.causes[] | .reason + .field] | join(",")' <<<"$out")" "FieldManagerConflict.data.a,FieldManagerConflict.data.b"
	is "two conflicts: the code" "$(field '.code, .reason' <<<"$out" | tr '\n' ' ')" "409 Conflict "
	out=$(api PATCH "$path?fieldManager=y" -H 'Content-Type: application/apply-patch+yaml' --data-binary $'apiVersion: v1\nkind: ConfigMap\nmetadata: {managedFields: [{manager: z}]}\ndata: {c: "2"}')
	like "managedFields may not be applied" "$(field .message <<<"$out")" 'metadata.managedFields must be nil'
	out=$(api PUT "$path?fieldManager=z" -H 'Content-Type: application/json' -d '{"metadata":{"name":"ssa","managedFields":[]},"data":{"a":"9"}}')
	is "an update may clear the managers" "$(field '.metadata.managedFields' <<<"$out" | grep -c '"x"')" 0
}

each() {
	client_side
	tools
	server_side
	both_sides
}
each_kubectl each
by_curl
done_testing

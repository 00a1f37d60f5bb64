#!/bin/bash
# Kinds that a user defines: served at once, checked by their schema, with status, scale, columns and names, kept over a
# restart, and gone with their definition.
. "$(dirname "$0")/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
server_start main

# widget NAME SPEC [API-VERSION]
widget() {
	printf 'apiVersion: %s\nkind: Widget\nmetadata: {name: %s}\nspec: %s\n' "${3:-example.org/v1}" "$1" "$2"
}

defining() {
	is "$V: create -f" "$(k create -f "$HERE/manifests/crd.yaml")" "customresourcedefinition.apiextensions.k8s.io/widgets.example.org created"
	is "$V: wait for it" "$(k wait crd/widgets.example.org --for=condition=Established --timeout=60s)" "customresourcedefinition.apiextensions.k8s.io/widgets.example.org condition met"
	is "$V: its names are accepted" "$(get crd widgets.example.org .status.acceptedNames.kind)$(get crd widgets.example.org .status.storedVersions)" 'Widget["v1"]'
	is "$V: a cluster-wide one" "$(k apply -f "$HERE/manifests/crd_cluster.yaml")" "customresourcedefinition.apiextensions.k8s.io/rigs.example.org created"
	like "$V: get crd" "$(k get crd)" '^widgets.example.org +20'
	like "$V: api-resources" "$(k api-resources --api-group=example.org)" '^widgets +wd +example.org/v1 +true +Widget'
	like "$V: api-versions has both" "$(k api-versions | tr '\n' ' ')" 'example.org/v1 example.org/v1alpha1 |example.org/v2'
	like "$V: explain" "$(k explain widget.spec.size)" 'How big it is.'
	like "$V: explain lists the fields" "$(k explain widget.spec)" 'colour'
}

checking() {
	local out

	is "$V: an object" "$(widget w1 '{size: 3}' | k create -f -)" "widget.example.org/w1 created"
	is "$V: defaults are filled in" "$(get widget w1 .spec.colour)$(get widget w1 .spec.replicas)" green1
	is "$V: generation begins at one" "$(get widget w1 .metadata.generation)" 1
	out=$(widget w2 '{size: 300, colour: pink, name: "A1", tags: [a, a], parts: [{id: x}, {id: x}]}' | k create --validate=false -f -)
	like "$V: bounds are checked" "$out" 'spec.size: Invalid value: 300: spec.size in body should be less than or equal to 100'
	like "$V: enums are checked" "$out" 'spec.colour: Unsupported value: "pink": supported values: "red", "green", "blue"'
	like "$V: patterns are checked" "$out" "spec.name: Invalid value: \"A1\": spec.name in body should match '\^\[a-z\]\+\\$'"
	like "$V: sets have no duplicates" "$out" 'spec.tags\[1\]: Duplicate value: "a"'
	like "$V: keys have no duplicates" "$out" 'spec.parts\[1\]: Duplicate value'
	out=$(widget w2 '{colour: red}' | k create --validate=false -f -)
	like "$V: what is required" "$out" 'spec.size: Required value'
	out=$(widget w2 '{size: "3"}' | k create --validate=false -f -)
	like "$V: types are checked" "$out" 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'
	out=$(widget w2 '{size: 3, parts: [{id: a}, {id: b}, {id: c}, {id: d}]}' | k create --validate=false -f -)
	like "$V: lengths are checked" "$out" 'spec.parts: Too many: 4: must have at most 3 items'
	widget w2 '{size: 4, unknown: 1, free: {any: {thing: 1}}, port: http, nickname: null, parts: [{id: x}]}' | k create --validate=false -f - >/dev/null
	is "$V: unknown fields are pruned" "$(get widget w2 .spec.unknown)" ""
	is "$V: unless they are kept" "$(get widget w2 .spec.free.any.thing)$(get widget w2 .spec.port)" 1http
	is "$V: items have defaults" "$(get widget w2 '.spec.parts[0].weight')" 10
	if [ "$V" = new ]; then
		like "new: strict refuses unknown fields" "$(widget w3 '{size: 4, unknown: 1}' | k create -f -)" 'strict decoding error: unknown field "spec.unknown"'
	fi
	is "$V: --dry-run=server" "$(widget w9 '{size: 5}' | k create --dry-run=server -f -)$(k get wd w9 --ignore-not-found)" "widget.example.org/w9 created (server dry run)"
	like "$V: the columns" "$(k get wd)" '^NAME +SIZE +COLOUR +READY +AGE$'
	like "$V: the cells" "$(k get wd w1)" '^w1 +3 +green +[0-9]+s$'
	like "$V: the wide columns" "$(k get wd -o wide)" '^NAME +SIZE +COLOUR +READY +HIDDEN +AGE$'
	is "$V: by category" "$(k get toys -o name | tr '\n' ' ')" "widget.example.org/w1 widget.example.org/w2 "
	like "$V: get all has them" "$(k get all)" '^widget.example.org/w1'
	is "$V: by singular name and group" "$(k get widget.example.org w1 -o name)" widget.example.org/w1
	is "$V: the other version" "$(k get widgets.v1alpha1.example.org w1 -o 'jsonpath={.apiVersion} {.spec.size}')" "example.org/v1alpha1 3"
	widget w4 '{size: 4}' example.org/v1alpha1 | k create --validate=false -f - >/dev/null
	is "$V: made by the other version" "$(get widgets.v1.example.org w4 .apiVersion)" example.org/v1
	is "$V: items carry their kind" "$(k get --raw "/apis/example.org/v1/namespaces/$NS/widgets" | field '.kind + .items[0].kind + .items[0].apiVersion')" WidgetListWidgetexample.org/v1
}

changing() {
	local out

	is "$V: apply" "$(widget w5 '{size: 5, parts: [{id: a}, {id: b}]}' | k apply -f -)$(widget w5 '{size: 6, parts: [{id: b}]}' | k apply -f -)" "widget.example.org/w5 createdwidget.example.org/w5 configured"
	is "$V: applied" "$(get wd w5 .spec.size)$(get wd w5 '.spec.parts[*].id')" 6b
	k patch wd w5 --type=merge -p '{"spec":{"colour":"blue"}}' >/dev/null
	is "$V: merge patch" "$(get wd w5 .spec.colour)$(get wd w5 .metadata.generation)" blue3
	like "$V: no strategic patch" "$(k patch wd w5 --type=strategic -p '{"spec":{"colour":"red"}}')" 'application/json-patch\+json, application/merge-patch\+json, application/apply-patch\+yaml|not supported by'
	widget w6 '{size: 6, parts: [{id: a}]}' | k apply --server-side --field-manager=one -f - >/dev/null
	widget w6 '{size: 6, parts: [{id: b}]}' | k apply --server-side --field-manager=two -f - >/dev/null
	is "$V: lists of maps merge by their key" "$(get wd w6 '.spec.parts[*].id')" "a b"
	like "$V: and conflict" "$(widget w6 '{size: 7}' | k apply --server-side --field-manager=two -f -)" 'conflict with "one": .spec.size'
	api PATCH "/apis/example.org/v1/namespaces/$NS/widgets/w1/status" -H 'Content-Type: application/merge-patch+json' \
		-d '{"spec":{"size":99},"status":{"replicas":1,"selector":"app=w1","conditions":[{"type":"Ready","status":"True"}]}}' -o /dev/null
	is "$V: the status alone is written there" "$(get wd w1 .spec.size) $(get wd w1 .status.replicas) $(get wd w1 .metadata.generation)" "3 1 1"
	like "$V: a column by filter" "$(k get wd w1)" '^w1 +3 +green +True +'
	k patch wd w1 --type=merge -p '{"status":{"replicas":9}}' >/dev/null
	is "$V: and not here" "$(get wd w1 .status.replicas)" 1
	is "$V: scale" "$(k scale wd w1 --replicas=4) $(get wd w1 .spec.replicas)" "widget.example.org/w1 scaled 4"
	is "$V: the scale object" "$(k get --raw "/apis/example.org/v1/namespaces/$NS/widgets/w1/scale" | field '.kind + .apiVersion + (.spec.replicas|tostring) + (.status.replicas|tostring) + .status.selector')" "Scaleautoscaling/v141app=w1"
	is "$V: wait by condition" "$(k wait wd/w1 --for=condition=Ready --timeout=60s)" "widget.example.org/w1 condition met"
	out=$(k get wd w5 -o json | jq 'del(.metadata.resourceVersion)')
	like "$V: an update needs the revision" "$(api PUT "/apis/example.org/v1/namespaces/$NS/widgets/w5" -H 'Content-Type: application/json' -d "$out" | field .message)" 'metadata.resourceVersion: Invalid value: .*must be specified for an update'
	printf 'apiVersion: example.org/v2\nkind: Rig\nmetadata: {name: r-%s}\nspec: {a: {b: [1, two]}}\n' "$V" | "$K" create -f - >/dev/null
	is "$V: a cluster-wide object" "$("$K" get rig "r-$V" -o 'jsonpath={.spec.a.b}{.metadata.namespace}')" '[1,"two"]'
	k delete wd w4 >/dev/null
	is "$V: delete one" "$(k get wd w4 --ignore-not-found)" ""
}

restarting() {
	server_stop
	server_start main
	is "$V: objects survive a restart" "$(get wd w1 .spec.replicas)" 4
	is "$V: so do columns" "$(k get wd w1 --no-headers | tr -s ' ' | cut -d' ' -f1-4)" "w1 3 green True"
	like "$V: and the schema" "$(widget w7 '{size: 0}' | k create --validate=false -f -)" 'spec.size in body should be greater than or equal to 1'
}

removing() {
	k patch crd widgets.example.org --type=json -p '[{"op":"replace","path":"/spec/versions/1/served","value":false}]' >/dev/null
	ok "$V: a version can be taken out of service" eventually 5 sh -c "curl -s --unix-socket '$SOCKET' -o /dev/null -w '%{http_code}' http://localhost/apis/example.org/v1alpha1/widgets | grep -q 404"
	k patch wd w1 --type=merge -p '{"metadata":{"finalizers":["example.org/hold"]}}' >/dev/null
	k delete crd widgets.example.org --wait=false >/dev/null
	like "$V: the definition waits for its objects" "$(get crd widgets.example.org .metadata.finalizers)" 'customresourcecleanup.apiextensions.k8s.io'
	ok "$V: its objects are deleted" eventually 5 sh -c "test \"\$('$K' -n $NS get wd -o name)\" = widget.example.org/w1"
	k patch wd w1 --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
	ok "$V: then it goes" eventually 5 sh -c "! '$K' get crd widgets.example.org"
	is "$V: nothing is served there any more" "$(api_code GET "/apis/example.org/v1/namespaces/$NS/widgets")" 404
	k delete crd rigs.example.org >/dev/null
	ok "$V: the group is gone" eventually 5 sh -c "! '$K' api-versions | grep -q example.org"
	k create -f "$HERE/manifests/crd.yaml" >/dev/null
	k wait crd/widgets.example.org --for=condition=Established --timeout=60s >/dev/null
	is "$V: defined again, it is empty" "$(api GET "/apis/example.org/v1/widgets" | field '.items | length')" 0
	k delete crd widgets.example.org >/dev/null
}

refusing() {
	local crd

	crd() {
		jq -n --argjson change "$1" '{apiVersion:"apiextensions.k8s.io/v1",kind:"CustomResourceDefinition",metadata:{name:"as.example.org"},spec:{group:"example.org",scope:"Namespaced",names:{plural:"as",kind:"A"},versions:[{name:"v1",served:true,storage:true,schema:{openAPIV3Schema:{type:"object"}}}]}} * $change' |
			api POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions -H 'Content-Type: application/json' -d @- | field .message
	}
	like "the name must fit" "$(crd '{"metadata":{"name":"x"}}')" 'metadata.name: Invalid value: "x": must be spec.names.plural\+"."\+spec.group'
	like "one version is stored" "$(crd '{"spec":{"versions":[{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}')" 'must have exactly one version marked as storage version'
	like "a schema is needed" "$(crd '{"spec":{"versions":[{"name":"v1","served":true,"storage":true}]}}')" 'schema'
	like "the schema is structural" "$(crd '{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{}}}}}]}}')" 'properties\[a\].type: Required value'
	like "the scope is known" "$(crd '{"spec":{"scope":"Galaxy"}}')" 'spec.scope: Unsupported value: "Galaxy"'
}

each() {
	defining
	checking
	changing
	restarting
	removing
}
# What examples/ has for other clusters is built in here: so in groups of other names.
shipped() {
	local f=$ROOT/examples/definitions.yaml

	like "definitions.yaml: it opens with what it is and how to run it" "$(head -n 8 "$f" | tr '\n' '~')" '^# [A-Za-z].*~#   kubectl apply -f examples/definitions.yaml~'
	like "definitions.yaml: all are taken" "$(sed 's/kubeflow\.org/kubeflow.example/; s/stoker\.dev/stoker.example/' "$f" | kubectl apply -f - | grep -c created)" '^5$'
	kubectl wait crd --all --for=condition=Established --timeout=10s >/dev/null
	kubectl create -f - >/dev/null <<-'END'
		apiVersion: stoker.example/v1
		kind: Queue
		metadata: {name: q}
		---
		apiVersion: kubeflow.example/v1
		kind: TFJob
		metadata: {name: t}
		spec: {runPolicy: {cleanPodPolicy: All}, tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: tensorflow}]}}}}}
	END
	is "definitions.yaml: a queue is open" "$(api GET /apis/stoker.example/v1/queues/q | field '.spec | [.enabled, .priority, .started]')" '[true,0,true]'
	is "definitions.yaml: a job is kept as it is" "$(api GET /apis/kubeflow.example/v1/namespaces/default/tfjobs/t | field .spec)" \
		'{"runPolicy":{"cleanPodPolicy":"All"},"tfReplicaSpecs":{"Worker":{"template":{"spec":{"containers":[{"name":"tensorflow"}]}}}}}'
	like "definitions.yaml: a role must be right" "$(kubectl get tfjobs.kubeflow.example t -o json | jq '.spec.tfReplicaSpecs.Worker.restartPolicy = "Perhaps"' | kubectl replace -f - 2>&1)" 'restartPolicy: Unsupported value: "Perhaps"'
}

each_kubectl each
refusing
shipped
done_testing

#!/bin/bash
# The protocol below kubectl: Status bodies of every code, content types in and out, dry runs, field validation, and one
# object in two versions.
. "$(dirname "$0")/lib.sh"
server_start main
NS=default
CMS=/api/v1/namespaces/$NS/configmaps
JSON='Content-Type: application/json'

# status METHOD PATH [CURL ARGS...]: "CODE REASON MESSAGE" of the reply's Status
status() {
	api "$@" | field '[.code, .reason, .message] | join(" ")'
}
# post KIND-PATH JSON [QUERY]
post() {
	api POST "$1${3:-}" -H "$JSON" -d "$2"
}

codes() {
	local out big rv

	post "$CMS" '{"metadata":{"name":"a"},"data":{"k":"v"}}' >/dev/null
	like "400: not JSON" "$(status POST "$CMS" -H "$JSON" -d '{"metadata":')" '^400 BadRequest '
	like "400: another kind" "$(status POST "$CMS" -H "$JSON" -d '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}')" '^400 BadRequest .*(does not match the expected|cannot be handled as a ConfigMap|Secret)'
	is "400: another namespace" "$(status POST "$CMS" -H "$JSON" -d '{"metadata":{"name":"x","namespace":"other"}}')" "400 BadRequest the namespace of the provided object does not match the namespace sent on the request"
	is "400: another name" "$(status PUT "$CMS/a" -H "$JSON" -d '{"metadata":{"name":"b"}}')" "400 BadRequest the name of the object (b) does not match the name on the URL (a)"
	like "400: a field that cannot be selected" "$(status GET "$CMS?fieldSelector=data.k%3Dv")" '^400 BadRequest .*field label not supported: data.k'
	like "400: a label selector that is none" "$(status GET "$CMS?labelSelector=a%20b%20c")" '^400 BadRequest '
	is "401: a bad token" "$(curl -sk -H 'Authorization: Bearer nonsense' "$URL/api/v1/pods" | field '[.code, .reason, .message] | join(" ")')" "401 Unauthorized Unauthorized"
	like "403: nobody" "$(curl -sk "$URL/api/v1/namespaces/default/pods/x" | field '[.code, .reason, .message] | join(" ")')" \
		'403 Forbidden pods "x" is forbidden: User "system:anonymous" cannot get resource "pods" in API group "" in the namespace "default"'
	like "403: at the cluster scope" "$(curl -sk "$URL/api/v1/nodes" | field .message)" \
		'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope'
	is "404: an object" "$(status GET "$CMS/none")" '404 NotFound configmaps "none" not found'
	is "404: an object of a group" "$(status GET "/apis/batch/v1/namespaces/$NS/jobs/none")" '404 NotFound jobs.batch "none" not found'
	is "404: details" "$(api GET "/apis/batch/v1/namespaces/$NS/jobs/none" | field '[.details.name, .details.group, .details.kind] | join(" ")')" "none batch jobs"
	is "404: a resource" "$(status GET "/api/v1/namespaces/$NS/nonsense")" "404 NotFound the server could not find the requested resource"
	is "404: a watch of a part" "$(api_code GET "/api/v1/watch/namespaces/$NS/configmaps/a/status" -m 3)" 404
	is "405: a watch by DELETE" "$(api_code DELETE "/api/v1/watch/namespaces/$NS/configmaps/a")" 405
	is "404: a group" "$(api_code GET /apis/nonsense.example/v1)" 404
	is "404: a path" "$(api_code GET /nonsense)" 404
	is "404: a namespace" "$(status POST /api/v1/namespaces/nowhere/configmaps -H "$JSON" -d '{"metadata":{"name":"x"}}')" '404 NotFound namespaces "nowhere" not found'
	is "405" "$(status PUT "$CMS" -H "$JSON" -d '{}')" "405 MethodNotAllowed the server does not allow this method on the requested resource"
	is "405: no verb for it" "$(api_code DELETE /api/v1/namespaces)" 405
	like "406" "$(status GET "$CMS" -H 'Accept: image/png')" '^406 NotAcceptable only the following media types are accepted: application/json'
	is "406: no table of a review" "$(api_code POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews -H "$JSON" -H 'Accept: application/json;as=Table;g=meta.k8s.io;v=v1' -d '{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}')" 406
	is "409: it is there" "$(status POST "$CMS" -H "$JSON" -d '{"metadata":{"name":"a"}}')" '409 AlreadyExists configmaps "a" already exists'
	is "409: it was changed" "$(status PUT "$CMS/a" -H "$JSON" -d '{"metadata":{"name":"a","resourceVersion":"1"}}')" '409 Conflict Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again'
	is "409: a patch of another revision" "$(status PATCH "$CMS/a" -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"resourceVersion":"1"},"data":{"x":"y"}}' | cut -d' ' -f1-2)" "409 Conflict"
	is "409: delete another uid" "$(status DELETE "$CMS/a" -H "$JSON" -d '{"preconditions":{"uid":"x"}}' | cut -d' ' -f1-2)" "409 Conflict"
	is "409: delete another revision" "$(api_code DELETE "$CMS/a" -H "$JSON" -d '{"preconditions":{"resourceVersion":"1"}}')" 409
	big=$T/big.json
	{ printf '{"metadata":{"name":"big"},"data":{"x":"'; head -c 4000000 /dev/zero | tr '\0' a; printf '"}}'; } >"$big"
	like "413" "$(status POST "$CMS" -H "$JSON" --data-binary @"$big" -H 'Expect:')" '^413 RequestEntityTooLarge '
	like "415: a body" "$(status POST "$CMS" -H 'Content-Type: text/csv' -d 'a,b')" '^415 UnsupportedMediaType the body of the request was in an unknown format - accepted media types include: application/json'
	like "415: a patch" "$(status PATCH "$CMS/a" -H "$JSON" -d '{}')" '^415 UnsupportedMediaType .*application/strategic-merge-patch\+json'
	out=$(post "/api/v1/namespaces/$NS/pods" '{"metadata":{"name":"bad"},"spec":{"containers":[{"name":"c"},{"name":"c","image":"x"}],"restartPolicy":"Sometimes"}}')
	like "422: every fault at once" "$(field .message <<<"$out")" '^Pod "bad" is invalid: \[.*spec.containers\[0\].image: Required value.*, .*\]$'
	is "422: as causes" "$(field '[.details.causes[] | .reason + " " + .field] | sort | join(",")' <<<"$out")" \
		"FieldValueDuplicate spec.containers[1].name,FieldValueNotSupported spec.restartPolicy,FieldValueRequired spec.containers[0].image"
	is "422: about the kind" "$(field '[.code, .reason, .details.kind, .details.name] | join(" ")' <<<"$out")" "422 Invalid Pod bad"
	is "422: an immutable field" "$(post "$CMS" '{"metadata":{"name":"im"},"immutable":true,"data":{"a":"b"}}' >/dev/null; api PATCH "$CMS/im" -H 'Content-Type: application/merge-patch+json' -d '{"data":{"a":"c"}}' | field '[.code, .details.causes[0].reason, .details.causes[0].field] | join(" ")')" "422 FieldValueForbidden data"
	post "/api/v1/namespaces/$NS/pods" '{"metadata":{"name":"p","labels":{"app":"p"}},"spec":{"schedulerName":"nobody","containers":[{"name":"c","image":"x:1"}]}}' >/dev/null
	like "422: a pod's spec" "$(status PATCH "/api/v1/namespaces/$NS/pods/p" -H 'Content-Type: application/merge-patch+json' -d '{"spec":{"hostname":"h"}}')" '^422 Invalid Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than'
	is "422: no such dry run" "$(status POST "$CMS?dryRun=Some" -H "$JSON" -d '{"metadata":{"name":"x"}}' | cut -d' ' -f1-2)" "422 Invalid"
	post "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets" '{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"p"}}}}' >/dev/null
	api PATCH "/api/v1/namespaces/$NS/pods/p/status" -H 'Content-Type: application/merge-patch+json' -d '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}' >/dev/null
	api PATCH "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets/b/status" -H 'Content-Type: application/merge-patch+json' -d '{"status":{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}' >/dev/null
	is "429: a budget forbids" "$(status POST "/api/v1/namespaces/$NS/pods/p/eviction" -H "$JSON" -d '{"metadata":{"name":"p"}}')" "429 TooManyRequests Cannot evict pod as it would violate the pod's disruption budget."
	api DELETE "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets/b" >/dev/null
	is "eviction: 201 Success" "$(api POST "/api/v1/namespaces/$NS/pods/p/eviction" -H "$JSON" -d '{"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"p"}}' -w '%{http_code}' | jq -s -r '(.[0].status) + (.[1] | tostring)')" Success201
	rv=$(api GET "$CMS" | field .metadata.resourceVersion)
	is "504: a revision to come" "$(status GET "$CMS?resourceVersion=$((rv + 1000))" | cut -d' ' -f1-2)" "504 Timeout"
	is "delete: the uid of what went" "$(out=$(api GET "$CMS/a" | field .metadata.uid); test "$(api DELETE "$CMS/a" | field .details.uid)" = "$out" && echo same)" same
}

types() {
	local out

	is "YAML in" "$(api POST "$CMS" -H 'Content-Type: application/yaml' --data-binary $'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\ndata:\n  flag: "yes"\n' | field .data.flag)" yes
	out=$(api GET "$CMS/yam" -H 'Accept: application/yaml' -D "$T/head")
	like "YAML out" "$out" '^  flag: "?yes"?$'
	like "and says so" "$(cat "$T/head")" '^[Cc]ontent-[Tt]ype: application/yaml'
	is "no content type is JSON" "$(curl -sS --unix-socket "$SOCKET" -X POST -H 'Content-Type:' -d '{"metadata":{"name":"none"}}' "http://localhost$CMS" | field .metadata.name)" none
	is "parameters are tolerated" "$(api POST "$CMS" -H 'Content-Type: application/json; charset=utf-8' -d '{"metadata":{"name":"par"}}' | field .metadata.name)" par
	is "the first type that can be served" "$(api GET "$CMS/yam" -H 'Accept: application/vnd.kubernetes.protobuf,application/json;q=0.5' | field .kind)" ConfigMap
	is "any type" "$(api GET "$CMS/yam" -H 'Accept: */*' | field .kind)" ConfigMap
	is "a table" "$(api GET "$CMS" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json' | field '.kind + .apiVersion + .rows[0].object.kind + (.rows[0].cells | length | tostring)')" "Tablemeta.k8s.io/v1PartialObjectMetadata3"
	is "a table with objects" "$(api GET "$CMS/yam?includeObject=Object" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' | field '.rows[0].object.data.flag')" yes
	is "a table without" "$(api GET "$CMS/yam?includeObject=None" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' | field '.rows[0].object')" null
	is "an old table" "$(api GET "$CMS/yam" -H 'Accept: application/json;as=Table;v=v1beta1;g=meta.k8s.io' | field .apiVersion)" meta.k8s.io/v1beta1
	is "metadata alone" "$(api GET "$CMS/yam" -H 'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' | field '.kind + .metadata.name + (.data | tostring)')" PartialObjectMetadatayamnull
	is "a list of metadata" "$(api GET "$CMS" -H 'Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' | field '.kind + .items[0].kind')" PartialObjectMetadataListPartialObjectMetadata
	is "indented for curl" "$(api GET "$CMS/yam" | wc -l | sed 's/^[1-9][0-9]*$/many/')" many
	is "on one line for programs" "$(api GET "$CMS/yam" -A prog | tr -cd '\n' | wc -c)" "$(api GET "$CMS/yam" -A prog | tail -c 1 | tr -cd '\n' | wc -c)"
	is "a list is never null" "$(api GET "/api/v1/namespaces/$NS/limitranges" | field '.items | type')" array
	is "items of built-in kinds have no kind" "$(api GET "$CMS" | field '.kind + (.items[0].kind | tostring)')" ConfigMapListnull
	like "nothing is cached" "$(api GET /version -i)" '[Cc]ache-[Cc]ontrol: no-cache, private'
	is "slashes at the end" "$(for p in /version/ /api/ /apis/ /apis/batch/ /api/v1/; do api_code GET $p; done)" 200200200200200
	is "/version has all nine" "$(api GET /version | field '[.major, .minor, .gitVersion, .gitCommit, .gitTreeState, .buildDate, .goVersion, .compiler, .platform] | map(strings) | length')" 9
	is "HEAD has no body" "$(curl -sS -I --unix-socket "$SOCKET" "http://localhost$CMS/yam" -o /dev/null -w '%{http_code} %{size_download}')" "200 0"
	is "aggregated discovery" "$(api GET /apis -H 'Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' | field .kind)" APIGroupDiscoveryList
	is "OpenAPI v2 has an ETag" "$(tag=$(api GET /openapi/v2 -D - -o /dev/null | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p'); api_code GET /openapi/v2 -H "If-None-Match: $tag")" 304
	is "OpenAPI v3 is an index" "$(api GET /openapi/v3 | field '.paths | has("apis/batch/v1")')" true
}

writing() {
	local out

	out=$(post "$CMS" '{"metadata":{"name":"dry"},"data":{"a":"b"}}' '?dryRun=All')
	is "a dry run answers as if" "$(field '.metadata.uid | type' <<<"$out")" string
	is "and keeps nothing" "$(api_code GET "$CMS/dry")" 404
	out=$(api GET "$CMS/yam" | field .metadata.resourceVersion)
	api PATCH "$CMS/yam?dryRun=All" -H 'Content-Type: application/merge-patch+json' -d '{"data":{"flag":"no"}}' >/dev/null
	api DELETE "$CMS/yam?dryRun=All" >/dev/null
	is "dry changes and deletions neither" "$(api GET "$CMS/yam" | field .metadata.resourceVersion)" "$out"
	is "a change that is none makes no revision" "$(api PATCH "$CMS/yam" -H 'Content-Type: application/merge-patch+json' -d '{"data":{"flag":"yes"}}' | field .metadata.resourceVersion)" "$out"
	api POST "$CMS" -H "$JSON" -d '{"metadata":{"name":"w1"},"datta":{"a":"b"}}' -D "$T/head" -o /dev/null
	like "an unknown field is warned of" "$(cat "$T/head")" 'Warning: 299 - "unknown field \\"datta\\""'
	api POST "$CMS" -H "$JSON" -d '{"metadata":{"name":"w2"},"data":{"a":"b","a":"c"}}' -D "$T/head" -o /dev/null
	like "a field given twice too" "$(cat "$T/head")" 'Warning: 299 - "duplicate field \\"data.a\\""'
	api POST "$CMS?fieldValidation=Ignore" -H "$JSON" -d '{"metadata":{"name":"w3"},"datta":{"a":"b"}}' -D "$T/head" -o /dev/null
	unlike "Ignore is silent" "$(cat "$T/head")" Warning
	is "Strict refuses" "$(status POST "/apis/batch/v1/namespaces/$NS/jobs?fieldValidation=Strict" -H "$JSON" -d '{"metadata":{"name":"j"},"spec":{"foo":1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x","bar":2}]}}}}')" \
		'400 BadRequest Job in version "v1" cannot be handled as a Job: strict decoding error: unknown field "spec.foo", unknown field "spec.template.spec.containers[0].bar"'
	is "another validation is refused" "$(api_code POST "$CMS?fieldValidation=Maybe" -H "$JSON" -d '{"metadata":{"name":"x"}}')" 422
	like "generateName" "$(post "$CMS" '{"metadata":{"generateName":"g-"}}' | field '.metadata.name + " " + .metadata.generateName')" '^g-[bcdfghjklmnpqrstvwxz2456789]{5} g-$'
	is "server-owned metadata is not taken over" "$(post "$CMS" '{"metadata":{"name":"own","uid":"mine","creationTimestamp":"2001-01-01T00:00:00Z","selfLink":"/x","generation":7,"deletionTimestamp":"2001-01-01T00:00:00Z"}}' | field '.metadata | (.uid == "mine") or (.creationTimestamp | startswith("2001")) or has("selfLink") or has("deletionTimestamp")')" false
	is "a status is not taken on create" "$(post "/api/v1/namespaces/$NS/pods" '{"metadata":{"name":"st"},"spec":{"schedulerName":"nobody","containers":[{"name":"c","image":"x"}]},"status":{"phase":"Running"}}' | field .status.phase)" Pending
	is "PUT makes what may be made so" "$(api_code PUT "/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/roles/r" -H "$JSON" -d '{"metadata":{"name":"r"},"rules":[]}')" 201
	is "and nothing else" "$(api_code PUT "$CMS/new" -H "$JSON" -d '{"metadata":{"name":"new"}}')" 404
	is "a Lease needs its revision" "$(post "/apis/coordination.k8s.io/v1/namespaces/$NS/leases" '{"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}}' >/dev/null; api_code PUT "/apis/coordination.k8s.io/v1/namespaces/$NS/leases/l" -H "$JSON" -d '{"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}}')" 422
	is "deletecollection by selector" "$(post "$CMS" '{"metadata":{"name":"d1","labels":{"x":"1"}}}' >/dev/null; post "$CMS" '{"metadata":{"name":"d2"}}' >/dev/null; api_code DELETE "$CMS?labelSelector=x%3D1") $(api_code GET "$CMS/d1") $(api_code GET "$CMS/d2")" "200 404 200"
	is "a Job without a policy is orphaned" "$(post "/apis/batch/v1/namespaces/$NS/jobs" '{"metadata":{"name":"oj"},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}}' >/dev/null; api DELETE "/apis/batch/v1/namespaces/$NS/jobs/oj" | field '.metadata.finalizers // .status')" '["orphan"]'
}

versions() {
	local out

	post "/api/v1/namespaces/$NS/events" '{"metadata":{"name":"e1"},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},"reason":"R","message":"M","type":"Normal","source":{"component":"c","host":"h"},"count":2,"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:01:00Z"}' >/dev/null
	out=$(api GET "/apis/events.k8s.io/v1/namespaces/$NS/events/e1")
	is "a core event in events.k8s.io" "$(field '[.apiVersion, .note, .regarding.name, .deprecatedCount, .deprecatedSource.component, .deprecatedFirstTimestamp] | join(" ")' <<<"$out")" "events.k8s.io/v1 M p 2 c 2026-01-01T00:00:00Z"
	post "/apis/events.k8s.io/v1/namespaces/$NS/events" '{"metadata":{"name":"e2"},"eventTime":"2026-01-01T00:00:00.000000Z","regarding":{"kind":"Pod","name":"q","namespace":"default"},"reason":"R2","note":"N","type":"Warning","action":"Do","reportingController":"x.example/y","reportingInstance":"i"}' >/dev/null
	out=$(api GET "/api/v1/namespaces/$NS/events/e2")
	is "and the other way" "$(field '[.apiVersion, .message, .involvedObject.name, .reportingComponent, .reportingInstance, .action] | join(" ")' <<<"$out")" "v1 N q x.example/y i Do"
	is "regarding selects" "$(api GET "/apis/events.k8s.io/v1/namespaces/$NS/events?fieldSelector=regarding.name%3Dq" | field '.items[] | .metadata.name')" e2
	is "involvedObject selects the same" "$(api GET "/api/v1/namespaces/$NS/events?fieldSelector=involvedObject.name%3Dq" | field '.items[] | .metadata.name')" e2
	is "both are watched" "$(curl -sS --unix-socket "$SOCKET" "http://localhost/apis/events.k8s.io/v1/namespaces/$NS/events?watch=1&timeoutSeconds=1" | jq -rc 'select(.object.regarding.kind == "Pod") | .object.apiVersion + .object.note' | sort | tr '\n' ' ')" "events.k8s.io/v1M events.k8s.io/v1N "
	out='{"metadata":{"name":"cj"},"spec":{"schedule":"@daily","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}}}}'
	is "a cron job by the old version" "$(post "/apis/batch/v1beta1/namespaces/$NS/cronjobs" "$out" | field .apiVersion)" batch/v1beta1
	is "is one by the new" "$(api GET "/apis/batch/v1/namespaces/$NS/cronjobs/cj" | field '.apiVersion + .spec.schedule')" batch/v1@daily
	is "changed by the new, seen by the old" "$(api PATCH "/apis/batch/v1/namespaces/$NS/cronjobs/cj" -H 'Content-Type: application/strategic-merge-patch+json' -d '{"spec":{"suspend":true}}' >/dev/null; api GET "/apis/batch/v1beta1/namespaces/$NS/cronjobs/cj" | field '.apiVersion + (.spec.suspend | tostring)')" batch/v1beta1true
	out='{"metadata":{"name":"old"},"spec":{"rules":[{"host":"a.b","http":{"paths":[{"path":"/","backend":{"serviceName":"s","servicePort":80}}]}}]}}'
	is "an ingress in the form of old clients" "$(post "/apis/extensions/v1beta1/namespaces/$NS/ingresses" "$out" | field '.spec.rules[0].http.paths[0] | .pathType + .backend.serviceName + (.backend.servicePort | tostring)')" ImplementationSpecifics80
	is "is one of today's" "$(api GET "/apis/networking.k8s.io/v1/namespaces/$NS/ingresses/old" | field '.apiVersion + .spec.rules[0].http.paths[0].backend.service.name')" networking.k8s.io/v1s
	is "lists name their version" "$(api GET "/apis/batch/v1beta1/namespaces/$NS/cronjobs" | field '.apiVersion + .kind')" batch/v1beta1CronJobList
}

codes
types
writing
versions
# A long list is streamed; asked for by HEAD it has no bytes to wait for, and the connection is free for the next request.
heads() {
	local i value

	value=$(head -c 100000 /dev/zero | tr '\0' a)
	for i in 1 2 3 4 5 6; do
		printf '{"metadata":{"name":"long-%s"},"data":{"x":"%s"}}' "$i" "$value" >"$T/long.json"
		api POST "$CMS" -H "$JSON" --data-binary @"$T/long.json" -o /dev/null
	done
	is "HEAD of a long list leaves the connection free" "$(curl -s -m 10 --unix-socket "$SOCKET" -A test -I -o /dev/null \
		-w '%{http_code} ' "http://localhost$CMS" --next -s -m 10 --unix-socket "$SOCKET" -o /dev/null \
		-w '%{http_code} %{num_connects}' http://localhost/healthz)" "200 200 0"
}
heads

done_testing

#!/bin/bash
# Lists and watches as a client library uses them: resuming, bookmarks, selectors, paging at one revision, the past that
# is no longer there.  Of secrets, as every namespace has a ConfigMap that comes by itself.
. "$(dirname "$0")/lib.sh"
server_start main
NS=default
SECRETS=/api/v1/namespaces/$NS/secrets

put() { # NAME LABELS VALUE: create or change
	local body="{\"metadata\":{\"name\":\"$1\",\"labels\":{$2}},\"stringData\":{\"v\":\"$3\"}}"

	if [ "$(api_code GET "$SECRETS/$1")" = 404 ]; then
		api POST "$SECRETS" -H 'Content-Type: application/json' -d "$body" | field .metadata.resourceVersion
	else
		api PUT "$SECRETS/$1" -H 'Content-Type: application/json' -d "$body" | field .metadata.resourceVersion
	fi
}
del() {
	api DELETE "$SECRETS/$1" -o /dev/null
}
# watch QUERY [PATH]: until its own timeoutSeconds; one JSON line an event
watch() {
	curl -sS --max-time 20 --unix-socket "$SOCKET" -A test -N "http://localhost${2:-$SECRETS}?watch=1&$1"
}
# live FILE QUERY [PATH]: a watch in the background, for stop_live to end
live() {
	curl -sS --max-time 30 --unix-socket "$SOCKET" -A test -N "http://localhost${3:-$SECRETS}?watch=1&timeoutSeconds=30&$2" >"$1" &
	LIVE=$!
	PIDS+=("$LIVE")
}
# stop_live FILE N: once it has shown N events
stop_live() {
	eventually 10 sh -c "test \$(wc -l <'$1') -ge $2"
	sleep 0.2 # for one too many
	kill "$LIVE"
	wait "$LIVE" 2>/dev/null
}
# names of the events, as TYPE:NAME:VALUE
events() {
	jq -rc '.type + ":" + (.object.metadata.name // "") + ":" + (.object.data.v // "" | @base64d)' | tr '\n' ' '
}

resuming() {
	local rv rv1 rv2 out pid

	rv=$(api GET "$SECRETS" | field .metadata.resourceVersion)
	rv1=$(put a '"team":"red"' 1)
	rv2=$(put a '"team":"red"' 2)
	put b '"team":"blue"' 1 >/dev/null
	del b
	is "revisions grow" "$((rv1 > rv && rv2 > rv1))" 1
	is "a watch from a revision replays what came after" "$(watch "resourceVersion=$rv&timeoutSeconds=1" | events)" "ADDED:a:1 MODIFIED:a:2 ADDED:b:1 DELETED:b:1 "
	is "a watch from a later one replays less" "$(watch "resourceVersion=$rv2&timeoutSeconds=1" | events)" "ADDED:b:1 DELETED:b:1 "
	out=$(watch "resourceVersion=$rv2&timeoutSeconds=1" | jq -rc '.object | [.kind, .apiVersion] | join(" ")' | sort -u)
	is "objects carry their kind" "$out" "Secret v1"
	out=$(watch "resourceVersion=$rv2&timeoutSeconds=1" | jq -rc 'select(.type == "DELETED").object.metadata.resourceVersion')
	ok "DELETED carries the revision of the deletion" test "$out" -gt "$((rv2 + 1))"
	is "a watch from nothing begins with what is there" "$(watch 'timeoutSeconds=1' | events)" "ADDED:a:2 "
	is "a watch from 0 too" "$(watch 'resourceVersion=0&timeoutSeconds=1' | events)" "ADDED:a:2 "
	is "a watch of one object" "$(watch 'fieldSelector=metadata.name%3Da&timeoutSeconds=1' | events)" "ADDED:a:2 "
	is "a watch from the future waits" "$(watch "resourceVersion=$((rv2 + 100000))&timeoutSeconds=1" | events)" ""
	is "the old form of a watch" "$(curl -sS --unix-socket "$SOCKET" "http://localhost/api/v1/watch/namespaces/$NS/secrets?timeoutSeconds=1" | events)" "ADDED:a:2 "
	is "True is true" "$(curl -sS --unix-socket "$SOCKET" "http://localhost$SECRETS?watch=True&timeoutSeconds=1" | events)" "ADDED:a:2 "

	watch "resourceVersion=$rv2&timeoutSeconds=600" >"$T/live" &
	pid=$!
	curl -sS --cacert "$T/ca" -H "Authorization: Bearer $TOKEN" -N "$URL$SECRETS?watch=1&resourceVersion=$rv2&timeoutSeconds=600" >"$T/live-tls" &
	PIDS+=($pid $!)
	put a '"team":"red"' 3 >/dev/null
	ok "events arrive while it goes on" eventually 60 grep -q '"v":"Mw=="' "$T/live"
	ok "over TLS too" eventually 60 grep -q '"v":"Mw=="' "$T/live-tls"
	kill "$pid" $!
	is "the stream is the same" "$(events <"$T/live-tls")" "$(events <"$T/live")"
}

selecting() {
	live "$T/red" 'labelSelector=team%3Dred'
	eventually 10 test -s "$T/red"
	put c '"team":"blue"' 1 >/dev/null
	put c '"team":"red"' 2 >/dev/null
	put c '"team":"red"' 3 >/dev/null
	put c '"team":"blue"' 4 >/dev/null
	put c '"team":"red"' 5 >/dev/null
	del c
	stop_live "$T/red" 6
	is "an object enters, changes, leaves as it last matched, enters and goes" "$(events <"$T/red")" "ADDED:a:3 ADDED:c:2 MODIFIED:c:3 DELETED:c:3 ADDED:c:5 DELETED:c:5 "
	api POST "/api/v1/namespaces/$NS/pods" -H 'Content-Type: application/json' -o /dev/null \
		-d '{"metadata":{"name":"p"},"spec":{"schedulerName":"nobody","containers":[{"name":"c","image":"x"}]}}'
	live "$T/pending" 'fieldSelector=status.phase%3DPending' "/api/v1/namespaces/$NS/pods"
	eventually 10 test -s "$T/pending"
	api PATCH "/api/v1/namespaces/$NS/pods/p/status" -H 'Content-Type: application/merge-patch+json' -d '{"status":{"phase":"Running"}}' -o /dev/null
	stop_live "$T/pending" 2
	is "an object leaves a field selector" "$(jq -rc '.type + .object.status.phase' <"$T/pending" | tr '\n' ' ')" "ADDEDPending DELETEDPending "
	api DELETE "/api/v1/namespaces/$NS/pods/p?gracePeriodSeconds=0" -o /dev/null
	is "all namespaces are watched at once" "$(watch 'fieldSelector=metadata.name%3Da&timeoutSeconds=1' /api/v1/secrets | events)" "ADDED:a:3 "
}

marking() {
	local out rv

	rv=$(api GET "$SECRETS" | field .metadata.resourceVersion)
	out=$(watch "resourceVersion=$rv&allowWatchBookmarks=true&timeoutSeconds=3")
	is "a bookmark comes before the end" "$(jq -rc 'select(.type == "BOOKMARK").object | .kind + .apiVersion' <<<"$out" | tail -1)" Secretv1
	ok "it carries a revision" test "$(jq -rc 'select(.type == "BOOKMARK").object.metadata.resourceVersion' <<<"$out" | tail -1)" -ge "$rv"
	is "none comes unasked" "$(watch "resourceVersion=$rv&timeoutSeconds=3" | grep -c BOOKMARK)" 0
	out=$(watch 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1')
	is "initial events, then their end" "$(jq -rc '.type + (.object.metadata.annotations["k8s.io/initial-events-end"] // "")' <<<"$out" | head -2 | tr '\n' ' ')" "ADDED BOOKMARKtrue "
	is "sendInitialEvents needs the match" "$(api GET "$SECRETS?watch=1&sendInitialEvents=true&timeoutSeconds=1" | field '.code, .reason' | tr '\n' ' ')" "422 Invalid "
	is "resourceVersionMatch is forbidden on other watches" "$(api_code GET "$SECRETS?watch=1&resourceVersionMatch=Exact&resourceVersion=1&timeoutSeconds=1")" 422
	out=$(curl -sS --unix-socket "$SOCKET" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' "http://localhost$SECRETS?watch=1&timeoutSeconds=1")
	is "tables are watched" "$(jq -rc '.type + .object.kind + .object.rows[0].cells[0] + (.object.columnDefinitions | length | tostring)' <<<"$out" | head -1)" ADDEDTablea4
	put t '' 1 >/dev/null
	out=$(curl -sS --unix-socket "$SOCKET" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' "http://localhost$SECRETS?watch=1&timeoutSeconds=1")
	is "columns come once" "$(jq -rc '(.object.columnDefinitions // []) | length' <<<"$out" | tr '\n' ' ')" "4 0 "
	out=$(curl -sS --unix-socket "$SOCKET" -H 'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' "http://localhost$SECRETS?watch=1&timeoutSeconds=1" | head -1)
	is "metadata alone is watched" "$(field '.object | .kind + .metadata.name + (.data | tostring)' <<<"$out")" PartialObjectMetadataanull
	del t
}

paging() {
	local page rv token names=

	api POST /api/v1/namespaces -H 'Content-Type: application/json' -d '{"metadata":{"name":"paged"}}' -o /dev/null
	SECRETS=/api/v1/namespaces/paged/secrets
	for n in 1 2 3 4 5 6 7; do
		put "p$n" '"x":"y"' 1 >/dev/null
	done
	page=$(api GET "$SECRETS?limit=3")
	rv=$(field .metadata.resourceVersion <<<"$page")
	is "a page has as many as asked" "$(field '.items | length' <<<"$page")" 3
	is "and says how many are left" "$(field .metadata.remainingItemCount <<<"$page")" 4
	is "but not with a selector" "$(api GET "$SECRETS?limit=3&labelSelector=x%3Dy" | field .metadata.remainingItemCount)" null
	token=$(field .metadata.continue <<<"$page")
	del p5
	put p4 '' changed >/dev/null
	put p8 '' new >/dev/null
	while [ "$token" != null ]; do
		page=$(api GET "$SECRETS?limit=3&continue=$token")
		names+=$(field '.items[] | .metadata.name + (.data.v | @base64d)' <<<"$page" | tr '\n' ' ')
		is "every page is of one revision" "$(field .metadata.resourceVersion <<<"$page")" "$rv"
		token=$(field '.metadata.continue // "null"' <<<"$page")
	done
	is "pages show the past, whatever was written since" "$names" "p41 p51 p61 p71 "
	is "a list of now shows now" "$(api GET "$SECRETS" | field '.items[] | .metadata.name' | tr '\n' ' ')" "p1 p2 p3 p4 p6 p7 p8 "
	is "a token that is none" "$(api GET "$SECRETS?limit=1&continue=nonsense" | field '.code, .reason' | tr '\n' ' ')" "400 BadRequest "
	is "exactly that revision" "$(api GET "$SECRETS?resourceVersion=$rv&resourceVersionMatch=Exact" | field '.items[] | .metadata.name' | tr '\n' ' ')" "p1 p2 p3 p4 p5 p6 p7 "
	is "not older than that revision" "$(api GET "$SECRETS?resourceVersion=$rv&resourceVersionMatch=NotOlderThan" | field '.items | length')" 7
	is "a match needs a revision" "$(api_code GET "$SECRETS?resourceVersionMatch=Exact")" 422
	is "a revision to come" "$(api GET "$SECRETS?resourceVersion=$((rv + 100000))" | field '[.code, .reason, .details.causes[0].reason, .details.retryAfterSeconds] | join(" ")')" "504 Timeout ResourceVersionTooLarge 1"
	like "a revision that is no number" "$(api GET "$SECRETS?resourceVersion=x" | field '.message')" 'invalid|Invalid'
	is "one object at a revision to come" "$(api_code GET "$SECRETS/p1?resourceVersion=$((rv + 100000))")" 504
	SECRETS=/api/v1/namespaces/$NS/secrets
}

forgetting() {
	local rv i out token first

	server_stop
	server_start short --history 1s
	rv=$(api GET "$SECRETS" | field .metadata.resourceVersion)
	put a '' 0 >/dev/null
	put b '' 0 >/dev/null
	token=$(api GET "$SECRETS?limit=1" | field .metadata.continue)
	first=$(api GET "$SECRETS" | field .metadata.resourceVersion)
	for ((i = 0; i < 60; i++)); do
		put a '' "$i" >/dev/null
		[ $i -gt 4 ] && [ "$(api_code GET "$SECRETS?resourceVersion=$first&resourceVersionMatch=Exact")" = 410 ] && break
		sleep 0.1
	done
	out=$(watch "resourceVersion=$rv&timeoutSeconds=1")
	is "a watch from too long ago" "$(field '[.type, .object.kind, .object.code, .object.reason] | join(" ")' <<<"$out")" "ERROR Status 410 Expired"
	like "says how old" "$(field .object.message <<<"$out")" '^too old resource version: [0-9]+ \([0-9]+\)$'
	is "an exact list from too long ago" "$(api GET "$SECRETS?resourceVersion=$first&resourceVersionMatch=Exact" | field '[.code, .reason] | join(" ")')" "410 Expired"
	out=$(api GET "$SECRETS?limit=1&continue=$token")
	is "a page from too long ago" "$(field '[.code, .reason] | join(" ")' <<<"$out")" "410 Expired"
	like "says what to do" "$(field .message <<<"$out")" '[Tt]he provided continue parameter is too old'
	is "a watch from now goes on" "$(watch 'resourceVersion=0&timeoutSeconds=1' | jq -rc .type | sort -u)" ADDED
}

TOKEN=$("$STOKER" token create --user root --group system:masters --socket "$SOCKET" | tail -1)
sed -n 's/.*certificate-authority-data: *//p' "$KUBECONFIG" | tr -d '" ' | base64 -d >"$T/ca"
resuming
selecting
marking
paging
forgetting
done_testing

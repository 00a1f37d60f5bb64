#!/bin/bash
# Every way kubectl prints objects: output forms, selectors, sorting, all namespaces, watching; and describe.
. "$(dirname "$0")/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
server_start main

fixtures() {
	k create configmap conf --from-literal=a=1 --from-literal=b=two >/dev/null
	k label configmap conf team=red >/dev/null
	k create secret generic hidden --from-literal=password=pa55w0rd >/dev/null
	k create -f "$HERE/manifests/pod.yaml" -f "$HERE/manifests/deployment.yaml" -f "$HERE/manifests/job.yaml" >/dev/null
	sed -e 's/name: p$/name: q/' -e 's/tier: front/tier: back/' "$HERE/manifests/pod.yaml" | k create -f - >/dev/null
	k create service clusterip svc --tcp=80:8080 >/dev/null
	k create quota team --hard=pods=10,requests.cpu=2 >/dev/null
	k create serviceaccount bot >/dev/null
}

printing() {
	local out

	out=$(k get pods)
	like "$V: pods have their columns" "$out" '^NAME +READY +STATUS +RESTARTS +AGE'
	like "$V: a pod's row" "$out" '^p +0/1 +Pending +0 +[0-9]+s'
	like "$V: -o wide adds columns" "$(k get pods -o wide | head -1)" 'IP +NODE +NOMINATED NODE +READINESS GATES'
	like "$V: -o wide fills them" "$(k get pod p -o wide)" '<none> +<none> +<none> +<none>'
	like "$V: --show-labels" "$(k get pod p --show-labels)" 'app=p,tier=front'
	like "$V: -L adds a label column" "$(k get pods -L tier)" '^p .*front'
	is "$V: --no-headers" "$(k get pods --no-headers | wc -l)" 2
	is "$V: -o name" "$(k get pods -o name | tr '\n' ' ')" "pod/p pod/q "
	is "$V: -o json" "$(k get pod p -o json | field '.kind + .metadata.name + .spec.containers[0].image')" Podpregistry.example/main:1
	is "$V: -o json of a list" "$(k get pods -o json | field '.kind + (.items|length|tostring) + .items[1].kind')" List2Pod
	like "$V: -o yaml" "$(k get cm conf -o yaml)" '^  b: two$'
	is "$V: -o jsonpath" "$(k get pods -o 'jsonpath={range .items[*]}{.metadata.name}:{.spec.containers[0].ports[0].containerPort};{end}')" "p:8080;q:8080;"
	is "$V: -o jsonpath with a filter" "$(k get pods -o 'jsonpath={.items[?(@.metadata.labels.tier=="back")].metadata.name}')" q
	is "$V: -o custom-columns" "$(k get pods -o custom-columns=N:.metadata.name,I:.spec.containers[*].image --no-headers | tr -s ' ' | tr '\n' ';')" \
		"p registry.example/main:1;q registry.example/main:1;"
	is "$V: -o go-template" "$(k get cm conf -o 'go-template={{.data.a}}')" 1
	like "$V: deployments" "$(k get deploy web -o wide)" '^web +0/0 +0 +0 +[0-9]+s +web,side +registry.example/web:1,registry.example/side:1 +app=web'
	like "$V: jobs" "$(k get jobs)" '^train +([A-Za-z]+ +)?0/1 '
	like "$V: services" "$(k get svc svc)" '^svc +ClusterIP +10\.[0-9.]+ +<none> +80/TCP'
	like "$V: configmaps count their data" "$(k get cm conf)" '^conf +2 '
	like "$V: secrets" "$(k get secret hidden)" '^hidden +Opaque +1 '
	like "$V: quotas" "$(k get quota team)" '^team +[0-9]+s'
	like "$V: several kinds at once" "$(k get cm/conf secret/hidden)" '^secret/hidden +Opaque'
	like "$V: kinds by comma" "$(k get po,svc --no-headers)" '^service/svc '
	like "$V: get all" "$(k get all)" '^deployment.apps/web '
	like "$V: get all has jobs" "$(k get all)" '^job.batch/train '
	like "$V: -A has the namespace column" "$(k get pods -A)" "^NAMESPACE +NAME"
	like "$V: -A finds every namespace's" "$(k get sa -A)" "^$NS +bot "
	is "$V: -f shows what a file names" "$(k get -f "$HERE/manifests/pod.yaml" -o name)" pod/p
	like "$V: one that is not there" "$(k get pod none)" 'Error from server \(NotFound\): pods "none" not found'
	is "$V: --ignore-not-found" "$(k get pod none --ignore-not-found)" ""
	like "$V: no such type" "$(k get nonsense)" "the server doesn't have a resource type \"nonsense\""
	like "$V: nothing to show" "$(k get hpa)" "No resources found in $NS namespace"
	is "$V: the short name with its group" "$(k get deployments.v1.apps web -o name)" deployment.apps/web
	is "$V: --sort-by" "$(k get pods --sort-by=.metadata.labels.tier -o name | tr '\n' ' ')" "pod/q pod/p "
	is "$V: --sort-by of the table" "$(k get pods --sort-by=.metadata.labels.tier --no-headers | cut -c1 | tr -d '\n')" qp
	is "$V: -l equality" "$(k get pods -l tier=front -o name)" pod/p
	is "$V: -l inequality" "$(k get pods -l tier!=front -o name)" pod/q
	is "$V: -l in a set" "$(k get pods -l 'tier in (back, other),app' -o name)" pod/q
	is "$V: -l absence" "$(k get pods -l '!tier' -o name)" ""
	is "$V: --field-selector by name" "$(k get pods --field-selector metadata.name!=p -o name)" pod/q
	is "$V: --field-selector by phase" "$(k get pods --field-selector status.phase=Pending,spec.restartPolicy=Always -o name | wc -l)" 2
	is "$V: --field-selector of secrets" "$(k get secrets --field-selector type=Opaque -o name)" secret/hidden
	like "$V: --field-selector refuses what is no field" "$(k get pods --field-selector spec.nonsense=1)" 'field label not supported: spec.nonsense'
	is "$V: --chunk-size pages through everything" "$(k get cm,sa,secret,pod --chunk-size=1 -o name | wc -l)" \
		"$(k get cm,sa,secret,pod --chunk-size=0 -o name | wc -l)"
	if [ "$V" = new ]; then
		is "new: --subresource=scale" "$(k get deploy web --subresource=scale -o jsonpath='{.kind}{.spec.replicas}')" Scale0
		like "new: --subresource=status as a table" "$(k get deploy web --subresource=status)" '^web +0/0'
	fi
}

watching() {
	local pid

	k create -f - >/dev/null <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"before","labels":{"w":"1"}}}'
	"$K" -n "$NS" get cm -w -l w=1 --no-headers >"$T/watch-$V" 2>&1 &
	pid=$!
	PIDS+=("$pid")
	# Once it has listed, it misses nothing.
	ok "$V: get -w lists first" eventually 10 grep -q '^before' "$T/watch-$V"
	k create cm watched --from-literal=x=1 >/dev/null
	k label cm watched w=1 >/dev/null
	k patch cm watched -p '{"data":{"y":"2"}}' >/dev/null
	k label cm watched w- >/dev/null
	eventually 10 sh -c "test \$(grep -c '^watched' '$T/watch-$V') -ge 3"
	is "$V: get -w prints a line a change, also when it leaves" "$(awk '/^watched/ { print $1, $2 }' "$T/watch-$V" | tr '\n' ';')" "watched 1;watched 2;watched 2;"
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	"$K" -n "$NS" get cm watched --watch-only -o 'jsonpath={.data.z};' >"$T/one-$V" 2>&1 &
	pid=$!
	PIDS+=("$pid")
	# Nobody sees when it has begun to watch: there is one change after the other until it has.
	local n=0
	changes() { n=$((n + 1)) && k patch cm watched -p "{\"data\":{\"z\":\"9\",\"n\":\"$n\"}}" && sleep 0.1 && grep -q '9;' "$T/one-$V"; }
	ok "$V: get NAME --watch-only prints the change" eventually 60 changes
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	like "$V: --request-timeout ends a watch" "$(timeout 60 "$K" -n "$NS" get cm -w --request-timeout=5s 2>&1)" '^watched'
}

# kubectl asks for 500 at a time.
paging() {
	local i

	for ((i = 1; i <= 1100; i++)); do
		printf 'url = "http://localhost/api/v1/namespaces/%s/configmaps"\nunix-socket = "%s"\nheader = "Content-Type: application/json"\noutput = /dev/null\nsilent\ndata = "{\\"metadata\\":{\\"name\\":\\"n%s\\",\\"labels\\":{\\"many\\":\\"1\\"}}}"\nnext\n' "$NS" "$SOCKET" $i
	done | sed '$d' >"$T/many"
	curl -K "$T/many"
	is "$V: three pages make one list" "$(k get cm -l many -o name | sort -u | wc -l)" 1100
	is "$V: and one table" "$(k get cm -l many --no-headers | wc -l)" 1100
	api DELETE "/api/v1/namespaces/$NS/configmaps?labelSelector=many" -o /dev/null
	is "$V: one request deletes them" "$(k get cm -l many -o name | wc -l)" 0
}

each() {
	fixtures
	printing
	watching
	paging
}
each_kubectl each
done_testing

#!/bin/bash
# Every way kubectl makes an object, with the object read back: files, standard input, the create nouns, run, expose.
. "$(dirname "$0")/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
server_start main

from_files() {
	local dir=$T/dir-$V

	is "$V: create -f" "$(k create -f "$HERE/manifests/pod.yaml")" "pod/p created"
	is "$V: create -f with several documents" "$(k create -f "$HERE/manifests/multi.yaml" | tr '\n' ';')" \
		"configmap/m1 created;secret/m2 created;serviceaccount/m3 created;service/m4 created;"
	is "$V: stringData becomes data" "$(get secret m2 .data.password | base64 -d)" pa55
	is "$V: a List's items are made" "$(get svc m4 '.spec.ports[0].targetPort')" http
	is "$V: create from standard input" "$(echo '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"in"},"data":{"k":"v"}}' | k create -f -)" "configmap/in created"
	mkdir -p "$dir"
	for n in a b; do
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dir-%s}\n' $n >"$dir/$n.yaml"
	done
	is "$V: create -f of a directory" "$(k create -f "$dir" | tr '\n' ';')" "configmap/dir-a created;configmap/dir-b created;"
	like "$V: create twice" "$(k create -f "$HERE/manifests/pod.yaml")" 'Error from server \(AlreadyExists\).*pods "p" already exists'
	like "$V: generateName" "$(echo '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"generateName":"gen-"}}' | k create -f -)" '^configmap/gen-[bcdfghjklmnpqrstvwxz2456789]{5} created$'
	is "$V: --save-config" "$(k create cm saved --from-literal=a=1 --save-config -o 'jsonpath={.metadata.annotations.kubectl\.kubernetes\.io/last-applied-configuration}' | field .data.a)" 1
	is "$V: --dry-run=server answers with defaults" "$(k create --dry-run=server -f "$HERE/manifests/job.yaml" -o 'jsonpath={.spec.completions}{.metadata.uid}' | cut -c1)" 1
	like "$V: --dry-run=server keeps nothing" "$(k get job train)" NotFound
	is "$V: -o name" "$(k create cm named -o name)" configmap/named
	like "$V: a bad manifest" "$(echo '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"bad"},"spec":{"containers":[{"name":"c","imagee":"x"}]}}' | k create -f -)" \
		'unknown field .*imagee'
	like "$V: an invalid object" "$(echo '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"Bad_"},"spec":{"containers":[{"name":"c","image":"x"}]}}' | k create -f -)" \
		'The Pod "Bad_" is invalid: metadata.name: Invalid value: "Bad_"'
	like "$V: a namespace that is not there" "$("$K" -n nowhere create cm x 2>&1)" 'namespaces "nowhere" not found'
	echo fromfile >"$T/key-$V"
	k create cm files --from-file="$T/key-$V" --from-file=other="$T/key-$V" >/dev/null
	is "$V: create cm --from-file" "$(get cm files ".data.key-$V") $(get cm files .data.other)" "fromfile fromfile"
	printf 'A=1\nB=two words\n' >"$T/env-$V"
	k create cm env --from-env-file="$T/env-$V" >/dev/null
	is "$V: create cm --from-env-file" "$(get cm env .data.B)" "two words"
	printf '\377\000binary' >"$T/bin-$V"
	k create cm binary --from-file=bin="$T/bin-$V" >/dev/null
	is "$V: binary files land in binaryData" "$(get cm binary .binaryData.bin | base64 -d | od -An -tx1 | tr -d ' \n')" ff0062696e617279
}

nouns() {
	k create ns "extra-$V" >/dev/null
	is "$V: create ns" "$("$K" get ns "extra-$V" -o 'jsonpath={.status.phase} {.spec.finalizers[0]} {.metadata.labels.kubernetes\.io/metadata\.name}')" "Active kubernetes extra-$V"
	k create secret generic s1 --from-literal=a=x --type=example.org/special >/dev/null
	is "$V: create secret generic" "$(get secret s1 .type) $(get secret s1 .data.a)" "example.org/special eA=="
	k create secret docker-registry s2 --docker-username=u --docker-password=p --docker-server=r.example >/dev/null
	is "$V: create secret docker-registry" "$(get secret s2 '.data.\.dockerconfigjson' | base64 -d | field '.auths["r.example"].username')" u
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -keyout "$T/tls.key" -out "$T/tls.crt" 2>/dev/null
	k create secret tls s3 --cert="$T/tls.crt" --key="$T/tls.key" >/dev/null
	is "$V: create secret tls" "$(get secret s3 .type) $(get secret s3 '.data.tls\.crt' | base64 -d | head -1)" "kubernetes.io/tls -----BEGIN CERTIFICATE-----"
	k create job j1 --image=registry.example/a:1 -- echo hi >/dev/null
	is "$V: create job" "$(get job j1 .spec.template.spec.containers[0].command)$(get job j1 .spec.backoffLimit)" '["echo","hi"]6'
	is "$V: a job's selector is made" "$(get job j1 '.spec.selector.matchLabels' | grep -o "$(get job j1 .metadata.uid)")" "$(get job j1 .metadata.uid)"
	k create cronjob cj --image=registry.example/a:1 --schedule='*/5 * * * *' --restart=Never -- date >/dev/null
	is "$V: create cronjob" "$(get cronjobs.v1.batch cj .spec.schedule) $(get cronjobs.v1.batch cj .spec.concurrencyPolicy) $(get cronjobs.v1beta1.batch cj .apiVersion)" "*/5 * * * * Allow batch/v1beta1"
	k create job j2 --from=cronjob/cj >/dev/null
	is "$V: create job --from=cronjob" "$(get job j2 .spec.template.spec.containers[0].command) $(get job j2 .metadata.ownerReferences[0].kind)" '["date"] CronJob'
	like "$V: get cronjobs" "$(k get cj)" '^cj +\*/5 \* \* \* \* +(<none> +)?False +0 +<none> '
	k create deployment d1 --image=registry.example/a:1 --replicas=0 --port=80 >/dev/null
	is "$V: create deployment" "$(get deploy d1 .spec.replicas) $(get deploy d1 .spec.selector.matchLabels.app) $(get deploy d1 .spec.template.spec.containers[0].ports[0].protocol)" "0 d1 TCP"
	k create sa bot >/dev/null
	is "$V: create sa" "$(k get sa bot -o name)" serviceaccount/bot
	k create quota q1 --hard=pods=5,requests.cpu=1.5 --scopes=NotTerminating >/dev/null
	is "$V: create quota" "$(get quota q1 '.spec.hard.pods') $(get quota q1 '.spec.hard.requests\.cpu') $(get quota q1 .spec.scopes[0])" "5 1500m NotTerminating"
	k delete quota q1 >/dev/null
	k create role r1 --verb=get,list --resource=pods,deployments.apps --resource-name=x >/dev/null
	is "$V: create role" "$(get role r1 .rules[1].apiGroups) $(get role r1 .rules[0].resourceNames)" '["apps"] ["x"]'
	k create rolebinding rb --role=r1 --user=jane --serviceaccount="$NS:bot" --group=lab >/dev/null
	is "$V: create rolebinding" "$(get rolebinding rb '.subjects[*].name') $(get rolebinding rb .roleRef.name)" "jane lab bot r1"
	like "$V: get rolebindings -o wide" "$(k get rolebinding rb -o wide)" "^rb +Role/r1 +[0-9]+s +jane +lab +$NS/bot"
	"$K" create clusterrole "cr-$V" --verb=get --resource=nodes >/dev/null
	"$K" create clusterrole "url-$V" --verb=get --non-resource-url=/metrics >/dev/null
	is "$V: create clusterrole" "$(get clusterrole "cr-$V" .rules[0].resources[0]) $(get clusterrole "url-$V" .rules[0].nonResourceURLs[0])" "nodes /metrics"
	"$K" create clusterrole "agg-$V" --aggregation-rule=x=y >/dev/null
	is "$V: create clusterrole --aggregation-rule" "$(get clusterrole "agg-$V" .aggregationRule.clusterRoleSelectors[0].matchLabels.x)" y
	"$K" create clusterrolebinding "crb-$V" --clusterrole="cr-$V" --user=jane >/dev/null
	is "$V: create clusterrolebinding" "$(get clusterrolebinding "crb-$V" .roleRef.kind)" ClusterRole
	k create service clusterip c1 --tcp=80:8080 --tcp=443 >/dev/null
	is "$V: create service clusterip" "$(get svc c1 .spec.type) $(get svc c1 '.spec.ports[*].port') $(get svc c1 .spec.ports[0].targetPort)" "ClusterIP 80 443 8080"
	k create service clusterip c2 --clusterip=None --tcp=80 >/dev/null
	is "$V: a headless service" "$(get svc c2 .spec.clusterIP)" None
	like "$V: a service has an address of its own" "$(get svc c1 .spec.clusterIP)" '^10\.(9[6-9]|10[0-9]|11[01])\.'
	k create service nodeport np --tcp=80 --node-port=30123 >/dev/null
	is "$V: create service nodeport" "$(get svc np .spec.type) $(get svc np .spec.ports[0].nodePort)" "NodePort 30123"
	k delete svc np >/dev/null
	k create service loadbalancer lb --tcp=80 >/dev/null
	like "$V: create service loadbalancer" "$(k get svc lb)" '^lb +LoadBalancer .*<pending>'
	k create service externalname en --external-name=db.example.org >/dev/null
	like "$V: create service externalname" "$(k get svc en)" '^en +ExternalName +<none> +db.example.org'
	k create pdb pdb --selector=app=x --min-available=50% >/dev/null
	is "$V: create pdb" "$(get pdb pdb .spec.minAvailable) $(get pdb pdb .spec.selector.matchLabels.app)" "50% x"
	"$K" create priorityclass "pc-$V" --value=1000 --description=d --preemption-policy=Never >/dev/null
	is "$V: create priorityclass" "$(get priorityclass "pc-$V" .value) $(get priorityclass "pc-$V" .preemptionPolicy)" "1000 Never"
	k create ingress ing --rule='lab.example/path*=web:80,tls=cert' --class=c >/dev/null
	is "$V: create ingress" "$(get ingress ing '.spec.rules[0].http.paths[0].backend.service.name') $(get ingress ing .spec.tls[0].secretName)" "web cert"
	like "$V: get ingress" "$(k get ingress ing)" '^ing +c +lab.example +80, 443'
	if [ "$V" = new ]; then
		is "new: create token" "$(k create token bot --duration=20m | cut -d. -f2 | tr '_-' '/+' | base64 -d 2>/dev/null | field '.sub')" "system:serviceaccount:$NS:bot"
	fi
}

shortcuts() {
	k run r1 --image=registry.example/a:1 --labels=app=r1 --env=A=1 --port=80 --overrides='{"apiVersion":"v1","spec":{"schedulerName":"nobody"}}' >/dev/null
	is "$V: run" "$(get pod r1 .spec.containers[0].env[0].value) $(get pod r1 .metadata.labels.app) $(get pod r1 .spec.containers[0].imagePullPolicy)" "1 r1 IfNotPresent"
	k run r2 --image=registry.example/a --restart=Never --overrides='{"apiVersion":"v1","spec":{"schedulerName":"nobody"}}' --command -- sleep 1 >/dev/null
	is "$V: run --restart=Never --command" "$(get pod r2 .spec.restartPolicy) $(get pod r2 .spec.containers[0].command) $(get pod r2 .spec.containers[0].imagePullPolicy)" 'Never ["sleep","1"] Always'
	k create deployment front --image=registry.example/a:1 --replicas=0 >/dev/null
	is "$V: expose" "$(k expose deployment front --port=80 --target-port=8080 --name=front-svc)" "service/front-svc exposed"
	is "$V: expose took the selector" "$(get svc front-svc .spec.selector.app) $(get svc front-svc .spec.ports[0].targetPort)" "front 8080"
	k expose pod r1 --type=NodePort >/dev/null
	is "$V: expose a pod" "$(get svc r1 .spec.type) $(get svc r1 .spec.selector.app) $(get svc r1 .spec.ports[0].port)" "NodePort r1 80"
	k autoscale deployment front --min=1 --max=4 --cpu-percent=70 >/dev/null
	is "$V: autoscale" "$(get hpa.v1.autoscaling front .spec.maxReplicas) $(get hpa.v1.autoscaling front .spec.targetCPUUtilizationPercentage) $(get hpa front .spec.scaleTargetRef.kind)" "4 70 Deployment"
	like "$V: get hpa" "$(k get hpa)" '^front +Deployment/front +.*70% +1 +4 '
}

each() {
	from_files
	nouns
	shortcuts
}
each_kubectl each
done_testing

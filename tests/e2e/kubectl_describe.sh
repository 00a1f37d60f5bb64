#!/bin/bash
# describe reads each kind by several requests (the object, its events, its neighbours) and lays them out.
. "$(dirname "$0")/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
server_start main
api POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions -H 'Content-Type: application/yaml' \
	--data-binary @"$HERE/manifests/crd.yaml" -o /dev/null

describing() {
	local out uid

	k create configmap conf --from-literal=a=one >/dev/null
	k create secret generic hidden --from-literal=password=pa55w0rd >/dev/null
	k create -f "$HERE/manifests/pod.yaml" -f "$HERE/manifests/deployment.yaml" -f "$HERE/manifests/job.yaml" >/dev/null
	k create service clusterip web --tcp=80:8080 >/dev/null
	k create quota team --hard=pods=10 >/dev/null
	k create serviceaccount bot >/dev/null
	"$K" apply -f "$HERE/manifests/node.yaml" >/dev/null

	out=$(k describe pod p)
	like "$V: a pod's name" "$out" '^Name: +p$'
	like "$V: a pod's labels" "$out" '^Labels: +app=p$'
	like "$V: a pod's image" "$out" '^    Image: +registry.example/main:1$'
	like "$V: a pod's environment" "$out" '^      A: +1$'
	like "$V: a pod's requests" "$out" '^      cpu: +100m$'
	like "$V: a pod's volumes" "$out" 'Type: +ConfigMap \(a volume populated by a ConfigMap\)'
	like "$V: a pod's QoS" "$out" '^QoS Class: +Burstable$'
	like "$V: a pod without events" "$out" '^Events: +<none>$'
	uid=$(get pod p .metadata.uid)
	k create -f - >/dev/null <<-EOF
	apiVersion: v1
	kind: Event
	metadata: {name: p.1}
	involvedObject: {kind: Pod, apiVersion: v1, name: p, namespace: $NS, uid: $uid}
	reason: Told
	message: a word about p
	type: Normal
	source: {component: tester}
	firstTimestamp: "$(date -u +%FT%TZ)"
	lastTimestamp: "$(date -u +%FT%TZ)"
	EOF
	like "$V: a pod's events" "$(k describe pod p)" 'Normal +Told .*tester +a word about p'
	unlike "$V: --show-events=false" "$(k describe pod p --show-events=false)" 'Told'

	out=$(k describe job train)
	like "$V: a job" "$out" '^Name: +train$'
	like "$V: a job's completions" "$out" '^Completions: +1$'
	like "$V: a job's selector" "$out" '^Selector: +(batch.kubernetes.io/)?controller-uid='
	like "$V: a job's counts" "$out" '^Pods Statuses: +0 '

	out=$(k describe deployment web)
	like "$V: a deployment's replicas" "$out" '^Replicas: +0 desired'
	like "$V: a deployment's strategy" "$out" '^RollingUpdateStrategy: +25% max unavailable, 25% max surge$'
	like "$V: a deployment's ports" "$out" '^    Ports: +80/TCP, 443/TCP$'

	out=$(k describe svc web)
	like "$V: a service's port" "$out" '^Port: +80-8080  80/TCP$'
	like "$V: a service's target" "$out" '^TargetPort: +8080/TCP$'
	like "$V: a service's endpoints" "$out" '^Endpoints: '

	out=$(k describe node node-by-hand)
	like "$V: a node" "$out" '^Name: +node-by-hand$'
	like "$V: a node's roles" "$out" '^Roles: +worker$'
	like "$V: a node's pods" "$out" '^Non-terminated Pods: +\(0 in total\)$'

	out=$(k describe ns "$NS")
	like "$V: a namespace" "$out" '^Status: +Active$'
	like "$V: a namespace's quota" "$out" '^ *Name: +team$'

	like "$V: a service account" "$(k describe sa bot)" '^Name: +bot$'
	out=$(k describe secret hidden)
	like "$V: a secret shows sizes" "$out" '^password: +8 bytes$'
	unlike "$V: a secret does not show values" "$out" pa55w0rd
	like "$V: a configmap shows its data" "$(k describe cm conf | tr '\n' ' ')" 'a: ---- one'
	like "$V: a quota" "$(k describe quota team)" '^Resource +Used +Hard$'
	k create -f - >/dev/null <<-EOF
	apiVersion: example.org/v1
	kind: Widget
	metadata: {name: w1}
	spec: {size: 3, colour: red}
	EOF
	out=$(k describe widget w1)
	like "$V: a custom resource's kind" "$out" '^Kind: +Widget$'
	like "$V: a custom resource's fields" "$out" '^  Size: +3$'
	like "$V: describe by prefix" "$(k describe deployments we)" '^Name: +web$'
	like "$V: describe by selector" "$(k describe pods -l app=p)" '^Name: +p$'
	like "$V: describe of nothing" "$(k describe pod none)" 'NotFound'
	"$K" delete node node-by-hand >/dev/null
}
each_kubectl describing
done_testing

#!/bin/bash
# ResourceQuotas and LimitRanges as kubectl shows them; creates that race for the last room, also with a server that is
# killed meanwhile.
. "$(dirname "$0")/lib.sh"
server_start main

pod() { # NAME [RESOURCES]
	cat <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec: {containers: [{name: c, image: host, command: [sleep, '1000'], resources: {${2:-}}}]}
	END
}
used() { get quota "$1" ".status.used.$2"; }
count() { k get "$1" -o name | grep -c /; }
made() { [ "$(count "$1")" -eq "$2" ]; }

counts() {
	k create quota team --hard=pods=2,configmaps=9,count/deployments.apps=1 >/dev/null
	is "$V: a new quota shows what is used" "$(used team pods) $(used team 'count/deployments\.apps')" '0 0'
	pod a | k create -f - >/dev/null
	pod b | k create -f - >/dev/null
	is "$V: and follows at once" "$(used team pods)" 2
	is "$V: no more than it allows" "$(pod x | k create -f - | sed 's/^.*STDIN": //')" \
		'pods "x" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2'
	like "$V: kubectl get" "$(k get quota team)" 'count/deployments.apps: 0/1, pods: 2/2|pods: 2/2'
	like "$V: kubectl describe" "$(k describe quota team)" '^pods +2 +2$'
	like "$V: in the namespace's description" "$("$K" describe namespace "$NS")" '^ *pods +2 +2$'
	k delete pod a >/dev/null
	like "$V: what goes makes room" "$(pod x | k create -f -)" '^pod/x created'
	k create deployment d1 --image=host >/dev/null
	like "$V: any kind can be counted" "$(k create deployment d2 --image=host)" \
		'deployments.apps "d2" is forbidden: exceeded quota: team, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1'
	k delete quota team >/dev/null
	k delete deployment d1 >/dev/null
	k delete pods --all --now >/dev/null
}

amounts() {
	k create quota size --hard=requests.cpu=1,limits.memory=1Gi,requests.nvidia.com/gpu=1 >/dev/null
	like "$V: a pod must say what it needs" "$(pod a | k create -f -)" \
		'pods "a" is forbidden: failed quota: size: must specify limits.memory for: c; requests.cpu for: c'
	like "$V: an amount that is too large" "$(pod a 'requests: {cpu: 1500m}, limits: {memory: 1Mi}' | k create -f -)" \
		'exceeded quota: size, requested: requests.cpu=1500m, used: requests.cpu=0, limited: requests.cpu=1$'
	pod a 'requests: {cpu: 600m}, limits: {memory: 64Mi, nvidia.com/gpu: 1}' | k create -f - >/dev/null
	is "$V: amounts add up" "$(used size 'requests\.cpu') $(used size 'limits\.memory') $(used size 'requests\.nvidia\.com/gpu')" '600m 64Mi 1'
	like "$V: the old name of GPUs is the same thing" "$(pod b 'requests: {cpu: 1m}, limits: {memory: 1Mi, alpha.kubernetes.io/nvidia-gpu: 1}' | k create -f -)" \
		'exceeded quota: size, requested: requests.nvidia.com/gpu=1'
	k delete pods --all --now >/dev/null
	k delete quota size >/dev/null
}

limits() {
	k apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: LimitRange
		metadata: {name: bounds}
		spec:
		  limits:
		  - {type: Container, default: {cpu: 500m, memory: 64Mi}, max: {cpu: 1, memory: 1Gi}}
		  - {type: PersistentVolumeClaim, max: {storage: 2Gi}}
	END
	pod a | k create -f - >/dev/null
	is "$V: defaults" "$(get pod a '.spec.containers[0].resources.requests.cpu') $(get pod a '.spec.containers[0].resources.limits.memory')" '500m 64Mi'
	is "$V: and where they come from" "$(get pod a '.metadata.annotations.kubernetes\.io/limit-ranger')" \
		'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c'
	like "$V: bounds" "$(pod b 'limits: {cpu: 2}' | k create -f -)" 'pods "b" is forbidden: maximum cpu usage per Container is 1, but limit is 2$'
	like "$V: several at once" "$(pod b 'limits: {cpu: 2, memory: 2Gi}' | k create -f -)" \
		'\[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi\]$'
	like "$V: of claims" "$(k create -f - <<-END
		apiVersion: v1
		kind: PersistentVolumeClaim
		metadata: {name: big}
		spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 3Gi}}}
	END
	)" 'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi$'
	like "$V: kubectl describe" "$(k describe limits bounds)" '^Container +cpu +- +1 +500m +500m +-$'
	like "$V: impossible bounds are refused" "$(k patch limits bounds -p '{"spec":{"limits":[{"type":"Container","min":{"cpu":"3"},"max":{"cpu":"1"}}]}}')" \
		'spec.limits\[0\].min\[cpu\]: Invalid value: "3": min value 3 is greater than max value 1'
	k delete limits bounds >/dev/null
	k delete pod a --now >/dev/null
}

# A Job makes pods as the quota allows, says why it does not make more, and goes on when it is raised.
work() {
	k create quota jobs --hard=pods=0 >/dev/null
	k create job w --image=host -- true >/dev/null
	ok "$V: a job says why it waits" eventually 20 sh -c "'$K' -n $NS get events | grep 'FailedCreate.*exceeded quota: jobs'"
	k patch quota jobs -p '{"spec":{"hard":{"pods":"1"}}}' >/dev/null
	ok "$V: and goes on when there is room" eventually 30 made pods 1
	k delete job w >/dev/null
	ok "$V: its pod goes with it" eventually 20 made pods 0
	k delete quota jobs >/dev/null
}

owners() {
	k create configmap a >/dev/null
	k create configmap b >/dev/null
	local a b
	a=$(get cm a .metadata.uid) b=$(get cm b .metadata.uid)
	k patch cm a -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"b\",\"uid\":\"$b\"}]}}" >/dev/null
	like "$V: no object owns itself" "$(k patch cm b -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"a\",\"uid\":\"$a\"}]}}")" \
		"metadata.ownerReferences\[0\].uid: Invalid value: \"$a\": must not make an object own itself: ConfigMap b, owned by ConfigMap a, owned by ConfigMap b"
}

all() {
	counts
	amounts
	limits
	work
	owners
}
each_kubectl all

# Forty at a time for ten places.
K=${KUBECTL_NEW:-$KUBECTL_OLD} V=race NS=race
"$K" create namespace race >/dev/null
k create quota ten --hard=count/secrets=10 >/dev/null
race() ( # ROUND: "CODE NAME" of each answer
	for i in $(seq 40); do
		curl -s -o /dev/null -w "%{http_code} r$1-$i\n" --unix-socket "$SOCKET" -X POST -H 'Content-Type: application/json' \
			"http://localhost/api/v1/namespaces/race/secrets" -d "{\"metadata\":{\"name\":\"r$1-$i\"}}" &
	done
	wait
)
race 1 >"$T/codes"
is "forty creates at a time get ten places" "$(cut -d' ' -f1 "$T/codes" | sort | uniq -c | awk '{ printf "%s:%s ", $2, $1 }')" '201:10 403:30 '
is "and the quota knows" "$(count secrets) $(used ten 'count/secrets')" '10 10'

# The same while the server is killed again and again: those that were confirmed are there, and no more than fit.
k delete secrets --all >/dev/null
: >"$T/codes"
for round in 2 3 4; do
	race $round >>"$T/codes" &
	RACE=$!
	sleep 0.0$round
	kill -9 "$SERVER_PID"
	wait "$SERVER_PID" 2>/dev/null
	wait $RACE 2>/dev/null
	server_start main
done
race 5 >>"$T/codes"
is "killed servers let no more in" "$(count secrets) $(used ten 'count/secrets')" '10 10'
is "and lost nothing that they confirmed" "$(comm -23 <(awk '$1 == 201 { print "secret/" $2 }' "$T/codes" | sort) <(k get secrets -o name | sort))" ''
like "and still refuse" "$(k create secret generic more)" 'exceeded quota: ten, requested: count/secrets=1, used: count/secrets=10, limited: count/secrets=10'
done_testing

#!/bin/bash
# What a server does to its machine is its own: two servers do not disturb each other, what others have made stays as it
# is, and after `stoker down` there is nothing left of either.
. "$(dirname "$0")/lib.sh"

MARK=clean-$$
# pod NAME [SPEC]
pod() {
	cat <<-END
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec:
		  terminationGracePeriodSeconds: 1
		  ${2:-}
		  containers:
		  - name: main
		    image: host
		    command: [bash, -c, 'trap "exit 0" TERM; while :; do sleep 0.2; done', "$MARK-$1"]
		    ports: [{containerPort: 80${3:+, hostPort: $3}}]
		    volumeMounts: [{name: scratch, mountPath: /scratch}, {name: shm, mountPath: /mem}]
		  volumes: [{name: scratch, emptyDir: {}}, {name: shm, emptyDir: {medium: Memory}}]
	END
}
prefix() { printf %s "$(realpath "$T/$1/data")" | sha256sum | cut -c 1-8; }
# left PREFIX NAME: everything on the machine that carries a server's name.
left() {
	ip -o link | grep -E "(s|stk)$1"
	ip route show table all | grep "$1"
	nft list tables | grep "$1"
	ls -d /sys/fs/cgroup/stoker-"$1"* /sys/fs/cgroup/*/stoker-"$1"* 2>/dev/null
	grep -F " $T/$2/" /proc/self/mountinfo
	grep -lsz -e "^$MARK-$2-" -e "$T/$2/[d]ata" /proc/[0-9]*/cmdline
	ls /proc/sys/net/ipv4/conf | grep "$1"
	find "$T/$2/data/pods" "$T/$2/data/run" -xdev -mindepth 1 -maxdepth 2 2>/dev/null
}
# machine: what is on it and belongs to nobody here; other tests may come and go.
machine() {
	nft list table inet "$FOREIGN"
	ip -4 -o addr show dev "$BRIDGE" | sed 's/valid_lft.*//'
	ip route show dev "$BRIDGE"
	md5sum /etc/resolv.conf /etc/hosts
	cat /proc/sys/net/ipv4/ip_forward
}
all_run() { [ "$(kubectl get pods | grep -c ' 1/1 *Running ')" = "$1" ]; }
answers() { kubectl exec "$1" -- bash -c 'exec 3<>/dev/tcp/kubernetes.default/443 && echo yes'; }

# Somebody else's firewall and bridge.  Forwarding is on: a server would turn it on, and leave it.
FOREIGN=foreign_$$
BRIDGE=fbr$(($$ % 100000))
forwarding=$(cat /proc/sys/net/ipv4/ip_forward)
[ "$forwarding" = 1 ] || echo 1 >/proc/sys/net/ipv4/ip_forward
undo() {
	nft delete table inet "$FOREIGN" 2>/dev/null
	ip link delete "$BRIDGE" 2>/dev/null
	cleanup
}
trap undo EXIT
nft -f - <<-END
	table inet $FOREIGN {
		chain forward { type filter hook forward priority 10; policy accept; ip saddr 203.0.113.0/24 counter drop; }
		chain prerouting { type nat hook prerouting priority -90; policy accept; ip daddr 203.0.113.9 counter dnat to 203.0.113.10; }
	}
END
ip link add "$BRIDGE" type bridge && ip addr add 203.0.113.1/24 dev "$BRIDGE" && ip link set "$BRIDGE" up
machine >"$T/machine"

node_start one || done_testing
export KUBECONFIG=$T/one/data/admin.kubeconfig
ONE=$KUBECONFIG
(pod one-a; pod one-b; pod one-c '' 18080; pod one-d 'hostNetwork: true'; pod one-e 'hostPID: true') | kubectl create -f - >/dev/null
kubectl create service clusterip web --tcp=80:80 >/dev/null
kubectl expose pod one-a --name=out --type=NodePort --port=80 --selector=a=b >/dev/null 2>&1
ok "five pods of one server run" eventually 30 all_run 5
node_start two || done_testing
TWO=$KUBECONFIG
(pod two-a; pod two-b; pod two-c '' 18081) | kubectl create -f - >/dev/null
ok "three of another run beside them" eventually 30 all_run 3
one=$(prefix one)
two=$(prefix two)
for p in $one $two; do
	ok "$p: has rules, links, groups and mounts of its own" sh -c "nft list tables | grep -q $p && ip -o link | grep -q $p && ls -d /sys/fs/cgroup/*/stoker-$p /sys/fs/cgroup/stoker-$p 2>/dev/null | grep -q ."
done
is "pods of each reach their own API" "$(answers two-a; KUBECONFIG=$ONE answers one-a)" "yes
yes"
is "no two pods have the same address" "$( (kubectl get pods -o wide; KUBECONFIG=$ONE kubectl get pods -o wide) |
	grep -v one-d | grep -oE ' 10\.[0-9.]+' | sort | uniq -d)" ""
like "two servers do not share a directory" "$("$STOKER" serve --data "$T/one/data" --listen 127.0.0.1:0 --socket "$T/x.sock" 2>&1)" \
	'lock|already|another'
faces() { kubectl get pods -o json | jq -c '.items[] | [.metadata.name, .status.podIP, .status.containerStatuses[0].restartCount, .status.phase]'; }
before=$(faces)
KUBECONFIG=$ONE kubectl delete pod --all --wait=false >/dev/null
none_one() { [ -z "$(KUBECONFIG=$ONE kubectl get pods -o name)" ]; }
ok "all pods of the first are deleted" eventually 20 none_one
is "its processes are gone" "$(grep -lsz "^$MARK-one-" /proc/[0-9]*/cmdline)" ""
is "those of the second are as they were" "$(faces)" "$before"
is "and reach their API" "$(answers two-b)" yes

pod one-f | KUBECONFIG=$ONE kubectl create -f - >/dev/null
one_runs() { KUBECONFIG=$ONE all_run 1; }
runs_another() { eventually 30 one_runs || ! KUBECONFIG=$ONE kubectl describe pods; }
ok "the first runs another" runs_another
ok "stoker down ends the first" "$STOKER" down --data "$T/one/data" --timeout 30s
is "and nothing of it is left" "$(left "$one" one)" ""
is "the second goes on" "$(faces; answers two-b)" "$before
yes"
# The second is dead when it is taken down.
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
SERVER_PID=
unlike "a killed server leaves everything" "$(left "$two" two)" '^$'
ok "stoker down ends its pods all the same" "$STOKER" down --data "$T/two/data" --timeout 30s
is "and nothing of it is left either" "$(left "$two" two)" ""
ok "others' rules, bridges and files are as they were" diff "$T/machine" <(machine)
[ "$forwarding" = 1 ] || echo "$forwarding" >/proc/sys/net/ipv4/ip_forward
done_testing

#!/bin/bash
# Every field of a pod that decides what its containers see and may do: asked for with kubectl, looked at from inside.
#
# A container says what it sees in its termination message, so that one `kubectl get pods -o json` reads them all.
. "$(dirname "$0")/lib.sh"
node_start main

# pod NAME SPEC CONTAINER SCRIPT: SPEC and CONTAINER are further fields, each followed by a comma.
pod() {
	cat <<-END
		---
		apiVersion: v1
		kind: Pod
		metadata: {name: $1, labels: {kind: ${KIND:-short}, lab.io/team: vision}, annotations: {note: 'a b'}}
		spec: {restartPolicy: Never, terminationGracePeriodSeconds: 0, $2 containers: [{name: c, image: ${IMAGE:-host},
		  $3 command: [sh, -c, $(jq -Rs . <<<"exec >/dev/termination-log 2>&1; $4")]}]}
	END
}
# All short pods have ended; their last words are in $ALL.
all_ended() {
	ALL=$(kubectl get pods -l kind=short -o json)
	jq -e '[.items[].status.phase] | all(. == "Succeeded" or . == "Failed")' <<<"$ALL" >/dev/null
}
of() { jq -rc --arg n "$1" ".items[] | select(.metadata.name == \$n) | $2" <<<"$ALL"; }
said() { of "$1" '.status.containerStatuses[0].state.terminated.message // empty | rtrimstr("\n")'; }
line() { said "$1" | sed -n "s/^$2=//p"; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'; }
PORT=$(free_port)
NODE=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
grep -q ' cgroup2 ' <(stat -fc ' %T ' /sys/fs/cgroup | sed 's/cgroup2fs/cgroup2/') && V2=1 || V2=

# An image with an account, an entrypoint and a directory of its own.
R=$T/root
mkdir -p "$R/bin" "$R/etc" "$R/home/ann" "$R/tmp"
cp "$(command -v busybox)" "$R/bin/busybox"
for name in sh id pwd env printf cat sleep; do ln -s busybox "$R/bin/$name"; done
printf 'root:x:0:0:root:/root:/bin/sh\nann:x:1234:1234::/home/ann:/bin/sh\n' >"$R/etc/passwd"
printf 'root:x:0:\nann:x:1234:\ncrew:x:77:ann\n' >"$R/etc/group"
printf '#!/bin/sh\nexec >/dev/termination-log\necho "args=$*"\necho "mood=$MOOD"\necho "pwd=$(pwd)"\nid\n' >"$R/bin/entry"
chmod 755 "$R/bin/entry"
tar -C "$R" --owner=0 --group=0 -cf "$T/layer.tar" .
sum=$(sha256sum "$T/layer.tar" | cut -d' ' -f1)
box() { # box NAME USER
	printf '{"architecture":"amd64","os":"linux","config":{"User":"%s","Entrypoint":["entry"],"Cmd":["by","default"],"Env":["MOOD=calm","PATH=/bin"],"WorkingDir":"/home/ann"},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$2" "$sum" >"$T/config.json"
	printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$1" >"$T/manifest.json"
	tar -C "$T" -cf "$T/box.tar" manifest.json config.json layer.tar
	"$STOKER" image import "$T/box.tar" --data "$T/main/data" -q >/dev/null
}
box named:1 ann && box numbered:1 1234:77
is "an image is imported" $? 0
image_pod() { # NAME IMAGE SPEC CONTAINER
	echo "---
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {kind: ${KIND:-short}}}
spec: {restartPolicy: Never, ${3:-} containers: [{${4:-} name: c, image: '$2'}]}"
}

kubectl apply -f - >"$T/applied" <<-END
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: settings}
	data: {rate: "0.1", depth: "50", "not-an-identifier.1": x}
	---
	apiVersion: v1
	kind: Secret
	metadata: {name: keys}
	stringData: {token: "s3cret"}
	---
	apiVersion: v1
	kind: Service
	metadata: {name: my-web}
	spec: {selector: {app: none}, ports: [{name: http, port: 80, targetPort: 8080}, {name: dns, port: 53, protocol: UDP}]}
	$(
		# --- words
		pod words '' 'args: ["$(ONE)", "$$(ONE)", "$(NONE)", "$(TWO)", "a b"], env: [{name: ONE, value: "1"},
			{name: TWO, value: "$(ONE)2"}, {name: THREE, value: "$$(ONE)"}, {name: FOUR, value: "$(FIVE)"}, {name: FIVE, value: "5"}],' \
			'for a in "$0" "$@"; do echo "arg=$a"; done; echo "env=$TWO $THREE $FOUR"'
		pod inside '' 'workingDir: /usr/bin,' './env echo "pwd=$(pwd)"'
		pod made '' 'workingDir: /made/for/it,' 'echo "pwd=$(pwd)"; ls -ld . | cut -c1-10'
		# --- environment
		pod values 'serviceAccountName: default,' 'resources: {limits: {cpu: 1500m, memory: 100Mi}, requests: {cpu: 20m, memory: 3000k}}, env: [
			{name: CM, valueFrom: {configMapKeyRef: {name: settings, key: rate}}},
			{name: SECRET, valueFrom: {secretKeyRef: {name: keys, key: token}}},
			{name: NOMAP, valueFrom: {configMapKeyRef: {name: absent, key: rate, optional: true}}},
			{name: NOKEY, valueFrom: {secretKeyRef: {name: keys, key: absent, optional: true}}},
			{name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
			{name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}},
			{name: UID_, valueFrom: {fieldRef: {fieldPath: metadata.uid}}},
			{name: LABEL, valueFrom: {fieldRef: {fieldPath: "metadata.labels['"'lab.io/team'"']"}}},
			{name: NOTE, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['"'note'"']"}}},
			{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}},
			{name: ACCOUNT, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}},
			{name: HOSTIP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}},
			{name: PODIP, valueFrom: {fieldRef: {fieldPath: status.podIP}}},
			{name: PODIPS, valueFrom: {fieldRef: {fieldPath: status.podIPs}}},
			{name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}},
			{name: MILLI, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}},
			{name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}},
			{name: WANTED, valueFrom: {resourceFieldRef: {resource: requests.memory, divisor: 1k, containerName: c}}},
			{name: MIX, value: "$(NAME)-$(CM)"}],' \
			'for n in CM SECRET NAME NS UID_ LABEL NOTE NODE ACCOUNT HOSTIP PODIP PODIPS CPUS MILLI MEMORY WANTED MIX; do eval "echo $n=\${$n}"; done
			 echo "absent=${NOMAP-none} ${NOKEY-none}"; hostname -I'
		pod unlimited '' 'env: [{name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}},
			{name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory}}},
			{name: WANTED, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}],' 'echo "cpus=$CPUS"; echo "memory=$MEMORY"; echo "wanted=$WANTED"'
		pod from '' 'env: [{name: A_rate, value: "mine"}], envFrom: [{prefix: A_, configMapRef: {name: settings}}, {secretRef: {name: keys}},
			{configMapRef: {name: absent, optional: true}}],' 'echo "a=$A_rate $A_depth $token"; env | grep -c identifier'
		pod links '' '' 'env | grep -E "^(MY_WEB|KUBERNETES)_" | sort'
		pod unlinked 'enableServiceLinks: false,' '' 'env | grep -E "^(MY_WEB|KUBERNETES)_" | sort'
		KIND=config pod nomap '' 'env: [{name: A, valueFrom: {configMapKeyRef: {name: late, key: a}}}],' 'echo "a=$A"'
		KIND=config pod nokey '' 'env: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: late}}}],' 'echo "a=$A"'
		KIND=config pod nosecret '' 'envFrom: [{secretRef: {name: late}}],' 'echo "a=$a"'
		# --- resources
		pod small '' 'resources: {limits: {cpu: 500m, memory: 64Mi, stoker.dev/pids: 12}},' \
			'cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null | head -1
			 cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null
			 df --output=size -B1 /dev/shm | tail -1
			 said=$( (for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do sleep 30 >/dev/null 2>/dev/null & done; wait) 2>&1); case $said in *[Ff]ork*) echo 1 ;; esac'
		pod large '' 'resources: {requests: {cpu: 250m, memory: 1Mi}},' \
			'cat /sys/fs/cgroup/cpu/cpu.shares /sys/fs/cgroup/cpu.weight 2>/dev/null
			 grep ^0: /proc/self/cgroup; df --output=size -B1 /dev/shm | tail -1'
		pod pair 'initContainers: [{name: i, image: host, resources: {limits: {memory: 8Mi}}, command: [sh, -c, "echo both >/dev/shm/x"]}],' \
			'resources: {limits: {memory: 32Mi}},' 'cat /dev/shm/x; df --output=size -B1 /dev/shm | tail -1'
		pod sum 'volumes: [{name: v, emptyDir: {}}],' 'volumeMounts: [{name: v, mountPath: /v}], resources: {limits: {ephemeral-storage: 2Mi}},' \
			'dd if=/dev/zero of=/v/big bs=1M count=4 2>/dev/null; while :; do sleep 1; done'
		pod hungry '' 'resources: {limits: {memory: 24Mi}},' 'exec tail /dev/zero'
		pod greedy 'terminationGracePeriodSeconds: 30,' 'resources: {limits: {ephemeral-storage: 1Mi}},' \
			'trap "" TERM; dd if=/dev/zero of=/var/tmp/big bs=1M count=4 2>/dev/null; while :; do sleep 1; done'
		pod spill 'volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}],' 'volumeMounts: [{name: v, mountPath: /v}],' \
			'dd if=/dev/zero of=/v/big bs=1M count=4 2>/dev/null; while :; do sleep 1; done'
		# --- rights
		status='grep -E "^(Cap|NoNew|Seccomp:)" /proc/self/status'
		pod plain '' '' "id; \$(echo $status); echo made >/new && echo writable; ls /dev | tr '\n' ' '"
		pod ids 'securityContext: {runAsUser: 4321, runAsGroup: 99, supplementalGroups: [7001, 7002], fsGroup: 7003},
			volumes: [{name: v, emptyDir: {}}],' 'volumeMounts: [{name: v, mountPath: /v}],' \
			'id; echo x >/v/file && stat -c "file=%u:%g" /v/file; stat -c "dir=%u:%g %A" /v; getent passwd 4321; echo "user=$USER $LOGNAME $HOME"; whoami; '"$status"
		pod levels 'securityContext: {runAsUser: 4321, runAsNonRoot: true},' 'securityContext: {runAsUser: 4322, runAsGroup: 98},' 'id; getent group 98'
		pod added '' 'securityContext: {capabilities: {add: [SYS_TIME, CAP_NET_ADMIN], drop: [CHOWN, MKNOD]}},' "$status"
		pod dropped '' 'securityContext: {capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}},' "$status; chown 1 /tmp"
		pod mighty '' 'securityContext: {privileged: true},' "$status; ls /dev | wc -l; test -w /proc/sys/kernel/hostname && echo sys; mount -t tmpfs none /mnt && echo mounted"
		pod sealed '' 'securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false},' "$status; echo x >/new; echo x >/dev/shm/x && echo shm"
		pod filtered 'securityContext: {seccompProfile: {type: RuntimeDefault}},' '' "$status; umount /proc || echo refused"
		pod unfiltered 'securityContext: {seccompProfile: {type: RuntimeDefault}},' 'securityContext: {seccompProfile: {type: Unconfined}},' "$status"
		KIND=config pod root 'securityContext: {runAsNonRoot: true},' '' 'echo no'
		KIND=config pod zero 'securityContext: {runAsNonRoot: true},' 'securityContext: {runAsUser: 0},' 'echo no'
		KIND=config pod profile '' 'securityContext: {seccompProfile: {type: Localhost, localhostProfile: mine.json}},' "$status"
		# --- images
		image_pod entry named:1
		image_pod entry-args named:1 '' 'args: ["of", "mine"],'
		image_pod entry-command named:1 '' 'command: [entry], workingDir: /tmp, env: [{name: MOOD, value: glad}],'
		image_pod entry-number numbered:1 'securityContext: {runAsNonRoot: true},'
		KIND=config image_pod entry-name named:1 'securityContext: {runAsNonRoot: true},'
		# --- namespaces and names
		ns='for n in net pid ipc uts; do echo "$n=$(readlink /proc/self/ns/$n)"; done'
		pod private '' '' "$ns; echo host=\$(hostname) \$HOSTNAME; cat /etc/hostname /etc/hosts; grep -v '^search' /etc/resolv.conf; grep -o '^search default.svc.cluster.local svc.cluster.local cluster.local' /etc/resolv.conf"
		pod shared 'hostNetwork: true, hostPID: true, hostIPC: true,' '' "$ns; hostname; stat -fc shm=%T /dev/shm; stat -c dev=%d /dev/shm"
		pod hostdns 'hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet,' '' 'cat /etc/resolv.conf'
		pod hostdefault 'hostNetwork: true,' '' 'cat /etc/resolv.conf'
		pod called 'hostname: box, subdomain: lab, hostAliases: [{ip: 10.9.8.7, hostnames: [far, away]}],' '' 'hostname; hostname -f; cat /etc/hosts'
		pod fqdn 'hostname: box, subdomain: lab, setHostnameAsFQDN: true,' '' 'hostname'
		pod dnsnone 'dnsPolicy: None, dnsConfig: {nameservers: [192.0.2.7], searches: [a.example, b.example], options: [{name: ndots, value: "2"}, {name: rotate}]},' '' 'cat /etc/resolv.conf'
		pod dnsdefault 'dnsPolicy: Default,' '' 'cat /etc/resolv.conf'
		pod dnsmore 'dnsConfig: {searches: [a.example], options: [{name: ndots, value: "1"}]},' '' 'cat /etc/resolv.conf'
		# --- places
		pod placed "nodeName: $NODE," '' 'echo here'
		pod chosen 'nodeSelector: {kubernetes.io/os: linux},' '' 'echo here'
		KIND=pending pod nowhere 'nodeSelector: {lab.io/none: "1"},' '' 'echo no'
		KIND=server pod server '' "ports: [{containerPort: 8080, hostPort: $PORT}]," 'mkdir /www; echo hello >/www/index.html; exec busybox httpd -f -p 8080 -h /www'
	)
END
is "everything is accepted" $? 0
is "and no pod is missing" "$(grep -c ^pod/ "$T/applied")" 48
NETNS=$(readlink /proc/self/ns/net) PIDNS=$(readlink /proc/self/ns/pid) IPCNS=$(readlink /proc/self/ns/ipc)
eventually 180 all_ended || fail "all pods end" "$(kubectl get pods -l kind=short)"
[ -n "${DEBUG:-}" ] && echo "$ALL" >"$DEBUG"

is "args and \$(VAR)" "$(said words)" 'arg=1
arg=$(ONE)
arg=$(NONE)
arg=12
arg=a b
env=12 $(ONE) $(FIVE)'
is "a program relative to workingDir" "$(said inside)" pwd=/usr/bin
is "a workingDir that is not there is made" "$(said made)" 'pwd=/made/for/it
drwxr-xr-x'

is "env from ConfigMap and Secret" "$(line values CM) $(line values SECRET)" '0.1 s3cret'
is "optional ones may be missing" "$(line values absent)" 'none none'
is "env from metadata" "$(line values NAME) $(line values NS) $(line values UID_)" "values default $(of values .metadata.uid)"
is "env from a label and an annotation" "$(line values LABEL) $(line values NOTE)" 'vision a b'
is "env from spec" "$(line values NODE) $(line values ACCOUNT)" "$NODE default"
is "env from status" "$(line values HOSTIP) $(line values PODIP) $(line values PODIPS)" "$(of values '.status | .hostIP + " " + .podIP + " " + .podIPs[0].ip')"
like "the address is the pod's own" "$(said values | tail -1)" "^$(of values .status.podIP) *$"
is "env from resources" "$(line values CPUS) $(line values MILLI) $(line values MEMORY) $(line values WANTED)" '2 1500 100 3000'
is "env in env" "$(line values MIX)" values-0.1
is "no limit: what the node has" "$(said unlimited)" "cpus=$(kubectl get node "$NODE" -o json | jq -r '.status.allocatable.cpu')
memory=$(($(kubectl get node "$NODE" -o json | jq -r '.status.allocatable.memory | rtrimstr("Ki")') * 1024))
wanted=0"
is "envFrom with a prefix, and env wins" "$(said from)" 'a=mine 50 s3cret
0'
WEB=$(kubectl get svc my-web -o 'jsonpath={.spec.clusterIP}') KUBE=$(kubectl get svc kubernetes -o 'jsonpath={.spec.clusterIP}')
like "services are in the environment" "$(said links | tr '\n' ' ')" \
	"KUBERNETES_SERVICE_HOST=$KUBE .*MY_WEB_PORT=tcp://$WEB:80 .*MY_WEB_PORT_80_TCP_ADDR=$WEB .*MY_WEB_SERVICE_HOST=$WEB MY_WEB_SERVICE_PORT=80 MY_WEB_SERVICE_PORT_DNS=53 MY_WEB_SERVICE_PORT_HTTP=80"
unlike "not with enableServiceLinks false" "$(said unlinked)" MY_WEB
like "except where the API is" "$(said unlinked)" "KUBERNETES_SERVICE_HOST=$KUBE"

QUOTA=$([ -n "$V2" ] && echo '50000 100000' || echo 50000)
is "limits of processor, memory and processes" "$(said small | xargs)" "$QUOTA 67108864 67108864 1"
is "requests of processor" "$(said large | head -1)" "$([ -n "$V2" ] && echo 10 || echo 256)"
[ -z "$V2" ] || is "its own control group is all that it sees of them" "$(said large | sed -n 2p)" 0::/
ok "half of RAM is in /dev/shm" test "$(said large | tail -1)" -gt "$(awk '/MemTotal/ { printf "%d", $2 * 500 }' /proc/meminfo)"
is "too much memory" "$(of hungry '.status.containerStatuses[0].state.terminated | .reason, .exitCode' | tr '\n' ' ')" 'OOMKilled 137 '
is "too much disk" "$(of greedy '.status | .phase, .reason, .message' | tr '\n' ' ')" 'Failed Evicted Container c exceeded its local ephemeral storage limit "1Mi".  '
is "ends at once" "$(of greedy '.status.containerStatuses[0].state.terminated.exitCode')" 137
is "too much in an emptyDir" "$(of spill '.status | .phase, .reason, .message' | tr '\n' ' ')" 'Failed Evicted Usage of EmptyDir volume "v" exceeds the limit "1Mi".  '
is "too much in all" "$(of sum .status.message)" 'Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. '
is "containers share their memory" "$(said pair | xargs)" 'both 33554432'
is "QoS classes" "$(of small .status.qosClass) $(of large .status.qosClass) $(of plain .status.qosClass)" 'Guaranteed Burstable BestEffort'

cap() { said "$1" | awk -v n="$2:" '$1 == n { print $2 }'; }
# has POD SET NUMBER: is that capability in the set?
has() { echo $((0x$(cap "$1" "$2") >> $3 & 1)); }
like "root by default" "$(said plain)" '^uid=0\(root\) gid=0\(root\)'
is "with the usual capabilities" "$(cap plain CapEff) $(cap plain CapInh)" '00000000a80425fb 0000000000000000'
like "a root of its own to write to" "$(said plain)" '^writable$'
ok "and it does not reach the host" test ! -e /new
unlike "no devices of the host" "$(said plain | tail -1)" '(^| )(sd[a-z]|vd[a-z]|loop0|mem|kmsg)( |$)'
like "user, group and further groups" "$(said ids | head -1)" '^uid=4321.* gid=99.* groups=99[^ ]*,7001[^ ]*,7002[^ ]*,7003'
is "files of fsGroup" "$(said ids | sed -n '/^file=/p; /^dir=/p')" 'file=4321:7003
dir=0:7003 drwxrwsrwx'
like "a uid without an account has a line" "$(said ids)" '^user4321:x:4321:99:[^:]*:/:/bin/sh$'
like "USER, LOGNAME and HOME" "$(said ids)" '^user=user4321 user4321 /$'
is "an ordinary user has no capabilities" "$(cap ids CapEff) $(cap ids CapPrm)" '0000000000000000 0000000000000000'
like "the container's user wins" "$(said levels | head -1)" '^uid=4322.* gid=98'
like "its group has a line" "$(said levels)" '^[a-z0-9]+:x:98:'
is "capabilities added and dropped" "$(has added CapEff 25)$(has added CapEff 12)$(has added CapEff 0)$(has added CapBnd 27)$(has added CapEff 7)" 11001
is "all dropped, one kept" "$(cap dropped CapEff) $(cap dropped CapBnd)" '0000000000000400 0000000000000400'
like "and they are really gone" "$(said dropped)" 'chown: .*Operation not permitted'
is "privileged has them all" "$(cap mighty CapEff)" "$(awk '$1 == "CapBnd:" { print $2 }' /proc/self/status)"
like "and /proc/sys, mounts" "$(said mighty | xargs)" 'sys mounted$'
ok "and the host's devices" test "$(said mighty | sed -n 's/^[0-9]*$/&/p')" -ge "$(find /dev -maxdepth 1 \( -type c -o -type b \) ! -name 'nvidia*' | wc -l)"
like "a read-only root" "$(said sealed)" 'Read-only file system'
like "with a writable /dev/shm" "$(said sealed)" '^shm$'
is "no privilege escalation" "$(cap sealed NoNewPrivs) $(cap plain NoNewPrivs)" '1 0'
is "seccomp RuntimeDefault, and Unconfined" "$(cap filtered Seccomp) $(cap unfiltered Seccomp)" '2 0'
like "refuses calls" "$(said filtered)" '^refused$'

is "the image's entrypoint, arguments, variables, directory and user" "$(said entry)" 'args=by default
mood=calm
pwd=/home/ann
uid=1234(ann) gid=1234(ann) groups=77(crew)'
like "args replace its own" "$(said entry-args)" '^args=of mine$'
is "command replaces both" "$(said entry-command | head -3)" 'args=
mood=glad
pwd=/tmp'
like "a user by number" "$(said entry-number)" '^uid=1234\(ann\) gid=77\(crew\)'

unlike "namespaces of its own" "$(said private)" "$(printf '%s|' "$NETNS" "$PIDNS" "$IPCNS" | sed 's/|$//; s/[][]/\\&/g')"
is "the name of the pod" "$(said private | sed -n 5,6p)" 'host=private private
private'
like "in /etc/hosts" "$(said private)" "^$(of private .status.podIP)[[:space:]]private$"
like "the cluster's DNS" "$(said private | tail -3 | tr '\n' ' ')" 'nameserver [0-9.]+ options ndots:5 search default.svc'
is "the host's namespaces" "$(said shared | head -5)" "net=$NETNS
pid=$PIDNS
ipc=$IPCNS
uts=$(readlink /proc/self/ns/uts)
$(hostname)"
is "and its shared memory" "$(line shared dev)" "$(stat -c %d /dev/shm)"
is "hostIP is the pod's" "$(of shared .status.podIP)" "$(of shared .status.hostIP)"
like "the cluster's DNS on the host's network" "$(said hostdns)" 'search default.svc.cluster.local'
unlike "only if asked for" "$(said hostdefault)" cluster.local
is "hostname and subdomain" "$(said called | head -2)" 'box
box.lab.default.svc.cluster.local'
like "hostAliases" "$(said called)" '^10\.9\.8\.7[[:space:]]far[[:space:]]away$'
is "the whole name as hostname" "$(said fqdn)" box.lab.default.svc.cluster.local
is "dnsPolicy None" "$(said dnsnone)" 'nameserver 192.0.2.7
search a.example b.example
options ndots:2 rotate'
unlike "dnsPolicy Default" "$(said dnsdefault)" cluster.local
like "dnsConfig adds" "$(said dnsmore | xargs)" 'cluster.local a.example options ndots:1$'

is "nodeName and nodeSelector" "$(said placed) $(said chosen)" 'here here'
like "no node: why" "$(kubectl get pod nowhere -o 'jsonpath={.status.phase} {.status.conditions[0].message}')" "^Pending 0/1 nodes are available: 1 node\(s\) didn't match Pod's node affinity/selector"
ok "a hostPort answers" eventually 10 curl -sf "http://127.0.0.1:$PORT/"
is "on the node's address too" "$(curl -sf "http://$(kubectl get pod server -o 'jsonpath={.status.hostIP}'):$PORT/")" hello
KIND=pending pod taken '' "ports: [{containerPort: 80, hostPort: $PORT}]," 'echo no' | kubectl apply -f - >/dev/null
ok "and is given once" eventually 10 sh -c 'kubectl get pod taken -o json | grep -q "have free ports for the requested pod ports"'

# --- what cannot start, and why
all_stuck() {
	ALL=$(kubectl get pods -l kind=config -o json)
	jq -e '[.items[].status.containerStatuses[0].state.waiting.reason // "" | startswith("CreateContainer")] | all' <<<"$ALL" >/dev/null
}
eventually 60 all_stuck
waits() { of "$1" '.status.containerStatuses[0].state.waiting | .reason + ": " + .message'; }
uid() { of "$1" .metadata.uid; }
is "a missing ConfigMap" "$(waits nomap)" 'CreateContainerConfigError: configmap "late" not found'
is "a missing key" "$(waits nokey)" "CreateContainerConfigError: couldn't find key late in ConfigMap default/settings"
is "a missing Secret" "$(waits nosecret)" 'CreateContainerConfigError: secret "late" not found'
is "root where it must not be" "$(waits root)" "CreateContainerConfigError: container has runAsNonRoot and image will run as root (pod: \"root_default($(uid root))\", container: c)"
is "also by number" "$(waits zero)" "CreateContainerConfigError: container's runAsUser breaks non-root policy (pod: \"zero_default($(uid zero))\", container: c)"
is "a user by name is no proof" "$(waits entry-name)" "CreateContainerConfigError: container has runAsNonRoot and image has non-numeric user (ann), cannot verify user is non-root (pod: \"entry-name_default($(uid entry-name))\", container: c)"
like "a seccomp profile that is not there" "$(waits profile)" '^CreateContainerError: .*seccomp/mine.json: No such file or directory'
like "an event says so" "$(kubectl get events --field-selector involvedObject.name=nomap -o 'jsonpath={.items[*].message}')" 'Error: configmap "late" not found'
mkdir -p "$T/main/data/seccomp"
echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["acct"], "action": "SCMP_ACT_ERRNO"}]}' >"$T/main/data/seccomp/mine.json"
kubectl apply -f - >/dev/null <<-'END'
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: late}
	data: {a: "1"}
	---
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: settings}
	data: {rate: "0.1", late: "2"}
	---
	apiVersion: v1
	kind: Secret
	metadata: {name: late}
	stringData: {a: "3"}
END
ok "once they are there, pods go on" eventually 60 phase_is Succeeded nomap nokey nosecret profile
ALL=$(kubectl get pods -l kind=config -o json)
is "with what they say" "$(said nomap) $(said nokey) $(said nosecret)" 'a=1 a=2 a=3'
is "and the profile in force" "$(cap profile Seccomp)" 2

# Containers of one pod that see each other's processes; the first of them is nobody's.
kubectl apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: together}
spec:
  shareProcessNamespace: true
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - {name: quiet, image: host, command: [sleep, "4711"]}
  - {name: looks, image: host, command: [sh, -c, 'until pgrep -fx "sleep 4711"; do sleep 0.1; done; cat /proc/1/comm; pkill -fx "sleep 4711"']}
YAML
ok "containers can share their processes" eventually 60 phase_is Failed together
is "one ends the other" "$(kubectl get pod together -o jsonpath='{.status.containerStatuses[?(@.name=="quiet")].state.terminated.exitCode}')" 143
like "and is not the first process" "$(kubectl logs together -c looks)" stoker-monitor
kubectl delete pod together >/dev/null
done_testing

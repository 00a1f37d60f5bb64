#!/bin/bash
# Volumes in real containers: every type a pod can have, updates, parts of them, rights, and what is left afterwards.
. "$(dirname "$0")/lib.sh"
node_start main || exit 1
K=$(command -v kubectl) NS=default V=
H=$T/host
mkdir -p "$H/dir"
echo kept | tee "$H/dir/f" >"$H/file"
mknod "$H/char" c 1 3
mknod "$H/block" b 7 200
/usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$H/socket"
ln -s /etc "$H/dir/out"

# By the API itself: kubectl takes its time to start, and these are asked often.
phase() { # POD WANTED
	[ "$(api GET "/api/v1/namespaces/default/pods/$1" | field .status.phase)" = "$2" ]
}
# pod NAME SCRIPT: prints a Pod; "volumeMounts" and more of its container come from stdin, and more of its spec after a ^
pod() {
	cat <<-EOF
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: $1, labels: {app: $1}, annotations: {note: first}}
	spec:
	  restartPolicy: Never
	  terminationGracePeriodSeconds: 0
	  containers:
	  - name: c
	    image: host
	    command: [sh, -c, $(jq -Rs . <<<"$2")]
	$(sed 's/^/    /' | sed 's/^    \^/  /')
	EOF
}
# one VOLUME [MOUNT]: a volume v at /v, for pod()
one() {
	printf 'volumeMounts: [{name: v, mountPath: /v%s}]\n^volumes: [{name: v, %s}]\n' "${2:+, $2}" "$1"
}
create() { k create -f - >"$T/create" || fail "objects are made" "$(cat "$T/create")"; }
# says NAME: the log of a pod that has ended
says() {
	eventually 30 phase "$1" Succeeded || k describe pod "$1" | tail -n 8
	k logs "$1"
}
event() { # POD TEXT
	api GET "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=$1" |
		field '.items[] | .type + " " + .reason + " " + .message' | grep -qF -- "$2"
}
failed_mount() { # SENTENCE POD TEXT
	if eventually 20 event "$2" "Warning FailedMount MountVolume.SetUp failed for volume \"v\" : $3"; then
		pass "$1"
	else
		fail "$1" "$(k describe pod "$2" | sed -n '/^Events/,$p')"
	fi
}
inside() { # POD COMMAND...
	local name=$1
	shift
	k exec "$name" -- "$@"
}
inside_is() { # POD FILE TEXT
	[ "$(inside "$1" cat "$2")" = "$3" ]
}

# ---- everything is asked for at once, and looked at afterwards ----
k create cm settings --from-literal=epochs=3 --from-literal=name=resnet >/dev/null
k create secret generic key --from-literal=k=s3cret --from-literal=other=x >/dev/null
{
	pod dir 'cat /v/f' <<<"$(one "hostPath: {path: $H/dir, type: Directory}")"
	pod dir-made 'stat -c %F:%a /v; touch /v/made' <<<"$(one "hostPath: {path: $H/new/deep, type: DirectoryOrCreate}")"
	pod file 'cat /v' <<<"$(one "hostPath: {path: $H/file, type: File}")"
	pod file-made 'stat -c %F:%a /v; echo text >/v' <<<"$(one "hostPath: {path: $H/new-file, type: FileOrCreate}")"
	pod socket 'stat -c %F /v' <<<"$(one "hostPath: {path: $H/socket, type: Socket}")"
	pod char 'stat -c %F:%t:%T /v' <<<"$(one "hostPath: {path: $H/char, type: CharDevice}")"
	pod block 'stat -c %F:%t:%T /v' <<<"$(one "hostPath: {path: $H/block, type: BlockDevice}")"
	pod untyped 'stat -c %F:%a /v' <<<"$(one "hostPath: {path: $H/untyped}")"
	pod readonly 'cat /v/f; touch /v/x 2>&1; cat /w/f; touch /w/made-in-w' <<-EOF
		volumeMounts: [{name: v, mountPath: /v, readOnly: true}, {name: v, mountPath: /w}]
		^volumes: [{name: v, hostPath: {path: $H/dir}}]
	EOF
	pod not-dir true <<<"$(one "hostPath: {path: $H/file, type: Directory}")"
	pod no-dir true <<<"$(one "hostPath: {path: $H/nothing, type: Directory}")"
	pod not-dir-made true <<<"$(one "hostPath: {path: $H/file, type: DirectoryOrCreate}")"
	pod not-file true <<<"$(one "hostPath: {path: $H/dir, type: File}")"
	pod not-file-made true <<<"$(one "hostPath: {path: $H/dir, type: FileOrCreate}")"
	pod no-parent true <<<"$(one "hostPath: {path: $H/nothing/f, type: FileOrCreate}")"
	pod not-socket true <<<"$(one "hostPath: {path: $H/file, type: Socket}")"
	pod not-char true <<<"$(one "hostPath: {path: $H/file, type: CharDevice}")"
	pod not-block true <<<"$(one "hostPath: {path: $H/char, type: BlockDevice}")"
} | create
k create sa late >/dev/null
{
	pod empty 'stat -c %a /v; echo 1 >/v/f; cat /w/f; stat -c %a:%g /v/f' <<-'EOF'
		volumeMounts: [{name: v, mountPath: /v}, {name: v, mountPath: /w}]
		^securityContext: {fsGroup: 4321}
		^volumes: [{name: v, emptyDir: {}}]
	EOF
	pod memory 'stat -f -c %T /v; df -B1 --output=size /v | tail -n 1 | tr -d " "; head -c 9000000 /dev/zero >/v/f 2>/dev/null || echo full' \
		<<<"$(one 'emptyDir: {medium: Memory, sizeLimit: 8Mi}')"
	pod overfull 'head -c 6000000 /dev/zero >/v/f; sleep 1000' <<<"$(one 'emptyDir: {sizeLimit: 4Mi}')"
	pod files 'cat /cfg/epochs /cfg/name; echo; ls /some /some/sub; stat -c %a -L /some/e /some/sub/x /key/k; cat /key/k; touch /cfg/x 2>&1; test -d /none && ls /none | wc -l; cat /none2/epochs; ls /none2' <<-'EOF'
		volumeMounts:
		- {name: cfg, mountPath: /cfg}
		- {name: some, mountPath: /some}
		- {name: key, mountPath: /key}
		- {name: none, mountPath: /none}
		- {name: none2, mountPath: /none2}
		^volumes:
		^- {name: cfg, configMap: {name: settings}}
		^- {name: some, configMap: {name: settings, defaultMode: 0440, items: [{key: epochs, path: e}, {key: name, path: sub/x, mode: 0600}]}}
		^- {name: key, secret: {secretName: key, defaultMode: 0400, items: [{key: k, path: k}]}}
		^- {name: none, configMap: {name: nothing, optional: true}}
		^- {name: none2, configMap: {name: settings, optional: true, items: [{key: epochs, path: epochs}, {key: nothing, path: x}]}}
	EOF
	pod downward 'cd /v; cat name uid labels cpu mem ip; stat -c %a -L name; test "$(cat uid)" = "$U" && echo same' <<-'EOF'
		env: [{name: U, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}]
		resources: {limits: {cpu: 500m, memory: 64Mi}}
		volumeMounts: [{name: v, mountPath: /v}]
		^volumes:
		^- name: v
		^  downwardAPI:
		^    defaultMode: 0444
		^    items:
		^    - {path: name, fieldRef: {fieldPath: metadata.name}}
		^    - {path: uid, fieldRef: {fieldPath: metadata.uid}, mode: 0400}
		^    - {path: labels, fieldRef: {fieldPath: metadata.labels}}
		^    - {path: cpu, resourceFieldRef: {containerName: c, resource: limits.cpu, divisor: 1m}}
		^    - {path: mem, resourceFieldRef: {containerName: c, resource: limits.memory, divisor: 1Mi}}
		^    - {path: ip, fieldRef: {fieldPath: metadata.namespace}}
	EOF
	pod running 'sleep 1000' <<-'EOF'
		volumeMounts:
		- {name: all, mountPath: /all}
		- {name: cfg, mountPath: /cfg}
		- {name: cfg, mountPath: /fixed, subPath: epochs}
		- {name: late, mountPath: /late}
		- {name: key, mountPath: /key}
		- {name: down, mountPath: /down}
		^volumes:
		^- {name: cfg, configMap: {name: settings}}
		^- {name: late, configMap: {name: later, optional: true}}
		^- {name: key, secret: {secretName: key}}
		^- {name: down, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}, {path: notes, fieldRef: {fieldPath: metadata.annotations}}]}}
		^- name: all
		^  projected:
		^    defaultMode: 0440
		^    sources:
		^    - {configMap: {name: settings, items: [{key: epochs, path: cfg/e}]}}
		^    - {secret: {name: key, items: [{key: k, path: key, mode: 0400}]}}
		^    - {secret: {name: absent, optional: true}}
		^    - {downwardAPI: {items: [{path: ns, fieldRef: {fieldPath: metadata.namespace}}]}}
	EOF
	pod no-map true <<<"$(one 'configMap: {name: late-map}')"
	pod no-secret true <<<"$(one 'secret: {secretName: late-secret}')"
	pod no-key true <<<"$(one 'configMap: {name: settings, items: [{key: nothing, path: x}]}')"
	pod no-secret-key true <<<"$(one 'secret: {secretName: key, items: [{key: nothing, path: x}]}')"
	pod no-projected true <<<"$(one 'projected: {sources: [{configMap: {name: late-map}}, {secret: {name: late-secret}}]}')"
	pod no-token 'cut -d. -f2 /v/tok | tr _- /+ | base64 -d 2>/dev/null || true' <<<"$(one 'projected: {sources: [{serviceAccountToken: {path: tok, audience: lab}}]}')
^serviceAccountName: late
^schedulingGates: [{name: e2e/wait}]"
} | create
# An account must be there when its pod is made; this one goes before the pod runs.
k delete sa late >/dev/null
k patch pod no-token --type=json -p '[{"op": "remove", "path": "/spec/schedulingGates"}]' >/dev/null

# ---- hostPath ----
is "hostPath Directory" "$(says dir)" kept
is "DirectoryOrCreate makes it" "$(says dir-made)" directory:755
ok "on the host" test -f "$H/new/deep/made"
is "File" "$(says file)" kept
is "FileOrCreate makes it" "$(says file-made)" "regular empty file:644"
is "on the host, where it stays" "$(cat "$H/new-file")" text
is "Socket" "$(says socket)" socket
is "CharDevice" "$(says char)" "character special file:1:3"
is "BlockDevice" "$(says block)" "block special file:7:c8"
is "without a type a directory is made" "$(says untyped)" directory:755
is "a mount can be read-only while another of the same volume is not" "$(says readonly)" "kept
touch: cannot touch '/v/x': Read-only file system
kept"
ok "and what that wrote is there" test -f "$H/dir/made-in-w"
while read -r name rest; do
	failed_mount "hostPath of the wrong type: $name" "$name" "hostPath type check failed: $H/$rest"
done <<'EOF'
not-dir file is not a directory
no-dir nothing is not a directory
not-dir-made file is not a directory
not-file dir is not a file
not-file-made dir is not a file
not-socket file is not a socket file
not-char file is not a character device
not-block char is not a block device
EOF
failed_mount "FileOrCreate makes no parents" no-parent "cannot make hostPath $H/nothing/f: No such file or directory"
is "such a pod waits" "$(get pod not-dir '.status.phase}{.status.containerStatuses[0].state.waiting.reason')" PendingContainerCreating
rm "$H/file" && mkdir "$H/file"
ok "and starts once the path is right" eventually 40 phase not-dir Succeeded

# ---- emptyDir ----
is "emptyDir is shared between mounts and with fsGroup" "$(says empty)" "2777
1
644:4321"
is "in memory it is a tmpfs of its limit" "$(says memory)" "tmpfs
8388608
full"
ok "on disk the pod over its limit is evicted" eventually 30 phase overfull Failed
is "and says why" "$(get pod overfull '.status.reason}: {.status.message')" 'Evicted: Usage of EmptyDir volume "v" exceeds the limit "4Mi". '

# ---- files of objects ----
is "configMap and secret: items, modes, read-only, optional" "$(says files)" "3resnet
/some:
e
sub

/some/sub:
x
440
600
400
s3crettouch: cannot touch '/cfg/x': Read-only file system
0
3epochs"
uid=$(get pod downward .metadata.uid)
is "downwardAPI" "$(says downward)" "downward${uid}app=\"downward\"
stoker.dev/queue=\"batch\"50064default444
same"
failed_mount "a missing configMap is an event" no-map 'configmap "late-map" not found'
failed_mount "a missing secret too" no-secret 'secret "late-secret" not found'
failed_mount "a missing key of a configMap" no-key 'configmap references non-existent config key: nothing'
failed_mount "a missing key of a secret" no-secret-key 'references non-existent secret key: nothing'
failed_mount "a missing source of a projected volume" no-projected 'configmap "late-map" not found'
failed_mount "a missing service account" no-token 'failed to fetch token: serviceaccounts "late" not found'
k create sa late >/dev/null
k create cm late-map >/dev/null
k create secret generic late-secret >/dev/null
for p in no-map no-secret no-projected; do ok "$p starts when it is there" eventually 30 phase $p Succeeded; done

ok "a pod gets a token when its account is there" eventually 30 phase no-token Succeeded
like "for that account, for who is to read it, and only while the pod lives" "$(says no-token)" 'system:serviceaccount:default:late.*"pod":."name":"no-token".*"lab"'
ok "a pod with a projected volume runs" eventually 30 phase running Running
is "projected: its sources in one directory, with modes" \
	"$(inside running sh -c 'cd /all; cat cfg/e key ns; stat -c %a -L cfg/e key ns; ls' | xargs)" "3s3cretdefault440 400 440 cfg key ns"
k patch cm settings -p '{"data":{"epochs":"9"}}' >/dev/null
k patch secret key -p '{"stringData":{"k":"n3w"}}' >/dev/null
k create cm later --from-literal=x=here >/dev/null
k label pod running app=renamed --overwrite >/dev/null
k annotate pod running note=second --overwrite >/dev/null
ok "a changed configMap reaches the running container" eventually 20 inside_is running /cfg/epochs 9
ok "also in a projected volume" eventually 20 inside_is running /all/cfg/e 9
ok "a changed secret" eventually 20 inside_is running /key/k n3w
ok "and there too" eventually 20 inside_is running /all/key n3w
ok "an optional configMap that comes later" eventually 20 inside_is running /late/x here
ok "changed labels" eventually 20 inside_is running /down/labels 'app="renamed"
stoker.dev/queue="batch"'
ok "changed annotations" eventually 20 sh -c "kubectl exec running -- grep -x 'note=\"second\"' /down/notes"
is "a subPath keeps what it was, as in Kubernetes" "$(inside running cat /fixed)" 3
k delete cm later >/dev/null
ok "an optional configMap that goes takes its files along" eventually 20 sh -c "! kubectl exec running -- test -e /late/x"

# ---- claims ----
mkdir -p "$H/pv" "$H/local" "$H/pv-ro"
echo of-pv >"$H/pv/f"
echo of-ro | tee "$H/pv-ro/f" >"$H/local/f"
pv() { # NAME SOURCE
	cat <<-EOF
	---
	apiVersion: v1
	kind: PersistentVolume
	metadata: {name: $1}
	spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: $1, persistentVolumeReclaimPolicy: Retain, $2}
	---
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: {name: $1}
	spec: {accessModes: [ReadWriteOnce], storageClassName: $1, resources: {requests: {storage: 1Gi}}}
	EOF
}
claimed() { one "persistentVolumeClaim: {claimName: $1${2:+, $2}}"; }
{
	pv pv-host "hostPath: {path: $H/pv}"
	pv pv-local "local: {path: $H/local}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}"
	pv pv-gone "local: {path: $H/nothing}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}"
	pv pv-nfs "nfs: {server: 127.0.0.1, path: $H/dir}, mountOptions: [soft, timeo=10, retry=0]"
	cat <<-'EOF'
	---
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: {name: data}
	spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
	EOF
	pod on-host 'cat /v/f; echo more >>/v/f' <<<"$(claimed pv-host)"
	pod on-host-ro 'touch /v/x 2>&1; true' <<<"$(claimed pv-host 'readOnly: true')"
	pod on-local 'cat /v/f; stat -c %g:%a /v' <<-EOF
		$(claimed pv-local)
		^securityContext: {fsGroup: 4321}
	EOF
	pod on-gone true <<<"$(claimed pv-gone)"
	pod on-nfs 'cat /v/f' <<<"$(claimed pv-nfs)"
	pod nfs 'cat /v/f; touch /v/x 2>&1' <<<"$(one "nfs: {server: 127.0.0.1, path: $H/dir, readOnly: true}")"
	pod no-claim true <<<"$(claimed nothing)"
	pod first 'echo result >/part/f; ln -s / /data/out; ln -s /etc /data/etc; ln -s runs /data/in; id -u' <<-'EOF'
		volumeMounts:
		- {name: data, mountPath: /data}
		- {name: data, mountPath: /part, subPath: runs/one}
		^volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
	EOF
} | create
is "a claim of a hostPath volume" "$(says on-host)" of-pv
is "which is written to" "$(cat "$H/pv/f" | xargs)" "of-pv more"
like "a claim can be read-only" "$(says on-host-ro)" 'Read-only file system'
is "a claim of a local volume, with fsGroup" "$(says on-local)" "of-ro
4321:2775"
failed_mount "a local volume that is not there is named" on-gone "path \"$H/nothing\" does not exist"
ok "a claim that is not there too" eventually 20 sh -c "kubectl describe pod no-claim | grep -q 'persistentvolumeclaim \"nothing\" not found'"
is "the default class makes a directory" "$(says first)" 0
dir=$(get pv "$(get pvc data .spec.volumeName)" .spec.hostPath.path)
ok "below the server's own" test "${dir#"$T/main/data/claims/"}" != "$dir" -a -f "$dir/runs/one/f"

# ---- nfs: by the kernel, or a clear word why not ----
if grep -q 'nfs4\?$' /proc/filesystems && grep -q 'nfsd$' /proc/filesystems && command -v exportfs rpc.nfsd mount.nfs >/dev/null; then
	exportfs -o rw,no_root_squash,insecure,fsid=$((RANDOM + 1)) "127.0.0.1:$H/dir"
	rpc.nfsd 1
	like "nfs is mounted from this kernel's own server, read-only" "$(says nfs)" "kept.*Read-only"
	is "and by a claim" "$(says on-nfs)" kept
	exportfs -u "127.0.0.1:$H/dir"
else
	why='nfs volumes need the program mount.nfs|mount failed: exit status [0-9]+'
	for p in nfs on-nfs; do
		ok "this kernel or machine has no NFS: pod $p says so in an event" eventually 20 sh -c \
			"kubectl describe pod $p | grep -Eq 'FailedMount.*MountVolume.SetUp failed for volume \"v\" : ($why)'"
	done
fi

# ---- parts of volumes, and ways out of them ----
{
	part() { one "persistentVolumeClaim: {claimName: data}" "$1"; }
	pod second 'cat /v/f' <<<"$(part 'subPath: runs/one')"
	pod within 'cat /v/f' <<<"$(part 'subPath: in/one')"
	pod expr 'echo here >/v/f; grep " /v " /proc/self/mountinfo | cut -d" " -f4' <<-EOF
		env: [{name: ME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: SUB, value: 'of/\$(ME)'}]
		$(part "subPathExpr: 'logs/\$(SUB)'")
	EOF
	pod escape-etc 'ls /v' <<<"$(part 'subPath: etc')"
	pod escape-root 'ls /v' <<<"$(part 'subPath: out/etc')"
	pod escape-made 'ls /v' <<<"$(part 'subPath: out/tmp/made/by/pod')"
	pod escape-host 'ls /v' <<<"$(one "hostPath: {path: $H/dir}" 'subPath: out/ssl')"
	pod escape-expr 'ls /v' <<-EOF
		env: [{name: UP, value: ../..}]
		$(part "subPathExpr: '\$(UP)/x'")
	EOF
	pod links 'rm -rf /w/*; ln -s $H/dir /w/l; ln -s / /w/r; mkdir /w/d; ln -s $H/dir/f /w/d/f; sleep 1000' <<-'EOF'
		volumeMounts: [{name: w, mountPath: /w}, {name: h, mountPath: /w2}]
		^volumes:
		^- {name: w, emptyDir: {}}
		^- {name: h, hostPath: {path: /usr}}
	EOF
} | create
is "data survives the pod: another reads it by a subPath" "$(says second)" result
is "a link that stays within the volume is followed" "$(says within)" result
like "subPathExpr is expanded" "$(says expr)" "logs/of/expr$"
is "and made" "$(cat "$dir/logs/of/expr/f")" here
no_sub_path='failed to prepare subPath for volumeMount "v" of container "c": subPath'
while read -r name rest; do
	ok "a subPath through a planted link does not lead out: $name" eventually 20 event "$name" "Warning Failed Error: $no_sub_path $rest"
done <<'EOF'
escape-etc "etc" leads out of volume "v"
escape-root "out/etc" leads out of volume "v"
escape-made "out/tmp/made/by/pod" leads out of volume "v"
escape-host "out/ssl" leads out of volume "v"
escape-expr "../../x" must not contain '..'
EOF
like "such a container waits" "$(k get pod escape-etc)" 'escape-etc +0/1 +CreateContainerConfigError +0'
ok "nothing was made outside" test ! -e /tmp/made
like "a subPath with dots is refused at once" "$(pod bad true <<<"$(one 'emptyDir: {}' 'subPath: ../x')" | k create -f -)" "must not contain '..'"

# ---- the end ----
ok "a pod whose volumes hold links to elsewhere runs" eventually 30 phase links Running
usr=$(ls /usr | wc -l)
k delete pod --all --wait=true >/dev/null
ok "no mount is left" eventually 10 sh -c "! grep -q '$T/main/data/pods' /proc/self/mountinfo"
ok "no directory of a pod either" eventually 10 sh -c "! ls '$T/main/data/pods' | grep -q ."
is "what is behind hostPath volumes and links is all there" "$(cat "$H/dir/f" "$H/new-file" | xargs; ls /usr | wc -l)" "kept text
$usr"
ok "so is the data of claims" test -f "$dir/runs/one/f" -a -f "$H/pv/f" -a -f "$H/local/f"
k delete pvc --all --wait=true >/dev/null
ok "the directory of a claim goes with it" eventually 10 test ! -e "$dir"
ok "a volume that is to be retained does not" test -f "$H/pv/f" -a -f "$H/local/f"
ok "nor what links in a claim lead to" test -f /etc/passwd -a -d /tmp
server_stop
done_testing

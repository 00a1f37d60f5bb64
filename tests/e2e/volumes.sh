#!/bin/bash
# Volumes in real containers: every type a pod can have, updates, subPath, rights, and what is left afterwards.
. "$(dirname "$0")/lib.sh"
node_start main || exit 1
K=$(command -v kubectl) NS=default V=

phase() { # POD WANTED
	[ "$(get pod "$1" .status.phase)" = "$2" ]
}
# pod NAME SCRIPT: reads "volumeMounts" and "volumes" (and more of the spec) from stdin
pod() {
	k create -f - >/dev/null <<-EOF
	apiVersion: v1
	kind: Pod
	metadata: {name: $1, labels: {app: $1}}
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
# says NAME: the log of a pod that has ended
says() {
	eventually 20 phase "$1" Succeeded || k describe pod "$1" | tail -n 8
	k logs "$1"
}

k create cm settings --from-literal=epochs=3 --from-literal=name=resnet >/dev/null
k create secret generic key --from-literal=k=s3cret >/dev/null
mkdir -p "$T/host"
echo kept >"$T/host/f"

pod files 'cat /cfg/epochs /key/k /one /down/labels /all/ns /all/e; stat -c %a -L /key/k; touch /cfg/x 2>&1' <<'EOF'
volumeMounts:
- {name: cfg, mountPath: /cfg}
- {name: key, mountPath: /key}
- {name: cfg, mountPath: /one, subPath: name}
- {name: down, mountPath: /down}
- {name: all, mountPath: /all}
^volumes:
^- {name: cfg, configMap: {name: settings}}
^- {name: key, secret: {secretName: key, defaultMode: 0400}}
^- {name: down, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
^- name: all
^  projected:
^    sources:
^    - {configMap: {name: settings, items: [{key: epochs, path: e}]}}
^    - {downwardAPI: {items: [{path: ns, fieldRef: {fieldPath: metadata.namespace}}]}}
EOF
ok "a pod with files of objects ends" eventually 20 sh -c "kubectl get pod files -o jsonpath={.status.phase} | grep -Eq 'Succeeded|Failed'"
is "configMap, secret, subPath, downwardAPI and projected show their files, read-only" "$(k logs files)" \
	"3s3cretresnetapp=\"files\"default3400
touch: cannot touch '/cfg/x': Read-only file system"

pod dirs 'stat -c %a /empty; df -B1 --output=size /mem | tail -n 1 | tr -d " "; cat /host/f; touch /ro/x 2>&1; mkdir /host/made; stat -c %a:%g /grp' <<EOF
volumeMounts:
- {name: empty, mountPath: /empty}
- {name: empty, mountPath: /grp}
- {name: mem, mountPath: /mem}
- {name: host, mountPath: /host}
- {name: host, mountPath: /ro, readOnly: true}
^securityContext: {fsGroup: 4321}
^volumes:
^- {name: empty, emptyDir: {}}
^- {name: mem, emptyDir: {medium: Memory, sizeLimit: 8Mi}}
^- {name: host, hostPath: {path: $T/host, type: Directory}}
EOF
is "emptyDir, memory, hostPath, readOnly and fsGroup" "$(says dirs)" "2777
8388608
kept
touch: cannot touch '/ro/x': Read-only file system
2777:4321"
ok "what a pod made on the host stays" test -d "$T/host/made"

k create -f - >/dev/null <<'EOF'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
EOF
claimed='volumeMounts:
- {name: data, mountPath: /data}
- {name: data, mountPath: /part, subPath: runs/one}
^volumes:
^- {name: data, persistentVolumeClaim: {claimName: data}}'
pod first 'echo result >/part/f; ln -s / /data/out' <<<"$claimed"
is "a pod writes to its claim" "$(says first)" ""
pod second 'cat /data/runs/one/f' <<<"$claimed"
is "another pod reads it" "$(says second)" result
pod escape true <<<"${claimed/runs\/one/out/etc}"
ok "a subPath cannot lead out of its volume" eventually 10 sh -c "kubectl describe pod escape | grep -q 'leads out of volume'"

pod absent true <<<'volumeMounts: [{name: v, mountPath: /v}]
^volumes: [{name: v, configMap: {name: late}}]'
ok "a missing configMap is an event" eventually 10 sh -c "kubectl describe pod absent | \
	grep -q 'FailedMount.*MountVolume.SetUp failed for volume \"v\" : configmap \"late\" not found'"
k create cm late >/dev/null
ok "and the pod starts when it is there" eventually 30 phase absent Succeeded
pod wrong true <<<'volumeMounts: [{name: v, mountPath: /v}]
^volumes: [{name: v, hostPath: {path: /etc/passwd, type: Directory}}]'
ok "a hostPath of the wrong type is named" eventually 10 sh -c "kubectl describe pod wrong | \
	grep -q 'hostPath type check failed: /etc/passwd is not a directory'"

pod watcher 'while ! grep -q 9 /cfg/epochs; do sleep 0.1; done; echo seen' <<'EOF'
volumeMounts: [{name: cfg, mountPath: /cfg}]
^volumes: [{name: cfg, configMap: {name: settings}}]
EOF
ok "a pod that watches its configMap runs" eventually 20 phase watcher Running
k patch cm settings -p '{"data":{"epochs":"9"}}' >/dev/null
is "an update reaches the running container" "$(says watcher)" seen

k delete pod --all --wait=true >/dev/null
ok "no mount is left" eventually 10 sh -c "! grep -q '$T/main/data/pods' /proc/self/mountinfo"
is "the host's files are all there" "$(cat "$T/host/f") $(ls "$T/host")" "kept f
made"
k delete pvc data >/dev/null
ok "a claim's directory goes with it" eventually 10 sh -c "! ls '$T/main/data/claims' | grep -q ."
done_testing

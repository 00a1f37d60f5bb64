#!/bin/bash
# `stoker image commit`: what a running pod changed is there in the next one.
. "$(dirname "$0")/lib.sh"
node_start main
D=$T/main/data
image() { "$STOKER" image "$@" --data "$D"; }
commit() { image commit "$@" --socket "$SOCKET" -n default -q; }
# pod NAME IMAGE COMMAND
pod() {
	kubectl apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec:
		  restartPolicy: Never
		  terminationGracePeriodSeconds: 0
		  containers:
		  - {name: main, image: $2, imagePullPolicy: IfNotPresent, command: [/bin/sh, -c, '$3']}
	END
	for _ in $(seq 600); do
		kubectl logs "$1" 2>/dev/null | grep -q ready && return
		sleep 0.1
	done
	kubectl describe pod "$1"
	return 1
}
mkdir "$T/one" && cp "$(command -v busybox)" "$T/one/busybox"
printf 'FROM scratch\nCOPY busybox /bin/busybox\nRUN ["/bin/busybox", "--install", "-s", "/bin"]\nRUN echo old >/dropped\n' >"$T/one/Dockerfile"
ok "an image is built" image build "$T/one" -t lab/one -q
ok "a pod of it changes its files" pod box lab/one 'rm /dropped; echo new >/added; echo ready; while :; do sleep 1; done'
like "it is committed while it runs" "$(commit box lab/two:2 --pause -m "by hand" --change 'ENV WHO=me')" '^sha256:[0-9a-f]{64} docker.io/lab/two:2$'
is "and goes on running" "$(kubectl get pod box -o 'jsonpath={.status.phase}')" Running
ok "a pod of the new image starts" pod next lab/two:2 'echo ready; cat /added; echo $WHO; ls /dropped 2>/dev/null || echo dropped; wc -c </etc/hostname'
like "it has what was added, and not what was removed" "$(kubectl logs next | xargs)" '^ready new me dropped'
layer=$(image inspect lab/two:2 | jq -r '.config.rootfs.diff_ids[-1]' | cut -d: -f2)
is "nothing the runtime mounted is in it" "$(find "$D/images/layers/$layer" -type f -size 0; ls "$D/images/layers/$layer/dev" 2>/dev/null)" ""
is "its history says where it is from" "$(image inspect lab/two:2 | jq -r '.config.history[-1] | .created_by + ": " + .comment')" \
	'stoker image commit default/box (main): by hand'
like "a pod of this machine's own files has no image" \
	"$(pod own host 'echo ready; sleep 1000' && commit own x 2>&1)" 'start it from an image'
like "a pod that is not there is named" "$(commit none x 2>&1)" 'pods "none" not found'
kubectl delete pod --all --now >/dev/null 2>&1
server_stop
done_testing

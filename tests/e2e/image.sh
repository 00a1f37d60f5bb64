#!/bin/bash
# `stoker image` beside a running server: every subcommand, its answers, and its refusals.
. "$(dirname "$0")/lib.sh"
server_start main
D=$T/main
image() { "$STOKER" image "$@" --data "$D"; }

# An image with busybox in it, as an OCI layout.
digest() { sha256sum "$1" | cut -d' ' -f1; }
blob() { cp "$1" "$T/layout/blobs/sha256/$(digest "$1")"; }
desc() { printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d}' "$2" "$(digest "$1")" "$(stat -c %s "$1")"; }
mkdir -p "$T/layout/blobs/sha256" "$T/root/bin"
cp "$(command -v busybox)" "$T/root/bin/busybox"
ln -s busybox "$T/root/bin/sh"
tar -C "$T/root" --owner=0 --group=0 -cf "$T/layer" .
printf '{"architecture":"amd64","os":"linux","config":{"Cmd":["/bin/sh"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
	"$(digest "$T/layer")" >"$T/config"
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
	"$(desc "$T/config" config.v1+json)" "$(desc "$T/layer" layer.v1.tar)" >"$T/manifest"
for f in layer config manifest; do blob "$T/$f"; done
printf '{"imageLayoutVersion":"1.0.0"}' >"$T/layout/oci-layout"
printf '{"schemaVersion":2,"manifests":[%s]}' "$(desc "$T/manifest" manifest.v1+json)" >"$T/layout/index.json"
id=sha256:$(digest "$T/config")

is "import prints id and name" "$(image import "$T/layout" --name lab/box:1 -q)" "$id docker.io/lab/box:1"
like "list shows it" "$(image list)" "^${id:7:12} +2\.[0-9]MB +[0-9]+s +docker.io/lab/box:1$"
is "list -o json is an array" "$(image list -o json | jq -r '.[0].id')" "$id"
ok "tag gives a further name" image tag lab/box:1 box
is "inspect finds it by that name" "$(image inspect box | jq -r '.config.config.Cmd[0]')" /bin/sh
is "inspect finds it by a short id" "$(image inspect "${id:7:12}" | jq -r .id)" "$id"
is "inspect knows the host" "$(image inspect host | jq -r .id)" host
for form in docker-archive oci-archive; do
	ok "export writes a $form" image export box "$T/$form" --format $form -q
	like "import reads a $form by its own name" "$(image import "$T/$form" -q)" '^sha256:[0-9a-f]{64} docker.io/library/box:latest$'
done
like "rm removes a name" "$(image rm box)" 'image box removed'
like "rm says what is not there" "$(image rm box 2>&1)" 'stoker image rm: there is no image "box" here'
like "a bad name is refused" "$(image pull Bad 2>&1)" "couldn't parse image name \"Bad\": invalid reference format"
like "a registry that is not there is named" "$(image pull localhost:1/x -q 2>&1)" 'localhost:1/x:latest: the registry does not answer: .*connection refused'
mkdir "$T/lib" && : >"$T/lib/libarchive.so.13" # stands before the real one
like "a missing libarchive is named" "$(LD_LIBRARY_PATH=$T/lib image import "$T/docker-archive" -q 2>&1)" \
	'libarchive is not installed; install libarchive13'
like "a directory that is not there is no store" "$("$STOKER" image list --data "$T/nowhere" 2>&1)" 'No such file or directory'
ok "and is not made" test ! -e "$T/nowhere"

docker_registry() {
	cat >"$T/registry.yml" <<-END
		version: 0.1
		log: {level: error, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: $T/registry}}
		http: {addr: '127.0.0.1:$1'}
	END
	docker-registry serve "$T/registry.yml" >"$T/registry.log" 2>&1 &
	PIDS+=($!)
	for _ in $(seq 300); do curl -sf "http://127.0.0.1:$1/v2/" >/dev/null && return; sleep 0.1; done
	return 1
}
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
docker_registry "$port"
is "docker-registry starts" $? 0
like "push copies it to a registry" "$(image push lab/box:1 "localhost:$port/box:1" -q)" "^$id "
like "prune --all removes what nobody uses" "$(image prune --all)" 'images? removed'
is "nothing is left" "$(image list -o json)$(ls "$D/images/layers" "$D/images/blobs/sha256" | grep -c .)" "[]2"
like "pull fetches it again" "$(image pull "localhost:$port/box:1" -q)" "^$id localhost:$port/box:1$"
like "pull says when it is here already" "$(image pull "localhost:$port/box:1" 2>&1)" 'is here already'
is "its programs run" "$(chroot "$D/images/layers/$(digest "$T/layer")" /bin/sh -c 'echo hello')" hello
like "a name the registry does not have is not found" "$(image pull "localhost:$port/box:9" -q 2>&1)" 'not found in the registry'
like "the server is none the worse" "$(kubectl get --raw /readyz)" ok
done_testing

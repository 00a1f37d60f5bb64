#!/bin/bash
# Images of real pods: this machine's own, and those of registries, with passwords and certificates, absent and back again.
. "$(dirname "$0")/lib.sh"
H=$T/host
mkdir -p "$T/bin" "$T/etc" "$H"

# ---- images: busybox, once plain and once with everything a config can say ----
digest() { sha256sum "$1" | cut -d' ' -f1; }
desc() { printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d}' "$2" "$(digest "$1")" "$(stat -c %s "$1")"; }
layout() { # NAME CONFIG: an OCI layout of the layer with this config
	local d=$T/layout-${1%:*}
	mkdir -p "$d/blobs/sha256"
	printf '{"architecture":"amd64","os":"linux","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
		"$2" "$(digest "$T/layer")" >"$T/config"
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
		"$(desc "$T/config" config.v1+json)" "$(desc "$T/layer" layer.v1.tar)" >"$T/manifest"
	for f in layer config manifest; do cp "$T/$f" "$d/blobs/sha256/$(digest "$T/$f")"; done
	printf '{"imageLayoutVersion":"1.0.0"}' >"$d/oci-layout"
	printf '{"schemaVersion":2,"manifests":[%s]}' "$(desc "$T/manifest" manifest.v1+json)" >"$d/index.json"
	skopeo --insecure-policy copy -q --dest-tls-verify=false "oci:$d" "docker://localhost:$OPEN/$1" ||
		{ fail "image $1 is pushed"; done_testing; }
}
mkdir -p "$T/root/bin" "$T/root/etc" "$T/root/work" "$T/root/home/worker"
cp "$(command -v busybox)" "$T/root/bin/busybox"
for p in sh cat id env pwd sleep touch ls echo grep stat; do ln -s busybox "$T/root/bin/$p"; done
printf 'root:x:0:0::/root:/bin/sh\nworker:x:1234:1235::/home/worker:/bin/sh\n' >"$T/root/etc/passwd"
printf 'root:x:0:\nworkers:x:1235:\nextra:x:1236:worker\n' >"$T/root/etc/group"
printf '#!/bin/sh\necho entry "$@"\n' >"$T/root/bin/entry"
chmod 755 "$T/root/bin/entry" && chmod 777 "$T/root/work"
tar -C "$T/root" --owner=0 --group=0 -cf "$T/layer" .

# ---- registries: one for everyone, one with a password behind a private CA, one that comes later ----
ports() { # COUNT
	/usr/bin/python3 -c 'import socket, sys
s = [socket.socket() for _ in range(int(sys.argv[1]))]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])' "$1"
}
registry() { # ADDRESS [MORE CONFIG]
	cat >"$T/registry-$1.yml" <<-END
		version: 0.1
		log: {level: error, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: $T/registry}, delete: {enabled: true}}
		http: {addr: '$1'${2:-}
	END
	docker-registry serve "$T/registry-$1.yml" >"$T/registry-$1.log" 2>&1 &
	PIDS+=($!)
}
answers() { curl -sk -o /dev/null "$1/v2/"; }
read -r OPEN SAFE < <(ports 2)
# An address that nobody else takes while nothing listens there.
LATE=127.$((1 + RANDOM % 250)).$((RANDOM % 250)).$((1 + RANDOM % 250)):5000
NEVER=${LATE%:*}:5001
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=lab-ca -keyout "$T/ca.key" -out "$T/ca.crt" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=registry -keyout "$T/tls.key" -out "$T/tls.csr" 2>/dev/null
openssl x509 -req -in "$T/tls.csr" -CA "$T/ca.crt" -CAkey "$T/ca.key" -days 2 -out "$T/tls.crt" \
	-extfile <(echo 'subjectAltName=DNS:registry.test,DNS:strange.test') 2>/dev/null
/usr/bin/python3 -W ignore -c 'import crypt; print("lab:" + crypt.crypt("pa:ss word", crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)))' >"$T/htpasswd"
registry "127.0.0.1:$OPEN" '}'
registry "127.0.0.1:$SAFE" ", tls: {certificate: $T/tls.crt, key: $T/tls.key}}
auth: {htpasswd: {realm: lab, path: $T/htpasswd}}"
ok "docker-registry answers over HTTP" eventually 30 answers "http://127.0.0.1:$OPEN"
ok "and over HTTPS" eventually 30 answers "https://127.0.0.1:$SAFE"
for n in box mine slow slower shared kept; do layout $n:1 "{\"Cmd\":[\"/bin/sh\"],\"Env\":[\"PATH=/bin\",\"OF=$n\"]}"; done
box_digest=$(skopeo inspect --tls-verify=false --format '{{.Digest}}' "docker://localhost:$OPEN/box:1")
layout full:1 '{"Entrypoint":["/bin/entry"],"Cmd":["from","image"],"Env":["PATH=/bin","A=image","B=image"],"WorkingDir":"/work","User":"worker","StopSignal":"SIGUSR1"}'

# Registries by name, and their CA where this machine would have it, without touching its /etc: only skopeo sees this.
printf '127.0.0.1 localhost registry.test strange.test\n' >"$T/hosts"
mkdir -p "$T/etc/certs.d/registry.test:$SAFE"
cp "$T/ca.crt" "$T/etc/certs.d/registry.test:$SAFE/ca.crt"
cp -r /etc/containers/. "$T/etc/"
cat >"$T/bin/skopeo" <<EOF
#!/bin/sh
echo "\$@" >>$T/skopeo.log
case "\$*" in *" copy "*/slow* | *" copy "*/shared*) sleep 1 ;; esac
exec unshare -m sh -c 'mount --bind $T/hosts /etc/hosts && mount --bind $T/etc /etc/containers && exec "\$@"' - $(command -v skopeo) "\$@"
EOF
chmod 755 "$T/bin/skopeo"
PATH=$T/bin:$PATH node_start main || exit 1
K=$(command -v kubectl) NS=default V=
image() { "$STOKER" image "$@" --data "$T/main/data" 2>&1; }
copies() { grep -c " copy .*/$1[:@]" "$T/skopeo.log"; } # how often an image was fetched

pods_url=/api/v1/namespaces/default/pods
# By the API itself: kubectl takes its time to start, and these are asked often.
phase() { # POD WANTED
	[ "$(api GET "$pods_url/$1" | field .status.phase)" = "$2" ]
}
waits() { # POD REASON [MESSAGE]: its first container's, now
	api GET "$pods_url/$1" | field '.status.containerStatuses[0].state.waiting | .reason + ": " + .message' | grep -qF -- "$2: ${3:-}"
}
event() { # POD TEXT
	api GET "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=$1" |
		field '.items[] | .type + " " + .reason + " " + .message' | grep -qE -- "$2"
}
happens() { # SENTENCE POD TEXT (extended regular expression of an event)
	if eventually 20 event "$2" "$3"; then pass "$1"; else fail "$1" "$(k describe pod "$2" | sed -n '/^Events/,$p')"; fi
}
says() { # five minutes may pass between two tries to pull an image
	eventually 330 phase "$1" Succeeded || k describe pod "$1" | tail -n 8
	k logs "$1"
}
# pod NAME IMAGE [MORE CONTAINER FIELDS [MORE SPEC]]
pod() {
	cat <<-EOF
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: $1}
	spec:
	  restartPolicy: Never
	  terminationGracePeriodSeconds: ${GRACE:-0}
	  containers: [{name: c, image: '$2'${3:+, $3}}]
	  ${4:-}
	EOF
}
sh() { printf "command: [sh, -c, '%s']" "$1"; }
secrets() { printf 'imagePullSecrets: [%s]' "$*"; }
create() { k create -f - >"$T/create" || fail "objects are made" "$(cat "$T/create")"; }

# ---- everything is asked for at once, and looked at afterwards ----
k create secret docker-registry new --docker-server="registry.test:$SAFE" --docker-username=lab --docker-password='pa:ss word' >/dev/null
k create secret docker-registry wrong --docker-server="https://registry.test:$SAFE/v2/" --docker-username=lab --docker-password=no >/dev/null
k create secret docker-registry strange --docker-server="strange.test:$SAFE" --docker-username=lab --docker-password='pa:ss word' >/dev/null
k create secret generic old --type=kubernetes.io/dockercfg --from-literal=.dockercfg="$(jq -nc --arg r "registry.test:$SAFE" \
	'{($r): {username: "lab", password: "pa:ss word", email: "x@localhost"}}')" >/dev/null
mark=stoker-$(basename "$T")
{
	pod later "$LATE/box:1" 'command: [echo, arrived]'
	pod down "$NEVER/box:1"
	pod host host "$(sh "echo inside >/etc/$mark; cat /etc/$mark; touch /usr/bin/$mark /$mark && echo writable; ls $T 2>&1 | wc -l")"
	pod host-again host "$(sh "test -e /v/again && { ls /etc/$mark /$mark 2>&1 | wc -l; exit 0; }; touch /v/again /etc/$mark; exit 1"), volumeMounts: [{name: v, mountPath: /v}]" \
		'volumes: [{name: v, emptyDir: {}}]' | sed 's/restartPolicy: Never/restartPolicy: OnFailure/'
	pod host-ro host "$(sh "touch /etc/$mark 2>&1; true"), securityContext: {readOnlyRootFilesystem: true}"
	pod http "localhost:$OPEN/box:1" 'command: [echo, $(OF)]'
	pod by-digest "localhost:$OPEN/box@$box_digest" "$(sh 'echo $OF; sleep 1000')"
	pod https-new "registry.test:$SAFE/box:1" "$(sh 'echo $OF')" "$(secrets '{name: new}')"
	pod https-old "registry.test:$SAFE/box:1" "imagePullPolicy: Always, $(sh 'echo $OF')" "$(secrets '{name: old}')"
	pod https-both "registry.test:$SAFE/kept:1" "$(sh 'echo $OF')" "$(secrets '{name: wrong}, {name: new}')"
	pod no-secret "registry.test:$SAFE/box:1" 'imagePullPolicy: Always'
	pod lost-secret "registry.test:$SAFE/box:1" 'imagePullPolicy: Always, command: [echo, now]' "$(secrets '{name: wrong}, {name: coming}')"
	pod wrong-secret "registry.test:$SAFE/box:1" 'imagePullPolicy: Always' "$(secrets '{name: wrong}')"
	pod strange "strange.test:$SAFE/box:1" '' "$(secrets '{name: strange}')"
	pod absent "localhost:$OPEN/box:9"
	pod nothing "localhost:$OPEN/nothing"
	pod never "localhost:$OPEN/slow:1" 'imagePullPolicy: Never, command: [echo, at last]'
	pod invalid "localhost:$OPEN/Box:1"
	pod deleted "localhost:$OPEN/slower:1" "$(sh true)"
	pod both-a "localhost:$OPEN/shared:1" "imagePullPolicy: Always, $(sh 'echo $OF')"
	pod both-b "localhost:$OPEN/shared:1" "imagePullPolicy: Always, $(sh 'echo $OF')"
} | create
{
	pod full "localhost:$OPEN/full:1"
	pod full-args "localhost:$OPEN/full:1" 'args: [mine, "$(B)"], env: [{name: B, value: pod}]'
	pod full-command "localhost:$OPEN/full:1" "$(sh 'pwd; id; echo $A $B $HOME; touch /work/f && echo mine')"
	pod full-over "localhost:$OPEN/full:1" "$(sh 'pwd; id -u; echo $B'), workingDir: /etc, env: [{name: B, value: pod}], securityContext: {runAsUser: 99}"
	GRACE=20 pod full-stop "localhost:$OPEN/full:1" "$(sh 'trap "echo USR1 >/h/signal; exit" USR1; trap "echo TERM >/h/signal; exit" TERM; touch /h/ready; while :; do sleep 0.1; done'), securityContext: {runAsUser: 0}, volumeMounts: [{name: h, mountPath: /h}]" \
		"volumes: [{name: h, hostPath: {path: $H}}]"
	pod changed "localhost:$OPEN/mine:1" "$(sh 'echo made >/made; echo secret >/v/f; sleep 1000'), volumeMounts: [{name: v, mountPath: /v}]" \
		'volumes: [{name: v, emptyDir: {}}]'
} | create

# ---- a pod that goes while its image comes ----
ok "a pod whose image is being fetched can be deleted" timeout 120 kubectl delete pod deleted

# ---- this machine's own file system ----
is "host: a pod can write everywhere" "$(says host)" "inside
writable
1"
ok "and this machine has none of it" test ! -e "/etc/$mark" -a ! -e "/usr/bin/$mark" -a ! -e "/$mark"
like "host: read-only if the pod says so" "$(says host-ro)" 'Read-only file system'

# ---- registries ----
is "an image over plain HTTP from this machine" "$(says http)" box
happens "events say so" http "Normal Pulling Pulling image \"localhost:$OPEN/box:1\""
happens "with time and size" http "Normal Pulled Successfully pulled image \"localhost:$OPEN/box:1\" in [0-9.]+m?s \([0-9.]+m?s including waiting\)\. Image size: [0-9]+ bytes\."
ok "an image by its digest" eventually 20 phase by-digest Running
is "which is its imageID" "$(get pod by-digest '.status.containerStatuses[0].imageID')" "localhost:$OPEN/box@$box_digest"
is "over HTTPS with a private CA and a .dockerconfigjson" "$(says https-new)" box
is "with a .dockercfg" "$(says https-old)" box
is "with the right one of two secrets" "$(says https-both)" kept
is "two pods with one image have it" "$(says both-a)$(says both-b)" sharedshared
is "fetched once" "$(copies shared)" 1

failed="Warning Failed Failed to pull image \"registry.test:$SAFE/box:1\": .*unauthorized"
happens "without a secret it is refused" no-secret "$failed"
happens "with the wrong password too" wrong-secret "$failed"
happens "a missing secret is named" lost-secret 'Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets \(coming\); attempting to pull the image may not succeed\.'
happens "an unknown CA is not trusted" strange "Warning Failed Failed to pull image .*the registry's certificate is not trusted: .*x509"
happens "a registry that is not there" down "Warning Failed Failed to pull image \"$NEVER/box:1\": .*the registry does not answer: .*connection refused"
happens "a tag it does not have" absent "Warning Failed Failed to pull image \"localhost:$OPEN/box:9\": .*not found in the registry"
happens "a name it does not have" nothing "Warning Failed Failed to pull image \"localhost:$OPEN/nothing\": .*not found in the registry"
happens "each is an ErrImagePull" absent 'Warning Failed Error: ErrImagePull'
happens "then backed off" absent "Normal BackOff Back-off pulling image \"localhost:$OPEN/box:9\""
happens "which is an ImagePullBackOff" absent 'Warning Failed Error: ImagePullBackOff'
ok "whose message still says why" eventually 20 waits nothing ImagePullBackOff "Back-off pulling image \"localhost:$OPEN/nothing\": ErrImagePull: "
like "kubectl get shows it" "$(k get pod nothing down)" 'nothing +0/1 +(ErrImagePull|ImagePullBackOff) +0'
is "such pods are Pending" "$(get pod down .status.phase)" Pending
ok "ErrImageNeverPull" eventually 20 waits never ErrImageNeverPull "Container image \"localhost:$OPEN/slow:1\" is not present with pull policy of Never"
happens "as an event" never 'Warning ErrImageNeverPull Container image .* is not present with pull policy of Never'
happens "and as the reason" never 'Warning Failed Error: ErrImageNeverPull'
is "nothing was fetched for it" "$(copies slow)" 0
ok "InvalidImageName" eventually 20 waits invalid InvalidImageName "Failed to apply default image tag \"localhost:$OPEN/Box:1\": couldn't parse image name \"localhost:$OPEN/Box:1\": invalid reference format"
happens "as an event" invalid 'Warning InspectFailed Failed to apply default image tag .*: invalid reference format'
happens "and as the reason" invalid 'Warning Failed Error: InvalidImageName'

# What was missing comes.
registry "$LATE" '}'
k create secret docker-registry coming --docker-server="registry.test:$SAFE" --docker-username=lab --docker-password='pa:ss word' >/dev/null
image pull "localhost:$OPEN/slow:1" -q >/dev/null

# ---- what an image says of itself ----
is "ENTRYPOINT and CMD" "$(says full)" "entry from image"
is "args replace CMD only" "$(says full-args)" "entry mine pod"
is "WORKDIR, USER, ENV, and the user's home" "$(says full-command)" "/work
uid=1234(worker) gid=1235(workers) groups=1236(extra)
image image /home/worker
mine"
is "a pod has the last word" "$(says full-over)" "/etc
99
pod"
ok "a pod with a STOPSIGNAL runs" eventually 20 test -e "$H/ready"
k delete pod full-stop >/dev/null
is "and is stopped by it" "$(cat "$H/signal")" USR1

# ---- an image from a changed container ----
ok "a pod runs that changes its files" eventually 60 k exec changed -- sh -c '[ -s /v/f ]'
like "commit makes one" "$("$STOKER" image commit changed made:1 --data "$T/main/data" --socket "$SOCKET" -q 2>&1)" '^sha256:[0-9a-f]{64} docker.io/library/made:1$'
pod committed made:1 "imagePullPolicy: Always, $(sh 'cat /made; echo $OF; ls /v 2>/dev/null | grep -c .; true')" | create
is "its changes are in it, its volumes are not, and no registry is asked" "$(says committed)" "made
mine
0"

# ---- what came late ----
is "a registry that comes back is used" "$(says later)" arrived
is "a secret that comes late too" "$(says lost-secret)" now
is "Never runs an image that came otherwise" "$(says never)" "at last"
here() { image list | grep -q "$1"; }
ok "an image whose pod went meanwhile came nevertheless" eventually 20 here "localhost:$OPEN/slower:1"
is "host: a container that starts again finds nothing of its last run" "$(says host-again)" 2
# ---- in use, pulled again, and not ----
like "rm refuses an image in use" "$(image rm "localhost:$OPEN/mine:1")" 'in use'
image prune --all >/dev/null
like "prune spares it" "$(image list)" "localhost:$OPEN/mine:1"
unlike "and nothing else" "$(image list)" "localhost:$OPEN/full"
is "the pod is none the worse" "$(k exec changed -- sh -c 'cat /made; echo $OF' | xargs)" "made mine"
before=$(copies mine)
{
	pod present "localhost:$OPEN/mine:1" "imagePullPolicy: IfNotPresent, command: [echo, hello]"
	pod always "localhost:$OPEN/mine:1" "imagePullPolicy: Always, command: [echo, hello]"
} | create
is "IfNotPresent runs what is here" "$(says present)" hello
happens "and says so" present "Normal Pulled Container image \"localhost:$OPEN/mine:1\" already present on machine"
is "Always asks the registry" "$(says always)" hello
happens "and says that" always "Normal Pulled Successfully pulled image"
is "but fetches nothing that is here" "$(copies mine)" "$before"


# ---- a crash while an image comes ----
before=$(copies slower)
fetching() { [ "$(copies slower)" -gt "$before" ]; }
pod crash "localhost:$OPEN/slower:1" "$(sh 'echo $OF')" | create
ok "an image is being fetched" eventually 20 fetching
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
PATH=$T/bin:$PATH node_start main || exit 1
is "the next server fetches it" "$(says crash)" slower
like "an image in use is still so" "$(image rm "localhost:$OPEN/mine:1")" 'in use'
is "its pod never noticed" "$(k exec changed -- cat /made) $(get pod changed '.status.containerStatuses[0].restartCount')" "made 0"

k delete pod --all --wait=true >/dev/null
ok "no mount of a pod is left" eventually 10 bash -c "! grep -q '$T/main/data/pods' /proc/self/mountinfo"
like "what nobody uses can go" "$(image rm "localhost:$OPEN/mine:1" made:1)" 'removed'
image prune --all >/dev/null
is "all of it" "$(image list -o json)" "[]"
is "also what was half fetched" "$(cd "$T/main/data/images" && find layers tmp trash blobs/sha256 -mindepth 1)" ""
server_stop
done_testing

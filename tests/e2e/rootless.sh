#!/bin/bash
# A server that an ordinary user started: pods in a user namespace, on the host's network, across crashes, and gone
# without a trace; with and without ranges of ids; and where the machine forbids user namespaces.
. "$(dirname "$0")/lib.sh"

# No account has this number.  The program is copied, for a checkout may be somewhere only root may look.
U=$((50000 + $$ % 10000))
cp "$STOKER" "$T/stoker"
chmod 755 "$T"
printf '#!/bin/sh\nexec setpriv --reuid=%s --regid=%s --clear-groups "%s/stoker" "$@"\n' $U $U "$T" >"$T/as-user"
chmod 755 "$T/as-user" "$T/stoker"
STOKER=$T/as-user
cd "$T" || exit 1
as_user() { setpriv --reuid=$U --regid=$U --clear-groups "$@"; }
home() { mkdir -p "$T/$1" && chown $U:$U "$T/$1"; }
phase() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = "$2" ]; }
ready() { kubectl get nodes -o 'jsonpath={.items[0].status.conditions[?(@.type=="Ready")].message}'; }
# Everything of the user's, and of ids from $1 on, that lives.
living() { ps -eo uid=,pid=,stat=,args= | awk -v u=$U -v s="${1:-0}" '($1 == u || (s && $1 >= s && $1 < s + 65536)) && $3 !~ /^Z/'; }
none_living() { [ -z "$(living "${1:-0}")" ]; }
kill_server() { { kill -9 "$SERVER_PID" && wait "$SERVER_PID"; } 2>/dev/null; }

# An image of busybox with a user, a file of that user, and a second layer that hides things of the first.
image() {
	local dir=$T/image
	mkdir -p "$dir/one/bin" "$dir/one/etc" "$dir/one/home/u" "$dir/one/sub" "$dir/two/sub" "$dir/two/bin"
	cp "$(command -v busybox)" "$dir/one/bin/busybox"
	for c in sh id ls cat sleep stat; do ln -s busybox "$dir/one/bin/$c"; done
	printf 'root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\n' >"$dir/one/etc/passwd"
	printf 'root:x:0:\nwheel:x:10:root\n' >"$dir/one/etc/group"
	: >"$dir/one/sub/old"
	: >"$dir/two/sub/.wh..wh..opq"
	: >"$dir/two/sub/new"
	: >"$dir/two/bin/.wh.stat"
	chown -R 0:0 "$dir/one" "$dir/two"
	chown 1000:1000 "$dir/one/home/u"
	tar -C "$dir/one" -cf "$dir/1.tar" .
	tar -C "$dir/two" -cf "$dir/2.tar" sub/.wh..wh..opq sub/new bin/.wh.stat
	printf '{"architecture":"amd64","os":"linux","config":{"Env":["PATH=/bin"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s","sha256:%s"]}}' \
		"$(sha256sum "$dir/1.tar" | cut -d' ' -f1)" "$(sha256sum "$dir/2.tar" | cut -d' ' -f1)" >"$dir/c.json"
	printf '[{"Config":"c.json","RepoTags":["box:1"],"Layers":["1.tar","2.tar"]}]' >"$dir/manifest.json"
	tar -C "$dir" -cf "$T/box.tar" c.json 1.tar 2.tar manifest.json
	chmod 644 "$T/box.tar"
}
image

# pod NAME IMAGE SCRIPT [further fields of the container, of the spec]
pod() {
	kubectl apply -f - <<-END >/dev/null
		{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$1"}, "spec": {"restartPolicy": "Never",
		 "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": false ${5:-},
		 "containers": [{"name": "c", "image": "$2", "imagePullPolicy": "Never", "command": ["sh", "-c", $(jq -n --arg s "$3" '$s')] ${4:-}}]}}
	END
}
ends() { # NAME: its log
	eventually 20 eval "phase $1 Succeeded || phase $1 Failed"
	kubectl logs "$1"
}

# ---- one id ----
home main
node_start main || exit 1
like "the node is ready and says what is different" "$(ready)" "as an ordinary user: on the host's network, and without enforcing limits"
is "nothing of the server runs as root" "$(living | grep -c 'stoker serve')" 1

pod a host 'id -u; cat /proc/self/uid_map; echo $KUBERNETES_SERVICE_HOST; touch /etc/x /tmp/x /var/tmp/x /root/x /v/x && echo writable; ls '"$T"'; true' \
	', "volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "m", "mountPath": "/etc/config"}], "resources": {"limits": {"memory": "64Mi", "cpu": "1"}}' \
	', "volumes": [{"name": "v", "emptyDir": {}}, {"name": "m", "emptyDir": {"medium": "Memory"}}], "securityContext": {"fsGroup": 3000}'
log=$(ends a)
ok "a pod of the host's own image succeeds" phase a Succeeded
like "it is root inside, and the user outside" "$(tr -s ' \n' ' ' <<<"$log")" "^0 0 $U 1 127.0.0.1 writable"
unlike "and does not see the server's directory" "$log" '^main'
is "its address is the host's" "$(kubectl get pod a -o 'jsonpath={.status.podIP}')" "$(kubectl get pod a -o 'jsonpath={.status.hostIP}')"

like "an image is imported beside the server, from a relative directory" \
	"$(cd "$T" && "$STOKER" image import box.tar -q --data main/data)" '^sha256:[0-9a-f]{64} docker.io/library/box:1$'
pod b box:1 'ls -n /home; ls /sub; ls /bin/stat; echo up; sleep 1000'
ok "a pod with it runs" eventually 20 phase b Running
eventually 5 eval '[ "$(kubectl logs b | tail -n1)" = up ]'
log=$(kubectl logs b)
like "files of ids that are not there are root's" "$log" ' 0 +0 .* u$'
is "layers hide what is below them" "$(sed -n '/^new/,$p' <<<"$log" | grep -v stat | xargs)" "new up"
sleeps() { [ "$(living | grep -c 'sleep 1000')" = 1 ]; }
ok "its process is the user's" eventually 60 sleeps
is "exec works" "$(kubectl exec b -- sh -c 'id -u; exit 0')" 0
kubectl exec b -- sh -c 'exit 7' 2>/dev/null
is "and brings the exit status" $? 7
like "a terminal too" "$(timeout 120 script -qec "kubectl exec -it b -- sh -c 'ls -l /proc/self/fd/0'" /dev/null </dev/null)" /dev/pts/0

pod e host 'sleep 1234 & ls -d /proc/'$$'; exec sleep 1235' '' ', "hostPID": true, "hostIPC": true'
ok "the host's processes are seen by a pod that wants to" eventually 20 eval '[ "$(kubectl logs e)" = "/proc/$$" ]'
kubectl delete pod e >/dev/null
is "and all of its own end with it" "$(pgrep -u $U -f '^sleep 123[45]')" ""
pod f host 'touch /x; touch /etc/x; touch /tmp/x; true' ', "securityContext": {"readOnlyRootFilesystem": true}'
is "a read-only root is that everywhere" "$(ends f | grep -c 'Read-only file system')" 3

pod c box:1 'id' ', "securityContext": {"runAsUser": 1000}'
waits() { kubectl get pod c -o 'jsonpath={.status.containerStatuses[0].state.waiting}' | grep -q "$1"; }
ok "a user that is not there is refused" eventually 10 waits CreateContainerConfigError
ok "with the way out" waits '/etc/subuid'
kubectl delete pod c --grace-period=0 --force >/dev/null 2>&1

is "the owner is admin on the socket" "$(as_user curl -s --unix-socket "$SOCKET" -o /dev/null -w '%{http_code}' http://localhost/api/v1/secrets)" 200
is "nobody else is anybody there" "$(setpriv --reuid=$((U + 1)) --clear-groups curl -s --unix-socket "$SOCKET" http://localhost/api | field .code)" 401
like "and hears why" "$(api GET /api)" "started by user $U, not by root, and cannot recognise other users.*use a token"

# ---- crashes ----
pid=$(pgrep -u $U -f '^sleep 1000')
kill_server
server_run main
ok "a pod of a killed server is adopted" eventually 10 eval '[ "$(kubectl exec b -- cat /proc/1/comm)" = sleep ]'
is "it is the same process" "$(pgrep -u $U -f '^sleep 1000')" "$pid"
is "and was not started again" "$(kubectl get pod b -o 'jsonpath={.status.containerStatuses[0].restartCount}')$(kubectl logs b | grep -c up)" 01
kill -9 "$(cat "$T/main/data/run/userns")"
eventually 5 flock -n "$T/main/data/run/userns" true
kill_server
server_run main
ok "also if the holder of its namespaces was killed" eventually 10 eval '[ "$(kubectl exec b -- ls /sub)" = new ]'
is "there is a new one" "$(living | grep -c 'stoker-monitor hold')" 1
kill -9 "$(cat "$T/main/data/run/userns")" "$(pgrep -u $U -f 'stoker-monitor  ')"
eventually 5 flock -n "$T/main/data/run/userns" true
kill_server
server_run main
ok "without anybody who knows, its end is unknown" eventually 10 phase b Failed
is "and it has ended" "$(pgrep -u $U -f '^sleep 1000')" ""
pod d box:1 'trap "exit 0" TERM; echo up; while :; do sleep 0.1; done'
eventually 20 phase d Running
kill_server
ok "down ends what a killed server left" "$STOKER" down --data "$T/main/data" --timeout 120s
ok "with every process" eventually 5 none_living
is "all files are the user's" "$(find "$T/main/data" ! -uid $U)" ""
is "of pods there are none" "$(find "$T"/main/data/pods "$T"/main/data/run/containers "$T"/main/data/run/oci -mindepth 1)" ""

# ---- runc ----
home runc
# What the host forbids on a mount stays forbidden where it is made read-only.  systemd's /sys is like that.
mkdir "$T/strict" && mount -t tmpfs -o nosuid,nodev,noexec,mode=755 none "$T/strict" && MOUNTS+=("$T/strict")
node_start runc --runtime runc || exit 1
pod a host 'echo by runc; touch /strict/x || sleep 1000' ', "volumeMounts": [{"name": "strict", "mountPath": "/strict", "readOnly": true}]' \
	', "volumes": [{"name": "strict", "hostPath": {"path": "'"$T"'/strict"}}]'
ok "runc runs pods too" eventually 20 eval 'kubectl logs a | grep -qx "by runc"'
is "and more in them" "$(kubectl exec a -- echo more)" more
kubectl delete pod a >/dev/null
server_stop
ok "a server without pods leaves nothing behind" eventually 5 none_living

# ---- many ids: an account with ranges, seen by this server alone ----
if command -v newuidmap >/dev/null && [ -e /etc/subuid ] && [ -e /etc/subgid ]; then
	home many
	{ cat /etc/passwd && echo "stoker-e2e:x:$U:$U::$T/many:/bin/sh"; } >"$T/passwd"
	echo stoker-e2e:700000000:65536 >"$T/subid"
	chmod 644 "$T/passwd" "$T/subid"
	cat >"$T/with-ids" <<-END
		#!/bin/sh
		exec unshare -m sh -c 'mount --bind $T/passwd /etc/passwd && mount --bind $T/subid /etc/subuid &&
			mount --bind $T/subid /etc/subgid && exec $T/as-user "\$@"' sh "\$@"
	END
	chmod 755 "$T/with-ids"
	STOKER=$T/with-ids
	# Not below /tmp, so that the host's image has to hide it.
	mkdir "/var/lib/${T##*/}"
	chown $U "/var/lib/${T##*/}"
	ln -s "/var/lib/${T##*/}" "$T/many/data"
	trap 'cleanup; rm -rf --one-file-system "/var/lib/${T##*/}"' EXIT
	node_start many || exit 1
	"$STOKER" image import "$T/box.tar" -q --data "$T/many/data" >/dev/null
	pod a box:1 'id; ls -n /home' ', "securityContext": {"runAsUser": 1000, "runAsGroup": 10}'
	like "with ranges a pod can have any user" "$(ends a | tr '\n' ' ')" '^uid=1000\(u\) gid=10\(wheel\).* 1000 +1000 .*u'
	is "who is another one outside" "$(stat -c %u "$T"/many/data/images/layers/*/home/u)" $((700000000 + 999))
	pod b host 'cd '"/var/lib/${T##*/}"' && ls -A | wc -l'
	is "the data directory is covered in the host's image" "$(ends b)" 0
	ok "images with such files can be removed" "$STOKER" image prune --all --data "$T/many/data"
	kubectl delete pod a b >/dev/null
	ok "and the server ends" "$STOKER" down --data "$T/many/data" --timeout 120s
	ok "with everything" eventually 5 none_living 700000000
	STOKER=$T/as-user
cd "$T" || exit 1
fi

# ---- none: a user namespace around the server, in which there may be no other ----
home none
mkfifo "$T/go"
cat >"$T/inner" <<-END
	echo 0 >/proc/sys/user/max_user_namespaces
	exec "$T/as-user" "\$@"
END
cat >"$T/without" <<-END
	#!/bin/sh
	exec unshare -U sh -c 'read x <"$T/go"; exec sh "$T/inner" "\$@"' sh "\$@"
END
chmod 755 "$T/without"
allow() { # PID: ids for it, once it is in its namespace
	eventually 5 eval '[ "$(readlink /proc/$SERVER_PID/ns/user)" != "$(readlink /proc/self/ns/user)" ]'
	echo "0 0 100000" >"/proc/$SERVER_PID/uid_map"
	echo "0 0 100000" >"/proc/$SERVER_PID/gid_map"
	echo >"$T/go"
}
limit=$(cat /proc/sys/user/max_user_namespaces)
"$T/without" serve --data "$T/none/data" --listen 127.0.0.1:0 --socket "$T/none/sock" >"$T/none/out" 2>>"$T/none/err" &
SERVER_PID=$!
PIDS+=("$SERVER_PID")
allow
server_wait none || exit 1
ok "without user namespaces the API is served" kubectl get namespaces
ok "and the node is not ready" eventually 5 eval 'kubectl get nodes | grep -q NotReady'
like "for a reason" "$(ready)" 'does not let ordinary users make user namespaces, because the setting user.max_user_namespaces is 0'
is "which is nobody else's" "$(cat /proc/sys/user/max_user_namespaces)" "$limit"
server_stop
done_testing

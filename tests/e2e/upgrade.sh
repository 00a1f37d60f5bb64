#!/bin/bash
# Starting on what is there: the same version, a newer one, a stranger's, a directory in use, a start that was cut short.
. "$(dirname "$0")/lib.sh"
PAGE="/usr/bin/python3 -B $ROOT/tests/lib/page.py"
VERSION_AT=60 APPLICATION_AT=68 # PRAGMA user_version and application_id in the header

# start_fails NAME [ARGS...]: starts a server that must refuse; what it said is in $SAID, its status in $STATUS.
start_fails() {
	local name=$1
	shift
	SAID=$(timeout 120 "$STOKER" serve --data "$T/$name/data" --listen 127.0.0.1:0 --socket "$T/$name/sock2" "$@" 2>&1)
	STATUS=$?
}
# state NAME: of every file, contents and names.
state() {
	(cd "$T/$1/data" && find . -type f -print0 | sort -z | xargs -0 sha256sum; stat -c '%n %a %Y' stoker.db lock) | sha256sum
}
create() {
	api POST /api/v1/namespaces/default/configmaps -H 'Content-Type: application/json' \
		-d "{\"metadata\":{\"name\":\"$1\"},\"data\":{\"k\":\"v\"}}"
}
item() {
	api GET "/api/v1/namespaces/default/configmaps/$1" -H 'User-Agent: e2e'
}

# The same version, stopped and started, killed and started.
server_start main
is "the data directory is private" "$(stat -c %a "$T/main/data")" 700
is "so is the admin's kubeconfig" "$(stat -c %a "$T/main/data/admin.kubeconfig")" 600
is "and the database" "$(stat -c %a "$T/main/data/stoker.db")" 600
create one >/dev/null
before=$(item one)
server_stop
server_start main
is "a stopped server starts with the same objects" "$(item one)" "$before"
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
server_start main
is "so does a killed one" "$(item one)" "$before"

# A directory in use.
start_fails main
is "a second server on the directory is refused" "$STATUS" 1
like "by name, with the pid of the first" "$SAID" "$T/main/data is in use by another stoker serve \(pid $SERVER_PID\)"
is "the first one serves on" "$(item one)" "$before"
SAID=$(timeout 120 "$STOKER" serve --data "$T/main/other" --listen 127.0.0.1:0 --socket "$SOCKET" 2>&1)
is "a second server on the socket is refused" $? 1
like "by name" "$SAID" "another server listens on $SOCKET"
is "and the socket still answers" "$(item one)" "$before"
server_stop

# A newer one, and not ours.
$PAGE "$T/main/data/stoker.db" $VERSION_AT 7
before_files=$(state main)
start_fails main
is "a database of a newer version is refused" "$STATUS" 1
like "naming both versions" "$SAID" 'stoker\.db has schema version 7 and this stoker knows versions up to [0-9]+'
is "and nothing has been written" "$(state main)" "$before_files"
$PAGE "$T/main/data/stoker.db" $VERSION_AT 1
$PAGE "$T/main/data/stoker.db" $APPLICATION_AT 0x12345678
before_files=$(state main)
start_fails main
is "a database of another program is refused" "$STATUS" 1
like "by name" "$SAID" 'stoker\.db was not made by Stoker'
is "and nothing has been written there either" "$(state main)" "$before_files"
$PAGE "$T/main/data/stoker.db" $APPLICATION_AT 0x53746f6b
server_start main
is "with its own marks back it is served again" "$(item one)" "$before"
server_stop

# The first start cut short, at the moments that make the database: it begins again, or goes on.
cut=0
for at in rename:1 rename:2 fdatasync:1 fdatasync:4 fdatasync:6 fdatasync:8 pwrite64:2 pwrite64:9 pwrite64:15 unlink:1; do
	name=cut-${at/:/-}
	mkdir -p "$T/$name"
	timeout 120 strace -f -qq -o /dev/null -e "trace=${at%:*}" -e "inject=${at%:*}:signal=KILL:when=${at#*:}" \
		"$STOKER" serve --no-node --data "$T/$name/data" --listen 127.0.0.1:0 --socket "$T/$name/sock" >"$T/$name/first" 2>&1 &
	PIDS+=($!)
	wait $! 2>/dev/null
	[ -s "$T/$name/first" ] && grep -q ready "$T/$name/first" && continue
	if server_start "$name" && [ "$(create two | jq -r .kind)" = ConfigMap ]; then cut=$((cut + 1)); else fail "a start cut short at $at" "$(cat "$T/$name/err")"; fi
	server_stop
done
ok "a first start cut short is made good by the next ($cut moments)" test "$cut" -ge 5

# A directory that is not ours to use.
mkdir -p "$T/odd"
echo x >"$T/odd/data"
start_fails odd
is "a file in place of the directory is refused" "$STATUS" 1
like "by name" "$SAID" "$T/odd/data"

done_testing

#!/bin/bash
# Nothing acknowledged is lost, whenever the server is killed; and no answer leaves before its fsync.
. "$(dirname "$0")/lib.sh"

helper crash "$T/rounds" "${CRASH_ROUNDS:-220}"

# The order of system calls of one create: its frames go to the log, the log is synced, and only then the answer leaves.
server_start order
strace -f -y -qq -e trace=pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg -p "$SERVER_PID" -o "$T/calls" &
STRACE=$!
PIDS+=("$STRACE")
attached() { grep -q '^TracerPid:[^0-9]*[1-9]' "/proc/$SERVER_PID/status"; }
ok "strace watches the server" eventually 20 attached
is "a create is answered" "$(api_code POST /api/v1/namespaces/default/configmaps -H 'Content-Type: application/json' \
	-d '{"metadata":{"name":"ordered"},"data":{"k":"v"}}')" 201
kill -INT "$STRACE" 2>/dev/null
wait "$STRACE" 2>/dev/null
log=$(grep -nE 'pwrite64\(.*stoker\.db-wal>' "$T/calls" | tail -n 1 | cut -d: -f1)
sync=$(grep -nE 'f(data)?sync\(.*stoker\.db-wal>\) += 0' "$T/calls" | tail -n 1 | cut -d: -f1)
answer=$(grep -nE '(sendto|sendmsg|write|writev)\(.*HTTP/1.1 201' "$T/calls" | head -n 1 | cut -d: -f1)
ok "it is written to the log, synced, then answered" test "${log:-9}" -lt "${sync:-0}" -a "${sync:-9}" -lt "${answer:-0}"
server_stop

# The same with clients under way when SIGTERM comes is part of the rounds above; this one has idle and watching ones.
server_start leaving
curl -sSN --unix-socket "$SOCKET" 'http://localhost/api/v1/configmaps?watch=1' >"$T/watched" &
WATCH=$!
PIDS+=("$WATCH")
api POST /api/v1/namespaces/default/configmaps -H 'Content-Type: application/json' -d '{"metadata":{"name":"last"}}' >/dev/null
ok "a watcher sees the last write" eventually 20 grep -q '"name":"last"' "$T/watched"
kill -TERM "$SERVER_PID"
wait "$SERVER_PID"
is "SIGTERM with a watcher connected ends it with status 0" $? 0
wait "$WATCH"
is "and the watch ends cleanly" $? 0
ok "its socket is gone" test ! -e "$SOCKET"
server_start leaving
is "the last write is still there" "$(api_code GET /api/v1/namespaces/default/configmaps/last)" 200
server_stop

done_testing

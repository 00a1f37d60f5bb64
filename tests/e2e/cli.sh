#!/bin/bash
# The command line: help, mistakes, configuration files, the socket for everyone, and what a lost key means.
. "$(dirname "$0")/lib.sh"

like "help lists the commands" "$("$STOKER" help)" 'token create +Make a bearer token'
like "each command explains itself" "$("$STOKER" serve --help)" '--listen HOST:PORT'
like "help explains itself too" "$("$STOKER" help --help)" '^Usage: stoker help'
like "a mistyped command is guessed" "$("$STOKER" serv 2>&1)" 'did you mean "serve"'
like "a mistyped option is guessed" "$("$STOKER" serve --datta x 2>&1)" '--data'
like "an option's value is checked" "$("$STOKER" serve --gpus many 2>&1)" 'gpus'
like "no server: it says where it looked" "$("$STOKER" token list --socket "$T/none" 2>&1)" "cannot connect to $T/none; is the server running"
"$STOKER" token lisst >/dev/null 2>&1
is "mistakes end with status 2" $? 2

like "the program is position independent" "$(readelf -hW "$STOKER")" 'Type: +DYN'
like "its relocations are read-only from the start" "$(readelf -dW "$STOKER")" 'BIND_NOW|FLAGS.*NOW'
like "and protected" "$(readelf -lW "$STOKER")" 'GNU_RELRO'
unlike "its stack is not executable" "$(readelf -lW "$STOKER" | grep GNU_STACK)" 'RWE'
like "its buffers are checked" "$(readelf -sW "$STOKER")" '__stack_chk_fail'

mkdir -p "$T/conf"
cat >"$T/conf/stoker.yaml" <<CONF
data: $T/conf/data
listen: 127.0.0.1:0
socket: $T/conf/run/sock
tls-san: [stoker.example, 192.0.2.7]
CONF
"$STOKER" serve --config "$T/conf/stoker.yaml" >"$T/conf/out" 2>"$T/conf/err" &
SERVER_PID=$!
PIDS+=("$SERVER_PID")
ok "a server starts from a configuration file" server_wait conf
is "the socket's directory lets other users in" "$(stat -c %a "$T/conf/run")" 755
is "the data directory does not" "$(stat -c %a "$T/conf/data")" 700
like "further names are in the certificate" \
	"$(openssl x509 -in "$T/conf/data/pki/server.crt" -noout -ext subjectAltName)" 'stoker.example.*192.0.2.7'
SOCKET=$T/conf/run/sock
export STOKER_SOCKET=$SOCKET
token=$("$STOKER" token create --user ci --group system:masters --ttl 1h --description nightly | tail -n 1)
like "a token is printed alone on the last line" "$token" '^stk_[0-9a-f]{10}_[0-9a-f]{64}$'
like "tokens are listed with what they are for" "$("$STOKER" token list)" 'ci .* system:masters +nightly'
is "tokens are listed as JSON" "$("$STOKER" token list -o json | jq -r '.[0].spec.user')" ci
name=$("$STOKER" token list -o json | jq -r '.[0].metadata.name')
is "a token is revoked by name" "$("$STOKER" token revoke "$name")" "token $name revoked"
unset STOKER_SOCKET
is "the kubeconfig leads there too" "$("$STOKER" token list --kubeconfig "$T/conf/data/admin.kubeconfig" -o json | jq length)" 0
echo "dta: x" >"$T/conf/bad.yaml"
like "a configuration file's mistakes are named" "$("$STOKER" serve --config "$T/conf/bad.yaml" 2>&1)" 'bad.yaml.*dta'
like "a second server on the directory is refused by name" \
	"$("$STOKER" serve --data "$T/conf/data" --listen 127.0.0.1:0 --socket "$T/conf/sock2" 2>&1)" "in use.*pid $SERVER_PID"
server_stop
is "SIGTERM ends it with status 0" $? 0

rm "$T/conf/data/secrets.key"
like "a lost key is not silently replaced" "$("$STOKER" serve --config "$T/conf/stoker.yaml" 2>&1)" 'secrets.key is missing'
ok "nothing was made in its place" test ! -e "$T/conf/data/secrets.key"
done_testing

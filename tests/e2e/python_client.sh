#!/bin/bash
# Debian's python3-kubernetes: it decodes every reply strictly, so a missing field anywhere is an exception.
. "$(dirname "$0")/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
if ! /usr/bin/python3 -c 'import kubernetes' 2>/dev/null; then
	fail "python3-kubernetes is here; tools/bootstrap test brings it"
	done_testing
fi
server_start main
api POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions -H 'Content-Type: application/yaml' \
	--data-binary @"$HERE/manifests/crd.yaml" -o /dev/null
out=$(/usr/bin/python3 -B "$HERE/python_client.py" 2>&1)
status=$?
while IFS= read -r line; do
	case $line in
	"ok - "*) pass "${line#ok - }" ;;
	"not ok - "*) fail "${line#not ok - }" ;;
	*) echo "    $line" ;;
	esac
done <<<"$out"
is "the client ran to its end" "$status" 0
done_testing

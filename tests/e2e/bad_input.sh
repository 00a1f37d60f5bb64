#!/bin/bash
# Whatever is sent, the answer is a 4xx with a Status, memory stays bounded and others are served.
. "$(dirname "$0")/lib.sh"
helper bad_input "$T/bad"
done_testing

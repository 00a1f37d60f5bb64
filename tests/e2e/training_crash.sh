#!/bin/bash
# Training jobs through crashes of the server and of controllers outside, in every phase and at any instant: every job ends
# as it would have, and nobody is started twice.  ROUNDS and SEED say how many random crashes and which.
. "$(dirname "$0")/lib.sh"
NODES+=("$T/main/inside/data" "$T/main/outside/data")
helper training_crash "$T/main" "${ROUNDS:-30}" ${SEED:-}
done_testing

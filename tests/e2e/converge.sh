#!/bin/bash
# Random operations and kill -9 of servers and operators, with containers that are only timers; then everything must be as
# the API promises, and at rest.  STEPS and SEED say how many operations and which.
. "$(dirname "$0")/lib.sh"
NODES+=("$T/main/data")
helper converge "$T/main" "${STEPS:-300}" ${SEED:-}
done_testing

#!/bin/bash
# Jobs that each need every card, created in the same moment and among small ones: each is bound whole, one after the other,
# and all end, also when the server is killed meanwhile.
. "$(dirname "$0")/lib.sh"
NODES+=("$T/main/data")
helper training_gangs "$T/main" ${SEED:-}
done_testing

#!/bin/bash
# Churn does not grow the database or the audit log for ever; what was compacted away is said to be gone.
. "$(dirname "$0")/lib.sh"
helper housekeeping "$T/house"
done_testing

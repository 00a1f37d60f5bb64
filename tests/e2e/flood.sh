#!/bin/bash
# Two thousand quiet connections, more than there may be, and a flood of requests.
. "$(dirname "$0")/lib.sh"
helper flood "$T/flood"
done_testing

#!/bin/bash
# Writes whose client is gone before the answer: finished, and in the audit log.
. "$(dirname "$0")/lib.sh"
helper abandoned "$T/abandoned"
done_testing

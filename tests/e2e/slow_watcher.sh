#!/bin/bash
# A watcher that stops reading is cut off, alone; memory stays bounded and everybody else gets every event.
. "$(dirname "$0")/lib.sh"
helper slow_watcher "$T/slow"
done_testing

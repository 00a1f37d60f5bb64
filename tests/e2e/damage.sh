#!/bin/bash
# Flipped bytes and cut-off files: detected and named at start, never a crash or a wrong answer.
. "$(dirname "$0")/lib.sh"
helper damage "$T/damage"
done_testing

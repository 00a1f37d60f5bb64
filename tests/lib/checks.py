# SPDX-License-Identifier: Apache-2.0
"""checks.py - a line a check, as tests/e2e/lib.sh prints them, for helper programs it calls

A script runs `helper NAME ...`, which passes these lines on and counts them.
"""
import sys


class Checks:
    def __init__(self):
        self.failed = 0

    def ok(self, sentence, passed, detail=""):
        print(("ok - " if passed else "not ok - ") + sentence, flush=True)
        if not passed:
            self.failed += 1
            for line in str(detail).splitlines()[:20]:
                print("    " + line[:300], flush=True)
        return passed

    def same(self, sentence, got, wanted):
        return self.ok(sentence, got == wanted, "got:    %s\nwanted: %s" % (got, wanted))

    def done(self):
        sys.exit(1 if self.failed else 0)

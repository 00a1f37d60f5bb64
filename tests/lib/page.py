# SPDX-License-Identifier: Apache-2.0
"""page.py DB OFFSET VALUE - changes a 32-bit number in the first page of a stoker.db and makes its checksum right again

So that a test can hold a file of another version, which no program of today writes.  The sum is that of
src/store/vfs.c, written down a second time on purpose: it is part of the file format.
"""
import struct
import sys

PAGE, SUM = 4096, 8
MASK = (1 << 64) - 1


def step(h, word):
    v = h ^ word
    return ((v << 29 | v >> 35) * 0x9e3779b185ebca87) & MASK


def page_sum(text, number):
    lanes = [number + 1, number ^ 0x27d4eb2f165667c5, (number + 0x165667b19e3779f9) & MASK, ~number & MASK]
    for i, word in enumerate(struct.unpack("<%dQ" % (len(text) // 8), text)):
        lanes[i % 4] = step(lanes[i % 4], word)
    total = len(text)
    for lane in lanes:
        total = step(total, lane ^ lane >> 32)
    return total ^ total >> 31


def main():
    path, offset, value = sys.argv[1], int(sys.argv[2]), int(sys.argv[3], 0)
    with open(path, "r+b") as f:
        page = bytearray(f.read(PAGE))
        if page_sum(bytes(page[:-SUM]), 1) != struct.unpack("<Q", page[-SUM:])[0]:
            sys.exit("%s: the checksum of its first page is not as expected" % path)
        page[offset:offset + 4] = struct.pack(">I", value)
        page[-SUM:] = struct.pack("<Q", page_sum(bytes(page[:-SUM]), 1))
        f.seek(0)
        f.write(page)


main()

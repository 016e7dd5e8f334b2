#!/usr/bin/env python3
"""code_range.py ARCH: kernel= narrowed to the kernel's code alone; the stacks, which lie elsewhere, are still walked."""

import struct
import sys

from lib import BUILD, Checks, Run

UPPER_HALF = 1 << 63


def code_of(path):
    """First and last address of the executable sections in the upper half of a 64-bit little-endian ELF."""
    data = path.read_bytes()
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    code = [(s[3], s[3] + s[5] - 1) for s in sections if s[2] & 4 and s[3] >= UPPER_HALF and s[5]]
    return min(first for first, _ in code), max(last for _, last in code)


def main():
    arch = sys.argv[1]
    checks = Checks()
    first, last = code_of(BUILD / "guests" / arch / "profile.elf")
    run = Run("qemu.%s_code_range" % arch, arch, "profile", 1, "mode=icount,period=20011,kernel=%#x:%#x" % (first, last))
    run.closing_line()
    stacks, report = run.analyze()
    leaf = {frames: weight for frames, weight in stacks.items() if frames[-1] == "leaf_without_frame"}
    weight = sum(leaf.values())
    under = sum(w for frames, w in leaf.items() if len(frames) > 2 and frames[-2] == "calls_leaf")
    checks.that(weight and under >= 0.99 * weight, "leaf_without_frame is called by calls_leaf in %d of %d" % (under, weight))
    deepest = max(map(len, stacks), default=0)
    checks.that(deepest >= 128, "the recursion's stacks reach max_frames: %d" % deepest)
    checks.that("no frame pointers" not in report, "nothing is said of frame pointers")
    checks.finish()


main()

#!/usr/bin/env python3
"""exact_icount.py ARCH CPUS: mode=exact under -icount against the counts that the guest knows.

With one vCPU QEMU's inline operations count, and two runs execute the same: their folded stacks are equal byte for byte. With
more, which share their thread under -icount, the plugin's calls count; how long one vCPU spins for another depends on the host.
"""

import sys

import lib


def main():
    arch, cpus = sys.argv[1], int(sys.argv[2])
    checks = lib.Checks()
    folded = []
    for number in range(2 if cpus == 1 else 1):
        run = lib.Run("qemu.%s_exact_icount_%dcpu/%d" % (arch, cpus, number), arch, "compute", cpus, "mode=exact",
                      machine=(*lib.MACHINES[arch], "-icount", "shift=0"))
        run.closing_line()
        stacks, _ = run.analyze()
        for function in sorted({row["name"] for row in run.said["share"]}):
            known = sum(row["insns"] for row in run.said["share"] if row["name"] == function)
            found = lib.self_weights(stacks)[function]
            checks.that(found == known, "%s executed %d instructions, the guest knows %d" % (function, found, known))
        folded.append((run.folder / "out.folded").read_bytes())
    checks.that(folded[0], "something was counted: %d bytes" % len(folded[0]))
    if cpus == 1:
        checks.that(folded[0] == folded[1], "two runs are the same")
    checks.finish()


main()

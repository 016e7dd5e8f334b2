#!/usr/bin/env python3
"""many_vcpus.py: 32 vCPUs, for which QEMU moves its counters while the machine starts (at the 17th), by the clock and by instructions."""

import re

import lib

CPUS = 32


def main():
    checks = lib.Checks()
    name = "qemu.many_vcpus/"

    run = lib.Run(name + "wall", "riscv64", "user90", CPUS, "mode=wall,freq=199")
    ticks = run.ticks()["issued"]
    checks.that(ticks % CPUS == 0 and ticks > CPUS * 199, "each vCPU has had as many ticks, more than a second's: %d" % (ticks // CPUS))
    stacks, _ = run.analyze()
    run.check_conservation(checks, stacks, cpus=CPUS)

    run = lib.Run(name + "icount", "riscv64", "user90", CPUS, "mode=icount,period=10007")
    insns = int(re.search(r"(\d+) kernel instructions", run.closing_line()).group(1))
    stacks, _ = run.analyze()
    weight = sum(stacks.values())
    checks.that(weight > CPUS, "the guest has run")
    # A remainder stays with each vCPU.
    checks.that(0 <= insns // 10007 - weight <= CPUS, "%d periods of %d instructions" % (weight, insns))
    checks.finish()


main()

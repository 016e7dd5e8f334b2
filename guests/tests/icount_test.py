#!/usr/bin/env python3
"""Holds the instruction counts that a guest prints against its own clock under -icount, where 1 ns is one instruction.

usage: icount_test.py ARCH GUEST_FOLDER

profile: each exact loop takes its instructions in ns, and little more for the ticks that interrupt it. compute (riscv64 alone,
for its length): two runs take the same time but for the clock's granularity. Exit status: 0 passed, 1 failed, 77 skipped (QEMU for this architecture is not installed).
"""

import re
import shutil
import subprocess
import sys

MACHINES = {
    "riscv64": ["-M", "virt"],
    "aarch64": ["-M", "virt", "-cpu", "cortex-a57"],
    "loongarch64": ["-M", "virt", "-cpu", "la464"],
    "x86_64": ["-M", "q35"],
}
# About twenty ticks of some hundred instructions interrupt a loop of 160 million.
ALLOWED_EXCESS = 0.001
# The boots before may differ by an instruction or two, and so where the ticks of the clock fall.
CLOCK_TICK_NS = 100
TIMEOUT_SECONDS = 100


def fail(message):
    print("FAILED: " + message)
    sys.exit(1)


def boot(qemu, arch, elf):
    command = [qemu, *MACHINES[arch], "-m", "256M", "-icount", "shift=0", "-nographic", "-kernel", elf]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired as expired:
        fail("%s: no end within %d s; so far:\n%s" % (elf, TIMEOUT_SECONDS, (expired.stdout or b"").decode(errors="replace")))
    output = done.stdout.decode(errors="replace")
    print(output)
    if done.returncode != 0:
        fail("QEMU ended with status %d" % done.returncode)
    return output


def check_profile(output):
    lines = re.findall(r"^QG (\w+) .*\bname=(\w+).* insns=(\d+) ns=(\d+)", output, re.MULTILINE)
    if len(lines) != 6:
        fail("six lines with insns and ns are expected, %d are there" % len(lines))
    for _, name, insns, ns in lines:
        excess = (int(ns) - int(insns)) / int(insns)
        if not 0 <= excess <= ALLOWED_EXCESS:
            fail("%s: %s instructions took %s ns" % (name, insns, ns))


def check_same(runs):
    if None in runs:
        fail("no compute line")
    if runs[0].group(1) != runs[1].group(1) or abs(int(runs[0].group(2)) - int(runs[1].group(2))) > CLOCK_TICK_NS:
        fail("two runs of compute differ: %s" % [run.group(0) for run in runs])


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in MACHINES:
        print(__doc__)
        sys.exit(2)
    arch, folder = sys.argv[1:]
    qemu = shutil.which("qemu-system-" + arch)
    if not qemu:
        print("skipped: qemu-system-%s is not installed" % arch)
        sys.exit(77)
    check_profile(boot(qemu, arch, folder + "/profile.elf"))
    if arch == "riscv64":
        outputs = [boot(qemu, arch, folder + "/compute.elf") for _ in range(2)]
        check_same([re.search(r"^QG compute cpu=0 .*checksum=(\w+) ns=(\d+)", output, re.MULTILINE) for output in outputs])
    print("passed")


main()

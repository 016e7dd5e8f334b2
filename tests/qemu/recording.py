#!/usr/bin/env python3
"""recording.py: how a recording starts, is refused and ends under real QEMU; each row is a way that users meet."""

import signal

from lib import BUILD, Checks, Run


def refused(checks, what, run, *words):
    checks.that(run.status == 1 and all(word in run.stderr for word in words),
                "%s: status %s, says %s" % (what, run.status, run.stderr.strip().splitlines()[:1]))


def earlier_capture_survives(checks, name):
    """Starts that are refused by the plugin, by what the machine turns out to be, and by QEMU itself."""
    kept = BUILD / "tests" / "qemu.recording" / "earlier.bin"
    kept.parent.mkdir(parents=True, exist_ok=True)
    earlier = b"QPERF\0 an earlier capture"  # what does not begin like one is never written over
    kept.write_bytes(earlier)
    stale = kept.with_suffix(".sock")
    stale.write_text("")
    to_it = ",out=%s" % kept
    absent = ("-M", "virt", "-initrd", "/nonexistent")
    for what, arch, cpus, plugin, machine in (
            ("a stale control socket", "riscv64", 1, "mode=wall,control=%s" % stale, ()),
            ("a 32-bit CPU", "aarch64", 1, "mode=wall", ("-M", "virt")),
            ("two 32-bit CPUs", "aarch64", 2, "mode=wall", ("-M", "virt")),
            ("a device that QEMU does not know", "riscv64", 4, "mode=wall", ("-M", "virt", "-device", "nonsense")),
            ("a file that is not there", "riscv64", 1, "mode=wall", absent),
            ("a file that is not there, 4 CPUs", "riscv64", 4, "mode=wall", absent)):
        run = Run(name + "earlier", arch, "profile", cpus, plugin + to_it, machine=machine, expect=None, timeout=30)
        checks.that(run.status == 1 and kept.read_bytes() == earlier, "%s: refused, and an earlier capture is kept" % what)
    run = Run(name + "earlier", "riscv64", "profile", 1, "mode=icount" + to_it, kill=(2.0, signal.SIGTERM), expect=None, timeout=60)
    checks.that(not kept.read_bytes().startswith(earlier), "a guest that runs replaces it: %s" % run.stderr.strip().splitlines()[-1:])


def main():
    checks = Checks()
    name = "qemu.recording/"

    refused(checks, "a 32-bit CPU", Run(name + "cpu32", "aarch64", "profile", 1, "mode=wall", machine=("-M", "virt"), expect=None, timeout=30),
            "-cpu cortex-a57")
    refused(checks, "an unknown argument", Run(name + "unknown", "riscv64", "profile", 1, "frequency=5", expect=None, timeout=30), "frequency")
    refused(checks, "a rate out of range", Run(name + "range", "riscv64", "profile", 1, "freq=0", expect=None, timeout=30), "freq", "1")
    earlier_capture_survives(checks, name)
    refused(checks, "an unwritable file", Run(name + "unwritable", "riscv64", "profile", 1, "out=/nowhere/x.bin", expect=None, timeout=30),
            "/nowhere/x.bin")

    for number in (signal.SIGINT, signal.SIGTERM):
        run = Run(name + "signal%d" % number, "riscv64", "compute", 4, "mode=wall,freq=99", kill=(2, number), expect=None, timeout=60)
        run.closing_line()
        stacks, _ = run.analyze()
        checks.that(stacks, "signal %d: the capture is whole" % number)

    run = Run(name + "sigkill", "riscv64", "compute", 4, "mode=wall,freq=99", kill=(4, signal.SIGKILL), expect=None, timeout=60)
    stacks, report = run.analyze(expect=3)
    checks.that(sum(stacks.values()) > 99 * 1.5, "after SIGKILL all but the last second is there: %d ticks" % sum(stacks.values()))

    refused(checks, "a full disk at the start", Run(name + "full_disk", "riscv64", "profile", 1, "out=/dev/full", expect=None, timeout=30),
            "No space left")
    run = Run(name + "filling_disk", "riscv64", "compute", 1, "mode=wall,freq=9999", largest_file=150000, timeout=120)
    complaints = [line for line in run.stderr.splitlines() if "File too large" in line]
    checks.that(len(complaints) == 1 and "QG end" in run.console, "a disk that fills up stops the capture, not the guest: %s" % complaints[:1])
    stacks, report = run.analyze(expect=3)
    checks.that(stacks and ("disk full" in report or "disk was full" in report), "what was written before reads, and why it ends is told: %s" %
                [line for line in report.splitlines() if "disk" in line])

    run = Run(name + "one_thread", "riscv64", "profile", 2, "mode=wall,freq=999", machine=("-M", "virt", "-accel", "tcg,thread=single"))
    run.closing_line()
    _, report = run.analyze()
    checks.that("idle" in run.stderr.split("QPerf capture complete")[0], "one-thread TCG: says at start that idle is unknown")

    # Four cores of 64 bits and two of 32.
    run = Run(name + "two_kinds", "aarch64", "compute", 6, "mode=wall,freq=100", machine=("-M", "xlnx-zcu102"), kill=(8, signal.SIGTERM),
              expect=None, timeout=60)
    ticks = run.ticks()["issued"]
    checks.that(run.stderr.count("left out") == 2 and "give -cpu" not in run.stderr and ticks > 0 and ticks % 4 == 0,
                "cores of 32 bits are left out, the four others recorded: %d ticks" % ticks)

    run = Run(name + "smp8", "riscv64", "compute", 8, "mode=icount,period=1000003", machine=("-M", "virt"), kill=(20, signal.SIGTERM),
              expect=None, timeout=120)
    run.closing_line()
    stacks, report = run.analyze()
    checks.that(stacks, "eight vCPUs: the capture is whole")
    checks.finish()


main()

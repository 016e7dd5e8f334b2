"""Shared by the judges of this folder: runs qperf on the golden captures and reads folded files and protoc's text back.

Each judge is called as: judge_FORMAT.py BIN INPUTS WORK, and exits 0 (all agree), 1 (something differs) or 77 (a tool is missing).
"""
import collections
import os
import shutil
import subprocess
import sys

from proto_text import decode, one  # noqa: F401: for the judges

BIN, INPUTS, WORK = (os.path.abspath(path) for path in sys.argv[1:4])
os.makedirs(WORK, exist_ok=True)

# Capture, whether its samples have a clock, whether it has scheduler events, exit code of reading it, QEMU's trace of the run.
Case = collections.namedtuple("Case", "capture clock events code trace", defaults=(True, False, 0, ()))
DISK_TRACE = ("--with-trace", "disk.trace.log", "--events", "disk.trace-events")
CASES = [
    Case("wall.bin"), Case("icount.bin"), Case("exact.bin", clock=False), Case("legacy.bin", clock=False), Case("slid.bin"),
    Case("reboot.bin"), Case("no-samples.bin"), Case("cut.bin", code=3), Case("damaged.bin", code=3), Case("sched.bin", events=True),
    Case("sched-lossy.bin", events=True), Case("disk.bin", events=True, trace=DISK_TRACE),
]
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", what)


def finish():
    print("all checks hold" if failures == 0 else f"{failures} checks failed; files are in {WORK}")
    sys.exit(0 if failures == 0 else 1)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def need(tool, package):
    if shutil.which(tool) is None:
        skip(f"needs {tool} ({package})")


def export(case, form, *options):
    """The path of the file; its exit code must be the case's."""
    path = os.path.join(WORK, f"{case.capture}.{form}{''.join(options)}".replace("/", "_"))
    seen = subprocess.run([os.path.join(BIN, "qperf"), "export", case.capture, "-e", "kernel.elf", "--format", form, "-o", path, *options],
                          capture_output=True, text=True, cwd=INPUTS)
    check(seen.returncode == case.code, f"{case.capture} {form}: exit code {seen.returncode}: {seen.stderr}")
    if case.code == 3:
        check("warning:" in seen.stderr, f"{case.capture} {form}: damage is not said")
    return path


def folded(case, *options):
    """Counts by stack (a tuple of names)."""
    stacks = collections.Counter()
    with open(export(case, "folded", *options), encoding="utf-8") as file:
        for line in file:
            names, count = line.rstrip("\n").rsplit(" ", 1)
            stacks[tuple(names.split(";"))] += int(count)
    return stacks


def by_leaf(stacks):
    leaves = collections.Counter()
    for stack, count in stacks.items():
        leaves[stack[-1]] += count
    return +leaves

#!/usr/bin/env python3
"""Boots one guest under plain QEMU and checks that what it prints fits together.

usage: boot_test.py ARCH GUEST.elf CPUS

Exit status: 0 passed, 1 failed, 77 skipped (QEMU for this architecture is not installed).
"""

import collections
import os
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
TIMEOUT_SECONDS = 100
# compute does the same on every architecture and CPU.
COMPUTE_CHECKSUM = "0xc4aeb130dad1d019"
FIRMWARE_ARCHES = {"riscv64"}


def fail(message):
    print("FAILED: " + message)
    sys.exit(1)


def check(condition, message):
    if not condition:
        fail(message)


def boot(arch, elf, cpus):
    qemu = shutil.which("qemu-system-" + arch)
    if not qemu:
        print("skipped: qemu-system-%s is not installed" % arch)
        sys.exit(77)
    command = [qemu, *MACHINES[arch], "-m", "256M", "-smp", str(cpus), "-nographic", "-kernel", elf]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired as expired:
        fail("no end within %d s; so far:\n%s" % (TIMEOUT_SECONDS, (expired.stdout or b"").decode(errors="replace")))
    output = done.stdout.decode(errors="replace")
    print(output + done.stderr.decode(errors="replace"))
    check(done.returncode == 0, "QEMU ended with status %d" % done.returncode)
    return output


def parse(output):
    """Lines by kind, each a dict of its key=value words."""
    lines = collections.defaultdict(list)
    for match in re.finditer(r"^QG (\w+)(.*?)\r?$", output, re.MULTILINE):
        words = dict(word.split("=", 1) for word in match.group(2).split())
        lines[match.group(1)].append({key: int(value) if value.isdigit() else value for key, value in words.items()})
    return lines


def check_cpus(lines, kind, cpus, per_cpu):
    counts = collections.Counter(line["cpu"] for line in lines[kind])
    check(counts == {cpu: per_cpu for cpu in range(cpus)}, "%s lines by CPU: %s" % (kind, dict(counts)))


def check_shares(lines, cpus):
    check_cpus(lines, "share", cpus, 4)
    for line in lines["share"]:
        parts = int(line["name"].removeprefix("share_")) // 10
        first = next(other for other in lines["share"] if other["cpu"] == line["cpu"] and other["name"] == "share_10")
        check(line["iterations"] == parts * first["iterations"], "share iterations: %s" % line)
        check(line["calls"] == first["calls"], "share calls: %s" % line)
        loop_insns = (line["insns"] - first["insns"]) / max(1, line["iterations"] - first["iterations"])
        check(parts == 1 or loop_insns == int(loop_insns) >= 4, "share instructions: %s" % line)


def check_user(lines, cpus, percent, tolerance):
    check_cpus(lines, "user", cpus, 1)
    # The kernel steers towards its share; a host that halts a vCPU in kernel mode near the end leaves no time to make up for it.
    if cpus > os.cpu_count():
        tolerance = 40
    for line in lines["user"]:
        share = 100 * line["user_ns"] / line["total_ns"]
        check(abs(share - percent) <= tolerance, "user mode has %.1f %% of its time, %d %% is wanted" % (share, percent))
        check(line["syscalls"] > 1000, "few system calls: %s" % line)


def check_profile(lines, arch, cpus):
    check_shares(lines, cpus)
    check_cpus(lines, "spin", cpus, 3)
    for line in lines["spin"]:
        nominal_ns = int(re.fullmatch(r"spin_(\d+)ms", line["name"]).group(1)) * 1_000_000
        check(nominal_ns <= line["ns"] < 10 * nominal_ns, "spin: %s" % line)
    check_cpus(lines, "recursion", cpus, 1)
    check_cpus(lines, "leaf", cpus, 1)
    check_cpus(lines, "hostile", cpus, 4)
    for line in lines["recursion"] + lines["leaf"] + lines["hostile"]:
        check(line["ns"] > 1_000_000, "too short to be sampled: %s" % line)
    check_cpus(lines, "worker", cpus, 3)
    for line in lines["worker"]:
        check(60_000_000 <= line["run_ns"] < 600_000_000 and line["preemptions"] >= 1, "worker: %s" % line)
    check_user(lines, cpus, 70, tolerance=10)
    check_cpus(lines, "firmware", cpus, 1)
    for line in lines["firmware"]:
        check((line["calls"] > 100) == (arch in FIRMWARE_ARCHES), "firmware calls: %s" % line)
    check_cpus(lines, "idle", cpus, 1)
    for line in lines["idle"]:
        check(line["slept_ns"] >= 300_000_000 and 250_000_000 < line["idle_ns"] < 2 * line["slept_ns"], "idle: %s" % line)
    for line in lines["cpu"]:
        check(line["ticks"] >= 30, "ticks: %s" % line)


def check_compute(lines, cpus):
    check_shares(lines, cpus)
    check_cpus(lines, "compute", cpus, 1)
    for line in lines["compute"]:
        check(line["checksum"] == COMPUTE_CHECKSUM, "checksum is %s, not %s" % (line["checksum"], COMPUTE_CHECKSUM))
    check(all(line["ticks"] == 0 for line in lines["cpu"]), "compute has ticks")


def check_events(lines, cpus):
    check_cpus(lines, "events", cpus, 1)
    total = collections.Counter()
    for line in lines["events"]:
        total.update({key: value for key, value in line.items() if key != "cpu"})
    # The workload's own task lives on; each idle task was never enqueued.
    check(total["wake"] <= total["block"] <= total["switch"], "blocks and wakes: %s" % dict(total))
    check(total["enqueue"] >= total["exit"] + total["wake"], "enqueues: %s" % dict(total))
    check(total["metadata"] >= total["exit"] + cpus + 1, "metadata: %s" % dict(total))


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in MACHINES:
        print(__doc__)
        sys.exit(2)
    arch, elf, cpus = sys.argv[1], sys.argv[2], int(sys.argv[3])
    output = boot(arch, elf, cpus)
    check("QG panic" not in output, "the guest panicked")
    lines = parse(output)
    check(len(lines["start"]) == 1 and len(lines["end"]) == 1, "no whole run: start and end lines are missing or repeated")
    start = lines["start"][0]
    check(start["arch"] == arch and start["cpus"] == cpus, "start line: %s" % start)
    workload = start["workload"]
    check(elf.endswith("/%s.elf" % workload), "the ELF's name and its workload %s differ" % workload)
    check_cpus(lines, "cpu", cpus, 1)
    check_events(lines, cpus)
    if workload == "profile":
        check_profile(lines, arch, cpus)
    elif workload == "compute":
        check_compute(lines, cpus)
    elif workload == "user90":
        check_user(lines, cpus, 90, tolerance=3)
    else:
        fail("no checks are written for workload %s" % workload)
    print("passed: %s %s on %d CPUs" % (arch, workload, cpus))


main()

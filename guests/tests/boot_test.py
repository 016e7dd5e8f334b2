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
import tempfile

MACHINES = {
    "riscv64": ["-M", "virt"],
    "aarch64": ["-M", "virt", "-cpu", "cortex-a57"],
    "loongarch64": ["-M", "virt", "-cpu", "la464"],
    "x86_64": ["-M", "q35"],
}
# compute on 4 CPUs takes 60 s on a host of two cores that has other work.
TIMEOUT_SECONDS = 300
# compute does the same on every architecture and CPU.
COMPUTE_CHECKSUM = "0xc4aeb130dad1d019"
FIRMWARE_ARCHES = {"riscv64"}
KEPT_OPEN = []


def fail(message):
    print("FAILED: " + message)
    sys.exit(1)


def check(condition, message):
    if not condition:
        fail(message)


def disk_arguments(elf):
    """What the disk workload needs: an empty disk of 16 MiB that vanishes with the test."""
    if not elf.endswith("/disk.elf"):
        return []
    image = tempfile.NamedTemporaryFile(prefix="qperf-disk.")
    image.truncate(16 << 20)
    KEPT_OPEN.append(image)
    return ["-drive", "if=none,id=disk,format=raw,file=" + image.name, "-device", "virtio-blk-device,drive=disk"]


def boot(arch, elf, cpus):
    qemu = shutil.which("qemu-system-" + arch)
    if not qemu:
        print("skipped: qemu-system-%s is not installed" % arch)
        sys.exit(77)
    command = [qemu, *MACHINES[arch], "-m", "256M", "-smp", str(cpus), "-nographic", "-kernel", elf, *disk_arguments(elf)]
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
    least_calls = 1000
    if cpus > os.cpu_count():
        tolerance, least_calls = max(tolerance, 40), 100
    for line in lines["user"]:
        share = 100 * line["user_ns"] / line["total_ns"]
        whole = line["user_ns"] < line["total_ns"]
        check(whole and abs(share - percent) <= tolerance, "user mode has %.1f %% of its time, %d %% is wanted" % (share, percent))
        check(line["syscalls"] > least_calls, "few system calls: %s" % line)


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
    # 200 ms are too short to steer on a busy host, which may halt a vCPU for half of that: only the order of magnitude holds.
    check_user(lines, cpus, 70, tolerance=60)
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


def check_sched(lines, cpus):
    waits, tasks, phases = lines["wait"], lines["task"], lines["phase"]
    check(lines["waits"] == [{"count": len(waits), "dropped": 0}], "wait records: %s" % lines["waits"])
    check(lines["queueds"] == [{"count": len(lines["queued"]), "dropped": 0}], "queue records: %s" % lines["queueds"])
    check(lines["tasks"] == [{"count": len(tasks), "dropped": 0}], "task records: %s" % lines["tasks"])
    for reason in (1, 4, 5):
        long_waits = sum(1 for wait in waits if wait["reason"] == reason and wait["blocked_ns"] >= 20_000_000)
        check(long_waits >= 20, "%d waits of 20 ms or more for reason %d" % (long_waits, reason))
    kept = sum(wait["kept_cpu"] for wait in waits)
    early = sum(wait["early"] for wait in waits) - kept
    check(kept >= 6, "%d wakes of a CPU's own task" % kept)
    check(early >= 24 if cpus > 1 else early == 0, "%d early wakes on %d CPUs" % (early, cpus))
    for wait in waits:
        check(not wait["early"] or wait["blocked_ns"] == 0, "blocked although woken early: %s" % wait)

    by_task = collections.defaultdict(list)
    for wait in waits:
        by_task[wait["task"]].append(wait)
    ids = [task["id"] for task in tasks]
    check(sorted(ids) == list(range(1, len(ids) + 1)), "task ids: %s" % sorted(ids))
    for task in tasks:
        own = sorted(by_task[task["id"]], key=lambda wait: wait["sequence"])
        check([wait["sequence"] for wait in own] == list(range(1, len(own) + 1)), "sequences of task %d" % task["id"])
        check(task["blocked_ns"] == sum(wait["blocked_ns"] for wait in own), "blocked time of %s" % task)
        queued = sum(line["runnable_ns"] for line in lines["queued"] if line["task"] == task["id"])
        check(task["name"] == "idle" or task["runnable_ns"] == queued, "queued time of %s" % task)
    living = [task for task in tasks if task["state"] != 4]
    check(sorted(task["name"] for task in living) == ["idle"] * cpus + ["stuck", "workload"], "living tasks: %s" % living)
    check(sum(task["preemptions"] for task in tasks) >= 6, "few preemptions")
    migrations = sum(task["migrations"] for task in tasks)
    check(migrations >= 8 if cpus > 1 else migrations == 0, "%d migrations on %d CPUs" % (migrations, cpus))
    check(sum(task["name"] == "gc" for task in tasks) == 2, "two tasks named gc")
    renamed = [task for task in tasks if task["name"] == "last-name"]
    check(sorted(task["tid"] for task in renamed) == list(range(1000, 1012)), "renamed tasks: %s" % renamed)

    occurrences = collections.Counter(phase["name"] for phase in phases)
    check(occurrences["sleep"] == 3 and occurrences["queue"] == 2 and occurrences["hold"] >= 20, "phases: %s" % occurrences)
    check([phase["name"] for phase in phases if not phase["complete"]] == ["open"], "open phases")

    total = total_events(lines)
    # One task stays blocked; nothing else differs between what was emitted and what was measured.
    expected = {
        "metadata": len(tasks) + 2 * len(renamed),
        "block": len(waits) + 1,
        "wake": len(waits),
        "exit": len(tasks) - len(living),
        "phase": 2 * len(phases) - 1,
    }
    for kind, count in expected.items():
        check(total[kind] == count, "%d %s events, %d are accounted for" % (total[kind], kind, count))
    check(total["switch"] == sum(task["switches"] for task in tasks), "switches: %s" % dict(total))


def check_disk(lines, cpus):
    check(lines["disk"] == [{"sectors": 16 << 11}], "disk: %s" % lines["disk"])
    requests = collections.Counter((line["name"], line["operation"]) for line in lines["io"])
    expected = {
        ("disk_reader", "read"): 48,
        ("disk_writer", "write"): 16,
        ("disk_checker", "write"): 10,
        ("disk_checker", "flush"): 10,
        ("disk_checker", "read"): 10,
    }
    check(requests == expected, "requests: %s" % requests)
    check(all(line["status"] == 0 for line in lines["io"]), "the device refused a request")
    check(all(line["wrong_sectors"] == 0 for line in lines["io_total"]), "read otherwise than written: %s" % lines["io_total"])
    reasons = collections.Counter(wait["reason"] for wait in lines["wait"])
    check(reasons[10] == 58 and reasons[11] == 36, "waits by reason: %s" % reasons)


def total_events(lines):
    total = collections.Counter()
    for line in lines["events"]:
        total.update({key: value for key, value in line.items() if key != "cpu"})
    return total


def check_events(lines, cpus):
    check_cpus(lines, "events", cpus, 1)
    total = total_events(lines)
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
        check_user(lines, cpus, 90, tolerance=6)
    elif workload == "sched":
        check_sched(lines, cpus)
    elif workload == "disk":
        check_disk(lines, cpus)
    elif workload == "flood":
        check(sum(line["calls"] for line in lines["flood"]) == 1 << 21, "calls of the flood: %s" % lines["flood"])
        check(len(lines["cost"]) == 1, "one line about the cost of a call")
    else:
        fail("no checks are written for workload %s" % workload)
    print("passed: %s %s on %d CPUs" % (arch, workload, cpus))


main()

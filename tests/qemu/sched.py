"""sched.py ARCH CPUS: qperf's account of the sched guest's tasks against the guest's own clock and counters.

Every kind of marker call is counted alike, nothing is dropped, and per task the waits of each reason have the mean length that
the guest measured, to 1 % or 100 us; so has the time spent waiting for a CPU. With more vCPUs than the host has cores to
spare times are only reported.
"""

import collections
import json
import subprocess
import sys

import lib

arch, cpus = sys.argv[1], int(sys.argv[2])
REASONS = {1: "wait queue", 4: "sleep", 5: "mutex"}
timed = cpus <= 2
checks = lib.Checks()
run = lib.Run("sched_%s_%d" % (arch, cpus), arch, "sched", cpus, "trace=auto")

report = run.folder / "sched.json"
off_cpu = run.folder / "off.folded"
analysis = subprocess.run([lib.ANALYZER, "--elf", run.elf, "--group-by-task", "--off-cpu-output", off_cpu, "--sched-output", report,
                           run.capture, run.folder / "on.folded"], capture_output=True, text=True)
print(analysis.stderr)
checks.that(analysis.returncode == 0, "the analyzer reads the capture")
found = json.loads(report.read_text())

said = collections.Counter()
for line in run.said["events"]:
    said.update({kind: count for kind, count in line.items() if kind != "cpu"})
for kind, count in said.items():
    checks.that(found["events"][kind] == count, "%s events: %d, the guest emitted %d" % (kind, found["events"][kind], count))
checks.that(not any(found["event_drops"].values()), "no event was dropped")

tasks = {task["id"]: task for task in found["tasks"]}
for task in tasks.values():
    total = sum(task[state + "_ns"] for state in ("running", "blocked", "runnable", "parked", "unknown"))
    checks.that(total == task["lifetime_ns"], "the states of %s add up to its life" % task["label"])
for vcpu in found["vcpus"]:
    total = vcpu["busy_ns"] + vcpu["idle_task_ns"] + vcpu["unknown_task_ns"]
    checks.that(total == vcpu["window_ns"], "the times of vCPU %d add up to the window" % vcpu["vcpu"])
waiting = sum(task["blocked_ns"] + task["runnable_ns"] for task in tasks.values())
weights = sum(int(line.rsplit(" ", 1)[1]) for line in off_cpu.read_text().splitlines())
checks.that(weights == waiting, "off-CPU weights %d = blocked + runnable %d" % (weights, waiting))

waits = collections.defaultdict(list)
early = 0
for wait in run.said["wait"]:
    early += wait["early"]
    if not wait["early"]:
        waits[wait["task"], REASONS[wait["reason"]]].append(wait["blocked_ns"])
odd = found["odd_transitions"]
met = odd.get("wake before switch-out", 0) + odd.get("wake of the current task", 0)
checks.that(met == early, "%d early wakes, the guest met %d" % (met, early))
other = {name: count for name, count in odd.items() if name not in ("wake before switch-out", "wake of the current task")}
checks.that(not other, "nothing else is odd: %s" % other)

for (task, reason), lengths in sorted(waits.items()):
    seen = [entry for entry in tasks[task]["blocked_by_reason"] if entry["reason"] == reason]
    count = sum(entry["waits"] - entry["unfinished"] for entry in seen)
    unfinished = sum(entry["unfinished"] for entry in seen)
    checks.that(count == len(lengths), "task %d waits %d times for %s, the guest says %d" % (task, count, reason, len(lengths)))
    if unfinished or not seen or not count:
        continue
    mean, truth = seen[0]["ns"] / count, sum(lengths) / len(lengths)
    text = "task %d, %s: mean wait %.3f ms, by the guest's clock %.3f ms" % (task, reason, mean / 1e6, truth / 1e6)
    if timed:
        checks.that(abs(mean - truth) <= max(truth * 0.01, 100e3), text)
    else:
        print("not judged: " + text)
checks.finish()

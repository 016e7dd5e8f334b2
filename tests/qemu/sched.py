"""sched.py ARCH CPUS [icount]: qperf's account of the sched guest's tasks against the guest's own clock and counters.

Every kind of marker call is counted alike and nothing is dropped. Wait by wait, each task has waited for the reasons that the
guest says, in its order; per task and reason the median wait, and per task and enqueue reason the median time in a run queue,
are the guest's own to 1 % or 100 us. With more vCPUs than the host has cores, or with -icount, where the guest's clock is not the
host's, medians are only reported.

Why medians and why so close: the guest reads its clock next to the marker's call, with interrupts off, and its clock is the
host's monotonic one, which is also what stamps events. What lies between the two is some microseconds of emulation; only a
host that takes the CPU away exactly there makes it more, which meets few waits of a task even on a busy host, and no median.
"""

import collections
import json
import statistics
import subprocess
import sys

import lib

REASONS = {1: "wait queue", 4: "sleep", 5: "mutex"}
ENQUEUES = {1: "spawn", 2: "wake", 3: "preempt", 4: "yield", 5: "migration", 6: "deferred wake"}
EARLY = ("wake before switch-out", "wake of the current task")
LONG_NS = 20_000_000
PREEMPT = 3
# Fewer say nothing by themselves: one that the host has cut in two spoils their median.
LEAST_WAITS = 5


def agree(checks, timed, what, found, truth):
    """Two lists of ns, one entry for each wait, in order."""
    if len(found) != len(truth) or len(truth) < LEAST_WAITS:
        return
    mine, theirs = statistics.median(found), statistics.median(truth)
    text = "%s: median of %d is %.3f ms, by the guest's clock %.3f ms" % (what, len(truth), mine / 1e6, theirs / 1e6)
    if timed:
        checks.that(abs(mine - theirs) <= max(theirs * 0.01, 100e3), text)
    else:
        print("not judged: " + text)


def check_report(checks, run, found, off_cpu):
    said = collections.Counter()
    for line in run.said["events"]:
        said.update({kind: count for kind, count in line.items() if kind != "cpu"})
    for kind, count in said.items():
        checks.that(found["events"][kind] == count, "%s events: %d, the guest emitted %d" % (kind, found["events"][kind], count))
    checks.that(not any(found["event_drops"].values()), "no event was dropped")

    for task in found["tasks"]:
        total = sum(task[state + "_ns"] for state in ("running", "blocked", "runnable", "parked", "unknown"))
        checks.that(total == task["lifetime_ns"], "the states of %s add up to its life" % task["label"])
    for vcpu in found["vcpus"]:
        total = vcpu["busy_ns"] + vcpu["idle_task_ns"] + vcpu["unknown_task_ns"]
        checks.that(total == vcpu["window_ns"], "the times of vCPU %d add up to the window" % vcpu["vcpu"])
        not_busy = vcpu["idle_task_ns"] + vcpu["unknown_task_ns"]
        checks.that(vcpu["halted_ns"] <= not_busy, "vCPU %d halts %.3f s, while no task but its idle one runs: %.3f s"
                    % (vcpu["vcpu"], vcpu["halted_ns"] / 1e9, not_busy / 1e9))
    waiting = sum(task["blocked_ns"] + task["runnable_ns"] for task in found["tasks"])
    weights = sum(int(line.rsplit(" ", 1)[1]) for line in off_cpu.read_text().splitlines())
    checks.that(weights == waiting, "off-CPU weights %d = blocked + runnable %d" % (weights, waiting))


def check_tasks(checks, run, found):
    labels = {task["id"]: task["label"] for task in found["tasks"]}
    told = {task["id"]: "%s[%d]" % (task["name"], task["tid"]) if task["tid"] else "%s#%d" % (task["name"], task["id"])
            for task in run.said["task"]}
    checks.that(labels == told, "all %d tasks, by their last names" % len(told))
    idle = {task["label"] for task in found["tasks"] if task["idle"]}
    checks.that(idle == {label for label in told.values() if label.startswith("idle#")}, "idle tasks: %s" % sorted(idle))
    counts = {task["id"]: (task["preemptions"], task["migrations"]) for task in found["tasks"] if not task["idle"]}
    # The guest's own count of preemptions has those in it after which the same task was picked again.
    preempted = collections.Counter(queued["task"] for queued in run.said["queued"] if queued["reason"] == PREEMPT)
    told = {task["id"]: (preempted[task["id"]], task["migrations"]) for task in run.said["task"] if task["name"] != "idle"}
    checks.that(counts == told, "each task's preemptions and migrations")


def check_phases(checks, timed, run, found):
    key = ("name", "occurrence", "complete")
    mine = [tuple(phase[k] for k in key) for phase in found["phases"]]
    theirs = [(phase["name"], phase["occurrence"], bool(phase["complete"])) for phase in run.said["phase"]]
    checks.that(sorted(mine) == sorted(theirs), "%d phases, with occurrences, and complete but for %s"
                % (len(theirs), [phase[0] for phase in theirs if not phase[2]]))
    length = {phase["name"]: [] for phase in run.said["phase"] if phase["complete"]}
    truth = {name: [] for name in length}
    for phase in found["phases"]:
        if phase["complete"]:
            length[phase["name"]].append(phase["to_ns"] - phase["from_ns"])
    for phase in run.said["phase"]:
        if phase["complete"]:
            truth[phase["name"]].append(phase["ns"])
    off = [abs(mine - theirs) for name in truth for mine, theirs in zip(length[name], truth[name])]
    text = "half of all phases differ by less than %.3f ms" % (statistics.median(off) / 1e6)
    if timed:
        checks.that(statistics.median(off) <= 100e3, text)
    else:
        print("not judged: " + text)


def check_waits(checks, timed, run, intervals):
    """Blocked time by reason and queued time by enqueue reason, wait by wait."""
    told = collections.defaultdict(list)
    for wait in run.said["wait"]:
        if not wait["early"]:
            told[wait["task"]].append((REASONS[wait["reason"]], wait["blocked_ns"]))
    seen = collections.defaultdict(list)
    for one in intervals:
        if one["state"] == "blocked" and one["ended_by"] == "wake":
            checks.failed += not one["certain"]
            seen[one["task"]].append((REASONS.get(one["reason"], one["reason"]), one["to_ns"] - one["from_ns"]))
    compare(checks, timed, told, seen, "blocked")
    unfinished = [one["task"] for one in intervals if one["state"] == "blocked" and one["ended_by"] == "unfinished"]
    stuck = [task["id"] for task in run.said["task"] if task["name"] == "stuck"]
    checks.that(unfinished == stuck, "never woken, and unfinished: %s" % unfinished)

    told = collections.defaultdict(list)
    for queued in run.said["queued"]:
        told[queued["task"]].append((ENQUEUES[queued["reason"]], queued["runnable_ns"]))
    idle = {task["id"] for task in run.said["task"] if task["name"] == "idle"}
    seen = collections.defaultdict(list)
    for one in intervals:
        if one["state"] == "runnable" and one["ended_by"] == "run" and one["task"] not in idle:
            seen[one["task"]].append((ENQUEUES.get(one["enqueue"], one["enqueue"]), one["to_ns"] - one["since_ns"]))
    compare(checks, timed, told, seen, "in a run queue")


def compare(checks, timed, told, seen, what):
    """`told` and `seen`: by task, (reason, ns) of each wait in order."""
    off = collections.defaultdict(list)
    for task in sorted(told.keys() | seen.keys()):
        mine, theirs = [reason for reason, _ in seen[task]], [reason for reason, _ in told[task]]
        checks.that(mine == theirs, "task %d is %s %d times, for the guest's reasons in its order" % (task, what, len(theirs)))
        for reason in sorted(set(theirs)):
            agree(checks, timed, "task %d, %s, %s" % (task, what, reason), [ns for r, ns in seen[task] if r == reason],
                  [ns for r, ns in told[task] if r == reason])
        if mine == theirs:
            for (reason, found), (_, truth) in zip(seen[task], told[task]):
                off[reason].append(max(0, abs(found - truth) - truth * 0.01))
    for reason, excess in sorted(off.items()):
        text = "%s, %s: half of all %d are less than 1 %% + %.3f ms off" % (what, reason, len(excess), statistics.median(excess) / 1e6)
        if timed and len(excess) >= LEAST_WAITS:
            checks.that(statistics.median(excess) <= 100e3, text)
        else:
            print("not judged: " + text)


def main():
    arch, cpus, icount = sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["icount"]
    timed = cpus <= 2 and not icount
    checks = lib.Checks()
    machine = (*lib.MACHINES[arch], "-icount", "shift=4") if icount else ()
    run = lib.Run("_".join(["sched", *sys.argv[1:]]), arch, "sched", cpus, "trace=auto", machine=machine)
    run.closing_line()

    report, off_cpu = run.folder / "sched.json", run.folder / "off.folded"
    done = subprocess.run([lib.ANALYZER, "--elf", run.elf, "--group-by-task", "--off-cpu-output", off_cpu, "--sched-output", report,
                           run.capture, run.folder / "on.folded"], capture_output=True, text=True, check=False)
    print(done.stderr)
    checks.that(done.returncode == 0, "the analyzer reads the capture")
    found = json.loads(report.read_text())
    intervals = [json.loads(line) for line in
                 subprocess.run([lib.BUILD / "bin/sched_intervals", run.capture], capture_output=True, text=True, check=True).stdout.splitlines()]

    check_report(checks, run, found, off_cpu)
    check_tasks(checks, run, found)
    early = sum(wait["early"] for wait in run.said["wait"])
    met = sum(found["odd_transitions"].get(name, 0) for name in EARLY)
    checks.that(met == early, "%d early wakes, the guest met %d" % (met, early))
    other = {name: count for name, count in found["odd_transitions"].items() if name not in EARLY}
    checks.that(not other, "nothing else is odd: %s" % other)
    for reason, name in REASONS.items():
        longer = sum(wait["reason"] == reason and wait["blocked_ns"] >= LONG_NS for wait in run.said["wait"])
        checks.that(longer >= 20, "%d waits of 20 ms or more for %s" % (longer, name))
    check_phases(checks, timed, run, found)
    check_waits(checks, timed, run, intervals)
    checks.finish()


main()

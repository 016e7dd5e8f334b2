"""pulseos_cli.py: a real kernel's recorded events, made a capture by our encoder, through qperf-analyzer's command line.

What a plain count of the recording says (its README) must come out: events by kind, waits by reason, phases, the sleeper, the
block sites' names, and waits that were never woken; and every sum must hold, in the whole capture and in each phase.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

BIN = pathlib.Path(os.environ["QPERF_BUILD"]) / "bin"
DATA = pathlib.Path(os.environ.get("QPERF_TEST_DATA", "")) / "pulseos-events"
OUT = pathlib.Path(os.environ["QPERF_BUILD"]) / "tests/pulseos"
HERE = pathlib.Path(__file__).resolve().parent

EVENTS = {"metadata": 217, "switch": 938, "block": 370, "wake": 365, "exit": 102, "enqueue": 837, "phase": 10, "vcpu idle": 627,
          "vcpu resume": 625, "other": 0}
WAITS = {"gc": 156, "wait queue": 130, "child wait": 53, "virtio-blk read": 10, "signal": 9, "future": 7, "sleep": 3, "network poll": 1,
         "mutex": 1}
NEVER_WOKEN = 5
PHASES = {"buildstorm": (888419859, 4582016665), "compute": (888878491, 1360998645), "pipes": (1361468503, 1773582536),
          "files": (1773706390, 2536082842), "sleep": (2536248538, 4581734856)}

failed = 0


def check(condition, what):
    global failed
    print(("ok: " if condition else "FAILED: ") + what)
    failed += not condition


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print("FAILED: %s ended with %d\n%s" % (command, done.returncode, done.stderr))
        sys.exit(1)
    return done.stderr


def analyze(name, *options):
    """The off-CPU stacks, the statistics and the report."""
    folded, report = OUT / (name + ".folded"), OUT / (name + ".json")
    said = run(BIN / "qperf-analyzer", "-e", OUT / "kernel.elf", "--group-by-task", "--off-cpu-output", folded, "--sched-output", report,
               *options, OUT / "capture.bin", OUT / (name + ".on"))
    stacks = {}
    for line in folded.read_text().splitlines():
        frames, weight = line.rsplit(" ", 1)
        stacks[tuple(frames.split(";"))] = int(weight)
    return stacks, json.loads(report.read_text()), said


def check_sums(name, stacks, found):
    tasks = found["tasks"]
    check(all(task["lifetime_ns"] == sum(task[state + "_ns"] for state in ("running", "blocked", "runnable", "parked", "unknown"))
              for task in tasks), "%s: the states of each of %d tasks add up to its life" % (name, len(tasks)))
    check(all(vcpu["window_ns"] == vcpu["busy_ns"] + vcpu["idle_task_ns"] + vcpu["unknown_task_ns"] for vcpu in found["vcpus"]),
          "%s: the times of each vCPU add up to the window" % name)
    running = sum(task["running_ns"] for task in tasks if not task["idle"])
    check(running == sum(vcpu["busy_ns"] for vcpu in found["vcpus"]), "%s: the vCPUs are busy as long as tasks run" % name)
    waiting = sum(task["blocked_ns"] + task["runnable_ns"] for task in tasks)
    check(sum(stacks.values()) == waiting, "%s: the off-CPU weights add up to blocked and runnable" % name)


def check_whole(stacks, found, said):
    check(found["events"] == EVENTS, "events by kind: %s" % found["events"])
    check(not any(found["event_drops"].values()) and found["missing_events"] == 0, "none is missing")
    check("event drops: 0" in said, "the report says so")
    check(not found["odd_transitions"], "nothing in it is odd: %s" % found["odd_transitions"])
    waits, unfinished = collections.Counter(), 0
    for task in found["tasks"]:
        for entry in task["blocked_by_reason"]:
            waits[entry["reason"]] += entry["waits"]
            unfinished += entry["unfinished"]
    check(waits == WAITS, "waits by reason: %s" % dict(waits))
    check(unfinished == NEVER_WOKEN, "%d blocks were never woken: unfinished" % unfinished)
    phases = {phase["name"]: (phase["from_ns"], phase["to_ns"]) for phase in found["phases"]}
    check(phases == PHASES, "phases: %s" % phases)
    check(all(phase["complete"] and phase["occurrence"] == 1 for phase in found["phases"]), "all complete, once each")
    for name, (begin, end) in PHASES.items():
        check("phase %s 1: %d ns from %d ns, complete=true" % (name, end - begin, begin) in said, "the report names phase %s" % name)

    sites = {frames[-1] for frames in stacks if frames[1] == "off-cpu/blocked"}
    check(not any(frame.startswith("0xffffffc0") for frames in stacks for frame in frames[4:]), "every frame of a block site has a name")
    check(any("axtask" in frame for frames in stacks for frame in frames), "names are the kernel's: %s" % sorted(sites)[:3])
    check(not any(frames[0] == "[uncertain]" for frames in stacks), "nothing is uncertain")
    check(not any(frames[-1].rsplit(" ", 1)[-1].isdigit() for frames in stacks), "no leaf ends in a number")


def check_sleep(stacks, found):
    length = PHASES["sleep"][1] - PHASES["sleep"][0]
    slept = max(entry["ns"] for task in found["tasks"] for entry in task["blocked_by_reason"] if entry["reason"] == "sleep")
    check(0.95 * length < slept <= length, "phase sleep: a sleeper is blocked for %.1f %% of it" % (100 * slept / length))
    check(max((weight for frames, weight in stacks.items() if frames[1:3] == ("off-cpu/blocked", "sleep")), default=0) == slept,
          "and so says the off-CPU profile")


def main():
    if not (DATA / "smp2.csv").exists():
        print("skipped: QPERF_TEST_DATA has no pulseos-events/smp2.csv")
        sys.exit(77)
    OUT.mkdir(parents=True, exist_ok=True)
    run(BIN / "csv_to_capture", DATA / "smp2.csv", OUT / "capture.bin")
    run(sys.executable, HERE / "symbols_to_elf.py", DATA / "smp2.symbols.tsv", OUT / "kernel.elf")
    stacks, found, said = analyze("whole", "--wakers")
    print(said)
    check_sums("whole", stacks, found)
    check_whole(analyze("plain")[0], found, said)
    for phase in PHASES:
        stacks, found, _ = analyze(phase, "--phase", phase)
        check_sums(phase, stacks, found)
        if phase == "sleep":
            check_sleep(stacks, found)
    sys.exit(1 if failed else 0)


main()

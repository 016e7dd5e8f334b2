"""flood.py ARCH: two million marker calls with any values in any order from one vCPU.

Nothing may be lost without being counted, by kind; the capture stays small, the analysis within a bound of memory, and what it
prints is printable whatever bytes the guest called a name.
"""

import collections
import json
import pathlib
import re
import resource
import subprocess
import sys

import lib

KINDS = {1: "metadata", 2: "switch", 3: "block", 4: "wake", 5: "exit", 6: "enqueue", 7: "phase"}
ANALYZER_BYTES = 2 << 30
CAPTURE_BYTES = 256 << 20


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ANALYZER_BYTES, ANALYZER_BYTES))


def printable(path):
    """No control characters, and nothing that ends a line or turns the order of text."""
    harmful = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]")
    with open(path, encoding="utf-8", newline="\n") as file:
        return not any(harmful.search(line) for line in file)


def read_report(path):
    """The part of the report before the tasks, and the tasks one by one: all of them at once would be gigabytes of objects."""
    with open(path, encoding="utf-8", newline="\n") as file:
        head = ""
        for line in file:
            if line.startswith('"tasks":['):
                break
            head += line
        found = json.loads(head.rstrip().rstrip(",") + "}")
        tasks = waiting = 0
        for line in file:
            if not line.startswith('{"id":'):
                break
            task = json.loads(line.rstrip().rstrip(",]"))
            total = sum(task[state + "_ns"] for state in ("running", "blocked", "runnable", "parked", "unknown"))
            if total != task["lifetime_ns"]:
                print("FAILED: the states of %s do not add up to its life" % task["label"])
                sys.exit(1)
            tasks += 1
            waiting += task["blocked_ns"] + task["runnable_ns"]
    return found, tasks, waiting


def main():
    checks = lib.Checks()
    run = lib.Run("flood_" + sys.argv[1], sys.argv[1], "flood", 1, "trace=auto")
    run.closing_line()
    print("\n".join(line for line in run.stderr.splitlines() if line.startswith("QPerf trace")))

    report, on, off = (run.folder / name for name in ("sched.json", "on.folded", "off.folded"))
    done = subprocess.run([lib.ANALYZER, "--group-by-task", "--wakers", "--off-cpu-output", off, "--sched-output", report, run.capture, on],
                          capture_output=True, text=True, check=False, preexec_fn=limit_memory)
    print("\n".join(line[:300] for line in done.stderr.splitlines()))
    checks.that(done.returncode == 0, "the analyzer reads it within %d MiB: exit code %d" % (ANALYZER_BYTES >> 20, done.returncode))
    found, tasks, waiting = read_report(report)
    checks.that(tasks > 65536, "%d tasks" % tasks)

    told = collections.Counter()
    for line in run.said["flood"]:
        told[KINDS.get(line["kind"], "other")] += line["calls"]
    told["enqueue"] += run.said["cost"][0]["calls"]
    for line in run.said["events"]:
        told.update({kind: count for kind, count in line.items() if kind != "cpu"})
    for kind, count in sorted(told.items()):
        kept, dropped = found["events"][kind], found["event_drops"][kind]
        checks.that(kept + dropped == count, "%s: %d kept + %d dropped, the guest made %d calls" % (kind, kept, dropped, count))
    dropped = sum(found["event_drops"].values())
    checks.that(("event drops: %d" % dropped) in done.stderr, "the analyzer's report has the same %d drops" % dropped)

    weights = sum(int(line.rsplit(" ", 1)[1]) for line in off.read_text().splitlines())
    checks.that(weights == waiting, "off-CPU weights %d = blocked + runnable %d" % (weights, waiting))
    checks.that(all(printable(path) for path in (report, on, off)), "all output is printable")
    size = pathlib.Path(run.capture).stat().st_size
    checks.that(size < CAPTURE_BYTES, "the capture has %d bytes" % size)
    checks.finish()


main()

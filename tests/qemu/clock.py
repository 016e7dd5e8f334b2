#!/usr/bin/env python3
"""clock.py ARCH CPUS: wall mode on the profile guest against the guest's own clock, and stacks of known shape.

Leaves the capture for other tests. Each part of the guest says how long it took; ticks / freq must say the same.
"""

import re
import sys

from lib import Checks, Run

FREQ = 999


def inclusive(stacks, function):
    return sum(weight for frames, weight in stacks.items() if function in frames)


def main():
    arch, cpus = sys.argv[1], int(sys.argv[2])
    name = "qemu.%s_wall" % arch + ("" if cpus == 2 else "_%dcpu" % cpus)
    checks = Checks()
    run = Run(name, arch, "profile", cpus, "mode=wall,freq=%d" % FREQ)
    run.closing_line()
    stacks, report = run.analyze()
    print(report)

    def near(what, ticks, ns, parts):
        """5 % and 5 ticks for each part: a host that takes the CPU away moves late ticks to the interrupt that is pending then."""
        seconds, truth = ticks / FREQ, ns / 1e9
        checks.that(abs(seconds - truth) <= 0.05 * truth + 5 * parts / FREQ,
                    "%-24s %8.4f s by ticks, %8.4f s by the guest's clock" % (what, seconds, truth))

    for kind in ("spin", "leaf", "hostile", "recursion"):
        for function in sorted({row["name"] for row in run.said[kind]}):
            rows = [row for row in run.said[kind] if row["name"] == function]
            near(function, inclusive(stacks, function), sum(row["ns"] for row in rows), len(rows))

    buckets = {key: int(value) for key, value in re.findall(r"\b(user|idle|kernel|lost|other-privileged)\D{0,3}?(\d+)", run.closing_line())}
    print("buckets:", buckets)
    user_ns = sum(row["user_ns"] for row in run.said["user"])
    calls = sum(row["syscalls"] for row in run.said["user"])
    # The guest reads its clock inside the kernel, so its user time holds the way in and out and QEMU's delivery of the exception.
    seconds, most = buckets["user"] / FREQ, user_ns / 1e9
    least = most - calls * 5e-6
    checks.that(0.9 * least - 0.02 <= seconds <= 1.05 * most + 0.02, "user bucket %.4f s, the guest says at most %.4f s with %d system calls" %
                (seconds, most, calls))
    if any(row["calls"] for row in run.said["firmware"]):
        checks.that(buckets["other-privileged"] > 0, "firmware calls are other-privileged")
    slept_ns = sum(row["idle_ns"] for row in run.said["idle"])
    checks.that(buckets["idle"] / FREQ >= 0.9 * slept_ns / 1e9, "idle bucket %.3f s holds the %.3f s of the idle part" %
                (buckets["idle"] / FREQ, slept_ns / 1e9))

    run.check_conservation(checks, stacks, cpus=cpus)

    # Shapes.
    leaf = [frames for frames in stacks if frames[-1] == "leaf_without_frame"]
    weight = sum(stacks[frames] for frames in leaf)
    under = sum(stacks[frames] for frames in leaf if len(frames) > 1 and frames[-2] == "calls_leaf")
    checks.that(weight and under >= 0.99 * weight, "leaf_without_frame is called by calls_leaf in %d of %d" % (under, weight))
    deep = [frames for frames in stacks if "recurse_bottom" in frames]
    checks.that(deep and max(map(len, deep)) >= 128, "the recursion's stacks reach max_frames: %d" % max(map(len, deep), default=0))
    checks.that(all(frames.count("recurse") >= 120 for frames in deep if stacks[frames] > 2), "and are made of recurse")
    for function in ("spin_50ms", "spin_100ms", "spin_200ms"):
        callers = {frames[-2] for frames in stacks if frames[-1] == function}
        checks.that(callers == {"profile_task"}, "%s is called by profile_task: %s" % (function, callers))
    checks.finish()


main()

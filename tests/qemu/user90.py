#!/usr/bin/env python3
"""user90.py ARCH: a guest that spends 90 % in user mode with many system calls must not show that time on its trap entry."""

import re
import sys

from lib import Checks, Run


def main():
    arch = sys.argv[1]
    checks = Checks()
    run = Run("qemu.%s_user90" % arch, arch, "user90", 1, "mode=wall,freq=999")
    line = run.closing_line()
    stacks, report = run.analyze()
    print(report)
    print(dict(run.said))
    buckets = {key: int(value) for key, value in re.findall(r"\b(user|idle|kernel|lost|other-privileged)\D{0,3}?(\d+)", line)}
    row = run.said["user"][0]
    truth = row["user_ns"] / row["total_ns"]
    seen = buckets["user"] / max(1, sum(buckets.values()) - buckets.get("idle", 0))
    checks.that(abs(seen - truth) < 0.05, "user share %.3f by ticks, %.3f by the guest's clock" % (seen, truth))
    kernel_seconds = sum(stacks.values()) / 999
    kernel_truth = (row["total_ns"] - row["user_ns"]) / 1e9
    checks.that(kernel_seconds < 1.5 * kernel_truth + 0.1, "kernel time %.3f s by ticks, %.3f s by the guest's clock" % (kernel_seconds, kernel_truth))
    checks.finish()


main()

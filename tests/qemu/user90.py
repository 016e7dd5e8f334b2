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
    run.check_conservation(checks, stacks, cpus=1)
    buckets = {key: int(value) for key, value in re.findall(r"\b(user|idle|kernel|lost|other-privileged)\D{0,3}?(\d+)", line)}
    row = run.said["user"][0]
    user, kernel = buckets["user"] / 999, sum(stacks.values()) / 999
    # The guest reads its clock inside the kernel: its user time holds the way in and out and QEMU's delivery of the exception, up to
    # 5 us a call. Boot is the kernel's, too.
    crossing = row["syscalls"] * 5e-6
    user_truth, kernel_truth = row["user_ns"] / 1e9, (row["total_ns"] - row["user_ns"]) / 1e9
    checks.that(0.95 * (user_truth - crossing) <= user <= 1.02 * user_truth + 0.01,
                "user %.3f s by ticks, %.3f s by the guest's clock with %d system calls" % (user, user_truth, row["syscalls"]))
    checks.that(kernel <= kernel_truth + crossing + 0.15, "kernel %.3f s by ticks, %.3f s by the guest's clock" % (kernel, kernel_truth))
    checks.that(user > 2.5 * kernel, "user mode is by far the larger part: %.3f s against %.3f s" % (user, kernel))
    checks.finish()


main()

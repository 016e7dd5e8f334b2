#!/usr/bin/env python3
"""truth.py ARCH CPUS PERIOD JITTER: self shares by icount against the exact mode, on the deterministic compute guest.

The bound is docs/accuracy.md's: with N samples a function of share p may differ by 4.5 standard deviations sqrt(p (1 - p) / N),
plus one sample for the ends of the run. The exact mode in turn is held against the counts that the guest knows by construction.
"""

import collections
import math
import sys

from lib import Checks, Run, self_weights

SIGMAS = 4.5
# They spin until another CPU has started, has work, or lets go of a lock: how long differs from run to run, and these are two runs.
WAITERS = {"kernel_main", "sched_idle_loop", "arch_start_cpu", "arch_wait_for_interrupt", "arch_cpu_relax", "spin_lock"}


def deterministic(weights):
    return collections.Counter({function: weight for function, weight in weights.items() if function not in WAITERS})


def main():
    arch, cpus, period, jitter = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    name = "qemu.%s_truth_%scpu_jitter%s" % (arch, cpus, jitter)
    checks = Checks()
    exact = Run(name + "_exact", arch, "compute", cpus, "mode=exact")
    exact.closing_line()
    truth = deterministic(self_weights(exact.analyze()[0]))
    total = sum(truth.values())
    for function in {row["name"] for row in exact.said["share"]}:
        known = sum(row["insns"] for row in exact.said["share"] if row["name"] == function)
        checks.that(truth[function] == known, "exact: %s executed %d instructions, the guest knows %d" % (function, truth[function], known))

    sampled = Run(name, arch, "compute", cpus, "mode=icount,period=%d,jitter=%d" % (period, jitter))
    sampled.closing_line()
    weights = deterministic(self_weights(sampled.analyze()[0]))
    count = sum(weights.values())
    checks.that(count > 2000, "icount: %d samples' weight" % count)
    # The kernel idles and switches tasks a little differently in each run: 1 % of the instructions.
    checks.that(abs(count * period / total - 1) < 0.01, "icount: %d periods of %d are %.4f of the %d instructions" %
                (count, period, count * period / total, total))
    worst = 0
    for function, insns in truth.most_common():
        share = insns / total
        sigma = math.sqrt(share * (1 - share) / count)
        bound = SIGMAS * sigma + 1 / count
        deviation = weights[function] / count - share
        worst = max(worst, abs(deviation) / bound)
        if share > 0.005 or abs(deviation) > bound:
            checks.that(abs(deviation) <= bound, "%-24s %7.3f %% exact, %7.3f %% by icount, bound %.3f" %
                        (function, 100 * share, 100 * weights[function] / count, 100 * bound))
    unknown = set(weights) - set(truth)
    checks.that(not unknown, "icount names only functions that were executed: %s" % (sorted(unknown) or "yes"))
    print("worst deviation: %.2f of its bound" % worst)
    checks.finish()


main()

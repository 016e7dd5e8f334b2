#!/usr/bin/env python3
"""guest.py: `qperf record` with the real QEMU: the capture is whole and named, sampling obeys time and console, exit codes are QEMU's."""

import re

from record_run import Checks, Record


def main():
    checks = Checks()

    run = Record("plain", "profile", "--mode", "icount", "--period", "100003", output="with,a comma.bin")
    checks.that(run.status == 0 and "QG end" in run.console, "the guest's end is the end: status %s" % run.status)
    stacks, report, code = run.analyze()
    checks.that(code == 0 and stacks, "the capture is whole without an ELF given: %s" % code)
    leaves = {frames[-1] for frames in stacks}
    table = re.findall(r"^ *(\d+\.\d\d)% +(\d+\.\d\d)%  (.+)$", run.stderr, re.MULTILINE)
    checks.that(0 < len(table) <= 10 and all(name in leaves for _, _, name in table), "the hottest functions are named: %s" % table[:3])
    shares = [float(self) for self, _, _ in table]
    total = sum(stacks.values())
    hottest = max(leaves, key=lambda leaf: sum(w for f, w in stacks.items() if f[-1] == leaf))
    truth = 100 * sum(w for f, w in stacks.items() if f[-1] == hottest) / total
    checks.that(shares == sorted(shares, reverse=True) and abs(shares[0] - truth) < 0.01, "hottest first, as the analyzer counts: %s %s" % (shares[0], truth))
    checks.that("next: qperf" in run.stderr, "says what to type next")

    run = Record("gated", "profile", "--mode", "icount", "--period", "100003", "--start-on", "^QG start workload=profile", "--stop-on", "^QG share")
    gated, report, code = run.analyze()
    checks.that(run.status == 0 and code == 0 and gated, "sampling between two lines of the console: %s %s" % (run.status, code))
    early = Record("stopped", "profile", "--mode", "icount", "--period", "100003", "--stop-on", "^QG start workload=profile")
    before, _, code = early.analyze()
    checks.that("QG end" in early.console and sum(before.values()) < total / 10,
                "nothing is sampled after the line that stops it: %d of %d periods" % (sum(before.values()), total))
    plain_start = Record("never", "profile", "--mode", "icount", "--period", "1000", "--start-on", "no such line")
    never, _, code = plain_start.analyze()
    checks.that(not never, "nothing is sampled before the line that starts it: %d" % len(never))
    checks.that(plain_start.status == 0 and "no line of the guest's console matched" in plain_start.stderr, "a line that never comes is told")
    checks.that("QG end" in plain_start.console, "and the guest ran")

    run = Record("duration", "compute", "--duration", "5", "--freq", "499", smp=4)
    stacks, report, code = run.analyze()
    checks.that(run.status == 0 and "QG end" not in run.console, "QEMU is stopped at the end of the duration: %s" % run.status)
    checks.that(code == 0 and stacks, "and its capture is finished: %s" % code)
    run = Record("delay", "profile", "--delay", "1000")
    checks.that(run.status == 0 and "before sampling began" in run.stderr, "a delay beyond the end is told")

    run = Record("trace", "sched", "--trace", smp=2)
    stacks, report, code = run.analyze("--group-by-task")
    checks.that(run.status == 0 and code == 0 and any("[" in frames[0] for frames in stacks), "--trace records tasks: %s" % report[-300:])
    run = Record("bad_option", "profile", qemu=("-no-such-option",))
    checks.that(run.status == 1 and "no-such-option" in run.stderr, "QEMU's own refusal and exit code: %s" % run.status)
    run = Record("bad_mode", "profile", "--mode", "clock")
    checks.that(run.status == 2 and "mode" in run.stderr and "wall" in run.stderr, "the plugin's refusal comes before the run: %s" % run.stderr)
    checks.finish()


main()

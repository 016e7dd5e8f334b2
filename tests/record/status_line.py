#!/usr/bin/env python3
"""status_line.py: `qperf record` shows how the recording goes on a terminal that is not the guest's console, and takes the line away;
a terminal that is the console gets nothing but what the guest writes."""

import shlex
import shutil
import sys

from players import BUILD, record_command
from job import Job

WORK = BUILD / "tests" / "record_status_line"
GUEST = "echo hello from the guest; "

failed = 0


def check(holds, what):
    global failed
    failed += not holds
    print(("ok: " if holds else "FAILED: ") + what)


def main():
    shutil.rmtree(WORK, ignore_errors=True)

    command = record_command(WORK / "piped", [], ["-M", "virt"])
    # The guest ends when the line was seen: how long that takes on a busy machine does not matter.
    run = {"FAKE_RUN": GUEST + "while [ ! -e '%s' ]; do sleep 0.1; done" % (WORK / "seen")}
    job = Job(["sh", "-c", "exec %s >'%s'" % (shlex.join(command), WORK / "console")], environment=run)
    job.wait_for(rb"\r\x1b\[Kqperf: \d+ s, recording, ")
    (WORK / "seen").touch()
    job.wait_for(rb" s, recording, [^\r]*\r\x1b\[K(qperf: \d+ s, recording, [^\r]*\r\x1b\[K)*qperf: (?!\d)")
    job.ended(1)  # the one that plays QEMU makes no capture
    check((WORK / "console").read_text() == "hello from the guest\n", "the console has what the guest wrote and no more")

    job = Job(record_command(WORK / "terminal", [], ["-M", "virt"]), environment={"FAKE_RUN": GUEST + "sleep 2.5"})
    job.wait_for(rb"hello from the guest.*\nqperf: ")
    job.ended(1)  # the one that plays QEMU makes no capture
    check(b" s, recording, " not in job.seen, "no line is drawn into a console on the terminal")
    sys.exit(failed != 0)


main()

#!/usr/bin/env python3
"""progress.py: `qperf trace` shows on a terminal how far a long trace is read, takes the line away before its output, and shows
nothing in between where the output appears meanwhile. The trace is a FIFO: it lasts until the line was seen."""

import os
import pathlib
import re
import select
import shlex
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "shell"))
from job import LIMIT_S, Job  # noqa: E402

BUILD = pathlib.Path(os.environ["QPERF_BUILD"])
# As deep as a checkout may lie: the line is longer than a row then.
WORK = BUILD / "tests" / "trace_progress" / "a_folder_of_a_long_name" / "and_one_more_of_the_kind"
QPERF = BUILD / "bin/qperf"
FIFO = WORK / "trace"
EVENTS = WORK / "events"
LINE = rb"\rqperf: \.\.\.[^\r]*/trace: reading events\x1b\[K"
CLEARED = rb"\r\x1b\[K"

failed = 0


def check(holds, what):
    global failed
    failed += not holds
    print(("ok: " if holds else "FAILED: ") + what)


def feed(job, pattern, line=b"tick n %d\n"):
    """Writes events until the terminal shows the pattern, then ends the trace; how many they were."""
    deadline = time.monotonic() + LIMIT_S
    events = 0
    with open(FIFO, "wb", buffering=0) as fifo:  # waits for the reader
        while not re.search(pattern, job.seen, re.DOTALL) and time.monotonic() < deadline:
            fifo.write(line % events if b"%" in line else line)
            events += 1
            if select.select([job.fd], [], [], 0.05)[0]:
                job.seen += os.read(job.fd, 65536)
    return events


def feed_slowly():
    """Twenty events, in longer than the line waits."""
    with open(FIFO, "wb", buffering=0) as fifo:
        for number in range(20):
            fifo.write(b"tick n %d\n" % number)
            time.sleep(0.1)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.mkfifo(FIFO)
    EVENTS.write_text('tick(int n) "n %d"\n')
    trace = lambda job, *arguments: [str(QPERF), "trace", job, "--events", str(EVENTS), str(FIFO), *arguments]

    for job_name, arguments in (("stat", ()), ("hist", ("n",)), ("locks", ()), ("sql", ("SELECT count(*) AS events FROM tick",))):
        job = Job(trace(job_name, *arguments))
        events = feed(job, LINE)
        last = rb"no qemu_mutex" if job_name == "locks" else rb"\b%d\b" % events
        job.wait_for(LINE + rb".*" + CLEARED + rb"(?!qperf: [^\r]*reading).*" + last + rb".*\n")
        job.ended(0)
        output = re.split(CLEARED, job.seen)[-1].decode()
        check("reading" not in output, job_name + ": the line is gone before the output comes")
        check(str(events) in output or job_name == "locks", "%s: %d events: %r" % (job_name, events, output.splitlines()[:3]))

    job = Job(["sh", "-c", "exec %s >'%s'" % (shlex.join(trace("print")), WORK / "out")])
    events = feed(job, LINE)
    job.wait_for(LINE + rb".*" + CLEARED)
    job.ended(0)
    check(len((WORK / "out").read_text().splitlines()) == events, "print into a file has its line, too")

    job = Job([str(QPERF), "import", str(FIFO), "-o", str(WORK / "imported")])
    reading = LINE.replace(b"events", b"samples")
    stacks = feed(job, reading, b"start;work 1\n" * 8192)  # more than any buffer
    job.wait_for(reading + rb".*" + CLEARED + rb".*imported: \d+ samples")
    job.ended(0)
    check(stacks > 0, "import has its line: %d stacks" % stacks)

    job = Job(trace("print"))
    feed_slowly()
    job.wait_for(rb"0x13\r?\n")
    job.ended(0)
    check(b"reading" not in job.seen, "print on the terminal has none")
    job = Job(trace("stat", "--follow"))
    feed_slowly()
    job.wait_for(rb"tick +20")
    job.ended(0)
    check(b"reading" not in job.seen, "stat --follow, which redraws its table, has none")
    job = Job(["sh", "-c", "exec %s 2>'%s'" % (shlex.join(trace("stat")), WORK / "err")])
    feed_slowly()
    job.wait_for(rb"tick +20")
    job.ended(0)
    check((WORK / "err").read_text() == "", "a file on stderr gets none")
    sys.exit(failed != 0)


main()

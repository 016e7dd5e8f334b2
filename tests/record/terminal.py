#!/usr/bin/env python3
"""terminal.py: QEMU under `qperf record` has the terminal to itself: raw mode, keys, signals, job control; and it is as before afterwards."""

import shutil
import sys

from players import BUILD, HERE, record_command
from job import Job

WORK = BUILD / "tests" / "record_terminal"


def record(name, *options, how):
    print("# " + name)
    run = "exec '%s' '%s' %s" % (sys.executable, HERE / "console_program.py", how)
    return Job(record_command(WORK / name, ["-q", *options], []), environment={"FAKE_RUN": run})


def main():
    shutil.rmtree(WORK, ignore_errors=True)

    for name, options in (("raw", ()), ("raw_watched", ("--start-on", "no such line"))):
        job = record(name, *options, how="raw")
        job.wait_for(rb"tty 111")
        job.wait_for(rb"size 80x24")
        job.wait_for(rb"foreground True")
        job.wait_for(rb"ready")
        job.type(b"\x03")
        job.wait_for(rb"key 03")  # Ctrl-C is the guest's
        job.type(b"\x1a")
        job.wait_for(rb"key 1a")
        job.type("\u00e9".encode())
        job.wait_for(rb"key c3a9")
        job.type(b"q")
        job.ended(4)

    job = record("interrupt", how="cooked")
    job.wait_for(rb"ready")
    job.type(b"\x03")
    job.ended(130)

    job = record("suspend", how="cooked")
    job.wait_for(rb"ready")
    job.type(b"\x1a")
    job.told(rb"stopped restored 1\n")
    job.continue_it()
    job.type(b"\x03")
    job.ended(130)


main()

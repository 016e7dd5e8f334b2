#!/usr/bin/env python3
"""top.py: `qperf top` on a finished and on a growing capture, by file and by control socket; its screen comes up, fits and goes away again."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "shell"))
from job import Job  # noqa: E402
from record_run import BUILD, GUEST, QPERF, Checks, Record, elf  # noqa: E402

WORK = BUILD / "tests/record/top"
LIMIT_S = 120
# Runs its arguments on a terminal whose session has no other process group, and shows its own terminal what that one shows.
ORPHAN = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
ROW = re.compile(r"^ *(\d+\.\d)% +(\d+\.\d)%  (.+)$", re.MULTILINE)


def top(*arguments, expect=0):
    done = subprocess.run([str(QPERF), "top", *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != expect:
        print("FAILED: top %s: %d\n%s" % (arguments, done.returncode, done.stderr))
        sys.exit(1)
    return done.stdout + done.stderr


def last_frame(seen):
    """Lines of the newest whole frame, without escape sequences."""
    frame = seen.split(b"\x1b[H")[-2] if seen.count(b"\x1b[H") > 1 else seen
    return [re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", line).decode() for line in re.split(rb"\r+\n", frame)]


UP = rb"\x1b\[\?1049h\x1b\[\?25l"
GONE = rb"\x1b\[\?25h\x1b\[\?1049l"
FRAME = rb"\x1b\[H.*?function.*?\x1b\[J"


def on_screen(checks, capture):
    # Looks are as far apart as can be: what is drawn in between was drawn because of what happened.
    start = lambda interval="3600": Job([QPERF, "top", capture, "--window", "3600", "--interval", interval], rows=20, columns=60)

    job = start("0.5")
    job.wait_for(UP + FRAME + FRAME)
    lines = last_frame(job.seen)
    checks.that(len(lines) <= 20 and all(len(line) <= 60 for line in lines), "20 rows of 60 columns: %d, %d" % (len(lines), max(map(len, lines))))
    job.type(b"q")
    job.wait_for(GONE)
    job.ended(0)

    job = start()
    job.wait_for(UP + FRAME)
    job.forget()
    job.resize(10, 30)
    job.wait_for(rb"\x1b\[H.*\x1b\[J")
    lines = last_frame(job.seen)
    checks.that(len(lines) <= 10 and all(len(line) <= 30 for line in lines), "after a resize 10 rows of 30: %d, %d" % (len(lines), max(map(len, lines))))
    job.type(b"\x03")
    job.wait_for(GONE)
    job.ended(0)

    job = start()
    job.wait_for(UP + FRAME)
    for other_modes in (False, True):
        job.forget()
        job.type(b"\x1a")
        job.wait_for(GONE)
        job.told(rb"stopped restored 1\n")
        job.forget()
        job.continue_it(other_modes=other_modes)
        job.wait_for(UP + FRAME)
    os.kill(job.pid, signal.SIGSTOP)  # cannot be answered: the screen is put up again all the same
    job.told(rb"stopped restored 0\n")
    job.forget()
    job.continue_it()
    job.wait_for(UP + FRAME)
    job.type(b"q")
    job.wait_for(GONE)
    job.ended(0)

    # Without a shell nobody would continue it: Ctrl-Z must not stop it. As tmux and ssh run a command.
    job = Job([sys.executable, "-c", ORPHAN, QPERF, "top", capture, "--window", "3600", "--interval", "3600"])
    job.wait_for(UP + FRAME)
    job.forget()
    job.type(b"\x1a")
    job.wait_for(UP + FRAME)
    job.type(b"q")
    job.ended(0)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV):
        job = start()
        job.wait_for(UP + FRAME)
        os.kill(job.pid, number)
        job.wait_for(GONE)
        job.ended(-number if number == signal.SIGSEGV else 0)


def live(checks):
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    command = [str(QPERF), "record", "-q", "-o", "live.bin", "--control", "control", "--freq", "499", "--", *GUEST, "-smp", "4", "-kernel", str(elf("compute"))]
    recording = subprocess.Popen(command, cwd=WORK, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + LIMIT_S
        text = ""
        while time.monotonic() < deadline and recording.poll() is None and not ROW.search(text):
            done = subprocess.run([str(QPERF), "top", "--once", "live.bin"], cwd=WORK, capture_output=True, text=True, check=False)
            text = done.stdout
            time.sleep(0.2)
        checks.that(ROW.search(text) and "the recording has ended" not in text, "a growing capture shows functions: %s" % text.splitlines()[:2])
        done = subprocess.run([str(QPERF), "top", "--once", "--control", "control"], cwd=WORK, capture_output=True, text=True, check=False)
        checks.that(done.returncode == 0 and str(WORK / "live.bin") in done.stdout and "started" in done.stdout,
                    "the control socket tells the file and how it stands: %s" % (done.stdout + done.stderr).splitlines()[:3])
        done = subprocess.run([str(QPERF), "top", "--iterations", "2", "--interval", "0.5", "live.bin"], cwd=WORK, capture_output=True, text=True, check=False)
        checks.that(done.stdout.count("qperf top:") == 2, "two looks are two")
    finally:
        recording.terminate()
        recording.wait()


def main():
    checks = Checks()
    run = Record("top_finished", "sched", "-q", "--trace", "--freq", "499", smp=2)
    stacks, _, _ = run.analyze()
    text = top("--once", "--window", "3600", run.capture)
    rows = ROW.findall(text)
    total = sum(stacks.values())
    share = lambda name: 100 * sum(w for frames, w in stacks.items() if frames[-1] == name) / total
    checks.that(len(rows) > 3 and all(abs(float(self) - share(name)) < 0.06 for self, _, name in rows[:5]), "its shares are the analyzer's: %s" % rows[:3])
    checks.that("the recording has ended" in text and re.search(r"%  workload#\d+$", text, re.MULTILINE), "a finished capture with its tasks")
    checks.that(re.search(r"^ +0 .*%", text, re.MULTILINE) and re.search(r"^ +1 .*%", text, re.MULTILINE), "both vCPUs")
    on_screen(checks, run.capture)
    live(checks)
    top(QPERF, "--once", expect=1)  # no capture
    checks.that("give one of" in top("--once", expect=2), "nothing given is refused")
    checks.that("from 0.1 to 3600" in top("--once", "--window", "0", run.capture, expect=2), "a window of nothing is refused")
    checks.finish()


main()

#!/usr/bin/env python3
"""top.py: `qperf top` on a finished and on a growing capture, by file and by control socket; its screen comes up, fits and goes away again."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from record_run import BUILD, GUEST, QPERF, Checks, Record, elf

WORK = BUILD / "tests/record/top"
LIMIT_S = 120
ROW = re.compile(r"^ *(\d+\.\d)% +(\d+\.\d)%  (.+)$", re.MULTILINE)


def top(*arguments, expect=0):
    done = subprocess.run([str(QPERF), "top", *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != expect:
        print("FAILED: top %s: %d\n%s" % (arguments, done.returncode, done.stderr))
        sys.exit(1)
    return done.stdout + done.stderr


class Screen:
    """`qperf top` on a terminal of its own."""

    def __init__(self, capture, rows, columns):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            time.sleep(0.2)  # the size is set by then; if not, a change of size follows
            os.execv(QPERF, [str(QPERF), "top", str(capture), "--window", "3600", "--interval", "0.5"])
        self.before = termios.tcgetattr(self.fd)
        self.resize(rows, columns)
        self.seen = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self, pattern):
        deadline = time.monotonic() + LIMIT_S
        while not re.search(pattern, self.seen, re.DOTALL):
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            try:
                more = os.read(self.fd, 65536) if ready else b""
            except OSError:
                more = b""
            if not more:
                return False
            self.seen += more
        return True

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def last_frame(self):
        """Lines of the newest whole frame, without escape sequences."""
        frame = self.seen.split(b"\x1b[H")[-2] if self.seen.count(b"\x1b[H") > 1 else self.seen
        return [re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", line).decode() for line in re.split(rb"\r+\n", frame)]


def on_screen(checks, capture):
    screen = Screen(capture, 20, 60)
    checks.that(screen.wait(rb"\x1b\[\?1049h.*function.*\x1b\[J.*\x1b\[J"), "the screen comes up, the other one is kept")
    lines = screen.last_frame()
    checks.that(len(lines) <= 20 and all(len(line) <= 60 for line in lines), "20 rows of 60 columns: %d, %d" % (len(lines), max(map(len, lines))))
    screen.resize(10, 30)
    screen.seen = b""
    screen.wait(rb"\x1b\[J.*\x1b\[J.*\x1b\[J")
    lines = screen.last_frame()
    checks.that(len(lines) <= 10 and all(len(line) <= 30 for line in lines), "after a resize 10 rows of 30: %d, %d" % (len(lines), max(map(len, lines))))
    os.write(screen.fd, b"q")
    checks.that(screen.wait(rb"\x1b\[\?25h\x1b\[\?1049l"), "q: the screen goes away and the cursor comes back")
    checks.that(termios.tcgetattr(screen.fd) == screen.before, "and the terminal is as before")
    checks.that(screen.status() == 0, "and the exit code is 0")
    os.close(screen.fd)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV):
        screen = Screen(capture, 20, 60)
        screen.wait(rb"function")
        os.kill(screen.pid, number)
        gone = screen.wait(rb"\x1b\[\?25h\x1b\[\?1049l")
        checks.that(gone and termios.tcgetattr(screen.fd) == screen.before, "signal %d: the terminal is put back" % number)
        status = screen.status()
        checks.that(status == (-number if number == signal.SIGSEGV else 0), "signal %d: status %d" % (number, status))
        os.close(screen.fd)


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

#!/usr/bin/env python3
"""terminal.py: QEMU under `qperf record` has the terminal to itself: raw mode, keys, signals, job control; and it is as before afterwards.

The test makes a terminal, a process that plays the shell (its own session, qperf as its foreground job), and a Python program as QEMU.
"""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sys
import termios
import time

BUILD = pathlib.Path(os.environ["QPERF_BUILD"])
WORK = BUILD / "tests" / "record_terminal"
LIMIT_S = 120

# Says what it finds, then does as the keys say. Lines are written with os.write: nothing is buffered.
QEMU = r'''
import os, select, signal, sys, termios, tty
args = " ".join(sys.argv[1:])
if args == "--version": print("QEMU emulator version 10.0.2"); sys.exit(0)
if args.endswith("help=on"): print("max_stack_bytes=N"); sys.exit(1)
say = lambda text: os.write(1, text.encode() + b"\n")
say("tty %d%d%d" % (os.isatty(0), os.isatty(1), os.isatty(2)))
say("size %dx%d" % (os.get_terminal_size(1).columns, os.get_terminal_size(1).lines))
say("foreground %s" % (os.tcgetpgrp(0) == os.getpgrp()))
if "raw" in args:
    os.set_blocking(0, False)  # as QEMU does; it is the terminal's state, not only ours
    tty.setraw(0)
    say("ready")
    while True:
        select.select([0], [], [])
        keys = os.read(0, 100)
        os.write(1, b"key " + keys.hex().encode() + b"\r\n")
        if keys == b"q": os._exit(4)  # leaves the terminal raw
else:
    say("ready")
    while True: signal.pause()
'''


class Terminal:
    """A shell-like session with qperf as its foreground job; `line` is what the job printed so far."""

    def __init__(self, name, *arguments):
        print("# " + name)
        self.folder = WORK / name
        self.folder.mkdir(parents=True)
        program = self.folder / "qemu-system-riscv64"
        program.write_text("#!" + sys.executable + "\n" + QEMU)
        program.chmod(0o755)
        (self.folder / "libqperf.so").touch()
        self.command = [str(BUILD / "bin/qperf"), "record", "-q", "-o", str(self.folder / "out"), "--plugin",
                        str(self.folder / "libqperf.so"), *arguments[:-1], "--", str(program), arguments[-1]]
        self.report, report_write = os.pipe()
        self.shell, self.fd = pty.fork()
        if self.shell == 0:
            try:
                self.play_shell(report_write)
            finally:
                os._exit(99)
        os.close(report_write)
        self.seen = b""

    def play_shell(self, report):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        before = termios.tcgetattr(0)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(self.command[0], self.command)
        os.write(report, b"job %d\n" % job)
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                break
            os.write(report, b"stopped\n")
            time.sleep(0.1)
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)
        same = termios.tcgetattr(0) == before and os.get_blocking(0)
        os.write(report, b"ended %d restored %d\n" % (os.waitstatus_to_exitcode(status), same))
        os._exit(0)

    def read(self, fd, so_far, pattern):
        """Reads on until the pattern is there."""
        deadline = time.monotonic() + LIMIT_S
        while not re.search(pattern, so_far):
            ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
            try:
                more = os.read(fd, 4096) if ready else b""
            except OSError:  # the terminal's other end is closed
                more = b""
            if not more:
                print("FAILED: no %r in %r" % (pattern, so_far))
                sys.exit(1)
            so_far += more
        return so_far

    def wait_for(self, pattern):
        self.seen = self.read(self.fd, self.seen, pattern)
        print("ok: the terminal shows %r" % pattern)

    def told(self, pattern):
        text = self.read(self.report, b"", pattern)
        print("ok: the shell sees %r" % pattern)
        return text

    def type(self, keys):
        os.write(self.fd, keys)


def main():
    shutil.rmtree(WORK, ignore_errors=True)

    for name, options in (("raw", ()), ("raw_watched", ("--start-on", "no such line"))):
        terminal = Terminal(name, *options, "raw")
        terminal.wait_for(rb"tty 111")
        terminal.wait_for(rb"foreground True")
        terminal.wait_for(rb"ready")
        terminal.type(b"\x03")
        terminal.wait_for(rb"key 03")  # Ctrl-C is the guest's
        terminal.type(b"\x1a")
        terminal.wait_for(rb"key 1a")
        terminal.type("\u00e9".encode())
        terminal.wait_for(rb"key c3a9")
        terminal.type(b"q")
        terminal.told(rb"ended 4 restored 1")

    terminal = Terminal("interrupt", "cooked")
    terminal.wait_for(rb"ready")
    terminal.type(b"\x03")
    terminal.told(rb"ended 130 restored 1")

    terminal = Terminal("suspend", "cooked")
    terminal.wait_for(rb"ready")
    terminal.type(b"\x1a")
    terminal.told(rb"stopped\n")
    terminal.type(b"\x03")
    terminal.told(rb"ended 130 restored 1")


main()

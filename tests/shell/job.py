"""job.py: a program as the foreground job of a shell, on a terminal of the test's own.

The shell is played by a process that is the terminal's session leader: it sees the job stop, continues it when it is told to, and says
whether the terminal's modes are then as the job found them.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

LIMIT_S = 120


class Job:
    """`seen`: what the terminal shows since the last forget()."""

    SHELL_IGNORES = (signal.SIGTTOU, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)

    def __init__(self, command, *, environment=(), rows=24, columns=80):
        self.command = list(map(str, command))
        self.report, report_write = os.pipe()
        go_read, self.go = os.pipe()
        self.shell, self.fd = pty.fork()
        if self.shell == 0:
            try:
                os.close(self.report)
                os.close(self.go)
                os.environ.update({"TERM": "xterm", **dict(environment)})
                self.set_size(0, rows, columns)
                self.play_shell(report_write, go_read)
            finally:
                os._exit(99)
        os.close(report_write)
        os.close(go_read)
        self.seen = b""
        self.told_so_far = b""
        self.pid = int(self.told(rb"job (\d+)\n").group(1))

    @staticmethod
    def set_size(fd, rows, columns):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def play_shell(self, report, go):
        for number in self.SHELL_IGNORES:
            signal.signal(number, signal.SIG_IGN)
        before = termios.tcgetattr(0)
        same = lambda: termios.tcgetattr(0) == before and os.get_blocking(0)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            for number in self.SHELL_IGNORES:
                signal.signal(number, signal.SIG_DFL)
            os.execvp(self.command[0], self.command)
        os.write(report, b"job %d\n" % job)
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                break
            os.tcsetpgrp(0, os.getpgrp())
            os.write(report, b"stopped restored %d\n" % same())
            if os.read(go, 1) == b"m":  # a mode that the job must leave as it is now
                before[0] ^= termios.IXON
                termios.tcsetattr(0, termios.TCSANOW, before)
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)
            os.write(report, b"continued\n")
        os.write(report, b"ended %d restored %d\n" % (os.waitstatus_to_exitcode(status), same()))
        os._exit(0)

    @staticmethod
    def read(fd, so_far, pattern):
        """Reads on until the pattern is there."""
        deadline = time.monotonic() + LIMIT_S
        while not re.search(pattern, so_far, re.DOTALL):
            ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
            try:
                more = os.read(fd, 65536) if ready else b""
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
        """What the shell says from here on."""
        self.told_so_far = self.read(self.report, self.told_so_far, pattern)
        found = re.search(pattern, self.told_so_far, re.DOTALL)
        self.told_so_far = self.told_so_far[found.end():]
        print("ok: the shell sees %r" % pattern)
        return found

    def forget(self):
        self.seen = b""

    def type(self, keys):
        os.write(self.fd, keys)

    def resize(self, rows, columns):
        self.set_size(self.fd, rows, columns)

    def continue_it(self, *, other_modes=False):
        os.write(self.go, b"m" if other_modes else b"c")
        self.told(rb"continued\n")

    def ended(self, status):
        """The job's end; the terminal must be as it was."""
        self.told(rb"ended %d restored 1\n" % status)
        os.waitpid(self.shell, 0)
        for fd in (self.fd, self.report, self.go):
            os.close(fd)

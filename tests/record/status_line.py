#!/usr/bin/env python3
"""status_line.py: `qperf record` shows how the recording goes on a terminal that is not the guest's console, and takes the line away;
a terminal that is the console gets nothing but what the guest writes."""

import os
import pathlib
import pty
import select
import shutil
import sys
import time

BUILD = pathlib.Path(os.environ["QPERF_BUILD"])
WORK = BUILD / "tests" / "record_status_line"
LIMIT_S = 120

QEMU = r'''
import os, sys, time
args = " ".join(sys.argv[1:])
if args == "--version": print("QEMU emulator version 10.0.2"); sys.exit(0)
if args.endswith("help=on"): print("max_stack_bytes=N"); sys.exit(1)
os.write(1, b"hello from the guest\n")
time.sleep(2.5)
'''

failed = 0


def check(holds, what):
    global failed
    failed += not holds
    print(("ok: " if holds else "FAILED: ") + what)


def record(name, console_on_terminal):
    """What the terminal on stderr shows, and what comes out of stdout where that is a pipe."""
    folder = WORK / name
    folder.mkdir(parents=True)
    program = folder / "qemu-system-riscv64"
    program.write_text("#!" + sys.executable + "\n" + QEMU)
    program.chmod(0o755)
    (folder / "libqperf.so").touch()
    command = [str(BUILD / "bin/qperf"), "record", "-o", str(folder / "out"), "--plugin", str(folder / "libqperf.so"), "--", str(program), "-M", "virt"]
    screen, terminal = pty.openpty()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(terminal if console_on_terminal else write_end, 1)
        os.dup2(terminal, 2)
        for descriptor in (screen, terminal, read_end, write_end):
            os.close(descriptor)
        os.execv(command[0], command)
    os.close(terminal)
    os.close(write_end)
    seen = {screen: b"", read_end: b""}
    open_ends = {screen, read_end}
    deadline = time.monotonic() + LIMIT_S
    while open_ends and time.monotonic() < deadline:
        for end in select.select(list(open_ends), [], [], 1)[0]:
            try:
                more = os.read(end, 65536)
            except OSError:  # how Linux says that a terminal's other end is closed
                more = b""
            seen[end] += more
            if not more:
                open_ends.remove(end)
    os.waitpid(child, 0)
    return seen[screen].decode(), seen[read_end].decode()


shutil.rmtree(WORK, ignore_errors=True)
shown, console = record("piped", False)
check(console == "hello from the guest\n", "the console has what the guest wrote and no more")
check("\r\x1b[Kqperf: 1 s, recording, " in shown, "a terminal beside it shows the seconds")
check("\r\x1b[K" in shown[shown.rfind(" s, recording, "):], "the line is taken away at the end")
shown, _ = record("terminal", True)
check("hello from the guest" in shown, "a console on the terminal is there")
check(" s, recording, " not in shown, "and no line is drawn into it")
sys.exit(failed != 0)

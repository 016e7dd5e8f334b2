"""colours.py QPERF INPUTS: tables have colours on a terminal only, and only where NO_COLOR and TERM allow them; what a person
reads is the same with and without."""

import os
import pty
import re
import subprocess
import sys

qperf = os.path.abspath(sys.argv[1])
os.chdir(sys.argv[2])  # captures name their ELF without a folder
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(arguments, environment):
    child, terminal = pty.fork()
    if child == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ.update(environment)
        os.execv(qperf, [qperf, *arguments])
    seen = b""
    try:
        while more := os.read(terminal, 65536):
            seen += more
    except OSError:  # how Linux says that the other end is closed
        pass
    os.waitpid(child, 0)
    return seen.decode().replace("\r\n", "\n")


failed = 0


def check(holds, what):
    global failed
    failed += not holds
    print(("ok: " if holds else "FAILED: ") + what)


for arguments in (["report", "wall.bin"], ["info", "wall.bin"], ["report", "--tree", "wall.bin"], ["diff", "-e", "kernel.elf", "old.bin", "wall.bin"]):
    name = " ".join(arguments)
    ran = subprocess.run([qperf, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    piped = ran.stdout
    check(ran.returncode == 0 and "error" not in piped, name + ": is done")
    check(piped and "\x1b" not in piped, name + ": a pipe gets no escape codes")
    coloured = on_terminal(arguments, {"TERM": "xterm"})
    check("\x1b[1m" in coloured, name + ": titles stand out on a terminal")
    if arguments[0] == "report":
        check("\x1b[31m" in coloured and "\x1b[33m" in coloured, name + ": so does what is hot, less what is warm")
    plain = ESCAPE.sub("", coloured)
    check(sorted(plain.splitlines()) == sorted(piped.splitlines()), name + ": the text is the same")
    for environment in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
        check("\x1b" not in on_terminal(arguments, environment), "%s: none with %s" % (name, environment))
sys.exit(failed != 0)

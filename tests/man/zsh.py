#!/usr/bin/env python3
"""zsh.py: the completion script in a real zsh on a terminal: Tab puts in what the program takes."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ["QPERF_BUILD"])
WORK = BUILD / "tests" / "man_zsh"
LIMIT_S = 60


class Zsh:
    def __init__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(WORK)
            os.environ.update(TERM="dumb", PS1="", PROMPT="READY> ", ZDOTDIR=str(WORK), PATH="%s:%s" % (BUILD / "bin", os.environ["PATH"]))
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.seen = ""
        self.run("unsetopt beep list_beep; zstyle ':completion:*' format ''; setopt no_auto_menu; autoload -U compinit && compinit -D -u && source ./_qperf && echo LOAD''ED", "LOADED")

    def run(self, line, pattern):
        self.type(line + "\r")
        return self.wait(pattern)

    def type(self, keys):
        self.seen = ""
        os.write(self.fd, keys.encode())

    def wait(self, pattern):
        deadline = time.monotonic() + LIMIT_S
        while not re.search(pattern, self.seen):
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            try:
                more = os.read(self.fd, 65536).decode(errors="replace") if ready else ""
            except OSError:
                more = ""
            if not more:
                return False
            self.seen += more
        return True

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def main():
    if shutil.which("zsh") is None:
        print("skipped: no zsh")
        sys.exit(77)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    script = subprocess.run([str(BUILD / "bin/qperf"), "completion", "zsh"], capture_output=True, text=True, check=True).stdout
    (WORK / "_qperf").write_text(script)
    failed = 0
    zsh = Zsh()
    # What is typed before Tab, and what the whole line then is when it is echoed back by the shell.
    for typed, completed in (("qperf rec", "qperf record"), ("qperf trace pr", "qperf trace print"),
                             ("qperf record --start", "qperf record --start-on"), ("qperf trace print --ids det", "qperf trace print --ids detect"),
                             ("qperf record --mode ico", "qperf record --mode icount"), ("qperf completion z", "qperf completion zsh"),
                             ("qperf trace mmio --cap", "qperf trace mmio --capture"), ("qperf trace control --qm", "qperf trace control --qmp"),
                             ("qperf trace blkparse --host-", "qperf trace blkparse --host-offset")):
        zsh.type("\x15" + typed + "\t" + "\x01" + "print -r -- 'LINE:" + "\x05" + "'\r")
        ok = zsh.wait(r"\nLINE:" + re.escape(completed) + r" ?\s*\r?\n")
        print(("ok: " if ok else "FAILED: ") + "%r completes to %r%s" % (typed, completed, "" if ok else ", the terminal shows %r" % zsh.seen))
        failed += not ok
    zsh.close()
    sys.exit(1 if failed else 0)


main()

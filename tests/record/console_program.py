"""console_program.py [raw]: plays QEMU on its console: says what it finds, then does as the keys say."""

import os
import select
import signal
import sys
import tty


def say(text):
    os.write(1, text.encode() + b"\n")  # nothing is buffered


say("tty %d%d%d" % (os.isatty(0), os.isatty(1), os.isatty(2)))
say("size %dx%d" % (os.get_terminal_size(1).columns, os.get_terminal_size(1).lines))
say("foreground %s" % (os.tcgetpgrp(0) == os.getpgrp()))
if "raw" in sys.argv:
    os.set_blocking(0, False)  # as QEMU does; it is the terminal's state, not only ours
    tty.setraw(0)
    say("ready")
    while True:
        select.select([0], [], [])
        keys = os.read(0, 100)
        os.write(1, b"key " + keys.hex().encode() + b"\r\n")
        if keys == b"q":
            os._exit(4)  # leaves the terminal raw
say("ready")
while True:
    signal.pause()

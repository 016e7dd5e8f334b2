"""players.py: `qperf record` with a program that plays QEMU; shared by the tests of this folder."""

import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "shell"))
BUILD = pathlib.Path(os.environ["QPERF_BUILD"])


def record_command(folder, options, qemu_arguments):
    """Makes the folder; the program in it does as FAKE_RUN says (fake_qemu)."""
    folder.mkdir(parents=True)
    program = folder / "qemu-system-riscv64"
    shutil.copy(HERE / "fake_qemu", program)
    (folder / "libqperf.so").touch()
    return [str(BUILD / "bin/qperf"), "record", "-o", str(folder / "out"), "--plugin", str(folder / "libqperf.so"), *options, "--",
            str(program), *qemu_arguments]

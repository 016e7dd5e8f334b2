"""Runs `qperf record` on the bundled riscv64 guest with the real QEMU; shared by the tests of this folder."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "qemu"))
from lib import ANALYZER, BUILD, CACHE, Checks, read_folded, skip  # noqa: E402,F401

QPERF = BUILD / "bin/qperf"
GUEST = ["qemu-system-riscv64", "-M", "virt", "-m", "256M", "-nographic", "-no-reboot"]


def elf(workload):
    path = BUILD / "guests/riscv64" / (workload + ".elf")
    if not path.exists():
        skip("no bundled guest %s (clang-19 and lld-19 are needed)" % path)
    if shutil.which("qemu-system-riscv64") is None:
        skip("no qemu-system-riscv64")
    return path


class Record:
    """One run; its capture, console, messages and exit code."""

    def __init__(self, name, workload, *options, qemu=(), output="capture.bin", smp=1):
        self.folder = BUILD / "tests" / "record" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.capture = self.folder / output
        kernel = elf(workload)
        command = [str(QPERF), "record", "-o", str(self.capture), *options, "--", *GUEST, "-smp", str(smp), "-kernel", str(kernel), *qemu]
        print("$ " + " ".join(command), flush=True)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=500, check=False)
        self.status = done.returncode
        self.console = done.stdout.decode(errors="replace")
        self.stderr = done.stderr.decode(errors="replace")

    def analyze(self, *options):
        """Folded stacks, the analyzer's report and its exit code."""
        out = self.folder / "out.folded"
        done = subprocess.run([str(ANALYZER), *options, str(self.capture), str(out)], capture_output=True, text=True, check=False)
        return (read_folded(out) if out.exists() else {}), done.stderr, done.returncode

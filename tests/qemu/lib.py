"""Runs bundled guests under QEMU with the plugin and reads what qperf and the guest say about the same run."""

import collections
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

MACHINES = {
    "riscv64": ["-M", "virt"],
    "aarch64": ["-M", "virt", "-cpu", "cortex-a57"],
    "loongarch64": ["-M", "virt", "-cpu", "la464"],
    "x86_64": ["-M", "q35", "-cpu", "max"],
}
BUILD = pathlib.Path(os.environ["QPERF_BUILD"])
CACHE = pathlib.Path(os.environ.get("QPERF_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "qperf")
PLUGIN = BUILD / "lib/libqperf.so"
ANALYZER = BUILD / "bin/qperf-analyzer"


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


class Checks:
    """Collects failures, so that one run shows them all."""

    def __init__(self):
        self.failed = 0

    def that(self, condition, what):
        print(("ok: " if condition else "FAILED: ") + what)
        self.failed += not condition

    def finish(self):
        sys.exit(1 if self.failed else 0)


def limit_files(size_bytes):
    """Stands in for a disk that fills up: writes beyond the size fail with EFBIG instead of a signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))


class Run:
    """One run of a guest; everything it left."""

    def __init__(self, name, arch, workload, cpus, plugin, *, machine=(), qemu_dir=None, memory="256M", kill=None, expect=0,
                 timeout=240, largest_file=None):
        self.arch, self.workload, self.cpus = arch, workload, cpus
        self.elf = BUILD / "guests" / arch / (workload + ".elf")
        qemu = shutil.which("qemu-system-" + arch) if qemu_dir is None else str(qemu_dir / ("qemu-system-" + arch))
        if qemu is None or not os.path.exists(qemu):
            skip("qemu-system-%s is not there" % arch)
        if not self.elf.exists():
            skip("no bundled guest %s (clang-19 and lld-19 are needed)" % self.elf)
        self.folder = BUILD / "tests" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.capture = self.folder / "capture.bin"
        command = [qemu, *(machine or MACHINES[arch]), "-m", memory, "-smp", str(cpus), "-nographic", "-no-reboot", "-kernel",
                   str(self.elf)]
        if plugin is not None:
            out = "" if "out=" in plugin else ",out=%s" % self.capture
            command += ["-plugin", "%s%s,elf=%s,%s" % (PLUGIN, out, self.elf, plugin)]
        print("$ " + " ".join(command), flush=True)
        with open(self.folder / "console", "wb") as console, open(self.folder / "stderr", "wb") as errors:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=errors, restore_signals=largest_file is None,
                                     preexec_fn=None if largest_file is None else lambda: limit_files(largest_file))
            try:
                if kill is not None:
                    after, number = kill
                    time.sleep(after)
                    child.send_signal(number)
                self.status = child.wait(timeout=timeout)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait()
                self.status = "no end within %d s" % timeout
        self.console = (self.folder / "console").read_text(errors="replace")
        self.stderr = (self.folder / "stderr").read_text(errors="replace")
        self.said = collections.defaultdict(list)
        for match in re.finditer(r"^QG (\w+)(.*?)\r?$", self.console, re.MULTILINE):
            words = dict(word.split("=", 1) for word in match.group(2).split() if "=" in word)
            self.said[match.group(1)].append({k: int(v) if v.isdigit() else v for k, v in words.items()})
        if expect is not None and self.status != expect:
            print("FAILED: QEMU ended with %s, expected %s\n%s\n%s" % (self.status, expect, self.console[-2000:], self.stderr[-2000:]))
            sys.exit(1)

    def closing_line(self):
        lines = [line for line in self.stderr.splitlines() if line.startswith("QPerf capture complete")]
        if len(lines) != 1:
            print("FAILED: %d closing lines on stderr:\n%s" % (len(lines), self.stderr))
            sys.exit(1)
        print(lines[0])
        return lines[0]

    def ticks(self):
        """The closing line's ticks by bucket, and `issued`."""
        match = re.search(r"(\d+) ticks: kernel (\d+), user (\d+), idle (?:or blocked )?(\d+), other-privileged (\d+), lost (\d+)", self.closing_line())
        if match is None:
            print("FAILED: no ticks in the closing line")
            sys.exit(1)
        return dict(zip(("issued", "kernel", "user", "idle", "other", "lost"), map(int, match.groups())))

    def check_conservation(self, checks, stacks, cpus):
        """The recorder computes what was lost as the rest: so the rest must be next to nothing, and the kernel's ticks those of the samples.
        A vCPU's thread that waits for the host's CPU when QEMU ends leaves the ticks of that time: some ten milliseconds on a busy host."""
        ticks = self.ticks()
        lost_at_most = cpus + ticks["issued"] // 50
        sampled = sum(stacks.values())
        checks.that(sampled == ticks["kernel"], "the samples carry %d ticks, the recorder says %d" % (sampled, ticks["kernel"]))
        rest = ticks["issued"] - sampled - ticks["user"] - ticks["idle"] - ticks["other"]
        checks.that(rest == ticks["lost"] and 0 <= rest <= lost_at_most,
                    "of %d ticks %d are in no bucket, %d are called lost, at most %d may be" % (ticks["issued"], rest, ticks["lost"], lost_at_most))

    def analyze(self, *options, expect=0, output="out.folded"):
        """Folded stacks as {tuple of frames: weight}, and the report."""
        out = self.folder / output
        done = subprocess.run([str(ANALYZER), *options, str(self.capture), str(out)], capture_output=True, text=True, check=False)
        if done.returncode != expect:
            print("FAILED: qperf-analyzer ended with %d, expected %d:\n%s" % (done.returncode, expect, done.stderr))
            sys.exit(1)
        return read_folded(out), done.stderr


def read_folded(path):
    stacks = {}
    for line in path.read_text().splitlines():
        frames, weight = line.rsplit(" ", 1)
        stacks[tuple(frames.split(";"))] = int(weight)
    return stacks


def self_weights(stacks):
    weights = collections.Counter()
    for frames, weight in stacks.items():
        weights[frames[-1]] += weight
    return weights

"""readme_flow.py: the README's way from nm to folded files, as it stands there, on the bundled sched guest.

Only what a reader replaces is replaced: the kernel's files, the marker's address, and the folder of the build. Then as
kernel projects run it: instruction mode, everything grouped and split by vCPU.
"""

import os
import re
import shutil
import subprocess

import lib

SOURCE = lib.pathlib.Path(os.environ["QPERF_SOURCE"])


def commands(folder, elf):
    section = (SOURCE / "README.md").read_text().split("## Tasks, waiting, phases", 1)[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL).group(1)
    for name in ("kernel.elf", "kernel.bin"):
        (folder / name).symlink_to(elf)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(lib.BUILD)
    lines = block.replace("\\\n", " ").strip().splitlines()
    found = subprocess.run(lines[0], shell=True, cwd=folder, capture_output=True, text=True, check=True).stdout
    print("$ %s\n%s" % (lines[0], found))
    address = "0x" + re.match(r"([0-9a-f]{16}) [tT] __pulse_qperf_trace_v1\n", found).group(1)
    return [re.sub(r"trace=0x[0-9a-f]+", "trace=" + address, line) for line in lines[1:]]


def run_readme(checks, folder, elf):
    for line in commands(folder, elf):
        if line.startswith("flamegraph.pl") and shutil.which("flamegraph.pl") is None:
            print("left out, no flamegraph.pl: " + line)
            continue
        done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL)
        checks.that(done.returncode == 0, "$ %s: exit code %d" % (line, done.returncode))
        if done.returncode != 0:
            print(done.stdout[-2000:], done.stderr[-2000:])
    for name in ("on.folded", "off.folded"):
        stacks = lib.read_folded(folder / name)
        checks.that(stacks and all(weight >= 0 for weight in stacks.values()), "%s: %d stacks" % (name, len(stacks)))
    on, off = (lib.read_folded(folder / name) for name in ("on.folded", "off.folded"))
    checks.that(any(frames[0].startswith("busy_a#") and "burn" in frames for frames in on), "a busy task is seen busy")
    waits = [frames for frames in off if frames[0].startswith("contender_a#") and frames[1:3] == ("off-cpu/blocked", "mutex")]
    checks.that(any("mutex_lock" in frames and any(f.startswith("holder#") for f in frames) for frames in waits),
                "a contender waits in mutex_lock, woken by the holder")


def run_as_projects_do(checks, elf):
    run = lib.Run("readme_flow/icount", "riscv64", "sched", 2, "mode=icount,period=100000,trace=auto")
    checks.that("QPerf capture complete" in run.closing_line(), "the capture is complete")
    done = subprocess.run([lib.ANALYZER, "--elf", elf, "--group-by-cpu", "--group-by-task", "--split-by-cpu", "--off-cpu-output",
                           run.folder / "off.folded", run.capture, run.folder / "on.folded"], capture_output=True, text=True, check=False)
    checks.that(done.returncode == 0, "the analyzer exits with %d" % done.returncode)
    for words in ("selected: ", "dropped while recording: 0 samples", "trace events: ", "event drops: 0"):
        checks.that(words in done.stderr, "the report says '%s'" % words)
    for name in ("on.folded", "on.cpu0.folded", "on.cpu1.folded", "off.folded"):
        checks.that(lib.read_folded(run.folder / name), "%s is not empty" % name)


def main():
    folder = lib.BUILD / "tests/readme_flow"
    elf = lib.BUILD / "guests/riscv64/sched.elf"
    if shutil.which("qemu-system-riscv64") is None or not elf.exists() or shutil.which("nm") is None:
        lib.skip("qemu-system-riscv64, nm and the bundled guest are needed")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    checks = lib.Checks()
    run_readme(checks, folder, elf)
    run_as_projects_do(checks, elf)
    checks.finish()


main()

#!/usr/bin/env python3
"""doctor.py: `qperf doctor` tells good kernels from bad ones: bundled guests, stripped and flat copies, and Debian's kernels where they are."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

from record_run import BUILD, QPERF, Checks, elf, CACHE

WORK = BUILD / "tests/record/doctor"


def doctor(*arguments, path=None):
    environment = dict(os.environ, NO_COLOR="1")
    if path is not None:
        environment["PATH"] = path
    done = subprocess.run([str(QPERF), "doctor", *map(str, arguments)], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def findings(*arguments):
    code, out, err = doctor("--json", *arguments)
    report = json.loads(out)
    assert report["format"] == "qperf-doctor" and report["version"] == 1 and report["healthy"] == (code == 0), out
    return code, {check["check"]: check for check in report["checks"]}


def loaded_segments(path):
    """First and last address of each PT_LOAD of a 64-bit little-endian ELF."""
    data = pathlib.Path(path).read_bytes()
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", data, offset + i * size) for i in range(count)]
    return [(header[3], header[3] + header[6] - 1) for header in headers if header[0] == 1 and header[6]]


def main():
    checks = Checks()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    elf("sched")
    for arch in ("riscv64", "aarch64", "loongarch64", "x86_64"):
        code, found = findings("-e", BUILD / "guests" / arch / "sched.elf")
        health = {name: check["health"] for name, check in found.items()}
        expected = {"elf": "ok", "symbols": "ok", "dwarf": "ok", "frame-pointers": "ok", "kernel-range": "note", "trace-marker": "ok"}
        checks.that({name: health.get(name) for name in expected} == expected, "%s: the bundled guest is fit: %s" % (arch, health))
        if shutil.which("qemu-system-" + arch):
            checks.that(code == 0 and health.get("qemu") == "ok", "%s: and so is its QEMU: %s" % (arch, found.get("qemu")))

    kernel = BUILD / "guests/riscv64/profile.elf"
    objcopy = shutil.which("llvm-objcopy-19")
    if objcopy:
        subprocess.run([objcopy, "--strip-all", kernel, WORK / "stripped"], check=True)
        subprocess.run([objcopy, "--strip-debug", kernel, WORK / "nodebug"], check=True)
        subprocess.run([objcopy, "-O", "binary", kernel, WORK / "flat"], check=True)
        code, found = findings("-e", WORK / "stripped")
        checks.that(code == 1 and found["symbols"]["health"] == "failed" and "stripped" in found["symbols"]["found"], "a stripped kernel: %s" % found["symbols"])
        code, found = findings("-e", WORK / "nodebug")
        checks.that(code == 0 and found["dwarf"]["health"] == "warning" and found["dwarf"]["advice"], "without DWARF: %s" % found["dwarf"])
        code, found = findings("-e", WORK / "flat")
        checks.that(code == 1 and list(found) == ["elf"] and "ELF" in found["elf"]["found"], "a flat image: %s" % found["elf"])
    code, found = findings("-e", "/bin/true")
    checks.that(found["elf"]["health"] == "ok" and found["kernel-range"]["health"] == "failed" and "kernel=0x" in found["kernel-range"]["advice"],
                "code below the kernel's range: %s" % found["kernel-range"])
    loads = loaded_segments("/bin/true")
    advised = tuple(int(word, 16) for word in re.search(r"kernel=(0x[0-9a-f]+):(0x[0-9a-f]+)", found["kernel-range"]["advice"]).groups())
    checks.that(advised == (min(first for first, _ in loads), max(last for _, last in loads)) and "stacks" in found["kernel-range"]["advice"],
                "the range it advises holds all that is loaded: %s of %s" % (advised, loads))
    code, found = findings("-e", kernel, "--", "qemu-system-riscv64", "-M", "virt,accel=kvm", "-kernel", kernel)
    checks.that(code == 1 and found["arguments"]["health"] == "failed" and "accel=kvm" in found["arguments"]["found"], "KVM: %s" % found["arguments"])
    code, found = findings("-e", kernel, "--", "qemu-system-riscv64", "-M", "virt", "-kernel", BUILD / "guests/riscv64/compute.elf")
    different = found["kernel"]["health"] if "kernel" in found else None
    checks.that(different in ("failed", "ok") and (different == "failed") == (code == 1), "another kernel than that of -e: %s" % found.get("kernel"))
    note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
    for name in ("profile", "compute"):
        data = (BUILD / "guests/riscv64" / (name + ".elf")).read_bytes()
        (WORK / (name + "-without-id")).write_bytes(data.replace(note, note.replace(b"GNU", b"XNU")))
    code, found = findings("-e", WORK / "profile-without-id", "--", "qemu-system-riscv64", "-M", "virt", "-kernel", WORK / "compute-without-id")
    checks.that(found["kernel"]["health"] == "note" and "has no build-id" in found["kernel"]["found"],
                "two kernels without build-id are not called the same: %s" % found["kernel"])
    code, found = findings("-e", kernel, "--", "qemu-system-aarch64", "-M", "virt")
    checks.that(code == 1 and found["target"]["health"] == "failed", "another machine than the ELF's: %s" % found.get("target"))
    code, out, err = doctor("-e", kernel, path=str(WORK))
    checks.that(code == 1 and "bookworm-backports" in out, "no QEMU: says how to get it")
    code, found = findings("-e", kernel, "--plugin", WORK / "absent.so")
    checks.that(code == 1 and any(check["health"] == "failed" and "absent.so" in check["found"] for check in found.values()), "no such plugin: %s" % found.get("qemu"))
    code, out, err = doctor()
    checks.that(code == 2 and "nothing to examine" in err, "nothing given: %s" % err)
    code, out, err = doctor("-e", kernel)
    checks.that("\x1b" not in out and "frame-pointers" in out, "plain text where it is no terminal")

    # What the distributions' kernels are is known: CONFIG_FRAME_POINTER on the first two, ORC and no frame pointers on the others.
    for arch, framed in (("arm64", True), ("riscv64", True), ("loong64", False), ("amd64", False)):
        vmlinux = next(iter(sorted(pathlib.Path(CACHE / "kernels" / arch).glob("**/vmlinux*"))), None)
        if vmlinux is None:
            print("skipped: no Debian kernel for %s in the cache" % arch)
            continue
        code, found = findings("-e", vmlinux)
        seen = found["frame-pointers"]
        checks.that(seen["health"] == ("ok" if framed else "warning"), "Debian's %s kernel: %s" % (arch, seen["found"]))
    checks.finish()


main()

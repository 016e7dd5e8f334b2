#!/usr/bin/env python3
"""Stops the profile guest again and again and walks its frame-pointer chain from outside, through QEMU's monitor.

usage: frame_chain_test.py ARCH profile.elf

Every chain of kernel code but the hostile ones must ascend through return addresses of the kernel's text to the record (0, 0),
also from inside an interrupt, and the recursion must be seen 300 deep. Exit status: 0 passed, 1 failed, 77 skipped.
"""

import bisect
import json
import re
import shutil
import subprocess
import sys
import time

# Machine, then patterns for pc, sp and fp in `info registers`, then saved fp and return address relative to fp.
ARCHES = {
    "riscv64": (["-M", "virt"], r"\bpc\s+(\w+)", r"x2/sp\s+(\w+)", r"x8/s0\s+(\w+)", -16, -8),
    "aarch64": (["-M", "virt", "-cpu", "cortex-a57"], r"\bPC=(\w+)", r"\bSP=(\w+)", r"X29=(\w+)", 0, 8),
    "loongarch64": (["-M", "virt", "-cpu", "la464"], r"\bPC=\s*(\w+)", r"r3/sp (\w+)|\bsp (\w+)|R3 (\w+)", r"r22/fp (\w+)|R22 (\w+)", -16, -8),
    "x86_64": (["-M", "q35"], r"\bRIP=(\w+)", r"\bRSP=(\w+)", r"\bRBP=(\w+)", 0, 8),
}
SECONDS = 12
BOOTS = 4
UPPER_HALF = 1 << 63
MAX_FRAMES = 400
# Where the frame pointer is not the kernel's yet or no longer, or is hostile on purpose.
NO_CHAIN = re.compile(r"^(hostile_|_start|\w*start|enable_mmu|trap_|\w*trap_entry|from_user|arch_enter_user|arch_leave_user|"
                      r"arch_switch_stack|new_stack_entry|\w*vector)")


def fail(message):
    print("FAILED: " + message)
    sys.exit(1)


class Monitor:
    def __init__(self, process):
        self.process = process
        self.read()
        self.command("qmp_capabilities")

    def read(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def command(self, name, **arguments):
        """The command's result, or None when QEMU has ended."""
        try:
            self.process.stdin.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        while True:
            answer = self.read()
            if answer is None:
                return None
            if "error" in answer:
                fail("%s: %s" % (name, answer["error"]))
            if "return" in answer:
                return answer["return"]

    def human(self, line):
        return self.command("human-monitor-command", **{"command-line": line})


class Symbols:
    def __init__(self, elf):
        listing = subprocess.run(["llvm-nm-19", "-n", elf], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in listing.splitlines()]
        rows = [(int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "tT" and not row[2].startswith((".L", "$"))]
        self.addresses = [address for address, _ in rows]
        self.names = [name for _, name in rows]
        self.text_end = self.addresses[-1] + 65536

    def name(self, address):
        if not address & UPPER_HALF or address >= self.text_end:
            return None
        index = bisect.bisect_right(self.addresses, address) - 1
        return self.names[index] if index >= 0 else None


def register(pattern, text):
    match = re.search(pattern, text, re.IGNORECASE)
    return match and int(next(group for group in match.groups() if group), 16)


def walk(monitor, symbols, arch, sp, fp):
    """The functions of the return addresses; fails unless the chain is whole."""
    _, _, _, _, saved_fp_at, return_at = ARCHES[arch]
    low = min(saved_fp_at, return_at)
    names = []
    if fp == 0:
        # Before the first function's prologue.
        return names
    for _ in range(MAX_FRAMES):
        if fp < sp or fp % 8:
            fail("frame pointer %#x below sp %#x or unaligned, after %s" % (fp, sp, names))
        dump = monitor.human("x/2gx 0x%x" % (fp + low))
        if dump is None:
            return None
        words = [int(word, 16) for word in re.findall(r"0x([0-9a-f]{16})", dump.split(":", 1)[-1])]
        if len(words) != 2:
            fail("no memory at frame pointer %#x, after %s: %s" % (fp, names, dump))
        saved_fp, return_address = words[(saved_fp_at - low) // 8], words[(return_at - low) // 8]
        if saved_fp == 0 and return_address == 0:
            return names
        name = symbols.name(return_address)
        if not name:
            fail("return address %#x at %#x is no code, after %s" % (return_address, fp, names))
        if name.startswith("hostile_"):
            # An interrupt of a hostile function: from here on the chain is what it made of it.
            return names
        if saved_fp <= fp:
            fail("frame pointer %#x after %#x does not ascend, after %s" % (saved_fp, fp, names))
        names.append(name)
        fp = saved_fp
    fail("no end after %d frames: ... %s" % (MAX_FRAMES, names[-5:]))


def chains_of_one_boot(command, symbols, arch):
    """(leaf function, its callers) at each stop in kernel code that has a chain."""
    _, pc_pattern, sp_pattern, fp_pattern = ARCHES[arch][:4]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        monitor = Monitor(process)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(0.002)
            if monitor.command("stop") is None:
                return
            registers = monitor.human("info registers")
            if registers is None:
                return
            # No such register: an x86_64 CPU before long mode.
            pc = register(pc_pattern, registers)
            name = pc and symbols.name(pc)
            if name and not NO_CHAIN.match(name):
                names = walk(monitor, symbols, arch, register(sp_pattern, registers), register(fp_pattern, registers))
                if names is None:
                    return
                yield name, names
            if monitor.command("cont") is None:
                return
    finally:
        process.kill()
        process.wait()


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ARCHES:
        print(__doc__)
        sys.exit(2)
    arch, elf = sys.argv[1:]
    machine = ARCHES[arch][0]
    qemu = shutil.which("qemu-system-" + arch)
    if not qemu or not shutil.which("llvm-nm-19"):
        print("skipped: qemu-system-%s and llvm-nm-19 are needed" % arch)
        sys.exit(77)
    symbols = Symbols(elf)
    command = [qemu, *machine, "-m", "256M", "-display", "none", "-serial", "null", "-qmp", "stdio", "-kernel", elf]
    walked, deepest, leaves = 0, [], set()
    # A stop is a matter of chance on a busy host: the 50 ms of the recursion may need another boot.
    for _ in range(BOOTS):
        for name, names in chains_of_one_boot(command, symbols, arch):
            walked += 1
            leaves.add(name)
            deepest = max(deepest, names, key=len)
        if deepest.count("recurse") >= 299:
            break
    print("%d chains walked, deepest %d frames, in: %s" % (walked, len(deepest), " ".join(sorted(leaves))))
    if walked < 20:
        fail("too few chains")
    if deepest.count("recurse") < 299:
        fail("the recursion was seen %d deep" % deepest.count("recurse"))
    print("passed")


main()

#!/usr/bin/env python3
"""Checks a guest's ELF by its disassembly: exact counts, frame pointers, addresses.

usage: check_elf.py ARCH GUEST.elf ARCH_DEFS_H

An independent reading of what common/arch.h promises. Exit status: 0 passed, 1 failed, 77 skipped (llvm-objdump-19 is missing).
"""

import re
import shutil
import subprocess
import sys

# What sets the frame pointer up, and what loops back.
FRAME_SETUP = {
    "riscv64": r"addi\s+s0, sp, ",
    "aarch64": r"(mov\s+x29, sp|add\s+x29, sp, )",
    "loongarch64": r"addi\.d\s+\$fp, \$sp, ",
    "x86_64": r"movq\s+%rsp, %rbp",
}
LOOP_BRANCH = {"riscv64": r"bnez\s", "aarch64": r"(cbnz|b\.ne)\s", "loongarch64": r"(bnez|bne)\s", "x86_64": r"(jne|jnz)\s"}
RETURN = {"riscv64": r"ret$", "aarch64": r"ret$", "loongarch64": r"ret$", "x86_64": r"retq?$"}
# Assembly that has no frame of its own: entry code, stack switching, and the leaf that is meant to have none. A trap's frame is
# made by trap_entry, whose name the pattern does not contain: it must show the set-up.
FRAMELESS = re.compile(r"^(_start|\w*start(_\w+)?|enable_mmu|new_stack_entry|arch_switch_stack|arch_enter_user|arch_leave_user|"
                       r"leaf_without_frame|from_user|\w*trap_vector\w*|trap_stub\w*)$")
COUNTED = ["share_10", "share_20", "share_30", "share_40", "recurse_bottom"]
HOSTILE = ["hostile_cycle", "hostile_unaligned", "hostile_mmio", "hostile_unmapped"]


def check(condition, message):
    if not condition:
        print("FAILED: " + message)
        sys.exit(1)


def disassemble(objdump, elf):
    """Instructions (address, text) of each function of the kernel's text, by name."""
    listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", "--section=.text", elf], capture_output=True, text=True, check=True)
    functions, current = {}, None
    for line in listing.stdout.splitlines():
        head = re.match(r"^([0-9a-f]{16}) <(\S+)>:$", line)
        if head and not head.group(2).startswith((".L", "$")):
            current = functions.setdefault(head.group(2), [])
        body = re.match(r"^\s*([0-9a-f]+):\s+(.*\S)", line)
        if body and current is not None:
            current.append((int(body.group(1), 16), body.group(2)))
    return functions


def exact_counts(arch, instructions):
    """(instructions of one loop iteration, instructions of a call apart from its loop) of straight code around one loop."""
    branches = [i for i, (_, text) in enumerate(instructions) if re.search(LOOP_BRANCH[arch], text)]
    check(len(branches) == 1, "one loop branch is expected: %s" % instructions)
    last = branches[0]
    # By name and offset: not every architecture's listing has the target's address.
    offset = re.search(r"<\w+(?:\+0x([0-9a-f]+))?>", instructions[last][1])
    check(offset, "the loop branch has no target: %s" % instructions[last][1])
    target = instructions[0][0] + int(offset.group(1) or "0", 16)
    first = [address for address, _ in instructions].index(target)
    ends = [i for i, (_, text) in enumerate(instructions) if re.search(RETURN[arch], text)]
    check(len(ends) == 1 and ends[0] > last, "one return after the loop is expected: %s" % instructions)
    for i, (_, text) in enumerate(instructions[: ends[0]]):
        check(i == last or not re.match(r"(j|b|call|bl|cb|tb)", text) or text.startswith("bstr"), "a second branch: %s" % text)
    return last - first + 1, first + ends[0] - last


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in FRAME_SETUP:
        print(__doc__)
        sys.exit(2)
    arch, elf, defs_path = sys.argv[1:]
    objdump, readelf = shutil.which("llvm-objdump-19"), shutil.which("llvm-readelf-19")
    if not objdump or not readelf:
        print("skipped: llvm-objdump-19 and llvm-readelf-19 are needed")
        sys.exit(77)
    defs = dict(re.findall(r"#define (ARCH_\w+_INSNS) (\d+)", open(defs_path, encoding="utf-8").read()))
    functions = disassemble(objdump, elf)

    loop = int(defs["ARCH_LOOP_INSNS"])
    expected = [(name, defs["ARCH_COUNTED_FIXED_INSNS"]) for name in COUNTED] + [("leaf_without_frame", defs["ARCH_LEAF_FIXED_INSNS"])]
    expected += [(name, defs["ARCH_HOSTILE_FIXED_INSNS"]) for name in HOSTILE]
    for name, fixed in expected:
        counts = exact_counts(arch, functions[name])
        check(counts == (loop, int(fixed)), "%s: loop and fixed instructions are %s, said to be %s" % (name, counts, (loop, int(fixed))))

    missing = []
    for name, instructions in functions.items():
        framed = any(re.search(FRAME_SETUP[arch], text) for _, text in instructions)
        if name == "leaf_without_frame":
            check(not framed, "leaf_without_frame sets up a frame")
        elif not framed and not FRAMELESS.match(name):
            missing.append(name)
    check(not missing, "functions without a frame pointer: " + " ".join(missing))

    check(all(address >> 63 for instructions in functions.values() for address, _ in instructions[:1]), "text below the upper half")
    notes = subprocess.run([readelf, "-n", elf], capture_output=True, text=True, check=True).stdout
    check(re.search(r"Build ID: [0-9a-f]{40}", notes), "no build-id")
    check("__pulse_qperf_trace_v1" in functions, "no trace marker")
    print("passed: %d functions of %s" % (len(functions), elf))


main()

"""Shared by the judges of this folder: runs qperf on the golden captures and reads folded files and protoc's text back.

Each judge is called as: judge_FORMAT.py BIN INPUTS WORK, and exits 0 (all agree), 1 (something differs) or 77 (a tool is missing).
"""
import collections
import os
import re
import shutil
import subprocess
import sys

BIN, INPUTS, WORK = (os.path.abspath(path) for path in sys.argv[1:4])
HERE = os.path.dirname(os.path.abspath(__file__))
os.makedirs(WORK, exist_ok=True)

# Capture, whether its samples have a clock, whether it has scheduler events, exit code of reading it.
Case = collections.namedtuple("Case", "capture clock events code", defaults=(True, False, 0))
CASES = [
    Case("wall.bin"), Case("icount.bin"), Case("exact.bin", clock=False), Case("legacy.bin", clock=False), Case("slid.bin"),
    Case("reboot.bin"), Case("no-samples.bin"), Case("cut.bin", code=3), Case("damaged.bin", code=3), Case("sched.bin", events=True),
    Case("sched-lossy.bin", events=True),
]
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", what)


def finish():
    print("all checks hold" if failures == 0 else f"{failures} checks failed; files are in {WORK}")
    sys.exit(0 if failures == 0 else 1)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def need(tool, package):
    if shutil.which(tool) is None:
        skip(f"needs {tool} ({package})")


def export(case, form, *options):
    """The path of the file; its exit code must be the case's."""
    path = os.path.join(WORK, f"{case.capture}.{form}{''.join(options)}".replace("/", "_"))
    seen = subprocess.run([os.path.join(BIN, "qperf"), "export", os.path.join(INPUTS, case.capture), "-e", os.path.join(INPUTS, "kernel.elf"),
                           "--format", form, "-o", path, *options], capture_output=True, text=True)
    check(seen.returncode == case.code, f"{case.capture} {form}: exit code {seen.returncode}: {seen.stderr}")
    if case.code == 3:
        check("warning:" in seen.stderr, f"{case.capture} {form}: damage is not said")
    return path


def folded(case, *options):
    """Counts by stack (a tuple of names)."""
    stacks = collections.Counter()
    with open(export(case, "folded", *options), encoding="utf-8") as file:
        for line in file:
            names, count = line.rstrip("\n").rsplit(" ", 1)
            stacks[tuple(names.split(";"))] += int(count)
    return stacks


def by_leaf(stacks):
    leaves = collections.Counter()
    for stack, count in stacks.items():
        leaves[stack[-1]] += count
    return +leaves


Message = collections.defaultdict


def decode(schema, message, data):
    """A message as protoc reads it: a dict from field name to the list of its values."""
    text = subprocess.run(["protoc", f"--proto_path={HERE}", f"--decode={message}", os.path.join(HERE, schema)], input=data,
                          capture_output=True, check=True).stdout.decode()
    stack = [Message(list)]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = Message(list)
            stack[-1][line[:-1].strip()].append(inner)
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            check(not name.isdigit(), f"{schema} does not know field {line} of its message")
            stack[-1][name].append(value_of(value))
    return stack[0]


def value_of(text):
    if text.startswith('"'):
        raw = re.sub(rb"\\([0-7]{3}|.)", unescape, text[1:-1].encode())
        return raw.decode("utf-8")
    return {"true": True, "false": False}.get(text) if text in ("true", "false") else int(text)


def unescape(match):
    what = match.group(1)
    if len(what) == 3:
        return bytes([int(what, 8)])
    return {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(what, what)


def one(message, field, default=0):
    values = message[field]
    check(len(values) <= 1, f"{field} stands {len(values)} times")
    return values[-1] if values else default

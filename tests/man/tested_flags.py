#!/usr/bin/env python3
"""tested_flags.py: every flag of every command stands in a golden case or a script that names the command. Help texts do not count."""

import os
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
QPERF = pathlib.Path(os.environ["QPERF_BUILD"]) / "bin/qperf"


def run(*arguments):
    return subprocess.run([str(QPERF), *arguments], capture_output=True, text=True, check=True).stdout


def commands():
    """Those that completion knows, which is made from the same description."""
    return re.findall(r"^ +'[a-z ]*:[a-z-]+'\) command='([a-z -]+)' ;;", run("completion", "bash"), re.MULTILINE)


def flags(command):
    """Pairs of the short form, or None, and the long one."""
    text = run(*command.split(), "--help").split("\nExamples:")[0]
    return [(short, flag) for short, flag in re.findall(r"^ +(?:(-\w), )?(--[a-z][a-z-]*)", text, re.MULTILINE) if flag != "--help"]


def pattern(word):
    return re.compile(r"(?<![\w-])" + re.escape(word) + r"(?![\w-])")


def main():
    files = [path for path in sorted(TESTS.rglob("*")) if path.name == "cmd" or path.suffix in {".sh", ".py"}]
    tests = [path.read_text(encoding="utf-8") for path in files if path != pathlib.Path(__file__).resolve()]
    found = commands()
    if len(found) < 20:
        sys.exit("FAILED: only these commands were found: %s" % found)
    failed = 0
    for command in found:
        name = pattern(command.split()[-1])
        of_command = [text for text in tests if name.search(text)]
        for short, flag in flags(command):
            forms = [pattern(form) for form in (short, flag) if form]
            if not any(form.search(text) for text in of_command for form in forms):
                print("FAILED: no test of `qperf %s` has %s" % (command, flag))
                failed = 1
    print("%d commands" % len(found))
    sys.exit(failed)


main()

#!/usr/bin/env python3
"""callgrind files: callgrind_annotate reads them, its total and its functions' own costs are those of the folded files."""
import re
import subprocess

from judging import CASES, by_leaf, check, export, finish, folded, need

need("callgrind_annotate", "valgrind")
for case in CASES:
    path = export(case, "callgrind")
    expected = by_leaf(folded(case))
    seen = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", path], capture_output=True, text=True)
    check(seen.returncode == 0 or not expected, f"{case.capture}: callgrind_annotate: {seen.stderr}")
    if not expected:
        continue
    with open(path, encoding="utf-8") as file:
        text = file.read()
    totals = [int(number) for number in re.search(r"^totals: (.*)$", text, re.M).group(1).split()]
    shown = re.search(r"^([0-9,]+).*PROGRAM TOTALS", seen.stdout, re.M)
    check(shown and int(shown.group(1).replace(",", "")) == totals[0], f"{case.capture}: {shown and shown.group(0)} for totals {totals}")
    own = {}
    for line in seen.stdout.splitlines():
        row = re.match(r"\s*([0-9,]+)(?: \([ 0-9.]+%\))?(?:\s+[0-9,.]+(?: \([ 0-9.]+%\))?)?\s+(?:[^:]*):(.*?)(?: \[.*\])?$", line)
        if row and "TOTALS" not in line:
            name = row.group(2)
            own[name] = own.get(name, 0) + int(row.group(1).replace(",", ""))
    check(sum(own.values()) == totals[0], f"{case.capture}: functions add up to {sum(own.values())}, not {totals[0]}: {seen.stdout}")
    # Ticks and periods are shown as quantities, each row rounded down.
    unit = totals[0] / sum(expected.values())
    for name, count in expected.items():
        check(abs(own.get(name, 0) - count * unit) <= max(unit / 100, 2), f"{case.capture}: {name}: {own.get(name)} for {count} of {unit}")
    heaviest = max(expected.values())
    first = max(own, key=own.get)
    check(expected[first] == heaviest, f"{case.capture}: {first} is first, not one of {expected}")
finish()

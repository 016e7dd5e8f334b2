#!/usr/bin/env python3
"""pprof files: protoc reads them, what readers check holds, the sums are those of the folded files, and `go tool pprof -top` shows the same."""
import collections
import gzip
import os
import re
import subprocess

from judging import BIN, CASES, INPUTS, WORK, Case, by_leaf, check, decode, export, finish, folded, need, one


def read(path):
    with gzip.open(path) as file:
        profile = decode("pprof.proto", "pprof.Profile", file.read())
    texts = profile["string_table"]
    check(texts[:1] == [""], "string 0 is not empty")
    check(len(set(texts)) == len(texts), "a string stands twice")
    for field in ("mapping", "location", "function"):
        check([one(entry, "id") for entry in profile[field]] == list(range(1, len(profile[field]) + 1)), f"ids of {field} are not dense")
    functions = {one(function, "id"): texts[one(function, "name")] for function in profile["function"]}
    for location in profile["location"]:
        check(one(location, "mapping_id") <= len(profile["mapping"]), "a location of no mapping")
        check(all(one(line, "function_id") in functions for line in location["line"]), "a line of no function")
        if one(location, "mapping_id"):
            mapping = profile["mapping"][one(location, "mapping_id") - 1]
            check(one(mapping, "memory_start") <= one(location, "address") < one(mapping, "memory_limit"), "an address outside its mapping")
    types = [texts[one(kind, "type")] for kind in profile["sample_type"]]
    check(texts[one(profile, "default_sample_type")] == types[-1], "the default sample type is not the last")
    lines = {one(location, "id"): [functions[one(line, "function_id")] for line in location["line"]] for location in profile["location"]}
    samples = []
    for sample in profile["sample"]:
        check(len(sample["value"]) == len(types), "a sample with too few or too many values")
        stack = [name for location in sample["location_id"] for name in lines[location]]
        labels = {texts[one(label, "key")]: texts[one(label, "str")] if label["str"] else one(label, "num") for label in sample["label"]}
        samples.append((tuple(reversed(stack)), sample["value"], labels))
    return profile, types, samples


def sums(samples, value):
    leaves = collections.Counter()
    for stack, values, _ in samples:
        leaves[stack[-1]] += values[value]
    return leaves


def pprof_command():
    """go tool pprof, which newer Go builds at its first use."""
    try:
        tools = subprocess.run(["go", "env", "GOTOOLDIR"], capture_output=True, text=True, check=True).stdout.strip()
        if os.path.exists(os.path.join(tools, "pprof")):
            return [os.path.join(tools, "pprof")]
        subprocess.run(["go", "tool", "pprof", "-h"], capture_output=True, timeout=400)
        return ["go", "tool", "pprof"]
    except (OSError, subprocess.SubprocessError) as error:
        print("without go tool pprof (golang-go):", error)
        return None


def top(command, path, sample_type, *options):
    """Own values by function, as the viewer's text report has them."""
    text = subprocess.run([*command, "-top", "-nodecount=100000", "-nodefraction=0", "-unit=ns", f"-sample_index={sample_type}", *options, path], capture_output=True,
                          text=True, check=True, env={**os.environ, "PPROF_TMPDIR": WORK}).stdout
    rows = {}
    for line in text.splitlines():
        match = re.match(r"\s*(-?[0-9.]+)(?:ns)?\s+\S+%\s+\S+%\s+\S+\s+\S+%\s+(.*)$", line)
        if match and float(match.group(1)) != 0:
            name = match.group(2).removesuffix(" (inline)").removesuffix(" (partial-inline)")
            rows[name] = rows.get(name, 0) + float(match.group(1))
    return rows


need("protoc", "protobuf-compiler")
viewer = pprof_command()
for case in CASES:
    path = export(case, "pprof")
    profile, types, samples = read(path)
    period = one(profile, "period") or 1
    expected = by_leaf(folded(case))
    own = sums(samples, len(types) - 1)
    rows = collections.Counter(stack[-1] for stack, _, _ in samples)
    for name in expected.keys() | own.keys():
        # Each row is rounded down to whole nanoseconds.
        check(abs(own[name] - expected[name] * period) <= rows[name] + expected[name], f"{case.capture}: {name}: {own[name]} for {expected[name]} of {period}")
    if case.capture == "sched.bin":
        labels = {key for _, _, of in samples for key in of}
        check({"task", "tid", "vcpu", "phase"} <= labels, f"labels are {labels}")
    if viewer and samples:
        for index, kind in enumerate(types):
            mine = {name: value for name, value in sums(samples, index).items() if value}
            theirs = top(viewer, path, kind)
            check(mine.keys() == theirs.keys(), f"{case.capture} {kind}: go tool pprof shows {theirs}, not {mine}")
            check(all(abs(theirs[name] - mine[name]) <= 1 for name in mine.keys() & theirs.keys()), f"{case.capture} {kind}: {theirs} for {mine}")

waits = Case("sched.bin", events=True)
_, types, samples = read(export(waits, "pprof", "--off-cpu"))
check(types == ["offcpu"], f"off-CPU types {types}")
by_stack = collections.Counter()
for stack, values, labels in samples:
    by_stack[stack] += values[0]
    check(labels["task"] in stack and labels["state"] in stack, f"labels {labels} of {stack}")
check(by_stack == folded(waits, "--off-cpu"), "off-CPU: not the sums of the folded file")

path = export(Case("wall.bin"), "pprof", "--baseline", os.path.join(INPUTS, "old.bin"))
_, types, samples = read(path)
total = collections.Counter()
for stack, values, labels in samples:
    negative = labels.get("pprof::base") == "true"
    check(all(value <= 0 if negative else value >= 0 for value in values), f"sign of {values} {labels}")
    total["base" if negative else "now"] += values[0]
check(total["base"] < 0 < total["now"], f"both sides are in a difference: {total}")
if viewer:
    shown = top(viewer, path, types[-1])
    mine = {name: value for name, value in sums(samples, len(types) - 1).items() if value}
    check(shown.keys() == mine.keys(), f"difference: go tool pprof shows {shown}, not {mine}")

# The two files that qperf joins, joined by the viewer instead.
now = Case("wall.bin")
before = Case("old.bin")
joined = os.path.join(WORK, "diff.pprof")
seen = subprocess.run([os.path.join(BIN, "qperf"), "diff", "-e", os.path.join(INPUTS, "kernel.elf"), "--format", "pprof", "-o", joined,
                       os.path.join(INPUTS, before.capture), os.path.join(INPUTS, now.capture)], capture_output=True, text=True)
check(seen.returncode == 0, f"diff: exit code {seen.returncode}: {seen.stderr}")
_, types, samples = read(joined)
sides = collections.Counter()
for _, values, labels in samples:
    sides["pprof::base" in labels] += values[-1]
check(abs(sides[True] + sides[False]) <= len(samples), f"the sides of a normalised difference are equal: {sides}")
if viewer:
    base = export(before, "pprof")
    theirs = top(viewer, export(now, "pprof"), types[-1], "-diff_base", base)
    shown = top(viewer, path, types[-1])
    check(theirs == shown, f"--baseline: -diff_base shows {theirs}, not {shown}")
    # -normalize makes the new side as large as the base; qperf the base as large as the new side.
    _, _, base_samples = read(base)
    larger = sides[False] / sum(values[-1] for _, values, _ in base_samples)
    theirs = top(viewer, export(now, "pprof"), types[-1], "-diff_base", base, "-normalize")
    shown = top(viewer, joined, types[-1])
    for name in theirs.keys() | shown.keys():
        gap = abs(theirs.get(name, 0) * larger - shown.get(name, 0))
        check(gap <= 2 * len(samples), f"diff: -normalize shows {theirs.get(name)} for {name}, times {larger}: not {shown.get(name)}")
finish()

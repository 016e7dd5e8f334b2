#!/usr/bin/env python3
"""Perfetto and Chrome traces: protoc and a strict JSON parser read them, what importers rely on holds, and both formats and the folded
file tell of the same samples and waits."""
import collections
import json
import subprocess
import os

from judging import BIN, CASES, INPUTS, check, export, finish, folded, need
from perfetto_file import Perfetto


def strict_json(path):
    def refuse(constant):
        raise ValueError(constant)

    def unique(pairs):
        keys = [key for key, _ in pairs]
        check(len(set(keys)) == len(keys), f"a key stands twice: {keys}")
        return dict(pairs)

    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse, object_pairs_hook=unique)


class Chrome:
    def __init__(self, path):
        self.slices = collections.defaultdict(list)
        self.parts = collections.defaultdict(list)
        self.instants = 0
        self.drawn = collections.Counter()
        names = {}
        flows = collections.defaultdict(str)
        stacks = collections.defaultdict(list)
        last = collections.Counter()
        for event in strict_json(path)["traceEvents"]:
            thread = event["pid"], event["tid"]
            kind = event["ph"]
            if kind == "M":
                names.setdefault((event["name"], *thread), event["args"]["name"])
                continue
            check(("thread_name", *thread) in names, f"{thread} has no name")
            at = round(event["ts"] * 1000)
            if kind == "X":
                name, end = names["thread_name", *thread], at + round(event["dur"] * 1000)
                outer = self.slices[name][-1] if self.slices[name] else (0, 0)
                inside = at < outer[1]
                lane = (self.parts if inside else self.slices)[name]
                lane.append((at, end, event["name"]))
                check(not inside or end <= outer[1], f"a part of {thread} ends behind its slice")
                check(len(lane) < 2 or lane[-2][1] <= at, f"slices of {thread} overlap")
            elif kind in "sf":
                flows[event["id"]] += kind
            elif kind == "i":
                self.instants += 1
            elif kind == "B":
                stacks[thread].append((event["name"], at))
            elif kind == "E":
                name, begin = stacks[thread].pop()
                self.drawn[name] += at - begin
            if kind in "BE":
                check(at >= last[thread], f"{thread} runs backwards")
                last[thread] = at
        check(not any(stacks.values()), "slices without an end")
        check(all(sorted(ends) == ["f", "s"] for ends in flows.values()), f"flows {dict(flows)}")
        self.flows = len(flows)


def refused(case, form):
    seen = subprocess.run([os.path.join(BIN, "qperf"), "export", os.path.join(INPUTS, case.capture), "-e", os.path.join(INPUTS, "kernel.elf"), "--format", form],
                          capture_output=True, text=True)
    check(seen.returncode == 2 and "no clock" in seen.stderr, f"{case.capture} {form}: exit code {seen.returncode}, {seen.stderr}")


def judge_devices(case, perfetto):
    """The disk's lanes, against what inputs/disk.trace.log says: requests, how their stages fill them, whom they woke."""
    lanes = {name: slices for name, slices in perfetto.slices.items() if name.startswith("virtio-blk0")}
    # The request before the plugin was loaded is out of the picture, and so is the one behind the capture's end.
    ms = 1_000_000
    expected = [(10.1, 14.1, "read"), (20.05, 29.5, "write"), (22.1, 24.05, "read"), (40.0, 41.01, "other"), (50.1, 58.05, "read")]
    seen = sorted(slice for lane in lanes.values() for slice in lane)
    check(len(lanes) == 2, f"{case.capture}: lanes {list(lanes)}")
    # The clocks of capture and trace went 250 ns apart: that much the mapping may move a stamp.
    check(len(seen) == len(expected) and all(abs(begin - at * ms) <= 250 and abs(end - to * ms) <= 250 and name == kind
                                             for (begin, end, name), (at, to, kind) in zip(seen, expected)),
          f"{case.capture}: requests {seen}")
    for lane, slices in lanes.items():
        parts = perfetto.parts[lane]
        check(sum(end - begin for begin, end, _ in parts) == sum(end - begin for begin, end, _ in slices), f"{lane}: stages do not fill the requests")
    host = [end - begin for lane in lanes for begin, end, name in perfetto.parts[lane] if name == "host"]
    check(sorted(round(length, -4) for length in host) == [1_700_000, 3_600_000, 8_500_000], f"{case.capture}: at the host for {host}")
    check(perfetto.device_arrows == 4, f"{case.capture}: {perfetto.device_arrows} arrows from requests to tasks")


need("protoc", "protobuf-compiler")
for case in CASES:
    if not case.clock:
        refused(case, "perfetto")
        refused(case, "chrome")
        continue
    perfetto = Perfetto(export(case, "perfetto", *case.trace), check)
    chrome = Chrome(export(case, "chrome", *case.trace))
    stacks = folded(case)
    check(set(perfetto.stacks) == set(stacks), f"{case.capture}: stacks {perfetto.stacks} for {stacks}")
    check(all(0 < count <= stacks[stack] for stack, count in perfetto.stacks.items()), f"{case.capture}: more samples than weight")
    check(set(chrome.drawn) <= {name for stack in stacks for name in stack}, f"{case.capture}: {chrome.drawn}")
    check(perfetto.slices == chrome.slices, f"{case.capture}: lanes differ: {dict(perfetto.slices)} and {dict(chrome.slices)}")
    check(perfetto.parts == chrome.parts, f"{case.capture}: parts differ: {dict(perfetto.parts)} and {dict(chrome.parts)}")
    if case.trace:
        judge_devices(case, perfetto)
    check(perfetto.instants == chrome.instants and len(perfetto.flows) == chrome.flows, f"{case.capture}: wake-ups differ")
    if not case.events:
        continue
    check(perfetto.instants > 0, f"{case.capture}: no wake-ups")
    waits = folded(case, "--off-cpu")
    for state in ("blocked", "runnable"):
        in_folded = sum(weight for stack, weight in waits.items() if f"off-cpu/{state}" in stack)
        in_lanes = sum(end - begin for lane in perfetto.slices.values() for begin, end, name in lane if name.split(":")[0] == state)
        check(in_lanes == in_folded, f"{case.capture}: {state} for {in_lanes} ns in lanes, {in_folded} in the off-CPU profile")
finish()

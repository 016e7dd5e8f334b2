#!/usr/bin/env python3
"""Perfetto and Chrome traces: protoc and a strict JSON parser read them, what importers rely on holds, and both formats and the folded
file tell of the same samples and waits."""
import collections
import json
import subprocess
import os

from judging import BIN, CASES, INPUTS, check, decode, export, finish, folded, need, one


def strict_json(path):
    def refuse(constant):
        raise ValueError(constant)

    def unique(pairs):
        keys = [key for key, _ in pairs]
        check(len(set(keys)) == len(keys), f"a key stands twice: {keys}")
        return dict(pairs)

    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse, object_pairs_hook=unique)


class Perfetto:
    """Checks packet by packet that all is defined before it is used."""

    def __init__(self, path):
        with open(path, "rb") as file:
            trace = decode("perfetto.proto", "perfetto.Trace", file.read())
        self.interned = collections.defaultdict(dict)
        self.tracks = {}
        self.slices = collections.defaultdict(list)  # by lane name: (from, to, name)
        self.open = {}
        self.instants = 0
        self.flows = collections.defaultdict(str)
        self.stacks = collections.Counter()
        self.sample_names = collections.Counter()
        for index, packet in enumerate(trace["packet"]):
            check(one(packet, "trusted_packet_sequence_id") == 1, "a packet of no sequence")
            check(one(packet, "sequence_flags") == (3 if index == 0 else 2), "sequence flags")
            for data in packet["interned_data"]:
                self.intern(data)
            for track in packet["track_descriptor"]:
                self.track(track)
            for event in packet["track_event"]:
                self.event(one(packet, "timestamp"), event)
            for sample in packet["perf_sample"]:
                self.sample(sample)
        check(not self.open, f"slices without an end: {self.open}")
        check(all(ends == "<>" for ends in self.flows.values()), f"flows: {dict(self.flows)}")

    def intern(self, data):
        for kind in ("event_names", "debug_annotation_names", "function_names", "source_paths"):
            for entry in data[kind]:
                self.define(kind, entry, one(entry, "text", ""))
        for frame in data["frames"]:
            check(one(frame, "source_path_iid") in {0, *self.interned["source_paths"]}, "a frame of no path")
            self.define("frames", frame, self.interned["function_names"][one(frame, "function_name_id")])
        for stack in data["callstacks"]:
            self.define("callstacks", stack, tuple(self.interned["frames"][iid] for iid in stack["frame_ids"]))

    def define(self, kind, entry, value):
        iid = one(entry, "iid")
        check(iid > 0 and iid not in self.interned[kind], f"{kind} {iid}")
        self.interned[kind][iid] = value

    def track(self, track):
        uuid = one(track, "uuid")
        check(uuid not in self.tracks, f"track {uuid} is declared twice")
        check(one(track, "parent_uuid") in {0, *self.tracks}, "a track below one that is not declared")
        if track["thread"]:
            self.tracks[uuid] = one(track["thread"][0], "thread_name", "")
        else:
            self.tracks[uuid] = one(track, "name", "")

    def event(self, at, event):
        track = one(event, "track_uuid")
        check(track in self.tracks, f"an event in track {track}, which is not declared")
        kind = one(event, "type")
        for annotation in event["debug_annotations"]:
            check(one(annotation, "name_iid") in self.interned["debug_annotation_names"], "an annotation without a name")
        for flow in event["flow_ids"]:
            self.flows[flow] = "<" + self.flows[flow]
        for flow in event["terminating_flow_ids"]:
            self.flows[flow] += ">"
        if kind == 1:
            check(track not in self.open, "a slice in a slice")
            self.open[track] = (at, self.interned["event_names"][one(event, "name_iid")])
        elif kind == 2:
            begin, name = self.open.pop(track)
            lane = self.slices[self.tracks[track]]
            check(begin < at and (not lane or lane[-1][1] <= begin), f"slices of {self.tracks[track]} overlap")
            lane.append((begin, at, name))
        else:
            self.instants += 1

    def sample(self, sample):
        self.stacks[self.interned["callstacks"][one(sample, "callstack_iid")]] += 1


class Chrome:
    def __init__(self, path):
        self.slices = collections.defaultdict(list)
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
                lane = self.slices[names["thread_name", *thread]]
                lane.append((at, at + round(event["dur"] * 1000), event["name"]))
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


need("protoc", "protobuf-compiler")
for case in CASES:
    if not case.clock:
        refused(case, "perfetto")
        refused(case, "chrome")
        continue
    perfetto = Perfetto(export(case, "perfetto"))
    chrome = Chrome(export(case, "chrome"))
    stacks = folded(case)
    check(set(perfetto.stacks) == set(stacks), f"{case.capture}: stacks {perfetto.stacks} for {stacks}")
    check(all(0 < count <= stacks[stack] for stack, count in perfetto.stacks.items()), f"{case.capture}: more samples than weight")
    check(set(chrome.drawn) <= {name for stack in stacks for name in stack}, f"{case.capture}: {chrome.drawn}")
    check(perfetto.slices == chrome.slices, f"{case.capture}: lanes differ: {dict(perfetto.slices)} and {dict(chrome.slices)}")
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

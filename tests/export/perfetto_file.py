"""A Perfetto trace as protoc reads it, held against what importers rely on."""
import collections

from proto_text import decode, one


class Perfetto:
    """Checks packet by packet that all is defined before it is used."""

    def __init__(self, path, check):
        self.check = check
        with open(path, "rb") as file:
            trace = decode("perfetto.proto", "perfetto.Trace", file.read())
        self.interned = collections.defaultdict(dict)
        self.tracks = {}
        self.slices = collections.defaultdict(list)  # by lane name: (from, to, name)
        self.parts = collections.defaultdict(list)   # inside those: the same
        self.open = collections.defaultdict(list)
        self.instants = 0
        self.device_arrows = 0
        self.flows = collections.defaultdict(str)
        self.flow_times = collections.defaultdict(list)
        self.stacks = collections.Counter()
        self.sample_names = collections.Counter()
        for index, packet in enumerate(trace["packet"]):
            self.check(one(packet, "trusted_packet_sequence_id") == 1, "a packet of no sequence")
            self.check(one(packet, "sequence_flags") == (3 if index == 0 else 2), "sequence flags")
            for data in packet["interned_data"]:
                self.intern(data)
            for track in packet["track_descriptor"]:
                self.track(track)
            for event in packet["track_event"]:
                self.event(one(packet, "timestamp", 0), event)
            for sample in packet["perf_sample"]:
                self.sample(sample)
        self.check(not any(self.open.values()), f"slices without an end: {self.open}")
        self.check(all(ends == "<>" for ends in self.flows.values()), f"flows: {dict(self.flows)}")
        self.check(all(times == sorted(times) for times in self.flow_times.values()), f"arrows back in time: {dict(self.flow_times)}")

    def intern(self, data):
        for kind in ("event_names", "debug_annotation_names", "function_names", "source_paths", "mapping_paths"):
            for entry in data[kind]:
                self.define(kind, entry, one(entry, "text", ""))
        for mapping in data["mappings"]:
            self.define("mappings", mapping, [self.interned["mapping_paths"][iid] for iid in mapping["path_string_ids"]])
        for frame in data["frames"]:
            self.check(one(frame, "mapping_id") in self.interned["mappings"] and frame["rel_pc"], "a frame of no mapping")
            self.check(one(frame, "source_path_iid") in {0, *self.interned["source_paths"]}, "a frame of no path")
            self.define("frames", frame, self.interned["function_names"][one(frame, "function_name_id")])
        for stack in data["callstacks"]:
            self.define("callstacks", stack, tuple(self.interned["frames"][iid] for iid in stack["frame_ids"]))

    def define(self, kind, entry, value):
        iid = one(entry, "iid")
        self.check(iid > 0 and iid not in self.interned[kind], f"{kind} {iid}")
        self.interned[kind][iid] = value

    def track(self, track):
        uuid = one(track, "uuid")
        self.check(uuid not in self.tracks, f"track {uuid} is declared twice")
        self.check(one(track, "parent_uuid") in {0, *self.tracks}, "a track below one that is not declared")
        if track["thread"]:
            self.tracks[uuid] = one(track["thread"][0], "thread_name", "")
        else:
            self.tracks[uuid] = one(track, "name", "")

    def event(self, at, event):
        track = one(event, "track_uuid")
        self.check(track in self.tracks, f"an event in track {track}, which is not declared")
        kind = one(event, "type")
        for annotation in event["debug_annotations"]:
            self.check(one(annotation, "name_iid") in self.interned["debug_annotation_names"], "an annotation without a name")
        for field in ("flow_ids", "terminating_flow_ids"):
            self.check(event[field] == event[field + "_old"], "arrows that older viewers see otherwise")
        for flow in event["flow_ids"]:
            self.device_arrows += self.tracks[track].startswith("virtio-blk")
            # Readers sort by time and keep the file's order otherwise; an end that comes first begins nothing.
            self.check(">" not in self.flows[flow] or at < self.flow_times[flow][-1], f"arrow {flow} ends before it begins")
            self.flows[flow] = "<" + self.flows[flow]
            self.flow_times[flow].insert(0, at)
        for flow in event["terminating_flow_ids"]:
            self.flows[flow] += ">"
            self.flow_times[flow].append(at)
        if kind == 1:
            self.check(len(self.open[track]) < 2, "a slice in a part of a slice")
            self.open[track].append((at, self.interned["event_names"][one(event, "name_iid")]))
        elif kind == 2:
            begin, name = self.open[track].pop()
            outer = self.open[track][0][0] if self.open[track] else begin
            lane = (self.parts if self.open[track] else self.slices)[self.tracks[track]]
            self.check(outer <= begin < at and (not lane or lane[-1][1] <= begin), f"slices of {self.tracks[track]} overlap")
            lane.append((begin, at, name))
        else:
            self.instants += 1

    def sample(self, sample):
        self.stacks[self.interned["callstacks"][one(sample, "callstack_iid")]] += 1

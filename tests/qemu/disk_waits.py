"""What tasks wait for when they wait for a disk, from the guest's function to the host: the bundled disk guest, profiled by the plugin
and traced by QEMU's log back end in one run. `qperf trace waits` must find the request behind every wait, and its parts must add up to
what the guest measured by its own clock; `qperf report --with-trace` must say the same; `qperf export --with-trace` must draw every request
and whom it woke; `qperf trace mmio` must name the functions that touch the devices.

usage: disk_waits.py CPUS
"""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys

from lib import BUILD, Checks, Run, skip

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "export"))
from perfetto_file import Perfetto  # noqa: E402

QPERF = BUILD / "bin/qperf"
TRACES = ["virtio_*", "virtqueue_*", "blk_co_*", "thread_pool_*", "luring_*", "memory_region_ops_*"]
# 200 requests a second: a wait takes milliseconds, against which what tracing and a busy host add is little.
THROTTLE = "throttling.iops-total=200"


def record(cpus):
    name = "disk_waits_%dcpu" % cpus
    (BUILD / "tests").mkdir(parents=True, exist_ok=True)
    image, log = BUILD / "tests" / (name + ".img"), BUILD / "tests" / (name + ".log")
    with open(image, "wb") as file:
        file.truncate(16 << 20)
    machine = ["-M", "virt", "-drive", "if=none,id=disk,format=raw,file=%s,%s" % (image, THROTTLE), "-device", "virtio-blk-device,drive=disk",
               "-msg", "timestamp=on", "-D", str(log)]
    for pattern in TRACES:
        machine += ["-trace", pattern]
    run = Run(name, "riscv64", "disk", cpus, "mode=icount,period=2003,trace=auto", machine=machine)
    image.unlink()
    return run, log


def output_of(*command):
    done = subprocess.run([str(QPERF), *map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print("FAILED: qperf %s ended with %d:\n%s" % (" ".join(map(str, command)), done.returncode, done.stderr))
        sys.exit(1)
    return done.stdout


def qperf(run, log, job, *options):
    return json.loads(output_of("trace", job, "--capture", run.capture, "--json", *options, log))


def check_matches(checks, run, found):
    """Every wait has its request: the guest names the sector in its block event, and printed what it asked for."""
    timed = [wait for wait in run.said["wait"] if wait["reason"] in (10, 11) and not wait["early"]]
    checks.that(found["waits"] == len(timed), "%d waits, the guest measured %d" % (found["waits"], len(timed)))
    checks.that(found["matched"] == len(timed) and found["unmatched_waits"] == 0, "%d of them matched" % found["matched"])
    checks.that(found["never_blocked"] == 94 - len(timed), "%d blocks that cost no time" % found["never_blocked"])
    checks.that(found["unmatched_requests"] == found["never_blocked"], "%d requests without a wait" % found["unmatched_requests"])
    checks.that(found["host_unknown"] == 0, "the host's part is known for all")
    asked = {}  # (task, its n-th block for the disk) -> what
    for line in run.said["io"]:
        asked.setdefault(line["task"], []).append(line)
    wrong = []
    for wait in found["each"]:
        task = int(wait["task"].split("#")[1])
        # The tasks do nothing but disk I/O, so that their n-th block is their n-th request.
        request = asked[task][wait["sequence"] - 1]
        if request["operation"] == "flush":
            continue
        if (request["sector"], request["sectors"]) != (wait["sector"], wait["sectors"]):
            wrong.append((request, wait))
    checks.that(not wrong, "each matched to the request that it waited for: %s" % wrong[:2])
    return timed


def check_sums(run, found, timed):
    """What a first try may miss on a busy host: times. Returns what is wrong."""
    wrong = []
    measured = {(wait["task"], wait["sequence"]): wait for wait in timed}
    ratios, blocked_sum, parts_sum = [], 0, 0
    for wait in found["each"]:
        parts = wait["queueing_ns"] + wait["qemu_ns"] + wait["host_ns"] + wait["interrupt_ns"]
        if parts != wait["blocked_ns"]:
            wrong.append("parts do not add up: %s" % wait)
        truth = measured[(int(wait["task"].split("#")[1]), wait["sequence"])]
        parts_sum += parts
        blocked_sum += truth["blocked_ns"]
        if truth["blocked_ns"] > 1_000_000:
            ratios.append(parts / truth["blocked_ns"])
    print("parts / blocked by the guest's clock: sum %.4f, median of %d waits above 1 ms %.4f (%.4f to %.4f)" %
          (parts_sum / blocked_sum, len(ratios), statistics.median(ratios), min(ratios), max(ratios)))
    if abs(parts_sum / blocked_sum - 1) > 0.05:
        wrong.append("the parts' sum is %.4f of the blocked time" % (parts_sum / blocked_sum))
    if abs(statistics.median(ratios) - 1) > 0.05:
        wrong.append("the parts' median is %.4f of the blocked time" % statistics.median(ratios))
    print("clock: %s; %d contradictions, the worst %d ns" % (found["clock"], found["contradictions"], found["worst_contradiction_ns"]))
    if found["worst_contradiction_ns"] > 1_000_000:
        wrong.append("cause and effect are %d ns out of order" % found["worst_contradiction_ns"])
    return wrong


def check_report(checks, run, log, found):
    """The report has the same split, of the same clocks, and counts every request."""
    devices = json.loads(output_of("report", "--off-cpu", "--json", "--with-trace", log, run.capture))["devices"]
    same = ["parts", "waits", "matched", "matched_by_sector", "unmatched_waits", "clock", "clock_residual_ns", "contradictions"]
    differs = [key for key in same if devices[key] != found[key]]
    checks.that(not differs, "report --with-trace agrees with trace waits: %s" % differs)
    sums = {}
    for row in devices["parts"]:
        sums.setdefault(row["group"], {})[row["part"]] = row["sum_ns"]
    for direction, of in sums.items():
        parts = of["queueing"] + of["QEMU"] + of["host"] + of["interrupt"]
        checks.that(parts == of["blocked"] and parts + of["run"] == of["all"], "%ss: the parts add up to the time blocked: %s" % (direction, of))
    asked = {}
    for line in run.said["io"]:
        kind = "other" if line["operation"] == "flush" else line["operation"]
        count, sectors = asked.get(kind, (0, 0))
        asked[kind] = (count + 1, sectors + (0 if kind == "other" else line["sectors"]))
    counted = {row["kind"]: (row["count"], row["sectors"]) for row in devices["requests"]}
    checks.that(counted == asked, "requests and sectors are what the guest asked for: %s, %s" % (counted, asked))
    text = output_of("report", "--with-trace", log, run.capture)
    checks.that(devices["clock"] in text and "interrupt" in text, "the text says so too")


def check_perfetto(checks, run, log, found):
    """Every request is a slice of a device's lane, filled by its stages, with an arrow to the task that it woke."""
    if shutil.which("protoc") is None:
        print("not judged by protoc (protobuf-compiler): Perfetto")
        return
    path = run.folder / "disk.pftrace"
    output_of("export", run.capture, "--format", "perfetto", "--with-trace", log, "-o", path)
    seen = Perfetto(path, lambda holds, what: holds or checks.that(holds, "perfetto: " + what))
    lanes = {name: slices for name, slices in seen.slices.items() if name.startswith("virtio-blk0 queue 0")}
    checks.that(sum(map(len, lanes.values())) == 94, "94 requests in %d lanes" % len(lanes))
    whole = sum(to - begin for slices in lanes.values() for begin, to, _ in slices)
    filled = sum(to - begin for name in lanes for begin, to, _ in seen.parts[name])
    checks.that(whole == filled > 0, "their stages fill them: %d of %d ns" % (filled, whole))
    backwards = found["contradictions"]
    checks.that(found["matched"] - backwards <= seen.device_arrows <= found["matched"], "%d arrows to the tasks woken" % seen.device_arrows)


def check_html(checks, run, log):
    page = run.folder / "disk.html"
    output_of("export", run.capture, "--format", "html", "--with-trace", log, "-o", page)
    start, end = '<script type="application/json" id="data">', "</script>"
    data = json.loads(page.read_text().split(start)[1].split(end)[0])
    names = [lane["name"] for lane in data["devices"]["lanes"]]
    checks.that(names and all(name.startswith("virtio-blk0 queue 0") for name in names), "the page has the lanes: %s" % names)
    kinds = {state["kind"] for state in data["state_names"]}
    checks.that({"queued", "qemu", "host"} <= kinds, "and the stages: %s" % kinds)


def check_callers(checks, run, log):
    found = qperf(run, log, "mmio", "-e", str(run.elf), "--within", "1ms")
    serial = [row for row in found["functions"] if row["region"] == "serial" and not row["function"].startswith("(")]
    print("serial port: %s" % serial[:4])
    checks.that(found["told_percent"] >= 50, "%.1f %% of the accesses told" % found["told_percent"])
    # Firmware talks to it too, before the kernel runs, and has no samples.
    # The nearest sample may be in the function that called it a moment before.
    driving = {row["function"]: row["percent"] for row in serial}
    checks.that(driving.get("arch_console_putc", 0) >= 10, "the console's function is found to drive the serial port")


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        sys.exit(2)
    cpus = int(sys.argv[1])
    if not QPERF.exists():
        skip("no %s" % QPERF)
    for attempt in range(3):
        checks = Checks()
        run, log = record(cpus)
        found = qperf(run, log, "waits", "--each")
        timed = check_matches(checks, run, found)
        wrong = check_sums(run, found, timed)
        if checks.failed or not wrong:
            break
        print("attempt %d: %s" % (attempt + 1, wrong))
    checks.that(not wrong, "times agree with the guest's: %s" % wrong[:3])
    by_site = qperf(run, log, "waits", "-e", str(run.elf), "--by", "site,direction")
    groups = {row["group"] for row in by_site["parts"]}
    checks.that(any("disk_run < transfer < read_in_order" in group for group in groups), "the waiting functions are named: %s" % groups)
    check_report(checks, run, log, found)
    check_perfetto(checks, run, log, found)
    check_html(checks, run, log)
    check_callers(checks, run, log)
    checks.finish()


main()

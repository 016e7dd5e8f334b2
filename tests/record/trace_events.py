#!/usr/bin/env python3
"""trace_events.py: `qperf record --trace-events`: QEMU writes the events asked for, and the capture names their file."""

import json
import os
import pathlib
import subprocess

from record_run import BUILD, QPERF, Checks, Record


def counts(path):
    done = subprocess.run([str(QPERF), "trace", "stat", "--json", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": done.stderr}
    return {row["name"]: row["total"] for row in json.loads(done.stdout)["events"]}


def main():
    checks = Checks()
    run = Record("events", "profile", "--trace-events", "memory_region_ops_writ?,virtio_*")
    log = run.capture.with_name("capture.bin.trace.log")
    seen = counts(log)
    checks.that(run.status == 0 and log.exists(), "the log lies beside the capture: %s" % run.status)
    # Each character is one write to the serial port; its set-up and other devices add to them.
    checks.that(seen.get("memory_region_ops_write", 0) >= len(run.console), "each byte of the console is a device write: %s for %d" %
                (seen, len(run.console)))
    checks.that(seen.get("runstate_set", 0) >= 1 and seen.get("vm_state_notify", 0) >= 1, "the machine's states are there unasked")
    data = run.capture.read_bytes()
    checks.that(b"qemu.trace_file" in data and b"capture.bin.trace.log" in data, "the capture names the log, by its name alone")
    checks.that(b"memory_region_ops_write,virtio_*,runstate_set,vm_state_notify" in data, "and the patterns")
    _, _, code = run.analyze()
    checks.that(code == 0, "and still is whole: %s" % code)

    events = BUILD / "tests/record/events_list"
    events.write_text("# the serial port\nmemory_region_ops_*\n-memory_region_ops_read\n\nvm_state_notify")
    run = Record("events_file", "profile", "-q", "--trace-events", "events=%s" % events)
    seen = counts(run.capture.with_name("capture.bin.trace.log"))
    checks.that("memory_region_ops_write" in seen and "memory_region_ops_read" not in seen, "a list with a '-' line: %s" % seen)

    # QEMU puts its process id where "%d" is in a log's name, and refuses every other '%'.
    run = Record("log_of_a_process", "profile", "--trace-events", "memory_region_ops_write",
                 qemu=("-D", str(BUILD / "tests/record/log_of_a_process/q-%d.log")))
    logs = [path.name for path in run.folder.glob("q-*.log")]
    checks.that(run.status == 0 and len(logs) == 1 and logs[0] != "q-%d.log" and logs[0].encode() in run.capture.read_bytes(),
                "a log named after the process is found: %s %s" % (run.status, logs))
    run = Record("percent", "profile", "--trace-events", "memory_region_ops_write", output="50%.bin")
    checks.that(run.status == 2 and "refuses names of logs with '%'" in run.stderr and not run.capture.exists(),
                "a name that QEMU would refuse is refused before the run: %s" % run.stderr)
    run = Record("percent_with_log", "profile", "--trace-events", "memory_region_ops_write", output="50%.bin",
                 qemu=("-D", str(BUILD / "tests/record/percent_with_log/q.log")))
    checks.that(run.status == 0 and b"q.log" in run.capture.read_bytes(), "with a -D of one's own it goes: %s" % run.stderr)
    run = Record("log_of_each_thread", "profile", "--trace-events", "memory_region_ops_write",
                 qemu=("-d", "tid", "-D", str(BUILD / "tests/record/log_of_each_thread/q-%d.log")))
    checks.that(run.status == 2 and "-d tid" in run.stderr, "a log for each thread is refused: %s" % run.stderr)

    run = Record("unknown_event", "profile", "--trace-events", "virtio_blk_nonsense")
    checks.that(run.status == 1 and "no event of" in run.stderr and "virtio_blk_nonsense" in run.stderr, "an unknown name stops the run: %s" % run.stderr)

    # A QEMU with the binary back end, played by a script.
    fake = BUILD / "tests/record/simple"
    fake.mkdir(parents=True, exist_ok=True)
    qemu = fake / "qemu-system-riscv64"
    qemu.write_text("""#!/bin/bash
case $* in
  --version) echo "QEMU emulator version 10.0.2"; exit 0 ;;
  *help=on) echo "max_stack_bytes=N"; exit 1 ;;
  "-trace help") printf 'event_%d\\n' {1..200}; exit 0 ;;
  *"-monitor stdio") cat >/dev/null; echo "trace-file on|off|flush|set [arg] -- open, close, or flush trace file"; exit 0 ;;
esac
printf '%s\\n' "$@" >arguments
""")
    qemu.chmod(0o755)
    (fake / "libqperf.so").touch()
    subprocess.run([str(QPERF), "record", "-q", "-o", "c.bin", "--plugin", "libqperf.so", "--trace-events", "event_1?,-event_15", "--", str(qemu)],
                   cwd=fake, capture_output=True, check=False)
    words = (fake / "arguments").read_text().split("\n")
    checks.that("file=%s/c.bin.trace" % os.path.realpath(fake) in words and "-D" not in words, "the binary back end gets a file: %s" % words[-3:])
    checks.that([w for w in words if w.startswith("enable=event_1")] == ["enable=event_1%d" % n for n in range(10)],
                "a '?' without '*' is spelled out, which QEMU would not do")
    older = (pathlib.Path(os.environ["QPERF_SOURCE"]) / "tests/compat/v5.qperf").read_bytes()
    (fake / "c.bin").write_bytes(older)
    done = subprocess.run([str(QPERF), "record", "-q", "-o", "c.bin", "--plugin", "libqperf.so", "--trace-events", "event_1?", "--", str(qemu)],
                          cwd=fake, capture_output=True, text=True, check=False)
    checks.that(done.returncode == 1 and "nothing was recorded" in done.stderr and (fake / "c.bin").read_bytes() == older,
                "a capture of an earlier run gets no trace of this one: %s" % done.stderr)
    checks.that("enable=-event_15" in words and words.index("enable=-event_15") > words.index("enable=event_19"), "in the order given")
    checks.finish()


main()

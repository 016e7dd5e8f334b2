#!/bin/bash
# limits.sh BIN ELF [SAMPLES [EVENTS]]: time, CPU time, peak memory and output of what people ask first, over a capture of SAMPLES and
# EVENTS [10 million each]: 20,000 distinct stacks, 128 tasks. BIN: a build's bin folder with analyzer_capture.
# Goal: 10 s and 1 GB each, html at most 20 MB.
set -euo pipefail
bin=${1:?BIN} elf=${2:?ELF} samples=${3:-10000000} events=${4:-10000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bin/analyzer_capture" "$elf" "$work/capture.bin" "$samples" 20000 2 "$events"
cp "$work/capture.bin" "$work/old.bin"
printf '%-24s %8s %8s %8s %10s\n' what wall_s cpu_s MiB output_MB
while read -r name command; do
  command=${command//CAPTURE/$work/capture.bin}
  command=${command//OLD/$work/old.bin}
  # shellcheck disable=SC2086 # a command is words
  python3 - "$name" "$work/out" "$bin/qperf" ${command//KERNEL/$elf} <<'PY'
import os, resource, subprocess, sys, time
name, out, *command = sys.argv[1:]
start = time.monotonic()
with open(out, "wb") as output:
    subprocess.run(command, check=True, stdout=output, stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{name:<24} {time.monotonic() - start:8.2f} {usage.ru_utime + usage.ru_stime:8.2f} {usage.ru_maxrss // 1024:8} {os.path.getsize(out) / 1e6:10.1f}")
PY
done <<'COMMANDS'
info info CAPTURE
report report -e KERNEL CAPTURE
report-by-task report --by task -e KERNEL CAPTURE
report-off-cpu report --off-cpu -e KERNEL CAPTURE
stat stat -e KERNEL CAPTURE
diff diff -e KERNEL OLD CAPTURE
diff-svg diff --format svg -e KERNEL OLD CAPTURE
diff-html diff --format html -e KERNEL OLD CAPTURE
html export --format html -e KERNEL CAPTURE
svg export --format svg -e KERNEL CAPTURE
perfetto export --format perfetto -e KERNEL CAPTURE
COMMANDS

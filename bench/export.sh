#!/bin/bash
# export.sh BIN ELF [SAMPLES]: time, CPU time, peak memory and file size of `qperf export` for each format, over a capture of SAMPLES
# [10 million] samples of 20,000 distinct stacks. BIN: a build's bin folder with analyzer_capture. Goal: 10 s and 1 GB each.
set -euo pipefail
bin=${1:?BIN} elf=${2:?ELF} samples=${3:-10000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bin/analyzer_capture" "$elf" "$work/capture.bin" "$samples" 20000 2
printf '%-12s %8s %8s %8s %10s\n' format wall_s cpu_s MiB file_MB
for format in folded speedscope pprof callgrind perfetto chrome; do
  python3 - "$bin/qperf" "$elf" "$work/capture.bin" "$format" "$work/out" <<'PY'
import os, resource, subprocess, sys, time
qperf, elf, capture, form, out = sys.argv[1:]
start = time.monotonic()
subprocess.run([qperf, "export", capture, "-e", elf, "--format", form, "-o", out], check=True, stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{form:<12} {time.monotonic() - start:8.2f} {usage.ru_utime + usage.ru_stime:8.2f} {usage.ru_maxrss // 1024:8} {os.path.getsize(out) / 1e6:10.1f}")
PY
done

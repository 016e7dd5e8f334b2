#!/bin/bash
# analyzer.sh BIN ELF [RUNS]: samples a second from capture to folded, time, CPU time and peak memory of qperf-analyzer, for captures of
# few stacks, of many stacks (a chunk then has nearly a site per sample) and of little else than naming (about 20,000 addresses).
# BIN: a release build's bin folder. Medians of RUNS [5] interleaved runs.
set -euo pipefail
bin=${1:?BIN} elf=${2:?ELF} runs=${3:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
declare -A samples=([few_stacks]=5000000 [many_stacks]=5000000 [one_stack_per_sample]=500000 [naming_only]=2000)
declare -A stacks=([few_stacks]=500 [many_stacks]=20000 [one_stack_per_sample]=500000 [naming_only]=2000)
order=(naming_only few_stacks many_stacks one_stack_per_sample)
for name in "${order[@]}"; do
  "$bin/analyzer_capture" "$elf" "$work/$name.bin" "${samples[$name]}" "${stacks[$name]}" 2
done
for ((i = 0; i < runs; i++)); do
  for name in "${order[@]}"; do
    python3 - "$bin/qperf-analyzer" "$elf" "$work/$name.bin" "$work/out" >>"$work/$name.times" <<'PY'
import os, resource, subprocess, sys, time
analyzer, elf, capture, out = sys.argv[1:]
start = time.monotonic()
subprocess.run([analyzer, "-e", elf, capture, out], check=True, stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{time.monotonic() - start:.3f} {usage.ru_utime + usage.ru_stime:.3f} {usage.ru_maxrss // 1024}")
PY
  done
done
median() { sort -n | sed -n "$(((runs + 1) / 2))p"; }
printf '%-22s %10s %9s %8s %8s %8s %14s\n' capture samples stacks MiB wall_s cpu_s samples/s
for name in "${order[@]}"; do
  wall=$(cut -d' ' -f1 "$work/$name.times" | median)
  cpu=$(cut -d' ' -f2 "$work/$name.times" | median)
  rss=$(cut -d' ' -f3 "$work/$name.times" | median)
  rate=$(awk "BEGIN { printf \"%.2f M\", ${samples[$name]} / $wall / 1e6 }")
  printf '%-22s %10s %9s %8s %8s %8s %14s\n' "$name" "${samples[$name]}" "${stacks[$name]}" "$rss" "$wall" "$cpu" "$rate"
done

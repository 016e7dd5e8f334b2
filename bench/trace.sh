#!/bin/bash
# bench/trace.sh [RECORDS] [BUILD]: events per second of `qperf trace print` and `stat` over a generated file (default 1100000 records,
# build/release). The best of five by processor time, so that other work on the machine counts little; all under a limit of 64 MiB of
# address space, so that memory which grows with the file fails. QEMU_TREE=DIR: QEMU's own script beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
records=${1:-1100000}
build=${2:-build/release}
file=$(mktemp "${TMPDIR:-/tmp}/qperf-trace.XXXXXX")
events=$(mktemp "${TMPDIR:-/tmp}/qperf-events.XXXXXX")
trap 'rm -f "$file" "$events"' EXIT
"$build/bin/make_trace" "$records" >"$file"
cat >"$events" <<'END'
memory_region_ops_read(int cpu_index, void *mr, uint64_t addr, uint64_t value, unsigned size, const char *name) "cpu %d mr %p addr 0x%"PRIx64" value 0x%"PRIx64" size %u name '%s'"
memory_region_ops_write(int cpu_index, void *mr, uint64_t addr, uint64_t value, unsigned size, const char *name) "cpu %d mr %p addr 0x%"PRIx64" value 0x%"PRIx64" size %u name '%s'"
END
echo "$records records, $(stat -c %s "$file") bytes"

measure() {  # label, command...
  local label=$1 best="" seconds
  shift
  for _ in 1 2 3 4 5; do
    seconds=$( (ulimit -v 65536; TIMEFORMAT='%U %S'; time "$@" >/dev/null) 2>&1 | awk '{ print $1 + $2 }')
    if [[ -z $best ]] || awk "BEGIN { exit !($seconds < $best) }"; then best=$seconds; fi
  done
  awk -v n="$records" -v s="$best" -v l="$label" 'BEGIN { printf "%-8s %8.3f s  %6.2f million events/s\n", l, s, n / s / 1e6 }'
}
measure print "$build/bin/qperf" trace print --events "$events" "$file"
measure stat "$build/bin/qperf" trace stat --events "$events" "$file"
measure pretty "$build/bin/qperf" trace print --pretty --events "$events" "$file"
measure mmio "$build/bin/qperf" trace mmio --events "$events" "$file"
script=${QEMU_TREE:-}/scripts/simpletrace.py
if [[ -z ${QEMU_TREE:-} ]]; then
  echo "script   skipped: QEMU_TREE names no source tree of QEMU"
elif [[ ! -r $script ]]; then
  echo "script   skipped: no $script"
else
  TIMEFORMAT='%U %S'
  seconds=$( (time PYTHONPATH=$QEMU_TREE/scripts python3 "$script" "$events" "$file" >/dev/null) 2>&1 | awk '{ print $1 + $2 }')
  awk -v n="$records" -v s="$seconds" 'BEGIN { printf "%-8s %8.3f s  %6.2f million events/s (QEMU'"'"'s simpletrace.py)\n", "script", s, n / s / 1e6 }'
fi

#!/bin/bash
# Perfetto files in Perfetto's own trace processor, a build of 2021: what it makes of them is what qperf's reports say.
test_name=viewers.perfetto
source "$QPERF_SOURCE/tests/shell/common.sh"
source "$QPERF_SOURCE/tests/viewers/modules.sh"
qperf=$QPERF_BUILD/bin/qperf
inputs=$QPERF_BUILD/tests/golden/inputs
fetch_modules perfetto_test.mjs
cp "$QPERF_SOURCE/tests/viewers/trace_processor.mjs" "$modules/"

judge() {  # NAME CAPTURE, whether it has events, options
  local name=$1 capture=$2 events=$3 code=0
  shift 3
  [[ -e $capture ]] || { echo "skipped: $name: no capture at $capture"; return; }
  for format in perfetto chrome; do
    code=0
    "$qperf" export "$capture" "$@" "${trace[@]}" --format $format -o "$work/$name.$format" 2>"$work/$name.warnings" || code=$?
    ((code == 0 || code == 3)) || fail "$name: export as $format exited $code"
  done
  "$qperf" export "$capture" "$@" --format folded -o "$work/$name.folded" 2>/dev/null || true
  "$qperf" info "$capture" --json >"$work/$name.info" || true
  [[ $events == no ]] || "$qperf" stat "$capture" "$@" --json >"$work/$name.stat" 2>/dev/null || true
  node "$modules/perfetto_test.mjs" "$work/$name" || fail "$name: the trace processor reads something else"
}
trace=()
judge plain "$QPERF_BUILD/tests/qemu.riscv64_wall/capture.bin" no
judge sched "$QPERF_BUILD/tests/sched_riscv64_2/capture.bin" yes
judge small "$inputs/sched.bin" yes -e "$inputs/kernel.elf"
judge lossy "$inputs/sched-lossy.bin" yes -e "$inputs/kernel.elf"
judge icount "$inputs/icount.bin" no -e "$inputs/kernel.elf"
judge hostile "$inputs/hostile.bin" no -e "$inputs/kernel.elf"
trace=(--with-trace auto --events "$inputs/disk.trace-events")
judge devices "$inputs/disk.bin" yes -e "$inputs/kernel.elf"
host=$work/host.qperf
"$qperf" import "$QPERF_SOURCE/tests/golden/inputs/disk.host.txt" --beside "$inputs/disk.bin" -o "$host" >"$work/import.out" 2>&1
(($? == 3 || $? == 0)) || fail "host: import exited $?"
"$qperf" export "$host" --until 100000000 --group-by-task --format folded -o "$work/host.host" 2>"$work/host.warnings" || fail "host: export exited $?"
trace+=(--with-host "$host")
judge host "$inputs/disk.bin" yes -e "$inputs/kernel.elf"
finish

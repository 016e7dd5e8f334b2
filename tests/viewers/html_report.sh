#!/bin/bash
# HTML reports in a real browser: of bundled guests with and without scheduler events (captures made by fixture tests), of the
# two compared, and of a capture whose names are markup. The screenshots stay in the test's folder.
test_name=viewers.html
source "$QPERF_SOURCE/tests/shell/common.sh"
source "$QPERF_SOURCE/tests/viewers/modules.sh"
qperf=$QPERF_BUILD/bin/qperf
inputs=$QPERF_BUILD/tests/golden/inputs
sched=$QPERF_BUILD/tests/sched_riscv64_2/capture.bin
plain=$QPERF_BUILD/tests/qemu.riscv64_wall/capture.bin
fetch_modules html_report_test.mjs
export_html() {  # name, capture and options
  local name=$1; shift
  [[ -e $1 ]] || fail "no capture at $1"
  "$qperf" export "$@" --format html -o "$work/$name.html" 2>"$work/$name.warnings" || fail "$name: qperf export exited $?"
  "$qperf" export "$@" --format folded 2>/dev/null | awk '{ sum += $NF } END { print sum }' >"$work/$name.total"
}
export_html sched "$sched"
export_html plain "$plain"
export_html devices "$inputs/disk.bin" -e "$inputs/kernel.elf"
"$qperf" export "$inputs/disk.bin" -e "$inputs/kernel.elf" --format html --with-trace auto --events "$inputs/disk.trace-events" -o "$work/devices.html" \
  2>"$work/devices.warnings" || fail "devices: qperf export exited $?"
"$qperf" import "$QPERF_SOURCE/tests/golden/inputs/disk.host.txt" --beside "$inputs/disk.bin" -o "$work/host.qperf" >"$work/import.out" 2>&1 ||
  fail "host: import exited $?"
"$qperf" export "$inputs/disk.bin" -e "$inputs/kernel.elf" --format html --with-host "$work/host.qperf" -o "$work/host.html" 2>"$work/host.warnings" ||
  fail "host: export exited $?"
cp "$work/devices.total" "$work/host.total"
export_html hostile "$inputs/hostile.bin" -e "$inputs/kernel.elf"
"$qperf" export "$sched" --baseline "$plain" --format html -o "$work/compared.html" 2>"$work/compared.warnings" || fail "compared: qperf export exited $?"
for capture in plain sched; do "$qperf" export "${!capture}" --format folded -o "$work/$capture.folded" 2>/dev/null; done
node "$modules/html_report_test.mjs" "$work/compared.html" "$(<"$work/sched.total")" "$work/plain.folded" "$work/sched.folded" ||
  fail "compared: the page does not do what it should"
for name in sched plain devices host hostile; do
  node "$modules/html_report_test.mjs" "$work/$name.html" "$(<"$work/$name.total")" || fail "$name: the page does not do what it should"
done
finish

#!/bin/bash
# Flame graphs as SVG in a real browser: of a bundled guest, of the waits of one with scheduler events (captures made by fixture tests),
# of a capture whose names are markup, and of what changed between two. The screenshots stay in the test's folder.
test_name=viewers.svg
source "$QPERF_SOURCE/tests/shell/common.sh"
source "$QPERF_SOURCE/tests/viewers/modules.sh"
qperf=$QPERF_BUILD/bin/qperf
inputs=$QPERF_BUILD/tests/golden/inputs
sched=$QPERF_BUILD/tests/sched_riscv64_2/capture.bin
plain=$QPERF_BUILD/tests/qemu.riscv64_wall/capture.bin
fetch_modules svg_test.mjs python3
only_svg=()  # options that the folded file does not take
check_picture() {  # name, capture and options
  local name=$1; shift
  [[ -e $1 ]] || fail "no capture at $1"
  "$qperf" export "$@" "${only_svg[@]}" --format svg -o "$work/$name.svg" 2>"$work/$name.warnings" || fail "$name: qperf export exited $?"
  "$qperf" export "$@" --format folded -o "$work/$name.folded" 2>/dev/null || fail "$name: qperf export exited $?"
  python3 -c 'import sys, xml.etree.ElementTree as xml; xml.parse(sys.argv[1])' "$work/$name.svg" || fail "$name: this is not XML"
  node "$modules/svg_test.mjs" "$work/$name.svg" "$work/$name.folded" || fail "$name: the picture does not do what it should"
}
check_picture plain "$plain"
check_picture tasks "$sched" --group-by-task
check_picture waits "$sched" --off-cpu
check_picture hostile "$inputs/hostile.bin" -e "$inputs/kernel.elf" --group-by-task
check_picture hostile-waits "$inputs/hostile.bin" -e "$inputs/kernel.elf" --off-cpu
only_svg=(--baseline "$plain")
check_picture compared "$sched"
finish

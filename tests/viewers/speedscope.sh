#!/bin/bash
# The speedscope files of a real capture (made by a fixture test) in the real viewer.
test_name=viewers.speedscope
source "$QPERF_SOURCE/tests/shell/common.sh"
source "$QPERF_SOURCE/tests/viewers/modules.sh"
capture=$QPERF_BUILD/tests/qemu.riscv64_wall/capture.bin
[[ -e $capture ]] || fail "no capture at $capture: the fixture failed"
fetch_modules speedscope_test.mjs
"$analyzer" --format speedscope "$capture" "$work/all.speedscope.json" 2>"$work/report" || fail "analyzer exited $?"
"$analyzer" --format speedscope --group-by-cpu "$capture" "$work/cpus.speedscope.json" 2>"$work/report" || fail "analyzer exited $?"
# Tasks and their waiting: the capture of the golden tests, made when they are built.
inputs=$QPERF_BUILD/tests/golden/inputs
[[ -e $inputs/sched.bin ]] || fail "no $inputs/sched.bin: build the target golden_inputs"
"$analyzer" -e "$inputs/kernel.elf" --format speedscope --group-by-task --wakers --off-cpu-output "$work/off-cpu.speedscope.json" \
  "$inputs/sched.bin" "$work/tasks.speedscope.json" 2>"$work/report" || fail "analyzer exited $?"
"$analyzer" --format speedscope --baseline "$capture" "$capture" "$work/diff.speedscope.json" 2>"$work/report" || fail "analyzer exited $?"
node "$modules/speedscope_test.mjs" "$work"/{all,cpus,diff,tasks,off-cpu}.speedscope.json --out "$work" || fail "the viewer refuses or misreads"
finish

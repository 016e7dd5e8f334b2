#!/bin/bash
# The speedscope files of a real capture (made by a fixture test) in the real viewer.
test_name=viewers.speedscope
source "$QPERF_SOURCE/tests/shell/common.sh"
for tool in node npm chromium; do command -v "$tool" >/dev/null || skip "no $tool"; done
capture=$QPERF_BUILD/tests/qemu.riscv64_wall/capture.bin
[[ -e $capture ]] || fail "no capture at $capture: the fixture failed"
modules=$QPERF_BUILD/tests/viewers.modules
mkdir -p "$modules"
cp "$QPERF_SOURCE"/tests/viewers/{package.json,package-lock.json,.npmrc,speedscope_test.mjs} "$modules/"
(cd "$modules" && npm ci >"$work/npm.log" 2>&1) || { tail -n 3 "$work/npm.log"; skip "the viewers could not be fetched"; }
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

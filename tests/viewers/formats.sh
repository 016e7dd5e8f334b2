#!/bin/bash
# pprof, callgrind and Chrome files in speedscope, and pprof in npm's pprof-format.
test_name=viewers.formats
source "$QPERF_SOURCE/tests/shell/common.sh"
source "$QPERF_SOURCE/tests/viewers/modules.sh"
inputs=$QPERF_BUILD/tests/golden/inputs
[[ -e $inputs/wall.bin ]] || skip "no golden captures: clang-19 and lld-19 build their ELFs"
fetch_modules formats_test.mjs
export_as() { "$QPERF_BUILD/bin/qperf" export "$inputs/wall.bin" -e "$inputs/kernel.elf" --format "$1" -o "$work/$2" || fail "export as $1 exited $?"; }
export_as folded wall.folded
export_as pprof wall.pb.gz
export_as callgrind callgrind.out.wall
export_as chrome wall.trace.json
node "$modules/formats_test.mjs" "$work"/{wall.folded,wall.pb.gz,callgrind.out.wall,wall.trace.json} --out "$work" || fail "a viewer refuses or misreads"
finish

#!/bin/bash
# The installed interface for analyses of others: docs/trace-api.md's leak finder, taken from the page as it stands, builds outside the
# project through the CMake package and through pkg-config, and finds what is to be found.
test_name=trace_api
source "$QPERF_SOURCE/tests/shell/common.sh"
command -v c++ >/dev/null || skip "no C++ compiler"
[[ -e $QPERF_BUILD/src/qemutrace/libqperf-trace.a ]] || skip "the library qperf_trace is not built"
cmake --install "$QPERF_BUILD" --component trace-api --prefix "$work/first" >"$work/install.log" || { fail "install: $(cat "$work/install.log")"; finish; }
mv "$work/first" "$work/tree"  # it may be moved

mkdir "$work/project"
awk '/^```cpp$/ { inside = ++blocks == 1; next } /^```$/ { inside = 0 } inside' "$QPERF_SOURCE/docs/trace-api.md" >"$work/project/leaks.cpp"
grep -q 'class Leaks : public Analyzer' "$work/project/leaks.cpp" || { fail "the page's first C++ block is not the leak finder"; finish; }
{
  echo 'cmake_minimum_required(VERSION 3.25)'
  echo 'project(outside LANGUAGES CXX)'
  awk '/^```cmake$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$QPERF_SOURCE/docs/trace-api.md"
} >"$work/project/CMakeLists.txt"
cmake -G Ninja -S "$work/project" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$work/tree" >"$work/log" 2>&1 && cmake --build "$work/by-cmake" >>"$work/log" 2>&1 ||
  fail "by the CMake package: $(tail -20 "$work/log")"
if command -v pkg-config >/dev/null; then
  pc=$(find "$work/tree" -name qperf-trace.pc -printf '%h')
  # shellcheck disable=SC2046
  c++ -o "$work/by-pkg-config" "$work/project/leaks.cpp" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs qperf-trace) 2>"$work/log" ||
    fail "by pkg-config: $(tail -20 "$work/log")"
fi
if [[ -n ${QPERF_TEST_DATA:-} && -d $QPERF_TEST_DATA/qemu-traces ]]; then
  export TRACE_EVENTS=$QPERF_TEST_DATA/qemu-traces/trace-events-all
  trace=$QPERF_TEST_DATA/qemu-traces/x86_64-seabios-virtioblk.trace
  for program in "$work/by-cmake/leaks" "$work/by-pkg-config"; do
    [[ -x $program ]] || continue
    status=0; "$program" "$trace" >"$work/out" || status=$?
    [[ $status == 0 && ! -s $work/out ]] || fail "$program: status $status and $(cat "$work/out"), expected no leak"
    head -c 300000 "$trace" >"$work/cut"
    status=0; "$program" "$work/cut" >"$work/out" || status=$?
    [[ $status == 3 ]] || fail "$program: status $status for a cut file, expected 3"
  done
else
  echo "the programs are built but not run: QPERF_TEST_DATA has no qemu-traces"
fi
finish

# Sourced by the shell tests. Expects QPERF_SOURCE and QPERF_BUILD (CTest sets them); gives names and small helpers.
set -euo pipefail
cache=${QPERF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qperf}
plugin=$QPERF_BUILD/lib/libqperf.so
analyzer=$QPERF_BUILD/bin/qperf-analyzer
next_qemu=$cache/qemu-next/bin
work=$QPERF_BUILD/tests/${test_name:?the sourcing test sets test_name}
rm -rf "$work"
mkdir -p "$work"
failures=0

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
finish() { ((failures == 0)) || { echo "$failures checks failed; files are in $work"; exit 1; }; echo "all checks hold"; exit 0; }

# require WHAT EXPRESSION: evaluates an awk arithmetic comparison and says both sides.
require() {
  if awk "BEGIN { exit !($2) }"; then echo "ok: $1: $2"; else fail "$1: $2"; fi
}

# Machine options that boot each target's kernels.
machine_options() {
  case $1 in
    riscv64) echo "-M virt" ;;
    aarch64) echo "-M virt -cpu cortex-a57" ;;
    loongarch64) echo "-M virt -cpu la464" ;;
    x86_64) echo "-M q35 -cpu max" ;;
  esac
}

# folded_facts FILE: shape of a folded file, as "name=value" words, weights counted:
# total, mean_depth, at_least_4 (%), named (% of frames), unknown (% of frames that are a bare hex address), entry (% of weight).
# Left out of at_least_4 is `entry`: stacks of one frame in the code that runs between user mode and the kernel's first frame (vectors
# and trampolines). No caller exists there, and in wall mode an emulated address-space switch makes it a large part of the time.
folded_facts() {
  awk '{ weight = $NF; sub(/ [0-9]+$/, ""); depth = split($0, frames, ";")
         total += weight; depths += weight * depth; if (depth >= 4) deep += weight; if (depth > most) most = depth
         if (depth == 1 && $0 ~ /^(\[module\] .*|vectors|el[01][th]_64_[a-z]+|handle_exception|ret_from_exception)$/) entry += weight
         for (i = 1; i <= depth; i++) { all += weight
           if (frames[i] ~ /^0x[0-9a-f]+$/) unknown += weight
           else if (frames[i] ~ /^\[module\]/) module += weight
           else named += weight } }
       END { if (total == 0) { print "total=0 mean_depth=0 at_least_4=0 named=0 unknown=100 module=0 most=0 entry=0"; exit }
             printf "total=%d mean_depth=%.2f at_least_4=%.2f named=%.2f unknown=%.3f module=%.3f most=%d entry=%.2f\n",
                    total, depths / total, 100 * deep / (total - entry), 100 * named / all, 100 * unknown / all, 100 * module / all, most, 100 * entry / total }' "$1"
}

#!/bin/bash
# overhead.sh [ROUNDS]: what the plugin costs, as ratios of CPU time (user + system of the whole QEMU process) against no plugin.
# Each round runs every design once, in turn, and takes its ratio to that round's run without plugin, so that a machine whose
# speed drifts does not move the result; the median over the rounds is printed, with the least and the greatest. Beside it stands the
# ratio of the least CPU times: noise only ever adds to a run, so with enough rounds both sides come near what the work itself takes.
#
#   QPERF_BUILD    build folder with lib/libqperf.so and lib/libqperf_floor.so   [build/release]
#   QPERF_GUESTS   which guests: `compute` (bundled, riscv64), `linux` (Debian's riscv64 kernel with its workload)   [compute linux]
#   QPERF_KERNELS  folder with riscv64/vmlinuz and riscv64/initrd.gz   [~/.cache/qperf/kernels]
#   QPERF_SMP      vCPUs   [1]
#   QPERF_DESIGNS  subset of: floor check wall99 wall999 icount1000000 icount100000 exact   [all but wall999]
#   QEMU           the emulator   [qemu-system-riscv64]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
build=${QPERF_BUILD:-build/release}
kernels=${QPERF_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/qperf/kernels}/riscv64
qemu=${QEMU:-qemu-system-riscv64}
smp=${QPERF_SMP:-1}
designs=${QPERF_DESIGNS:-floor check wall99 icount1000000 icount100000 exact}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plugin_of() {
  case $1 in
    none) ;;
    floor) echo "-plugin $build/lib/libqperf_floor.so" ;;
    check) echo "-plugin $build/lib/libqperf_floor.so,design=check" ;;
    wall*) echo "-plugin $build/lib/libqperf.so,out=$work/capture,freq=${1#wall}" ;;
    icount*) echo "-plugin $build/lib/libqperf.so,out=$work/capture,mode=icount,period=${1#icount}" ;;
    exact) echo "-plugin $build/lib/libqperf.so,out=$work/capture,mode=exact" ;;
    *) echo "overhead.sh: no design '$1'" >&2; exit 2 ;;
  esac
}

# cpu_seconds GUEST DESIGN: boots it to its own end and prints user + system seconds.
cpu_seconds() {
  local options
  case $1 in
    compute) options=(-M virt -m 256M -kernel "$build/guests/riscv64/compute.elf") ;;
    linux) options=(-M virt -m 1G -kernel "$kernels/vmlinuz" -initrd "$kernels/initrd.gz" -append "console=ttyS0 quiet") ;;
    *) echo "overhead.sh: no guest '$1'" >&2; exit 2 ;;
  esac
  local TIMEFORMAT='%U %S' plugin
  plugin=$(plugin_of "$2")
  # shellcheck disable=SC2086 # the plugin's options are words
  { time timeout 600 "$qemu" "${options[@]}" -smp "$smp" -nographic -no-reboot $plugin </dev/null >"$work/console" 2>"$work/stderr"; } 2>"$work/time" ||
    { echo "overhead.sh: $1 with $2 failed:" >&2; tail -n 3 "$work/console" "$work/stderr" >&2; exit 1; }
  awk '{ print $1 + $2 }' "$work/time"
}

"$qemu" --version | head -n 1
echo "$rounds rounds, $smp vCPU(s), $(nproc) host CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
for guest in ${QPERF_GUESTS:-compute linux}; do
  : >"$work/ratios"
  for ((round = 1; round <= rounds; round++)); do
    base=$(cpu_seconds "$guest" none)
    echo "none $base" >>"$work/ratios"
    for design in $designs; do
      took=$(cpu_seconds "$guest" "$design")
      echo "$design $(awk -v a="$took" -v b="$base" 'BEGIN { print a / b }') $took" >>"$work/ratios"
    done
  done
  for design in none $designs; do
    least_base=$(awk '$1 == "none" { print $2 }' "$work/ratios" | sort -g | head -n 1)
    least=$(awk -v name="$design" '$1 == name { print $NF }' "$work/ratios" | sort -g | head -n 1)
    awk -v name="$design" '$1 == name { print $2 }' "$work/ratios" | sort -g |
      awk -v guest="$guest" -v name="$design" -v of_least="$(awk -v a="$least" -v b="$least_base" 'BEGIN { printf "%.3f", a / b }')" '{ v[NR] = $1 }
        END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
              printf "%-8s %-14s median %.3f  least %.3f  greatest %.3f  %s\n", guest, name, m, v[1], v[NR],
                     name == "none" ? "CPU seconds" : "of the least CPU times " of_least }'
  done
done

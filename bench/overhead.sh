#!/bin/bash
# overhead.sh [ROUNDS]: what the plugin costs, as ratios of CPU time (user + system of the whole QEMU process) to no plugin.
# In each round all designs run at once on the same cores, a slice of some milliseconds each in turn (bench/interleave), so that
# a machine whose speed drifts does not move the result; the median over the rounds is printed, with the least and the greatest.
# `none2` is no plugin a second time: its distance from 1 is the noise that remains.
#
#   QPERF_BUILD    build folder with lib/libqperf.so and lib/libqperf_floor.so   [build/release]
#   QPERF_GUESTS   which guests: `compute` (bundled, riscv64), `linux` (Debian's riscv64 kernel with its workload)   [compute linux]
#   QPERF_KERNELS  folder with riscv64/vmlinuz and riscv64/initrd.gz   [~/.cache/qperf/kernels]
#   QPERF_SMP      vCPUs   [1]
#   QPERF_CORES    host cores to run on   [the last one; all for more than one vCPU]
#   QPERF_SLICE_MS how long a slice is   [30]
#   QPERF_NICE     of the runs; below zero needs root   [0]
#   QPERF_DESIGNS  subset of: none2 empty floor check wall99 wall999 icount1000000 icount100000 exact   [all but empty, wall999, exact]
#   QEMU           the emulator   [qemu-system-riscv64]
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
rounds=${1:-5}
build=$(realpath "${QPERF_BUILD:-build/release}")
kernels=${QPERF_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/qperf/kernels}/riscv64
qemu=${QEMU:-qemu-system-riscv64}
smp=${QPERF_SMP:-1}
last=$(($(nproc) - 1))
cores=${QPERF_CORES:-$([[ $smp == 1 ]] && echo "$last" || seq -s , 0 "$last")}
designs=${QPERF_DESIGNS:-none2 floor check wall99 icount1000000 icount100000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plugin_of() {
  case $1 in
    none | none2) ;;
    floor) echo "-plugin $build/lib/libqperf_floor.so" ;;
    check | empty) echo "-plugin $build/lib/libqperf_floor.so,design=$1" ;;
    wall*) echo "-plugin $build/lib/libqperf.so,out=$work/$1,freq=${1#wall}" ;;
    icount*) echo "-plugin $build/lib/libqperf.so,out=$work/$1,mode=icount,period=${1#icount}" ;;
    exact) echo "-plugin $build/lib/libqperf.so,out=$work/$1,mode=exact" ;;
    *) echo "overhead.sh: no design '$1'" >&2; exit 2 ;;
  esac
}

# command_of GUEST DESIGN: boots it to its own end.
command_of() {
  local plugin
  plugin=$(plugin_of "$2")
  case $1 in
    compute) echo "$qemu -M virt -m 256M -kernel $build/guests/riscv64/compute.elf -smp $smp -nographic -no-reboot $plugin" ;;
    linux) echo "$qemu -M virt -m 1G -kernel $kernels/vmlinuz -initrd $kernels/initrd.gz -append 'console=ttyS0 quiet' -smp $smp" \
                "-nographic -no-reboot $plugin" ;;
    *) echo "overhead.sh: no guest '$1'" >&2; exit 2 ;;
  esac
}

"$qemu" --version | head -n 1
echo "$rounds rounds, $smp vCPU(s), host cores $cores of $(nproc), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
for guest in ${QPERF_GUESTS:-compute linux}; do
  echo "guest $guest"
  for design in none $designs; do
    command=$(command_of "$guest" "$design")  # alone, so that a name it does not know ends the script
    echo "$design $command"
  done >"$work/commands"
  bench/interleave --rounds "$rounds" --cores "$cores" --slice-ms "${QPERF_SLICE_MS:-30}" --nice "${QPERF_NICE:-0}" \
    --verbose <"$work/commands"
done

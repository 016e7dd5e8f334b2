#!/bin/bash
# bench/symbolize.sh [ARCH] [ADDRESSES] [ROUNDS]: names for random addresses of a real kernel, every tool in the same run,
# interleaved; CPU seconds (user + system), wall seconds and peak memory of the median round by CPU. Start it on a quiet machine.
# ARCH: arm64, riscv64 [default], loong64 or amd64, as debian-kernel --debug has put it.
set -euo pipefail
arch=${1:-riscv64} count=${2:-4000} rounds=${3:-5}
here=$(cd "$(dirname "$0")/.." && pwd)
tool=$here/build/release/bin/bench_symbolize
vmlinux=${QPERF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qperf}/kernels/$arch/vmlinux
[[ -f $vmlinux ]] || { echo "no kernel at $vmlinux; fetch one with debian-kernel --debug $arch" >&2; exit 1; }
[[ -x $tool ]] || { echo "no $tool; build the release preset" >&2; exit 1; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

read -r _ _ _ first _ size _ < <(readelf -SW "$vmlinux" | sed 's/\[ */[/' | awk '$2 == ".text"')
awk -v n="$count" -v size=$((16#$size)) 'BEGIN { srand(20); for (i = 0; i < n; i++) printf "%d\n", int(rand() * size / 4) * 4 }' |
  while read -r offset; do printf '0x%x\n' $((16#$first + offset)); done >"$work/addresses"

measure() {  # NAME COMMAND...: appends "cpu wall memory" to $work/NAME
  local name=$1; shift
  /usr/bin/time -f '%U %S %e %M' -o "$work/time" "$@" <"$work/addresses" >"$work/out" 2>/dev/null || return 0
  awk '{ printf "%.2f %.2f %d\n", $1 + $2, $3, $4 / 1024 }' "$work/time" >>"$work/$name.runs"
}
for ((round = 0; round < rounds; round++)); do
  measure qperf "$tool" "$vmlinux" "$work/addresses"
  command -v llvm-symbolizer-19 >/dev/null && measure llvm-symbolizer-19 llvm-symbolizer-19 --output-style=GNU -f -i -e "$vmlinux"
  command -v eu-addr2line >/dev/null && measure eu-addr2line eu-addr2line -f -i -e "$vmlinux"
  command -v addr2line >/dev/null && measure addr2line addr2line -f -i -e "$vmlinux"
done
echo "$arch, $count addresses, $(nproc) CPUs, median of $rounds rounds; $(uname -m), load $(cut -d' ' -f1 /proc/loadavg)"
"$tool" "$vmlinux" "$work/addresses"
printf '%-20s %8s %8s %8s\n' tool 'CPU s' 'wall s' 'MiB'
for runs in "$work"/*.runs; do
  sort -n "$runs" | awk -v name="$(basename "$runs" .runs)" '{ line[NR] = $0 } END { split(line[int((NR + 1) / 2)], f); printf "%-20s %8s %8s %8s\n", name, f[1], f[2], f[3] }'
done

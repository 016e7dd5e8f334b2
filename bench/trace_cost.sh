#!/bin/bash
# trace_cost.sh BUILD [RUNS]: what an execution of the guest's trace marker costs a vCPU, all of it: the guest times batches of
# calls by its own clock (the host's monotonic one) and takes the fastest, so that what a busy host adds is left out. Without the
# plugin, with it but without trace=, and with trace= (events without and with a stack). A run that has
# dropped events of the timed kind is not taken: to drop one is cheaper.
set -euo pipefail
build=$(realpath "${1:?usage: trace_cost.sh BUILD [RUNS]}") runs=${2:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
declare -A machine=([riscv64]="-M virt" [aarch64]="-M virt -cpu cortex-a57" [loongarch64]="-M virt -cpu la464" [x86_64]="-M q35 -cpu max")

cost() {  # ARCH PLUGIN_OPTIONS...: ns for a call
  local arch=$1 elf=$build/guests/$1/flood.elf least= said; shift
  for _ in $(seq "$runs"); do
    # shellcheck disable=SC2086
    said=$(qemu-system-$arch ${machine[$arch]} -m 256M -nographic -no-reboot -kernel "$elf" "$@" 2>"$work/stderr" </dev/null |
           sed -n 's/.*QG cost .*batch_calls=\([0-9]*\) least_batch_ns=\([0-9]*\).*/\2 \1/p')
    [[ $said ]] || { cat "$work/stderr" >&2; exit 1; }
    grep -q ', dropped .*enqueue' "$work/stderr" && continue
    least=$(awk -v least="$least" '{ ns = $1 / $2; if (least == "" || ns < least) least = ns; printf "%.0f", least }' <<<"$said")
  done
  printf '%s' "${least:-dropped}"
}

printf '%-12s %10s %10s %14s %12s\n' "ns a call" "no plugin" "no trace=" "without stack" "with stack"
for arch in riscv64 aarch64 loongarch64 x86_64; do
  command -v "qemu-system-$arch" >/dev/null || continue
  plugin="$build/lib/libqperf.so,out=$work/capture.bin,elf=$build/guests/$arch/flood.elf,event_queue=65536"
  printf '%-12s %10s %10s %14s %12s\n' "$arch" "$(cost $arch)" "$(cost $arch -plugin "$plugin")" \
         "$(cost $arch -plugin "$plugin,trace=auto,trace_stacks=none")" "$(cost $arch -plugin "$plugin,trace=auto,trace_stacks=all")"
done

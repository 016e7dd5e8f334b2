#!/bin/bash
# profile.sh NAME ARCH PLUGIN_ARGUMENTS [QEMU OPTION...]: a stock kernel with frame pointers, profiled: names, depths, roots, paths.
test_name=linux.$1
source "$QPERF_SOURCE/tests/shell/common.sh"
source "$QPERF_SOURCE/tests/linux/boot.sh"
shift
arch=$1
boot_linux "$@"
"$analyzer" --elf "$vmlinux" "$capture" "$work/out.folded" 2>"$work/report" || fail "analyzer exited $?"
cat "$work/report"
facts=$(folded_facts "$work/out.folded")
echo "facts: $facts"
eval "$facts"
require "samples" "$total > 100"
require "frames with a name, %" "$named > 95"
require "unknown addresses, %" "$unknown < 1"
require "mean depth" "$mean_depth >= 8"
require "stacks at least 4 deep, %" "$at_least_4 >= 90"
# Entry code and trampolines have no caller, and are left out above: a third of a busy guest's ticks in mode=wall was the most seen.
require "weight of entry code alone, %" "$entry < 45"
require "deepest stack stays under max_frames" "$most < 128"
# Debian's arm64 kernel lies elsewhere at every boot.
[[ $arch != arm64 ]] || grep -qE 'slid by -?0x[0-9a-f]+' "$work/report" || fail "the report does not say how far the kernel was slid"
case $arch in
  arm64) roots='^(el0t_64_sync|ret_from_fork|el1h_64_irq|__primary_switched|secondary_start|kthread|start_kernel)' syscall='el0t_64_sync' ;;
  riscv64) roots='.' syscall='(do_trap_ecall_u|handle_exception|ret_from_exception)' ;;
esac
# An interrupt's stack goes on on the task's, but for tasks that were never sampled before.
switched=$(awk '{ total += $NF } /^call_on_irq_stack[; ]/ { ends += $NF } END { printf "%.2f", 100 * ends / total }' "$work/out.folded")
require "weight that ends at the switch from an interrupt's stack ($switched), %" "$switched < 2"
cut -d';' -f1 "$work/out.folded" | sort | uniq -c | sort -rn | head -n 12
grep -qE "^$syscall" "$work/out.folded" || fail "no system-call entry among the roots"
for path in 'generic_perform_write|shmem_' 'execve|exec_binprm|load_elf_binary'; do
  grep -qE "$path" "$work/out.folded" || fail "no stack through $path"
done
finish

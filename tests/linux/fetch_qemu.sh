#!/bin/bash
# A newer QEMU beside the installed one, into the cache, once; needs the qemu-next tool and a network.
test_name=linux.fetch_qemu
source "$QPERF_SOURCE/tests/shell/common.sh"
[[ -x $next_qemu/qemu-system-riscv64 ]] && { echo "have $next_qemu"; exit 0; }
tool=${QPERF_TEST_TOOLS:+$QPERF_TEST_TOOLS/qemu-next}
[[ -n $tool && -r $tool ]] || skip "no $next_qemu and no qemu-next tool (QPERF_TEST_TOOLS)"
bash "$tool" "$cache/qemu-next" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; skip "the newer QEMU could not be fetched"; }
finish

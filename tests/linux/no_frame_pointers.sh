#!/bin/bash
# no_frame_pointers.sh NAME ARCH PLUGIN_ARGUMENTS: a stock kernel without frame pointers: leaves are named, and the report says
# that stacks are missing and why.
test_name=linux.$1
source "$QPERF_SOURCE/tests/shell/common.sh"
source "$QPERF_SOURCE/tests/linux/boot.sh"
shift
boot_linux "$@"
"$analyzer" --elf "$vmlinux" "$capture" "$work/out.folded" 2>"$work/report" || fail "analyzer exited $?"
cat "$work/report"
facts=$(folded_facts "$work/out.folded")
echo "facts: $facts"
eval "$facts"
require "samples" "$total > 50"
# Exception handlers that the kernel copies elsewhere at boot are shown as [module].
require "frames with a name or in copied code, %" "$named + $module > 95"
require "unknown addresses, %" "$unknown < 1"
grep -qi 'no frame pointers' "$work/report" || fail "the report does not say that frame pointers are missing"
finish

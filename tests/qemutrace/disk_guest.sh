#!/bin/bash
# The bundled disk guest under the installed QEMU, traced by the log back end: QEMU's requests are those that the guest says it did, each
# with its direction, sector and size.
test_name=trace_disk_guest
source "$QPERF_SOURCE/tests/shell/common.sh"
qperf=$QPERF_BUILD/bin/qperf
elf=$QPERF_BUILD/guests/riscv64/disk.elf
command -v qemu-system-riscv64 >/dev/null || skip "no qemu-system-riscv64"
[[ -e $elf ]] || skip "no $elf: the guests are not built"
[[ -e /usr/share/qemu/trace-events-all ]] || skip "no /usr/share/qemu/trace-events-all"

truncate -s 16M "$work/disk.img"
status=0
timeout 300 qemu-system-riscv64 -M virt -m 256M -smp 2 -nographic -kernel "$elf" \
  -drive "if=none,id=disk,format=raw,file=$work/disk.img" -device virtio-blk-device,drive=disk \
  -msg timestamp=on -D "$work/log" -trace 'virtio_*' -trace 'virtqueue_*' -trace 'blk_co_*' -trace 'thread_pool_*' \
  <"/dev/null" >"$work/guest" 2>"$work/err" || status=$?
((status == 0)) || { fail "QEMU ended with $status: $(cat "$work/err")"; finish; }
tr -d '\r' <"$work/guest" >"$work/console"
grep -q '^QG io_total .* wrong_sectors=[^0]' "$work/console" && fail "the guest read otherwise than it wrote"

word() { sed -nE "s/.* $1=([^ ]*).*/\1/p"; }
for direction in read write; do
  grep "^QG io .*operation=$direction " "$work/console" | sed -E 's/.* sector=([0-9]+) sectors=([0-9]+) .*/\1 \2/' >"$work/$direction.guest"
  "$qperf" trace print --event "virtio_blk_handle_$direction" "$work/log" | sed -E 's/.* sector=(0x[0-9a-f]+) nsectors=(0x[0-9a-f]+)/\1 \2/' |
    while read -r sector count; do echo "$((sector)) $((count))"; done >"$work/$direction.qemu"
  # The tasks' requests mix as the scheduler has it: compared as sets here, one task's own order below.
  diff <(sort "$work/$direction.guest") <(sort "$work/$direction.qemu") || fail "$direction: guest (<) and QEMU (>) differ"
done
grep '^QG io .*name=disk_reader ' "$work/console" | word sector >"$work/reader.guest"
awk '$1 >= 2048 && $1 < 2048 + 48 * 8' "$work/read.qemu" | cut -d' ' -f1 | diff "$work/reader.guest" - || fail "the reader's order"
require "requests" "$(grep -c '^QG io ' "$work/console") == $("$qperf" trace print --event virtqueue_pop "$work/log" | wc -l)"
require "reads" "$(wc -l <"$work/read.qemu") == 58"
require "writes" "$(wc -l <"$work/write.qemu") == 26"
"$qperf" trace leaks --json "$work/log" >"$work/leaks"
grep -q '"leaks": \[\]' "$work/leaks" || fail "elements left: $(cat "$work/leaks")"
# The overlapping writes that the guest's source names.
"$qperf" trace overlaps --json --sector 4096 --count 8 "$work/log" >"$work/overlaps"
require "writes over the range" "$(grep -c '"sector": \(4096\|4100\|4103\)' "$work/overlaps") == 3"
finish

#!/bin/bash
# A guest with known disk I/O under the installed QEMU, traced by its log back end: every count and sector that qperf tells is what
# the guest did. The guest is a boot sector that uses SeaBIOS's virtio-blk driver.
test_name=trace_live
source "$QPERF_SOURCE/tests/shell/common.sh"
qperf=$QPERF_BUILD/bin/qperf
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
command -v clang-19 >/dev/null && command -v ld.lld-19 >/dev/null || skip "no clang-19 and lld-19 to assemble the boot sector"
[[ -e /usr/share/qemu/trace-events-all ]] || skip "no /usr/share/qemu/trace-events-all"

clang-19 --target=i386-linux-gnu -c "$QPERF_SOURCE/tests/qemutrace/disk.S" -o "$work/disk.o"
ld.lld-19 -m elf_i386 -Ttext=0x7c00 --oformat binary -o "$work/disk.img" "$work/disk.o"
truncate -s 16M "$work/disk.img"
boot() {  # log file, trace options...
  local log=$1 status=0
  shift
  timeout 300 qemu-system-x86_64 -accel tcg -display none -serial none -monitor none -net none -m 64M \
    -drive "if=none,id=d0,format=raw,file=$work/disk.img" -device virtio-blk-pci,drive=d0 -device isa-debug-exit,iobase=0xf4 \
    "$@" -D "$log" || status=$?
  ((status == 33)) || { fail "the guest ended with $status, expected 33 (0x10 << 1 | 1)"; finish; }
}
events=(-trace 'virtio_*' -trace 'virtqueue_*' -trace 'blk_co_*' -trace 'thread_pool_*' -trace 'file_paio_*' -trace runstate_set)
boot "$work/stamped.log" -msg timestamp=on "${events[@]}"
boot "$work/bare.log" "${events[@]}"

count() { "$qperf" trace print "$@" | wc -l; }
for log in stamped bare; do
  file=$work/$log.log
  require "$log: reads of the guest" "$(count --event virtio_blk_handle_read --where 'sector >= 2048 && nsectors == 8' "$file") == 50"
  require "$log: writes of the guest" "$(count --event virtio_blk_handle_write "$file") == 4"
  "$qperf" trace print --event virtio_blk_handle_write "$file" | sed 's/.*sector=\(.*\) nsectors=\(.*\)/\1 \2/' >"$work/$log.writes"
  printf '0x%x 0x%x\n' 4096 8 4100 8 8192 8 4103 1 | diff - "$work/$log.writes" || fail "$log: the writes differ"
  "$qperf" trace leaks --json "$file" >"$work/$log.leaks"
  grep -q '"leaks": \[\]' "$work/$log.leaks" || fail "$log: elements left: $(cat "$work/$log.leaks")"
  "$qperf" trace overlaps --json --sector 4096 --count 8 "$file" >"$work/$log.overlaps"
  require "$log: writes over the range" "$(grep -c '"sector": \(4096\|4100\|4103\)' "$work/$log.overlaps") == 3"
done

"$qperf" trace io --by direction "$work/stamped.log" | tee "$work/io.txt"
row() { awk -v d="$1" -v s="$2" '$1 == d && $2 == s { print $3 }' "$work/io.txt"; }
for stage in N2P P2H H2B B2R R2F P2F; do require "writes with stage $stage" "$(row write $stage) == 4"; done
# Only pairs of stages whose events the trace has: threads submit and complete the host's I/O.
require "writes with the host's stages" "$(row write S2X) == 4"
finish

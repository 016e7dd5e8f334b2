#!/bin/bash
# The command line of `qperf trace`: exit codes, messages, options anywhere, identical output for the recorded traces.
test_name=trace_cli
source "$QPERF_SOURCE/tests/shell/common.sh"
qperf=$QPERF_BUILD/bin/qperf
[[ -n ${QPERF_TEST_DATA:-} && -d $QPERF_TEST_DATA/qemu-traces ]] || skip "QPERF_TEST_DATA has no qemu-traces"
data=$QPERF_TEST_DATA/qemu-traces
events=(--events "$data/trace-events-all")

# expect CODE ERROR-PATTERN command...: stdout goes to $work/out
expect() {
  local code=$1 pattern=$2 status=0
  shift 2
  "$@" >"$work/out" 2>"$work/err" || status=$?
  ((status == code)) || fail "$*: exit code $status, expected $code: $(cat "$work/err")"
  if [[ -z $pattern ]]; then [[ ! -s $work/err ]] || fail "$*: unexpected message $(cat "$work/err")"
  else grep -qE "$pattern" "$work/err" || fail "$*: no message like '$pattern' in: $(cat "$work/err")"; fi
}
for name in riscv64-dropped x86_64-linux-virtioblk x86_64-mt-cut x86_64-seabios-virtioblk; do
  code=0 message=""
  [[ $name == riscv64-dropped ]] && code=3 message="58709 events were lost"
  expect $code "$message" "$qperf" trace print "${events[@]}" "$data/$name.trace"
  cmp "$work/out" "$data/$name.txt" || fail "$name: not what simpletrace.py prints"
done
small=$data/x86_64-seabios-virtioblk.trace
cat "$small" | expect 0 "" "$qperf" trace print "${events[@]}" -
cmp "$work/out" "${small%.trace}.txt" || fail "standard input reads differently"
mkfifo "$work/fifo"
cat "$small" >"$work/fifo" &
expect 0 "" "$qperf" trace print "$work/fifo" "${events[@]}"
cmp "$work/out" "${small%.trace}.txt" || fail "a FIFO reads differently"
head -c 300000 "$small" >"$work/torn"
expect 3 "the last record is cut" "$qperf" trace print "${events[@]}" "$work/torn"
cmp <(head -n "$(wc -l <"$work/out")" "${small%.trace}.txt") "$work/out" || fail "torn: not the first records"
[[ -s $work/out ]] || fail "torn: nothing printed"

# A QEMU whose virtqueue_pop has three arguments.
sed 's/^virtqueue_pop(.*/virtqueue_pop(void *vq, void *elem, unsigned in_num) "x"/' "$data/trace-events-all" >"$work/other-events"
expect 3 "virtqueue_pop: 205 records do not fit: .* whose virtqueue_pop has 4 arguments, the declaration has 3" \
  "$qperf" trace stat --events "$work/other-events" "$small"
grep -v '^virtqueue_pop(' "$data/trace-events-all" >"$work/fewer-events"
expect 3 "virtqueue_pop: 205 records, but the events file does not declare it" "$qperf" trace print --events "$work/fewer-events" "$small"
printf 'a(int x) "%%d"' >"$work/bad-events"
expect 1 "bad-events:1: the last line does not end in a newline" "$qperf" trace print --events "$work/bad-events" "$small"

expect 2 "see --help" "$qperf" trace print
expect 2 "see --help" "$qperf" nonsense
expect 2 "no event has a field" "$qperf" trace stat "$small" --where 'nonsense > 1'
expect 2 "go together" "$qperf" trace overlaps --sector 1 "$small"
expect 2 "like 1.5s" "$qperf" trace stat --from soon "$small"
expect 1 "No such file" "$qperf" trace print "$work/absent"
expect 1 "is a directory" "$qperf" trace print "$work"
expect 1 "neither a simpletrace file" "$qperf" trace print "$qperf"
expect 0 "" "$qperf" --version
grep -qE '^qperf [0-9.]+$' "$work/out" || fail "--version prints $(cat "$work/out")"
for job in print stat hist io leaks overlaps mmio waits blkparse locks; do
  expect 0 "" "$qperf" trace $job --help
  grep -q '^Examples:' "$work/out" || fail "the help of $job has no examples"
done
# Filters, wherever they stand.
expect 0 "" "$qperf" trace stat "$small" --event 'virtqueue_*' "${events[@]}" --json
grep -q '"total": 820' "$work/out" || fail "stat --event counts $(grep total "$work/out")"
expect 0 "" "$qperf" trace print "${events[@]}" "$small" --event virtio_blk_handle_write --where 'sector >= 4100 && nsectors > 1'
[[ $(wc -l <"$work/out") == 2 ]] || fail "--where keeps $(wc -l <"$work/out") events, expected 2"
expect 0 "" "$qperf" trace leaks "${events[@]}" "$small"
grep -q '205 elements popped, 205 filled, 1 addresses, at most 1 open at once' "$work/out" || fail "leaks says $(cat "$work/out")"
grep -q 'min 29.9 us, median 71.0 us, max 1233 us' "$work/out" || fail "leaks says $(cat "$work/out")"
for job in "stat" "hist --field nsectors" "io" "leaks" "overlaps --sector 4096 --count 8" "mmio" "locks" "blkparse" "print"; do
  # shellcheck disable=SC2086
  expect 0 "" "$qperf" trace $job --json "${events[@]}" "$small"
  if command -v python3 >/dev/null; then
    python3 "$QPERF_SOURCE/tests/shell/json_fields.py" "$QPERF_SOURCE/docs/json.md" "$work/out" || fail "$job: its JSON is not what docs/json.md says"
  fi
done
# The most accessed ones first; how many more there are is said.
expect 3 "58709 events were lost" "$qperf" trace mmio --top 2 "${events[@]}" "$data/riscv64-dropped.trace"
(($(grep -c '0x' "$work/out") == 2)) && grep -qE '^and [0-9]+ more registers$' "$work/out" || fail "mmio --top 2 says $(cat "$work/out")"
code=0; "$qperf" trace locks --top 2 "${events[@]}" "$data/x86_64-mt-cut.trace" >"$work/out" 2>"$work/err" || code=$?
(($(grep -c ':[0-9]' "$work/out") == 2)) && grep -qE '^and [0-9]+ more places$' "$work/out" || fail "locks --top 2 says $(cat "$work/out")"
# print --json: an object a line, with what print shows.
expect 0 "" "$qperf" trace print --json "${events[@]}" "$small"
if command -v python3 >/dev/null; then
  python3 - "$work/out" "${small%.trace}.txt" <<'PY' || fail "print --json differs from print"
import json, sys
head, *lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert head == {"format": "qperf-trace-print", "version": 1}
printed = [line.split() for line in open(sys.argv[2], encoding="utf-8")]
assert len(lines) == len(printed) > 2000
for line, words in zip(lines, printed):
    assert line["event"] == words[0] and line["pid"] == int(words[2].split("=")[1])
    shown = dict(word.split("=", 1) for word in words[3:] if "=" in word)
    for name, value in line["fields"].items():
        if isinstance(value, str) and not value.startswith("0x"):
            continue
        number = int(value, 16) if isinstance(value, str) else int(value)
        assert int(shown[name], 16) == number % 2**64 or int(shown[name], 16) == number % 2**32, (line, words)
assert [line["ts_ns"] for line in lines] != [] and all(isinstance(line["ts_ns"], int) for line in lines)
PY
fi
expect 2 "give one of them" "$qperf" trace print --json --pretty "${events[@]}" "$small"
expect 3 "58709 events were lost" "$qperf" trace print --json "${events[@]}" "$data/riscv64-dropped.trace"
tail -n 1 "$work/out" | grep -q '"lost": 58709' || fail "print --json says of a loss: $(tail -n 1 "$work/out")"
expect 0 "" "$qperf" trace hist --field nsectors "${events[@]}" "$small"
cp "$work/out" "$work/hist"
expect 0 "" "$qperf" trace hist "${events[@]}" "$small" nsectors
cmp "$work/out" "$work/hist" || fail "hist FILE FIELD is not hist --field FIELD FILE"
expect 2 "name a FIELD" "$qperf" trace hist "${events[@]}" "$small"
expect 2 "excludes" "$qperf" trace hist "${events[@]}" "$small" nsectors --field sector
# blkparse text of a guest that issued what QEMU then saw, but for one write in two halves; the host got two requests as one.
"$qperf" trace sql "${events[@]}" "$small" 'SELECT sector, nsectors, "R" AS d, ts_ns FROM virtio_blk_handle_read
  UNION ALL SELECT sector, nsectors, "W", ts_ns FROM virtio_blk_handle_write ORDER BY ts_ns' | awk 'NR > 1 { print $1, $2, $3 }' >"$work/requests"
awk '{ n = 0; if ($1 == 8192) { print $1, 4, $3; print $1 + 4, 4, $3 } else print }' "$work/requests" |
  awk '{ printf "  8,0    0 %8d %5d.%09d   697  D  %2s %d + %d [x y]\n", NR, NR / 1000, NR % 1000 * 1000000, $3, $1, $2 }' >"$work/guest.txt"
awk '$1 != 4100 && $1 != 4103 { if ($1 == 4096) $2 = 16; printf "  8,16   0 %8d %5d.%09d   1  Q  %s %d + %d [qemu]\n", NR, NR / 1000, NR % 1000, $3, $1 + 2048, $2 }' \
  "$work/requests" >"$work/host.txt"
expect 0 "" "$qperf" trace blkparse "${events[@]}" --guest "$work/guest.txt" --host "$work/host.txt" --host-offset 2048 "$small"
cat "$work/out"
layers=$(wc -l <"$work/requests")
# same, joined, split, missing, extra, reordered: two halves are each part of what QEMU saw, and QEMU's (4100,8) and (4103,1) of (4096,16),
# as is a sector that QEMU probed by itself.
grep -qE "guest issued +QEMU virtio-blk +$((layers - 1)) +2 +0 +0 +0 +0 " "$work/out" || fail "guest to QEMU: $(cat "$work/out")"
grep -qE "QEMU block layer +host queued +$((layers - 3)) +4 +0 +0 +0 +0 " "$work/out" || fail "QEMU to host: $(cat "$work/out")"
expect 1 "no request in it: expected lines as blkparse prints" "$qperf" trace blkparse "${events[@]}" --guest "$work/requests" "$small"
# The timeline, read by protoc: as many slices begun as ended, a request's slice with its sector.
expect 0 "" "$qperf" trace io "${events[@]}" --perfetto "$work/requests.pftrace" --by device "$small"
grep -qE '^virtio-blk0 \(d1.raw\) +205' "$work/out" || fail "io --by device: $(cat "$work/out")"
if command -v protoc >/dev/null; then
  protoc --decode_raw <"$work/requests.pftrace" >"$work/decoded" || fail "protoc refuses the timeline"
  begun=$(grep -cE '^ +9: 1$' "$work/decoded") ended=$(grep -cE '^ +9: 2$' "$work/decoded")
  require "slices begun and ended" "$begun == $ended && $begun > 205 * 5"
  require "requests" "$(grep -cE '23: "(read|write|other)"' "$work/decoded") == 205"
fi
# A live trace: what is there is shown before the writer is done.
mkfifo "$work/live"
"$qperf" trace print "${events[@]}" "$work/live" >"$work/live.out" &
reader=$!
exec 9>"$work/live"
cat "$small" >&9
for _ in $(seq 100); do cmp -s "$work/live.out" "${small%.trace}.txt" && break; sleep 0.2; done
cmp "$work/live.out" "${small%.trace}.txt" || fail "a live FIFO is not shown while its writer pauses"
exec 9>&-
wait "$reader" || fail "a live FIFO ended with $?"
head -c 250000 "$small" >"$work/growing"
"$qperf" trace print --follow "${events[@]}" "$work/growing" >"$work/growing.out" &
follower=$!
sleep 1
tail -c +250001 "$small" >>"$work/growing"
for _ in $(seq 50); do cmp -s "$work/growing.out" "${small%.trace}.txt" && break; sleep 0.2; done
kill -INT "$follower"
wait "$follower" || fail "--follow ended with $?"
cmp "$work/growing.out" "${small%.trace}.txt" || fail "--follow reads a growing file differently"
finish

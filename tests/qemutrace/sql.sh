#!/bin/bash
# `qperf trace sql` and `export`: the same counts as other jobs give, one table per event, losses in a table of their own.
test_name=trace_sql
source "$QPERF_SOURCE/tests/shell/common.sh"
qperf=$QPERF_BUILD/bin/qperf
[[ -n ${QPERF_TEST_DATA:-} && -d $QPERF_TEST_DATA/qemu-traces ]] || skip "QPERF_TEST_DATA has no qemu-traces"
data=$QPERF_TEST_DATA/qemu-traces
sql() { "$qperf" trace sql --events "$data/trace-events-all" "$@"; }
column() { tail -n +2 | sed -E 's/^ +//; s/ +/ /g'; }  # rows without the heading, one blank between values
small=$data/x86_64-linux-virtioblk.trace
[[ $(sql "$small" 'SELECT count(*) FROM virtqueue_pop' | column) == 148 ]] || fail "pops"
[[ $(sql "$small" 'SELECT sector, nsectors FROM virtio_blk_handle_write ORDER BY ts_ns' | column | paste -sd,) == "4096 512,4160 256" ]] || fail "writes"
[[ $(sql "$data/x86_64-linux-virtioblk.log" 'SELECT count(DISTINCT tid) > 1, count(*), count(pid) FROM virtqueue_fill' | column) =~ ^[01]\ 148\ 0$ ]] || fail "log"
[[ $(sql "$small" "SELECT new_state_str FROM runstate_set" | column | paste -sd,) == running,shutdown ]] || fail "strings"
sql "$small" .schema >"$work/schema"
grep -q 'CREATE TABLE "virtqueue_pop"(ts_ns INTEGER, pid INTEGER, tid INTEGER, "vq" INTEGER, "elem" INTEGER, "in_num" INTEGER, "out_num" INTEGER)' "$work/schema" ||
  fail "schema: $(cat "$work/schema")"
status=0; sql "$data/riscv64-dropped.trace" 'SELECT sum(events) FROM lost' >"$work/lost" 2>/dev/null || status=$?
[[ $status == 3 && $(column <"$work/lost") == 58709 ]] || fail "lost: $status $(cat "$work/lost")"
for bad in 'SELECT nonsense' 'DROP TABLE lost' 'SELECT 1; SELECT 2' ''; do
  status=0; sql "$small" "$bad" >"$work/out" 2>&1 || status=$?
  [[ $status == 2 ]] || fail "'$bad': exit code $status, expected 2: $(cat "$work/out")"
done
"$qperf" trace export --events "$data/trace-events-all" "$small" "$work/out.sqlite" || fail "export"
status=0; "$qperf" trace export --events "$data/trace-events-all" "$small" "$work/out.sqlite" 2>/dev/null || status=$?
[[ $status == 2 ]] || fail "export over an existing file: $status"
if command -v sqlite3 >/dev/null; then
  [[ $(sqlite3 "$work/out.sqlite" 'SELECT count(*) FROM virtqueue_fill') == 148 ]] || fail "sqlite3 reads the export differently"
fi
finish

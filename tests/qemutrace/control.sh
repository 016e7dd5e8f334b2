#!/bin/bash
# `qperf trace control` on a running QEMU: what it says and switches is what QEMU then has.
test_name=trace_control
source "$QPERF_SOURCE/tests/shell/common.sh"
qperf=$QPERF_BUILD/bin/qperf
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
socket=$work/qmp
qemu-system-x86_64 -M none -display none -serial none -monitor none -net none -S -qmp "unix:$socket,server=on,wait=off" -D "$work/log" &
qemu=$!
trap 'kill $qemu 2>/dev/null || true' EXIT
for _ in $(seq 300); do [[ -S $socket ]] && break; sleep 0.1; done
[[ -S $socket ]] || { fail "QEMU made no socket"; finish; }
control() { "$qperf" trace control --qmp "$socket" "$@"; }
expect() {  # CODE PATTERN arguments...
  local code=$1 pattern=$2 status=0
  shift 2
  control "$@" >"$work/out" 2>&1 || status=$?
  ((status == code)) || fail "control $*: exit code $status, expected $code"
  grep -qE -- "$pattern" "$work/out" || fail "control $*: no '$pattern' in $(cat "$work/out")"
}
expect 0 '^virtio_blk_req_complete +disabled$' list 'virtio_blk_req_complete'
expect 0 '^[0-9]+ events on$' on 'virtio_blk_*'
expect 0 '^virtio_blk_req_complete +enabled$' list 'virtio_blk_*'
require "only those are on" "$(control list '*' | grep -c ' enabled$') == $(control list 'virtio_blk_*' | grep -c ' enabled$')"
expect 0 '^1 events off$' off virtio_blk_req_complete
expect 0 '^virtio_blk_req_complete +disabled$' list 'virtio_blk_req_complet?'
expect 2 "takes only names with a '\*' as patterns" on 'virtio_blk_req_complet?'
expect 1 'unknown event' on no_such_event
expect 1 'no event of this QEMU matches' on 'no_such_*'
expect 2 'expected list, on, off or file' nonsense
expect 2 'expected one event name' on
status=0; control file >"$work/out" 2>&1 || status=$?
# The distribution's QEMU has no simple back end; one that has it tells of its file.
grep -qE 'built without the simple back end|^Trace file "' "$work/out" || fail "control file: $status $(cat "$work/out")"
socket=$work/absent expect 1 'No such file' list
kill $qemu
wait $qemu || true
finish

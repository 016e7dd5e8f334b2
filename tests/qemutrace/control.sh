#!/bin/bash
# `qperf trace control` on a running QEMU: what it says and switches is what QEMU then has.
test_name=trace_control
source "$QPERF_SOURCE/tests/shell/common.sh"
qperf=$QPERF_BUILD/bin/qperf
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
socket=$work/qmp
qemu-system-x86_64 -M none -display none -serial none -monitor none -net none -S -qmp "unix:$socket,server=on,wait=off" \
  -chardev "socket,id=hmp,path=$work/hmp,server=on,wait=off" -mon chardev=hmp,mode=readline -D "$work/log" &
qemu=$!
trap 'kill $qemu 2>/dev/null || true' EXIT
for _ in $(seq 300); do [[ -S $socket ]] && break; sleep 0.1; done
[[ -S $socket ]] || { fail "QEMU made no socket"; finish; }
by=(--qmp "$socket")
control() { "$qperf" trace control "${by[@]}" "$@"; }
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
if command -v python3 >/dev/null; then
  control list 'virtio_blk_*' --json | python3 "$QPERF_SOURCE/tests/shell/json_fields.py" "$QPERF_SOURCE/docs/json.md" - || fail "its JSON is not what docs/json.md says"
fi
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
by=(--qmp "$work/absent")
expect 1 'No such file' list

# The monitor for people says the same, in its own words.
by=(--hmp "$work/hmp")
expect 0 '^virtio_blk_req_complete +disabled$' list 'virtio_blk_req_complete'
expect 0 '^virtio_blk_handle_write +enabled$' list 'virtio_blk_*'
expect 0 '^1 events on$' on virtio_blk_req_complete
expect 0 '^virtio_blk_req_complete +enabled$' list 'virtio_blk_req_complet?'
by=(--qmp "$socket")
expect 0 '^virtio_blk_req_complete +enabled$' list 'virtio_blk_req_complete'
by=(--hmp "$work/hmp")
expect 0 '^[0-9]+ events off$' off 'virtio_blk_*'
require "all are off again" "$(control list '*' | grep -c ' enabled$') == $(control list 'virtio_blk_*' | grep -c ' enabled$')"
expect 1 'no event of this QEMU matches|unknown event' on no_such_event
expect 2 "is no event's name" on 'two words*'
status=0; control file >"$work/out" 2>&1 || status=$?
grep -qE 'built without the simple back end|^Trace file "' "$work/out" || fail "control file over HMP: $status $(cat "$work/out")"
by=(--hmp "$socket")
expect 1 'speaks QMP' list
by=()
expect 2 'give one of --qmp SOCKET, --hmp SOCKET and --virsh DOMAIN' list
by=(--qmp "$socket" --hmp "$work/hmp")
expect 2 'give one of' list

# libvirt, played by a script that keeps the words it was run with and answers as libvirt does.
mkdir "$work/bin"
cat >"$work/bin/virsh" <<'END'
#!/bin/bash
printf '%s\n' "$#" "$@" >>"$VIRSH_WORDS"
[[ $2 == gone ]] && { echo "error: failed to get domain 'gone'" >&2; exit 1; }
case $3 in
  *get-state*) echo '{"return":[{"vcpu":false,"name":"virtio_notify","state":"disabled"}],"id":"libvirt-411"}' ;;
  *set-state*) echo '{"return":{},"id":"libvirt-412"}' ;;
  *human-monitor*) echo '{"return":"unknown command: '"'trace-file'"'\r\n","id":"libvirt-413"}' ;;
esac
END
chmod +x "$work/bin/virsh"
export VIRSH_WORDS=$work/words
PATH=$work/bin:$PATH
by=(--virsh 'my guest')
expect 0 '^virtio_notify +disabled$' list
grep -q tainted "$work/out" && fail "listing changes nothing, and yet there is a caution"
: >"$VIRSH_WORDS"
expect 0 '^1 events on$' on virtio_notify
grep -q "behind libvirt's back" "$work/out" || fail "no caution: $(cat "$work/out")"
diff - "$VIRSH_WORDS" <<'END' || fail "virsh was run with other words"
3
qemu-monitor-command
my guest
{"execute": "trace-event-get-state", "arguments": {"name": "virtio_notify"}}
3
qemu-monitor-command
my guest
{"execute": "trace-event-set-state", "arguments": {"name": "virtio_notify", "enable": true, "ignore-unavailable": true}}
END
expect 1 'built without the simple back end' file
by=(--virsh gone)
expect 1 "failed to get domain 'gone'" list
by=(--virsh=--all)
expect 2 "virsh" list
kill $qemu
wait $qemu || true
finish

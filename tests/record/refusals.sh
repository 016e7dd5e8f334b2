#!/bin/bash
# What `qperf record` says before it runs anything, which exit code it ends with, and what it hands to QEMU. QEMU is played by fake_qemu.
test_name=record_refusals
source "$QPERF_SOURCE/tests/shell/common.sh"
qperf=$QPERF_BUILD/bin/qperf
qemu=$work/qemu-system-riscv64
cp "$QPERF_SOURCE/tests/record/fake_qemu" "$qemu"
: >"$work/plugin.so"
export FAKE_ARGUMENTS=$work/arguments
cd "$work"

# expect CODE PATTERN record's arguments...
expect() {
  local code=$1 pattern=$2 status=0
  shift 2
  rm -f "$FAKE_ARGUMENTS"
  "$qperf" record --plugin "$work/plugin.so" "$@" >out 2>err </dev/null || status=$?
  ((status == code)) || fail "record $*: exit code $status, expected $code: $(cat err)"
  grep -qE -- "$pattern" err || fail "record $*: no '$pattern' in: $(cat err)"
}
not_run() { [[ ! -e $FAKE_ARGUMENTS ]] || fail "QEMU was run in spite of it: $*"; }
has_argument() { grep -qxF -- "$1" "$FAKE_ARGUMENTS" || fail "QEMU did not get '$1' but: $(tr '\n' ' ' <"$FAKE_ARGUMENTS")"; }

expect 1 'qemu-system-riscv65.*there is no such program in PATH; QEMU 9.2 or newer is needed.*bookworm-backports' -- qemu-system-riscv65
FAKE_VERSION=7.2.17 expect 1 'QEMU 7.2.17 is too old, 9.2 or newer is needed: .*bookworm-backports qemu-system-misc' -- "$qemu"
not_run "too old"
FAKE_VERSION=9.1.3 expect 1 'QEMU 9.1.3 is too old' -- "$qemu"
FAKE_PLUGIN='qemu: -plugin x: invalid option' expect 1 'built without plugin support: .*--enable-plugins' -- "$qemu"
not_run "no plugin support"
FAKE_PLUGIN='qemu: plugin interface not enabled in this build' expect 1 'built without plugin support' -- "$qemu"
FAKE_PLUGIN='TCG plugin requires API version 4, but this QEMU supports only a minimum version of 9' expect 1 'cannot load .*API version 4' -- "$qemu"
FAKE_PLUGIN='qperf: freq=0: at least 1' expect 2 'freq=0: at least 1' --freq 0 -- "$qemu"
not_run "a bad argument of the plugin"
for accelerator in '-enable-kvm' '-accel kvm' '-machine q35,accel=kvm' '-M accel=kvm:tcg' '-accel hvf'; do
  expect 2 "runs the guest on the host's CPU.*-accel tcg" -- "$qemu" $accelerator
  not_run "$accelerator"
done
ln -s "$qemu" kvm
expect 2 "runs the guest on the host's CPU" -- ./kvm
expect 2 'daemonize' -- "$qemu" -daemonize
expect 2 'already' -- "$qemu" -plugin /usr/lib/libqperf.so,freq=9
expect 2 "is no QEMU system emulator" -- /bin/echo hello
expect 2 "start-on.*no regular expression" --start-on '(' -- "$qemu"
expect 2 "duration -1: seconds from 0" --duration=-1 -- "$qemu"
expect 2 'is no ELF file' -e "$qemu" -- "$qemu"
expect 2 'trace.*there is none: give -e' --trace -- "$qemu"
expect 2 'expected NAME=VALUE' --plugin-argument nonsense -- "$qemu"
expect 2 'record sets it itself' --plugin-argument out=x -- "$qemu"
expect 2 'QEMU is required' -o x

# The guest may end as it likes: the exit code is QEMU's.
FAKE_RUN='exit 7' expect 7 'give the kernel.s ELF with -e' -- "$qemu" -nographic
has_argument -nographic
FAKE_RUN='kill -TERM $$; sleep 9' expect 143 '' -- "$qemu"
expect 1 'No such file' -o missing.bin -- "$qemu"

# An earlier capture that the run never touched is not shown as its own.
echo earlier >earlier.bin
FAKE_RUN='exit 1' expect 1 'QEMU ended before the guest ran: nothing was recorded, earlier.bin is as it was' -o earlier.bin -- "$qemu"
expect 1 'nothing was recorded, earlier.bin is as it was' -q -o earlier.bin -- "$qemu"
FAKE_RUN='echo new >earlier.bin' expect 1 'earlier.bin: .*no .*capture' -o earlier.bin -- "$qemu"

# A real one, too, has neither its summary nor hints shown, and is not written into.
cp "$QPERF_SOURCE/tests/compat/v5.qperf" older.bin
for quiet in '' -q; do
  expect 1 'nothing was recorded, older.bin is as it was' $quiet -o older.bin -- "$qemu" -M help
  FAKE_RUN='exit 7' expect 7 'nothing was recorded' $quiet -o older.bin -- "$qemu"
  expect 1 'nothing was recorded' $quiet --start-on never -o older.bin -- "$qemu"
done
! grep -q 'next:\|start-on' err || fail "a run without a capture has hints: $(cat err)"
cmp older.bin "$QPERF_SOURCE/tests/compat/v5.qperf" || fail "the older capture was changed"

# What goes in is not written over.
printf '\x7fELF' >kernel.elf
ln -s kernel.elf link.elf
expect 2 'kernel.elf: is an input and would be overwritten' -e link.elf -o kernel.elf -- "$qemu"
expect 2 'kernel.elf: is an input and would be overwritten' -o "$work/kernel.elf" -- "$qemu" -kernel kernel.elf
not_run "the capture would lie over the kernel"

# Commas in names are doubled for QEMU's parser.
expect 1 '' -o 'a,b.bin' --freq 100 --plugin-argument 'max_frames=9' -- "$qemu"
has_argument "$work/plugin.so,freq=100,max_frames=9,out=$work/a,,b.bin"
expect 1 '' -o x.bin --mode icount --period 5000 --jitter 20 -- "$qemu"
grep -qE '^.*plugin.so,.*mode=icount.*period=5000.*jitter=20' "$FAKE_ARGUMENTS" || fail "QEMU did not get mode, period and jitter but: $(tr '\n' ' ' <"$FAKE_ARGUMENTS")"

# A console that is looked at comes through byte for byte, also when its reader is slow.
head -c 3000000 /dev/urandom >bytes
FAKE_RUN='cat bytes; exit 5' "$qperf" record -q --plugin plugin.so --start-on 'never' -- "$qemu" 2>err | { sleep 1; cat; } >seen || true
cmp bytes seen || fail "the console's bytes were changed"
grep -q "no line of the guest's console matched --start-on 'never'" err || fail "says nothing of the missing line: $(cat err)"

# Told to end, qperf tells QEMU; one that does not stop is killed after five seconds, and that is said.
ended_after() {  # CODE PATTERN how the run answers SIGTERM
  local status=0 child
  rm -f ready
  FAKE_RUN="trap '$3' TERM; touch ready; while :; do sleep 0.1; done" "$qperf" record --plugin "$work/plugin.so" -- "$qemu" >out 2>err </dev/null &
  child=$!
  for _ in $(seq 600); do [[ -e ready ]] && break; sleep 0.1; done
  kill -TERM $child
  wait $child || status=$?
  ((status == $1)) || fail "'$3' ended with $status, expected $1: $(cat err)"
  grep -qE -- "$2" err || fail "'$3': no '$2' in: $(cat err)"
}
ended_after 137 'did not stop when it was asked to and was killed' ''
ended_after 3 '' 'exit 3'
finish

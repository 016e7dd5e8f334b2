#!/bin/bash
# The completion script in a real bash: what it offers for a line is what the program takes there.
test_name=man_bash
source "$QPERF_SOURCE/tests/shell/common.sh"
PATH=$QPERF_BUILD/bin:$PATH
script=$work/qperf
qperf completion bash >"$script"
cmp "$script" "$QPERF_BUILD/share/completions/qperf" || fail "the installed script is another one"
touch "$work/capture.bin"

# offers WORD... : what the function offers for the last word, sorted, on one line.
offers() {
  (cd "$work" && bash --norc --noprofile -c '
    source ./qperf
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _qperf
    printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | tr '\n' ' ')
}
expect() {  # EXPECTED WORD...
  local expected=$1 seen
  shift
  seen=$(offers "$@")
  [[ $seen == "$expected " ]] && echo "ok: '$*' offers $expected" || fail "'$*' offers '$seen', expected '$expected'"
}
bash --norc --noprofile -c "source '$script'; complete -p qperf" | grep -qF -- "-F _qperf qperf" || fail "complete -p does not know qperf"
expect "record" qperf rec
expect "trace" qperf tra
expect "--help --version -h" qperf -
expect "leaks locks" qperf trace l
expect "all detect enabled" qperf trace print --ids ""
expect "exact" qperf record --mode e
expect "icount" qperf record --mode = i
expect "--start-on --stop-on" qperf record --st
expect "" qperf record --output cap
expect "--once" qperf top --on
[[ $(offers qperf record -o x -- ba) == *bash* ]] || fail "after -- programs are offered"
expect "" qperf record -- qemu-system-riscv64 -
expect "zsh" qperf completion z
for words in $(qperf --help | sed -nE '/ommands:$/,/^$/s/^  ([a-z]+) .*/\1/p'); do expect "$words" qperf "$words"; done
# Of every command and every job of `qperf trace`, all flags.
commands=$(qperf completion bash | sed -nE "s/^ +'[a-z ]*:[a-z-]+'\) command='([a-z -]+)' ;;/\1/p")
(($(wc -l <<<"$commands") > 20)) || fail "only these commands were found: $commands"
while read -r words; do
  flags=$(qperf $words --help | sed '/^Examples:/,$d' | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u | tr '\n' ' ')
  expect "${flags% }" qperf $words --
done <<<"$commands"
finish

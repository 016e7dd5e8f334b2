#!/bin/bash
# Every command has a page, every flag of its --help is in it, and neither mandoc nor man has a complaint.
test_name=man_pages
source "$QPERF_SOURCE/tests/shell/common.sh"
qperf=$QPERF_BUILD/bin/qperf
pages=$QPERF_BUILD/share/man/man1
[[ -e $pages/qperf.1 ]] || { fail "no $pages/qperf.1: is the target man built?"; finish; }

# plain FILE: a page as people read it, without overstrikes.
plain() { if command -v mandoc >/dev/null; then mandoc -T utf8 -O width=500 "$1"; else MANWIDTH=500 man -l "$1"; fi | sed 's/.\x08//g; s/‐/-/g; s/−/-/g'; }
command -v mandoc >/dev/null || command -v man >/dev/null || skip "neither mandoc nor man is there"

check_page() {  # page, command...
  local page=$pages/$1.1 flags missing=""
  shift
  [[ -e $page ]] || { fail "no page $page for: $*"; return; }
  plain "$page" >"$work/text"
  flags=$("${@:1}" --help | sed -n '/^Examples:/q;p' | grep -oE '(^ +|, ?)--?[a-zA-Z][a-zA-Z-]*' | tr -d ' ,' | sort -u)
  [[ -n $flags ]] || fail "$*: no flags found in its --help: this test looks in the wrong place"
  for flag in $flags; do grep -qE -- "(^|[ ,])$flag([ ,]|\$)" "$work/text" || missing+=" $flag"; done
  [[ -z $missing ]] && echo "ok: $(wc -w <<<"$flags") flags of $* are in the page" || fail "$page lacks$missing"
}
# The commands are those that completion knows, which is made from the same description.
commands=$("$qperf" completion bash | sed -nE "s/^ +'[a-z ]*:[a-z-]+'\) command='([a-z -]+)' ;;/\1/p")
(($(wc -l <<<"$commands") > 10)) || fail "only these commands were found: $commands"
check_page qperf "$qperf"
while read -r words; do check_page "qperf-${words// /-}" "$qperf" $words; done <<<"$commands"
check_page qperf-analyzer "$QPERF_BUILD/bin/qperf-analyzer"

(($(ls "$pages"/*.1 | wc -l) == $(wc -l <<<"$commands") + 2)) || fail "pages without a command: $(ls "$pages")"
if command -v mandoc >/dev/null; then
  mandoc -T lint -W warning "$pages"/*.1 >"$work/lint" 2>&1 || true
  [[ ! -s $work/lint ]] && echo "ok: mandoc has no complaint" || fail "mandoc: $(cat "$work/lint")"
fi
if command -v man >/dev/null && man --version 2>/dev/null | grep -q '^man 2'; then
  for page in "$pages"/*.1; do LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings -l "$page" >/dev/null 2>>"$work/warnings"; done
  [[ ! -s $work/warnings ]] && echo "ok: man has no complaint" || fail "man: $(cat "$work/warnings")"
fi
finish

#!/bin/bash
# README.md and README.zh.md say the same things: as many headings of each level, the same command blocks, the same argument rows;
# and every file they link to exists.
set -euo pipefail
cd "$QPERF_SOURCE"
status=0
compare() {  # what, filter
  if ! diff <($2 README.md) <($2 README.zh.md) >/dev/null; then
    echo "the READMEs differ in their $1:"; diff <($2 README.md) <($2 README.zh.md) || true; status=1
  fi
}
headings() { grep -oE '^#+' "$1"; }
commands() { awk '/^```/ { inside = !inside; print; next } inside' "$1"; }
arguments() { sed -nE 's/^\| (`[^`]*`) \| ([^|]*)\|.*/\1/p' "$1"; }
links() { grep -oE '\]\([^)]*\)' "$1" | sort | grep -v README; }
compare headings headings
compare commands commands
compare arguments arguments
compare links links
[[ $(commands README.md | wc -l) -gt 10 ]] || { echo "no commands found: this test looks in the wrong place"; status=1; }
for target in $(grep -ohE '\]\([^)h][^)]*\)' README.md README.zh.md | tr -d '])('); do
  [[ -e $target ]] || { echo "README links to $target, which does not exist"; status=1; }
done
exit "$status"

#!/bin/bash
# Every #include "folder/..." under src/ is allowed by cmake/layers.txt, and folders whose includes are fenced stay so.
set -euo pipefail
cd "$QPERF_SOURCE/src"
status=0
complain() { echo "$*"; status=1; }

declare -A allowed
while IFS=: read -r folder rest; do
  [[ $folder == \#* || -z $folder ]] && continue
  allowed[$folder]=" $folder $rest "
done <../cmake/layers.txt

edges=0
while IFS=: read -r file line; do
  from=${file#./}; from=${from%%/*}
  to=$(sed -E 's/.*#include "([a-z_]+)\/.*/\1/' <<<"$line")
  edges=$((edges + 1))
  [[ -n ${allowed[$from]:-} ]] || { complain "$file: folder '$from' has no row in cmake/layers.txt"; continue; }
  [[ ${allowed[$from]} == *" $to "* ]] || complain "$file: $from may not include $to (cmake/layers.txt)"
done < <(grep -rE '#include "[a-z_]+/' --include='*.h' --include='*.cpp' . | sed -E 's/:#/:#/')
((edges > 20)) || complain "only $edges includes found: this test looks in the wrong place"

# Foreign libraries with one home each.
fence() {  # header pattern, folder
  local hits
  hits=$(grep -rlE "#include <($1)" --include='*.h' --include='*.cpp' . | grep -v "^./$2/" || true)
  [[ -z $hits ]] || complain "only $2/ may include <$1>: $hits"
}
fence 'elfutils/|libelf|gelf|dwarf\.h|libiberty|demangle' symbols
fence 'glib' plugin
fence 'CLI/' tools
fence 'xxhash' base
fence 'zstd' capture
# <fmt/core.h> is what others include: src/base/formatting.cpp says why.
fence 'fmt/format' base
exit "$status"

#!/bin/bash
# Keys of hash tables come from guests and files: no table takes their low bits, or a mix that can be worked out without the secret of
# base/keyed_hash.h. A struct named ...Hash is made of keyed_hash().
set -euo pipefail
cd "$QPERF_SOURCE/src"
status=0
complain() { echo "$1: use KeyedHash of base/keyed_hash.h"; status=1; }
if git grep -nE 'tsl::robin_(map|set)<' -- . | grep -vE 'Hash[,>]'; then complain "the lines above name no hash"; fi
# types.h lets GuestVa be a key of the standard's tables, whose buckets are a prime number.
if git grep -nE 'std::hash<' -- . ':!base/types.h'; then complain "the lines above hash without a secret"; fi
# The body of each definition within three lines.
if ! git grep -nE -A3 'operator\(\)\([^)]*\) const noexcept( \{|$)' -- . ':!base/' | awk '
       /size_t .*operator\(\)/ { wanted = $0 }
       /keyed_hash|KeyedHash/ { wanted = "" }
       /^--$/ { if (wanted != "") { print wanted; bad = 1 } wanted = "" }
       END { if (wanted != "") { print wanted; bad = 1 } exit bad }'; then complain "the hashes above are made of something else"; fi
exit "$status"

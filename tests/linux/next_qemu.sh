#!/bin/bash
# profile.sh's checks under the newer QEMU of the cache.
source_cache=${QPERF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qperf}
[[ -x $source_cache/qemu-next/bin/qemu-system-riscv64 ]] || { echo "skipped: no newer QEMU in $source_cache/qemu-next"; exit 77; }
export QEMU_DIR=$source_cache/qemu-next/bin
exec "$QPERF_SOURCE/tests/linux/profile.sh" "$@"

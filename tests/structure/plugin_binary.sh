#!/bin/bash
# libqperf.so exports the two symbols that QEMU looks for and nothing else, and links neither libdw nor libelf.
set -euo pipefail
plugin=$QPERF_BUILD/lib/libqperf.so
[[ -e $plugin ]] || { echo "no $plugin"; exit 1; }
exported=$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | sed 's/@.*//' | grep -v '^QPERF_' | sort | tr '\n' ' ')
[[ $exported == "qemu_plugin_install qemu_plugin_version " ]] || { echo "exports: $exported"; exit 1; }
needed=$(readelf -d "$plugin" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
echo "$needed"
if grep -E 'libdw|libelf' <<<"$needed"; then echo "the plugin must not link these"; exit 1; fi

#!/bin/bash
# fetch.sh ARCH: a stock Debian kernel with debug information into the cache, once; needs the debian-kernel tool and a network.
test_name=linux.fetch_$1
source "$QPERF_SOURCE/tests/shell/common.sh"
arch=$1
complete() { [[ -e $cache/kernels/$arch/vmlinux && -e $cache/kernels/$arch/vmlinuz && -e $cache/kernels/$arch/initrd.gz ]]; }
complete && { echo "have $cache/kernels/$arch"; exit 0; }
tool=${QPERF_TEST_TOOLS:+$QPERF_TEST_TOOLS/debian-kernel}
[[ -n $tool && -r $tool ]] || skip "no $cache/kernels/$arch and no debian-kernel tool (QPERF_TEST_TOOLS)"
mkdir -p "$cache/kernels"
bash "$tool" "$arch" "$cache/kernels" --debug >"$work/log" 2>&1 || { tail -n 5 "$work/log"; skip "the $arch kernel could not be fetched"; }
complete || { tail -n 5 "$work/log"; fail "debian-kernel succeeded but left no kernel"; }
finish

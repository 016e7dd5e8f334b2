# Sourced: boot_linux ARCH PLUGIN_ARGUMENTS [QEMU OPTION...]: boots the Debian kernel of ARCH (Debian's name) with its workload
# under the plugin, capture in $capture, guest output in $work/console. QEMU_DIR names another QEMU than the installed one.
boot_linux() {
  local arch=$1 arguments=$2 kernel_dir=$cache/kernels/$1 qemu append machine image=vmlinuz
  shift 2
  case $arch in
    arm64) qemu=aarch64 machine="-M virt -cpu cortex-a57 -m 1G" append="console=ttyAMA0 quiet" ;;
    riscv64) qemu=riscv64 machine="-M virt -m 1G" append="console=ttyS0 quiet" ;;
    # The ELF: QEMU 10.0 cannot unpack the zstd image.
    loong64) qemu=loongarch64 machine="-M virt -cpu la464 -m 2G" append="console=ttyS0 initcall_blacklist=i8042_init" image=vmlinux ;;
    amd64) qemu=x86_64 machine="-M q35 -cpu max -m 1G" append="console=ttyS0 quiet" ;;
  esac
  [[ -e $kernel_dir/vmlinux ]] || skip "no Debian kernel for $arch in $cache/kernels"
  [[ -e $plugin ]] || { fail "no $plugin"; finish; }
  vmlinux=$kernel_dir/vmlinux
  capture=$work/capture.bin
  # shellcheck disable=SC2086 # the machine options are words
  timeout --signal=INT --kill-after=20s 400s "${QEMU_DIR:+$QEMU_DIR/}qemu-system-$qemu" $machine "$@" -nographic -no-reboot \
    -kernel "$kernel_dir/$image" -initrd "$kernel_dir/initrd.gz" -append "$append" \
    -plugin "$plugin,out=$capture,elf=$vmlinux,$arguments" </dev/null >"$work/console" 2>"$work/qemu.stderr" ||
    fail "QEMU exited $?: $(tail -n 3 "$work/qemu.stderr")"
  grep -q GUEST_DONE "$work/console" || fail "the guest did not finish its workload: $(tail -n 3 "$work/console")"
  grep -q 'QPerf capture complete' "$work/qemu.stderr" || fail "no closing line: $(tail -n 3 "$work/qemu.stderr")"
}

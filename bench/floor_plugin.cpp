// The floor that the profiler's cost is measured against: a plugin that does nothing but add a kernel block's instruction count
// to a per-vCPU word, inline. design=check has the comparison that an alarm needs beside it, never met: what any sampler of this
// kind pays before it takes a sample; design=empty adds nothing at all: what QEMU itself pays for any plugin. For QEMU 9.2 and
// 10.x; bench/overhead.sh runs it.
#include <string_view>

#include "plugin/qemu_api.h"

extern "C" {
using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t id, qemu_plugin_tb* tb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t callback);
}

namespace {

constexpr uint64_t kKernelFirst = uint64_t{1} << 63;
constexpr size_t kElementBytes = 64;

qemu_plugin_scoreboard* g_score = nullptr;
bool g_checks = false;
bool g_empty = false;

void never_met(unsigned, void*) {}

void on_translated(qemu_plugin_id_t, qemu_plugin_tb* tb) {
  if (g_empty) return;
  const qemu_plugin_u64 due{g_score, 8};
  if (qemu_plugin_tb_vaddr(tb) >= kKernelFirst)
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, {g_score, 0},
                                                      qemu_plugin_tb_n_insns(tb));
  if (g_checks)
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, never_met, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE, due, 0, nullptr);
}

}  // namespace

int qemu_plugin_version = 4;

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    g_checks |= std::string_view(argv[i]) == "design=check";
    g_empty |= std::string_view(argv[i]) == "design=empty";
  }
  g_score = qemu_plugin_scoreboard_new(kElementBytes);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  return 0;
}

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "capture/limits.h"
#include "plugin/host.h"
#include "plugin/qemu_api.h"
#include "plugin/qemu_cpu.h"
#include "plugin/scoreboard.h"
#include "sampling/command_line.h"
#include "sampling/session.h"

namespace qperf::plugin {
namespace {

using sampling::report;

/// Everything the callbacks need. Never destroyed: vCPU threads may still run when the process's destructors do.
struct Plugin {
  std::unique_ptr<Scoreboard> scoreboard;
  std::unique_ptr<QemuCpu[]> cpus;  // by vCPU index
  std::unique_ptr<sampling::Session> session;
  sampling::Sampler* sampler = nullptr;  // session's, without the way through it
  std::atomic<bool> any_vcpu_online{false};
};

Plugin* g_plugin = nullptr;  // the plugin's one session

/// False for a vCPU that is left out. Code is shared by all vCPUs, so its blocks are instrumented like the others'.
bool is_recorded(unsigned vcpu) noexcept {
  return vcpu < g_plugin->sampler->max_vcpus() && g_plugin->cpus[vcpu].is_known();
}

void on_kernel_alarm(unsigned vcpu, void* block) noexcept {
  if (!is_recorded(vcpu)) {
    g_plugin->scoreboard->words(VcpuIndex{vcpu}).insns = 0;  // icount: or each of its blocks would call from now on
    return;
  }
  g_plugin->sampler->kernel_alarm(VcpuIndex{vcpu}, static_cast<const sampling::Block*>(block), g_plugin->cpus[vcpu]);
}

void on_outside_alarm(unsigned vcpu, void* pc) noexcept {
  if (!is_recorded(vcpu)) return;
  g_plugin->sampler->outside_alarm(VcpuIndex{vcpu}, GuestVa{reinterpret_cast<uintptr_t>(pc)}, g_plugin->cpus[vcpu]);
}

void on_shared_kernel_block(unsigned, void* block) noexcept {
  g_plugin->sampler->shared_kernel_block(*static_cast<const sampling::Block*>(block), g_plugin->cpus[0]);
}

void on_shared_outside_block(unsigned, void* pc) noexcept {
  g_plugin->sampler->shared_outside_block(GuestVa{reinterpret_cast<uintptr_t>(pc)}, g_plugin->cpus[0]);
}

void on_trace_marker(unsigned vcpu, void* block) noexcept {
  // Code that vCPUs share was translated for one of them: as for samples, all count as the first then.
  const unsigned whose = g_plugin->sampler->vcpus_share_code() ? 0 : vcpu;
  if (!is_recorded(whose)) return;
  g_plugin->sampler->trace_marker(VcpuIndex{whose}, static_cast<const sampling::Block*>(block), g_plugin->cpus[whose]);
}

/// Hooks the marker's first instruction, in the blocks that hold it; all other code stays as it is.
void instrument_marker(qemu_plugin_tb* tb, GuestVa pc) noexcept {
  if (!g_plugin->sampler->tracer().active()) return;
  const size_t insns = qemu_plugin_tb_n_insns(tb);
  const GuestVa marker = *g_plugin->sampler->options().trace_address;
  constexpr uint64_t kMostInsnBytes = 16;
  if (marker < pc || marker.raw - pc.raw >= insns * kMostInsnBytes) return;
  for (size_t i = 0; i < insns; ++i) {
    qemu_plugin_insn* const insn = qemu_plugin_tb_get_insn(tb, i);
    if (qemu_plugin_insn_vaddr(insn) != marker.raw) continue;
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_trace_marker, QEMU_PLUGIN_CB_R_REGS,
                                           g_plugin->sampler->block_translated(pc, static_cast<uint32_t>(insns)));
    return;
  }
}

void offer_text(sampling::Block& block, const qemu_plugin_tb* tb, size_t insns) noexcept {
  if (!g_plugin->sampler->wants_text()) return;
  std::array<std::byte, sampling::FingerprintQueue::kMaxBytes> bytes;
  size_t size_bytes = 0;
  for (size_t i = 0; i < insns && size_bytes < bytes.size(); ++i)
    size_bytes +=
        qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i), bytes.data() + size_bytes, bytes.size() - size_bytes);
  g_plugin->sampler->offer_text(block, std::span(bytes).first(size_bytes));
}

void instrument_kernel(qemu_plugin_tb* tb, GuestVa pc) noexcept {
  const size_t insns = qemu_plugin_tb_n_insns(tb);
  const Scoreboard& scoreboard = *g_plugin->scoreboard;
  sampling::Block* const block = g_plugin->sampler->block_translated(pc, static_cast<uint32_t>(insns));
  if (block != nullptr) offer_text(*block, tb, insns);
  if (g_plugin->sampler->vcpus_share_code()) {
    if (block != nullptr) qemu_plugin_register_vcpu_tb_exec_cb(tb, on_shared_kernel_block, QEMU_PLUGIN_CB_R_REGS, block);
    return;
  }
  // Callbacks and inline operations run in the order they are registered here.
  switch (g_plugin->sampler->options().mode) {
    case guest::Mode::kExact:
      if (block != nullptr)
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
            tb, QEMU_PLUGIN_INLINE_ADD_U64, scoreboard.executions_of(g_plugin->sampler->blocks().index_of(*block)), 1);
      return;
    case guest::Mode::kIcount:
      qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, scoreboard.insns(), insns);
      qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_kernel_alarm, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_GE,
                                                scoreboard.insns(), g_plugin->sampler->alarm_insns(), block);
      return;
    case guest::Mode::kWall:
      qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, scoreboard.insns(), insns);
      qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_kernel_alarm, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE,
                                                scoreboard.due(), 0, block);
      return;
  }
}

/// False if the capture cannot be written. Nothing of the guest has run then, so nothing is lost by ending here.
bool begin_recording() noexcept {
  const auto begun = g_plugin->session->begin();
  if (begun) return true;
  g_plugin->session->abandon(begun.error().message);
  static std::atomic<bool> ending{false};  // several vCPUs may come at once
  if (!ending.exchange(true)) std::exit(1);
  return false;
}

void on_translated(qemu_plugin_tb* tb) {
  if (g_plugin->session->abandoned() || !begin_recording()) return;
  const GuestVa pc{qemu_plugin_tb_vaddr(tb)};
  if (g_plugin->sampler->options().kernel_range.contains(pc)) {
    instrument_kernel(tb, pc);
    instrument_marker(tb, pc);  // after the block's own, so that its instructions are counted
  } else if (g_plugin->sampler->options().mode != guest::Mode::kWall) {
    return;
  } else if (g_plugin->sampler->vcpus_share_code()) {
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_shared_outside_block, QEMU_PLUGIN_CB_R_REGS, reinterpret_cast<void*>(pc.raw));
  } else {
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_outside_alarm, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE,
                                              g_plugin->scoreboard->due(), 0, reinterpret_cast<void*>(pc.raw));
  }
}

void on_vcpu_init(unsigned vcpu) {
  const auto& target = guest::info(g_plugin->sampler->target());
  if (vcpu >= g_plugin->sampler->max_vcpus()) {
    g_plugin->session->leave_out(fmt::format("vCPU {} is beyond the announced maximum of {}", vcpu,
                                             g_plugin->sampler->max_vcpus()));
    return;
  }
  if (const auto missing = g_plugin->cpus[vcpu].find_registers(
          target, g_plugin->sampler->tracer().active() ? QemuCpu::Arguments::kYes : QemuCpu::Arguments::kNo)) {
    std::string why = fmt::format("vCPU {} has no register \"{}\": it is no 64-bit {} CPU that can be profiled", vcpu,
                                  *missing, target.name);
    // Only now can the registers be seen. Before the first vCPU has run nothing of the guest is lost by ending here, and a run
    // that was started to be profiled must not go on unprofiled; a CPU of another kind beside the first is merely left out.
    if (!g_plugin->any_vcpu_online.load(std::memory_order_relaxed)) {
      if (target.target == guest::Target::kAarch64)
        why += "; qemu-system-aarch64 starts a 32-bit CPU unless told otherwise: give -cpu cortex-a57 or -cpu max";
      g_plugin->session->abandon(why);
      std::exit(1);
    }
    g_plugin->session->leave_out(why);
    return;
  }
  g_plugin->any_vcpu_online.store(true, std::memory_order_relaxed);  // a lone flag: it orders nothing
  g_plugin->session->vcpu_online(VcpuIndex{vcpu}, gettid());
}

void on_vcpu_exit(unsigned vcpu) {
  if (is_recorded(vcpu)) g_plugin->session->vcpu_offline(VcpuIndex{vcpu});
}

void on_vcpu_idle(unsigned vcpu) {
  if (is_recorded(vcpu)) g_plugin->sampler->vcpu_idle(VcpuIndex{vcpu});
}
void on_vcpu_resume(unsigned vcpu) {
  if (is_recorded(vcpu)) g_plugin->sampler->vcpu_resume(VcpuIndex{vcpu});
}
void on_exit() { g_plugin->session->finish(); }

std::string supported_targets() {
  std::string names;
  for (const auto& target : guest::all_targets()) names += fmt::format("{}{}", names.empty() ? "" : ", ", target.name);
  return names;
}

Result<sampling::HostFacts> host_facts(const qemu_info_t& info, std::span<char* const> arguments) {
  const std::string_view name = info.target_name;
  const auto target = guest::target_by_name(name);
  if (!target)
    return Error{ErrorCode::kUnsupported,
                 fmt::format("target {} is not supported, only {} are", printable(name), supported_targets())};
  if (!info.system_emulation)
    return Error{ErrorCode::kUnsupported, "user-mode emulation is not supported: qperf profiles kernels in qemu-system-*"};
  if (info.system.max_vcpus < 1 || static_cast<uint32_t>(info.system.max_vcpus) > capture::kMaxVcpus)
    return Error{ErrorCode::kLimit, fmt::format("{} vCPUs are announced, at most {} are allowed", info.system.max_vcpus,
                                                capture::kMaxVcpus)};
  sampling::HostFacts facts{.target = *target,
                            .vcpus = static_cast<uint32_t>(info.system.smp_vcpus),
                            .max_vcpus = static_cast<uint32_t>(info.system.max_vcpus),
                            .plugin_api = static_cast<uint32_t>(info.version.cur),
                            .qemu_version = host_version(),
                            .plugin_arguments = {},
                            .one_thread = false,
                            .command_line = {}};
  for (const char* argument : arguments) facts.plugin_arguments += fmt::format("{}{}", facts.plugin_arguments.empty() ? "" : ",", argument);
  const auto command_line = sampling::read_command_line();
  facts.one_thread = sampling::asks_for_one_thread(command_line);
  facts.command_line = sampling::redacted_command_line(command_line);
  return facts;
}

Result<void> install(qemu_plugin_id_t id, const qemu_info_t& info, std::span<char* const> arguments) {
  QPERF_ASSIGN_OR_RETURN(const auto facts, host_facts(info, arguments));
  const std::vector<std::string_view> texts(arguments.begin(), arguments.end());
  QPERF_ASSIGN_OR_RETURN(const auto options, sampling::parse_options(texts, facts.target));
  if (options.help) return Error{ErrorCode::kUsage, sampling::option_help()};
  if (!options.warnings.empty()) report("qperf: " + options.warnings);

  auto plugin = std::make_unique<Plugin>();
  const bool exact = options.mode == guest::Mode::kExact;
  plugin->scoreboard =
      std::make_unique<Scoreboard>(exact ? Scoreboard::Content::kExecutions : Scoreboard::Content::kWords);
  plugin->cpus = std::make_unique<QemuCpu[]>(facts.max_vcpus);
  QPERF_ASSIGN_OR_RETURN(plugin->session, sampling::Session::create(options, facts, *plugin->scoreboard));
  plugin->sampler = &plugin->session->sampler();
  g_plugin = plugin.release();  // for good: see Plugin

  const bool halts = options.mode == guest::Mode::kWall || g_plugin->sampler->tracer().active();
  const Events events{.vcpu_init = on_vcpu_init,
                      .vcpu_exit = on_vcpu_exit,
                      .vcpu_idle = halts ? on_vcpu_idle : nullptr,
                      .vcpu_resume = halts ? on_vcpu_resume : nullptr,
                      .translated = on_translated,
                      .at_exit = on_exit};
  if (!listen(id, info.version.cur, events))
    return Error{ErrorCode::kUnsupported, "this QEMU lacks a function of the plugin interface"};
  g_plugin->session->start();
  return {};
}

}  // namespace
}  // namespace qperf::plugin

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  try {
    const auto result = qperf::plugin::install(id, *info, std::span(argv, static_cast<size_t>(argc)));
    if (result) return 0;
    qperf::sampling::report("qperf: " + result.error().message);
  } catch (const std::exception& error) {  // the standard library's: out of memory, no thread to be had
    qperf::sampling::report(std::string("qperf: ") + error.what());
  }
  return 1;
}

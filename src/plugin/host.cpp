#include "plugin/host.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace qperf::plugin {
namespace {

// API 4 to 6: callbacks get the plugin id first and no user data.
using VcpuCallback = void (*)(qemu_plugin_id_t, unsigned);
using TbCallback = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
// API 7: no id, user data last.
using SimpleCallback7 = void (*)(void*);
using VcpuCallback7 = void (*)(unsigned, void*);
using TbCallback7 = void (*)(qemu_plugin_tb*, void*);

Events g_events{};  // the plugin's one set of listeners; written once, before QEMU calls any of them
qemu_plugin_id_t g_id = 0;  // with g_events
int g_api = 0;

void vcpu_init(qemu_plugin_id_t, unsigned vcpu) { g_events.vcpu_init(vcpu); }
void vcpu_exit(qemu_plugin_id_t, unsigned vcpu) { g_events.vcpu_exit(vcpu); }
void vcpu_idle(qemu_plugin_id_t, unsigned vcpu) { g_events.vcpu_idle(vcpu); }
void vcpu_resume(qemu_plugin_id_t, unsigned vcpu) { g_events.vcpu_resume(vcpu); }
void translated(qemu_plugin_id_t, qemu_plugin_tb* tb) { g_events.translated(tb); }
void at_exit(qemu_plugin_id_t, void*) { g_events.at_exit(); }

void vcpu_init7(unsigned vcpu, void*) { g_events.vcpu_init(vcpu); }
void vcpu_exit7(unsigned vcpu, void*) { g_events.vcpu_exit(vcpu); }
void vcpu_idle7(unsigned vcpu, void*) { g_events.vcpu_idle(vcpu); }
void vcpu_resume7(unsigned vcpu, void*) { g_events.vcpu_resume(vcpu); }
void translated7(qemu_plugin_tb* tb, void*) { g_events.translated(tb); }
void at_exit7(void*) { g_events.at_exit(); }

template <typename Function>
Function lookup(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

/// Calls `qemu_plugin_register_<what>_cb(id, callback[, nullptr])`.
template <typename Callback>
bool listen_old(qemu_plugin_id_t id, const char* name, Callback callback) {
  const auto function = lookup<void (*)(qemu_plugin_id_t, Callback)>(name);
  if (function == nullptr) return false;
  function(id, callback);
  return true;
}

struct Work {
  void (*function)(void*);
  void* argument;
  bool done;
};
thread_local Work* t_work = nullptr;  // before API 7 this callback has no user data

/// Called for each vCPU: the first call does it.
void do_work() {
  if (!t_work->done) t_work->function(t_work->argument);
  t_work->done = true;
}
void each_vcpu(qemu_plugin_id_t, unsigned) { do_work(); }
void each_vcpu7(unsigned, void*) { do_work(); }

constexpr const char* kForEachVcpu = "qemu_plugin_vcpu_for_each";

template <typename Callback>
bool listen_with_userdata(qemu_plugin_id_t id, const char* name, Callback callback) {
  const auto function = lookup<void (*)(qemu_plugin_id_t, Callback, void*)>(name);
  if (function == nullptr) return false;
  function(id, callback, nullptr);
  return true;
}

constexpr std::string_view kVersionText = "QEMU emulator version ";

/// dl_iterate_phdr: looks for the version text in the read-only data of the main program, which is always listed first.
int find_version(dl_phdr_info* info, size_t, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_R | PF_W | PF_X)) != PF_R) continue;
    const std::string_view text(reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr), segment.p_filesz);
    const auto at = text.find(kVersionText);
    if (at == std::string_view::npos) continue;
    const auto rest = text.substr(at + kVersionText.size(), 64);
    *static_cast<std::string*>(result) = rest.substr(0, rest.find_first_of(std::string_view("\n\0", 2)));
    return 1;
  }
  return 1;  // only the main program
}

}  // namespace

std::string host_version() {
  std::string version;
  dl_iterate_phdr(find_version, &version);
  return version;
}

int host_api() {
  if (lookup<void*>("qemu_plugin_set_pc") == nullptr) return 4;
  // 6 and 7 export the same functions; 11.0 is the one release with 6.
  return host_version().starts_with("11.0.") ? 6 : 7;
}

bool listen(qemu_plugin_id_t id, int api, const Events& events) {
  g_events = events;
  g_id = id;
  g_api = api;
  bool ok = lookup<void*>(kForEachVcpu) != nullptr;
  if (api >= 7) {
    ok &= listen_with_userdata<VcpuCallback7>(id, "qemu_plugin_register_vcpu_init_cb", vcpu_init7);
    ok &= listen_with_userdata<VcpuCallback7>(id, "qemu_plugin_register_vcpu_exit_cb", vcpu_exit7);
    if (events.vcpu_idle != nullptr)
      ok &= listen_with_userdata<VcpuCallback7>(id, "qemu_plugin_register_vcpu_idle_cb", vcpu_idle7);
    if (events.vcpu_resume != nullptr)
      ok &= listen_with_userdata<VcpuCallback7>(id, "qemu_plugin_register_vcpu_resume_cb", vcpu_resume7);
    ok &= listen_with_userdata<TbCallback7>(id, "qemu_plugin_register_vcpu_tb_trans_cb", translated7);
    return ok && listen_with_userdata<SimpleCallback7>(id, "qemu_plugin_register_atexit_cb", at_exit7);
  }
  ok &= listen_old<VcpuCallback>(id, "qemu_plugin_register_vcpu_init_cb", vcpu_init);
  ok &= listen_old<VcpuCallback>(id, "qemu_plugin_register_vcpu_exit_cb", vcpu_exit);
  if (events.vcpu_idle != nullptr) ok &= listen_old<VcpuCallback>(id, "qemu_plugin_register_vcpu_idle_cb", vcpu_idle);
  if (events.vcpu_resume != nullptr) ok &= listen_old<VcpuCallback>(id, "qemu_plugin_register_vcpu_resume_cb", vcpu_resume);
  ok &= listen_old<TbCallback>(id, "qemu_plugin_register_vcpu_tb_trans_cb", translated);
  return ok && listen_with_userdata<void (*)(qemu_plugin_id_t, void*)>(id, "qemu_plugin_register_atexit_cb", at_exit);
}

void run_while_no_vcpu_comes(void (*work)(void*), void* argument) noexcept {
  // QEMU lists its vCPUs under the lock under which it adds one and moves the scoreboards (9.2 to 11.1; plugins/core.c). Nothing
  // else that a plugin can call keeps them where they are.
  Work mine{work, argument, false};
  t_work = &mine;
  if (g_api >= 7)
    lookup<void (*)(qemu_plugin_id_t, VcpuCallback7, void*)>(kForEachVcpu)(g_id, each_vcpu7, nullptr);
  else
    lookup<void (*)(qemu_plugin_id_t, VcpuCallback)>(kForEachVcpu)(g_id, each_vcpu);
  if (!mine.done) work(argument);  // no vCPU is left, or none has come
}

bool read_register(qemu_plugin_register* handle, GByteArray* into) noexcept {
  // An int before API 6 (the size, or -1), a bool since.
  static const bool returns_bool = host_api() >= 6;
  if (returns_bool) {
    static const auto function = lookup<bool (*)(qemu_plugin_register*, GByteArray*)>("qemu_plugin_read_register");
    return function != nullptr && function(handle, into);
  }
  static const auto function = lookup<int (*)(qemu_plugin_register*, GByteArray*)>("qemu_plugin_read_register");
  return function != nullptr && function(handle, into) > 0;
}

}  // namespace qperf::plugin

int qemu_plugin_version = qperf::plugin::host_api();  // a constructor's work: QEMU reads it after dlopen

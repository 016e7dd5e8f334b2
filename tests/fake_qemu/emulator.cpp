#include "emulator.h"

#include <dlfcn.h>
#include <glib.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

// The emulator's side of the interface, for one calling convention (FAKE_API). Callbacks are kept as they come and called in
// the way of that version.

struct qemu_plugin_scoreboard {
  size_t element_size;
  std::vector<std::vector<uint64_t>> elements;  // by vCPU
};
struct qemu_plugin_tb;
struct qemu_plugin_insn {
  uint64_t pc;
  qemu_plugin_tb* tb;
};
struct qemu_plugin_u64 {
  qemu_plugin_scoreboard* score;
  size_t offset;
};

namespace {

using VcpuUserdataCallback = void (*)(unsigned, void*);

struct Operation {
  bool conditional;  // or a hooked instruction: a callback without an entry
  int condition;
  qemu_plugin_u64 entry;
  uint64_t immediate;
  VcpuUserdataCallback callback;
  void* userdata;
};

constexpr int kConditionAlways = 1;
constexpr int kConditionNotEqual = 3;
constexpr int kConditionGreaterOrEqual = 7;

}  // namespace

struct qemu_plugin_tb {
  uint64_t pc;
  size_t insn_count;
  qemu_plugin_insn insn;  // the one that was asked for last
  std::vector<Operation> operations;
};

namespace {

using AnyCallback = void (*)();

struct Registered {
  AnyCallback vcpu_init = nullptr;
  AnyCallback vcpu_exit = nullptr;
  AnyCallback vcpu_idle = nullptr;
  AnyCallback vcpu_resume = nullptr;
  AnyCallback translated = nullptr;
  AnyCallback at_exit = nullptr;
};

struct State {
  fake_qemu::Emulator* emulator = nullptr;
  fake_qemu::Emulator::Machine machine;
  Registered registered;
  std::vector<std::unique_ptr<qemu_plugin_scoreboard>> scoreboards;
  std::mutex translation_lock;
  std::map<fake_qemu::BlockKey, std::unique_ptr<qemu_plugin_tb>> translated;
};

State* g_state = nullptr;
constexpr uint64_t kPluginId = 42;

// In the program's read-only text, where the plugin looks for it.
#if FAKE_API >= 7
#define VERSION_TEXT "QEMU emulator version 11.1.3 (fake)\n"
#elif FAKE_API == 6
#define VERSION_TEXT "QEMU emulator version 11.0.1 (fake)\n"
#elif FAKE_API == 5
#define VERSION_TEXT "QEMU emulator version 10.1.2 (fake)\n"
#else
#define VERSION_TEXT "QEMU emulator version 10.0.2 (fake)\n"
#endif
__attribute__((used)) const char version_text[] = VERSION_TEXT;

void call_vcpu(AnyCallback callback, unsigned vcpu) {
  if (callback == nullptr) return;
  if (FAKE_API >= 7)
    reinterpret_cast<void (*)(unsigned, void*)>(callback)(vcpu, nullptr);
  else
    reinterpret_cast<void (*)(uint64_t, unsigned)>(callback)(kPluginId, vcpu);
}

uint64_t stack_word(uint64_t address) {
  // Two frames in riscv64's layout, the frame pointer at +0x20.
  switch (address - fake_qemu::Emulator::kStackPage) {
    case 0x10: return fake_qemu::Emulator::kStackPage + 0x40;
    case 0x18: return fake_qemu::Emulator::kKernelPc + 0x100;
    case 0x38: return fake_qemu::Emulator::kKernelPc + 0x200;
    default: return 0;
  }
}

}  // namespace

extern "C" {
#define EXPORT __attribute__((visibility("default")))

EXPORT void qemu_plugin_register_vcpu_init_cb(uint64_t, AnyCallback callback, void*) { g_state->registered.vcpu_init = callback; }
EXPORT void qemu_plugin_register_vcpu_exit_cb(uint64_t, AnyCallback callback, void*) { g_state->registered.vcpu_exit = callback; }
EXPORT void qemu_plugin_register_vcpu_idle_cb(uint64_t, AnyCallback callback, void*) { g_state->registered.vcpu_idle = callback; }
EXPORT void qemu_plugin_register_vcpu_resume_cb(uint64_t, AnyCallback callback, void*) { g_state->registered.vcpu_resume = callback; }
EXPORT void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, AnyCallback callback, void*) { g_state->registered.translated = callback; }
EXPORT void qemu_plugin_register_atexit_cb(uint64_t, AnyCallback callback, void*) { g_state->registered.at_exit = callback; }
#if FAKE_API >= 6
EXPORT void qemu_plugin_set_pc(uint64_t) {}
#endif

EXPORT size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* tb) { return tb->insn_count; }
EXPORT uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb* tb) { return tb->pc; }
EXPORT qemu_plugin_insn* qemu_plugin_tb_get_insn(qemu_plugin_tb* tb, size_t index) {
  tb->insn.pc = tb->pc + 4 * index;
  tb->insn.tb = tb;
  return &tb->insn;
}
EXPORT size_t qemu_plugin_insn_data(const qemu_plugin_insn* insn, void* destination, size_t size) {
  const auto text = static_cast<uint32_t>(insn->pc * 2654435761U + g_state->emulator->text_change);
  const size_t copied = std::min<size_t>(size, 4);
  std::memcpy(destination, &text, copied);
  return copied;
}

EXPORT uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn* insn) { return insn->pc; }
EXPORT void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* insn, VcpuUserdataCallback callback, int, void* userdata) {
  insn->tb->operations.push_back({true, kConditionAlways, {nullptr, 0}, 0, callback, userdata});
}

EXPORT void qemu_plugin_register_vcpu_tb_exec_cond_cb(qemu_plugin_tb* tb, VcpuUserdataCallback callback, int, int condition,
                                                      qemu_plugin_u64 entry, uint64_t immediate, void* userdata) {
  tb->operations.push_back({true, condition, entry, immediate, callback, userdata});
}
EXPORT void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* tb, VcpuUserdataCallback callback, int, void* userdata) {
  tb->operations.push_back({true, kConditionAlways, {}, 0, callback, userdata});
}
EXPORT void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(qemu_plugin_tb* tb, int, qemu_plugin_u64 entry,
                                                              uint64_t immediate) {
  tb->operations.push_back({false, 0, entry, immediate, nullptr, nullptr});
}

EXPORT qemu_plugin_scoreboard* qemu_plugin_scoreboard_new(size_t element_size) {
  auto score = std::make_unique<qemu_plugin_scoreboard>();
  score->element_size = element_size;
  const int vcpus = std::max(g_state->machine.vcpus, g_state->machine.max_vcpus);
  score->elements.assign(static_cast<size_t>(vcpus), std::vector<uint64_t>(element_size / 8));
  g_state->scoreboards.push_back(std::move(score));
  return g_state->scoreboards.back().get();
}
EXPORT void* qemu_plugin_scoreboard_find(qemu_plugin_scoreboard* score, unsigned vcpu) {
  return score->elements.at(vcpu).data();
}

/// The layout of API 7 where that is faked: one member more.
struct Descriptor {
  void* handle;
  const char* name;
  const char* feature;
#if FAKE_API >= 7
  bool is_readonly;
#endif
};

EXPORT GArray* qemu_plugin_get_registers(void) {
  static const char* const names[] = {"zero", "ra", "sp", "fp", "priv", "a0", "a1", "a2", "a3", "a4", "a5"};
  GArray* const array = g_array_new(FALSE, TRUE, sizeof(Descriptor));
  for (size_t i = 0; i < std::size(names); ++i) {
    if (g_state->machine.lacks_frame_pointer && std::strcmp(names[i], "fp") == 0) continue;
    Descriptor entry{};
    entry.handle = reinterpret_cast<void*>(i);  // zero is a handle like any other
    entry.name = names[i];
    g_array_append_vals(array, &entry, 1);
  }
  return array;
}

#if FAKE_API >= 6
EXPORT bool qemu_plugin_read_register(void* handle, GByteArray* into) {
#else
EXPORT int qemu_plugin_read_register(void* handle, GByteArray* into) {
#endif
  const uint64_t values[] = {0, fake_qemu::Emulator::kKernelPc + 0x300, fake_qemu::Emulator::kStackPage,
                             fake_qemu::Emulator::kStackPage + 0x20, g_state->emulator->privilege};
  const size_t index = reinterpret_cast<uintptr_t>(handle);
  const uint64_t value = index < std::size(values) ? values[index] : g_state->emulator->argument_registers[index - std::size(values)];
  g_byte_array_append(into, reinterpret_cast<const guint8*>(&value), sizeof value);
#if FAKE_API >= 6
  return true;
#else
  return sizeof value;
#endif
}

EXPORT bool qemu_plugin_read_memory_vaddr(uint64_t address, GByteArray* data, size_t size) {
  if (address < fake_qemu::Emulator::kStackPage || address + size > fake_qemu::Emulator::kStackPage + 4096) return false;
  g_byte_array_set_size(data, static_cast<guint>(size));
  for (size_t i = 0; i + 8 <= size; i += 8) {
    const uint64_t word = stack_word(address + i);
    std::memcpy(data->data + i, &word, 8);
  }
  return true;
}
#undef EXPORT
}

namespace fake_qemu {
namespace {

/// As the plugin declares it; the real one has a union around the last member.
struct Info {
  const char* target_name;
  int version_min;
  int version_cur;
  bool system_emulation;
  int smp_vcpus;
  int max_vcpus;
};

using Install = int (*)(uint64_t, const Info*, int, char**);

void* loaded_plugin() {
  static void* const handle = [] {
    const char* const path = std::getenv("QPERF_PLUGIN");
    void* const loaded = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
      std::fprintf(stderr, "QPERF_PLUGIN=%s: %s\n", path == nullptr ? "" : path, dlerror());
      std::abort();
    }
    return loaded;
  }();
  return handle;
}

qemu_plugin_tb& translation(const BlockKey& key) {
  const std::lock_guard lock(g_state->translation_lock);
  auto& entry = g_state->translated[key];
  if (!entry) {
    entry = std::make_unique<qemu_plugin_tb>();
    entry->pc = key.pc;
    entry->insn_count = key.insns;
    if (FAKE_API >= 7)
      reinterpret_cast<void (*)(qemu_plugin_tb*, void*)>(g_state->registered.translated)(entry.get(), nullptr);
    else
      reinterpret_cast<void (*)(uint64_t, qemu_plugin_tb*)>(g_state->registered.translated)(kPluginId, entry.get());
  }
  return *entry;
}

}  // namespace

Emulator::Emulator(Machine machine) {
  g_state = new State;  // outlives the emulator: the plugin may still look at its scoreboard
  g_state->emulator = this;
  g_state->machine = std::move(machine);
}

Emulator::~Emulator() { exit(); }

bool Emulator::install(const std::vector<std::string>& arguments) {
  const auto function = reinterpret_cast<Install>(dlsym(loaded_plugin(), "qemu_plugin_install"));
  const int version = *static_cast<int*>(dlsym(loaded_plugin(), "qemu_plugin_version"));
  // What 5 has more than 4 the plugin does not use, so it asks for 4, which emulators with 5 accept.
  EXPECT_EQ(version, FAKE_API == 5 ? 4 : FAKE_API) << "the plugin did not see which interface this is";
  const auto& machine = g_state->machine;
  const Info info{machine.target.c_str(), FAKE_API, FAKE_API, machine.system, machine.vcpus,
                  machine.max_vcpus == 0 ? machine.vcpus : machine.max_vcpus};
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  for (auto& copy : copies) argv.push_back(copy.data());
  ::testing::internal::CaptureStderr();
  const int result = function(kPluginId, &info, static_cast<int>(argv.size()), argv.data());
  said += ::testing::internal::GetCapturedStderr();
  return result == 0;
}

void Emulator::init_vcpu(unsigned vcpu) { call_vcpu(g_state->registered.vcpu_init, vcpu); }
void Emulator::idle(unsigned vcpu) { call_vcpu(g_state->registered.vcpu_idle, vcpu); }
void Emulator::resume(unsigned vcpu) { call_vcpu(g_state->registered.vcpu_resume, vcpu); }
void Emulator::translate(uint64_t pc, size_t insns) {
  {
    const std::lock_guard lock(g_state->translation_lock);
    g_state->translated.erase({pc, insns});
  }
  translation({pc, insns});
}

void Emulator::run(unsigned vcpu, uint64_t pc, size_t insns) {
  for (const auto& operation : translation({pc, insns}).operations) {
    if (operation.condition == kConditionAlways) {
      operation.callback(vcpu, operation.userdata);
      continue;
    }
    uint64_t& word = operation.entry.score->elements[vcpu][operation.entry.offset / 8];
    const std::atomic_ref entry(word);
    const uint64_t value = entry.load(std::memory_order_relaxed);
    if (!operation.conditional) {
      entry.store(value + operation.immediate, std::memory_order_relaxed);
    } else if ((operation.condition == kConditionNotEqual && value != operation.immediate) ||
               (operation.condition == kConditionGreaterOrEqual && value >= operation.immediate)) {
      operation.callback(vcpu, operation.userdata);
    }
  }
}

void Emulator::exit() {
  const AnyCallback callback = std::exchange(g_state->registered.at_exit, nullptr);
  if (callback == nullptr) return;
  ::testing::internal::CaptureStderr();
  if (FAKE_API >= 7)
    reinterpret_cast<void (*)(void*)>(callback)(nullptr);
  else
    reinterpret_cast<void (*)(uint64_t, void*)>(callback)(kPluginId, nullptr);
  said += ::testing::internal::GetCapturedStderr();
}

Recording read_recording(const std::string& path) {
  Recording recording;
  qperf::capture::Handlers handlers;
  handlers.samples = [&](const qperf::capture::SampleChunk& chunk) -> qperf::Result<void> {
    for (const auto& sample : chunk.samples) {
      recording.samples.push_back(sample);
      recording.sites.push_back(chunk.sites[sample.site]);
    }
    return {};
  };
  handlers.events = [&](const qperf::capture::EventChunk& chunk) -> qperf::Result<void> {
    recording.events.push_back(chunk);
    return {};
  };
  handlers.counts = [&](std::span<const qperf::capture::BlockCount> counts) -> qperf::Result<void> {
    recording.counts.insert(recording.counts.end(), counts.begin(), counts.end());
    return {};
  };
  handlers.fingerprints = [&](std::span<const qperf::capture::Fingerprint> fingerprints) -> qperf::Result<void> {
    recording.fingerprints.insert(recording.fingerprints.end(), fingerprints.begin(), fingerprints.end());
    return {};
  };
  handlers.ledger = [&](const qperf::capture::Ledger& ledger) -> qperf::Result<void> {
    ++recording.ledgers;
    for (const auto& vcpu : ledger.vcpus) EXPECT_EQ(vcpu.ticks.issued, sum_of_buckets(vcpu.ticks));
    return {};
  };
  auto summary = qperf::capture::read_capture(path, handlers);
  EXPECT_TRUE(summary) << summary.error().message;
  if (summary) recording.summary = *std::move(summary);
  return recording;
}

uint64_t sum_of_buckets(const qperf::capture::Ticks& ticks) {
  return ticks.kernel + ticks.user + ticks.idle + ticks.other_privileged + ticks.lost + ticks.unknown_idle;
}

std::string temporary_path(const std::string& name) {
  return ::testing::TempDir() + "/qperf_api" + std::to_string(FAKE_API) + "_" + std::to_string(::getpid()) + "_" + name;
}

}  // namespace fake_qemu

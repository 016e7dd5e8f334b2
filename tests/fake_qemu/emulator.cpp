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
#include <set>
#include <shared_mutex>
#include <thread>
#include <utility>

// The emulator's side of the interface, for one calling convention (FAKE_API). Callbacks are kept as they come and called in
// the way of that version.

struct FreedByC {
  void operator()(uint64_t* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<uint64_t[], FreedByC>;

struct qemu_plugin_scoreboard {
  size_t element_size;
  Memory memory;  // of calloc: pages that nobody touches cost nothing

  [[nodiscard]] uint64_t* element(unsigned vcpu) const { return memory.get() + vcpu * element_size / 8; }
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
  std::mutex translation_lock;
  std::map<fake_qemu::BlockKey, std::unique_ptr<qemu_plugin_tb>> translated;

  std::mutex big_lock;  // held in every callback but those of blocks
  // A vCPU that runs holds it shared, one that moves the scoreboards alone; who waits for that is let in first.
  std::shared_mutex running;
  std::atomic<bool> exclusive_wanted{false};
  std::recursive_mutex plugin_lock;  // of what follows, but for moving
  std::set<unsigned> vcpus;
  std::atomic<unsigned> vcpu_count{0};
  std::vector<std::unique_ptr<qemu_plugin_scoreboard>> scoreboards;
  size_t scoreboard_vcpus = 16;
  std::vector<std::pair<Memory, size_t>> left_memory;  // poisoned; with its bytes
  std::atomic<bool> moving{false};
  std::atomic<uint64_t> finds_while_moving{0};
  uint64_t writes_while_moving = 0;
};

State* g_state = nullptr;
thread_local unsigned t_initialised = 0;  // the vCPU whose init event this thread is in or has had last
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

Memory allocate(size_t size_bytes) { return Memory(static_cast<uint64_t*>(std::calloc(size_bytes / 8, 8))); }

constexpr int kPoison = 0xdd;

/// As QEMU does it: no vCPU runs, and whoever holds the plugin lock is waited for. Takes its time, so that others are met.
void move_scoreboards(size_t vcpus) {
  State& state = *g_state;
  state.exclusive_wanted = true;
  const std::lock_guard exclusive(state.running);
  const std::lock_guard lock(state.plugin_lock);
  state.moving = true;
  for (auto& score : state.scoreboards) {
    const size_t size_bytes = state.scoreboard_vcpus * score->element_size;
    Memory moved = allocate(vcpus * score->element_size);
    std::memcpy(moved.get(), score->memory.get(), size_bytes);
    std::this_thread::sleep_for(state.machine.move_time);
    if (std::memcmp(moved.get(), score->memory.get(), size_bytes) != 0) ++state.writes_while_moving;
    std::swap(moved, score->memory);
    std::memset(moved.get(), kPoison, size_bytes);
    state.left_memory.emplace_back(std::move(moved), size_bytes);
  }
  state.scoreboard_vcpus = vcpus;
  state.moving = false;
  state.exclusive_wanted = false;
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
  const std::lock_guard lock(g_state->plugin_lock);
  auto score = std::make_unique<qemu_plugin_scoreboard>();
  score->element_size = element_size;
  score->memory = allocate(g_state->scoreboard_vcpus * element_size);
  g_state->scoreboards.push_back(std::move(score));
  return g_state->scoreboards.back().get();
}
EXPORT void* qemu_plugin_scoreboard_find(qemu_plugin_scoreboard* score, unsigned vcpu) {
  if (vcpu >= g_state->vcpu_count) {
    std::fprintf(stderr, "qemu_plugin_scoreboard_find: vCPU %u has not been initialised\n", vcpu);
    std::abort();
  }
  if (g_state->moving) ++g_state->finds_while_moving;
  return score->element(vcpu);
}

#if FAKE_API >= 7
EXPORT void qemu_plugin_vcpu_for_each(uint64_t, void (*callback)(unsigned, void*), void* userdata) {
#else
EXPORT void qemu_plugin_vcpu_for_each(uint64_t id, void (*callback)(uint64_t, unsigned)) {
#endif
  const std::lock_guard lock(g_state->plugin_lock);
  for (const unsigned vcpu : g_state->vcpus) {
#if FAKE_API >= 7
    callback(vcpu, userdata);
#else
    callback(id, vcpu);
#endif
  }
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
    if (g_state->machine.lack_frame_pointer.contains(t_initialised) && std::strcmp(names[i], "fp") == 0) continue;
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

void Emulator::init_vcpu(unsigned vcpu) {
  const std::lock_guard big_lock(g_state->big_lock);
  {
    const std::lock_guard lock(g_state->plugin_lock);
    g_state->vcpus.insert(vcpu);
    g_state->vcpu_count = std::max(g_state->vcpu_count.load(), vcpu + 1);
  }
  size_t vcpus = g_state->scoreboard_vcpus;
  while (vcpu >= vcpus) vcpus *= 2;
  if (vcpus != g_state->scoreboard_vcpus) move_scoreboards(vcpus);
  t_initialised = vcpu;
  call_vcpu(g_state->registered.vcpu_init, vcpu);
}

void Emulator::idle(unsigned vcpu) {
  const std::lock_guard big_lock(g_state->big_lock);
  call_vcpu(g_state->registered.vcpu_idle, vcpu);
}

void Emulator::resume(unsigned vcpu) {
  const std::lock_guard big_lock(g_state->big_lock);
  call_vcpu(g_state->registered.vcpu_resume, vcpu);
}

uint64_t Emulator::wrong_accesses() {
  const std::lock_guard lock(g_state->plugin_lock);
  uint64_t wrong = g_state->finds_while_moving + g_state->writes_while_moving;
  for (const auto& [memory, size_bytes] : g_state->left_memory) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(memory.get());
    wrong += static_cast<uint64_t>(std::count_if(bytes, bytes + size_bytes, [](unsigned char byte) { return byte != kPoison; }));
  }
  return wrong;
}

void Emulator::translate(uint64_t pc, size_t insns) {
  {
    const std::lock_guard lock(g_state->translation_lock);
    g_state->translated.erase({pc, insns});
  }
  translation({pc, insns});
}

void Emulator::run(unsigned vcpu, uint64_t pc, size_t insns) {
  while (g_state->exclusive_wanted) std::this_thread::yield();
  const std::shared_lock running(g_state->running);
  for (const auto& operation : translation({pc, insns}).operations) {
    if (operation.condition == kConditionAlways) {
      operation.callback(vcpu, operation.userdata);
      continue;
    }
    uint64_t& word = operation.entry.score->element(vcpu)[operation.entry.offset / 8];
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

}  // namespace fake_qemu

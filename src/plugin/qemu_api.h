#pragma once

#include <glib.h>

#include <cstddef>
#include <cstdint>

/// The part of QEMU's TCG plugin interface that this plugin uses, for API 4 to 7 (QEMU 9.2 to 11.1). Names, types and values are
/// QEMU's; where versions differ, the function is not declared here but looked up by plugin/host.h.
extern "C" {

using qemu_plugin_id_t = uint64_t;

struct qemu_info_t {
  const char* target_name;
  struct {
    int min;
    int cur;
  } version;
  bool system_emulation;
  struct {  // a union in QEMU, with this as its only member
    int smp_vcpus;
    int max_vcpus;
  } system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_register;

struct qemu_plugin_u64 {
  qemu_plugin_scoreboard* score;
  size_t offset;
};

/// API 7 has a trailing bool more: step through an array of these by the array's own element size.
struct qemu_plugin_reg_descriptor {
  qemu_plugin_register* handle;
  const char* name;
  const char* feature;
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS };

enum qemu_plugin_cond {
  QEMU_PLUGIN_COND_NEVER,
  QEMU_PLUGIN_COND_ALWAYS,
  QEMU_PLUGIN_COND_EQ,
  QEMU_PLUGIN_COND_NE,
  QEMU_PLUGIN_COND_LT,
  QEMU_PLUGIN_COND_LE,
  QEMU_PLUGIN_COND_GT,
  QEMU_PLUGIN_COND_GE,
};

enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64, QEMU_PLUGIN_INLINE_STORE_U64 };

using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned int vcpu_index, void* userdata);

size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* tb);
uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb* tb);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn* insn);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* insn, qemu_plugin_vcpu_udata_cb_t callback,
                                            qemu_plugin_cb_flags flags, void* userdata);
size_t qemu_plugin_insn_data(const qemu_plugin_insn* insn, void* destination, size_t size_bytes);

void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* tb, qemu_plugin_vcpu_udata_cb_t callback, qemu_plugin_cb_flags flags,
                                          void* userdata);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(qemu_plugin_tb* tb, qemu_plugin_vcpu_udata_cb_t callback,
                                               qemu_plugin_cb_flags flags, qemu_plugin_cond condition, qemu_plugin_u64 entry,
                                               uint64_t immediate, void* userdata);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(qemu_plugin_tb* tb, qemu_plugin_op op, qemu_plugin_u64 entry,
                                                       uint64_t immediate);

qemu_plugin_scoreboard* qemu_plugin_scoreboard_new(size_t element_size);
void* qemu_plugin_scoreboard_find(qemu_plugin_scoreboard* score, unsigned int vcpu_index);

GArray* qemu_plugin_get_registers(void);
bool qemu_plugin_read_memory_vaddr(uint64_t address, GByteArray* data, size_t size_bytes);

/// What QEMU looks for in a plugin.
__attribute__((visibility("default"))) extern int qemu_plugin_version;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                                               char** argv);
}

#include "symbols/cfi.h"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace qperf::symbols {
namespace {

constexpr unsigned kX86StackPointer = 7;  // DWARF number of rsp

/// x86_64 keeps no link register: a call leaves the return address at [rsp], which is so while the frame address is rsp + 8.
ReturnAddressAt x86_return_address(Dwarf_Frame* frame) {
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1) return ReturnAddressAt::kUnknown;
  int64_t offset = 0;
  if (ops[0].atom == DW_OP_bregx && ops[0].number == kX86StackPointer)
    offset = static_cast<int64_t>(ops[0].number2);
  else if (ops[0].atom == DW_OP_breg0 + kX86StackPointer)
    offset = static_cast<int64_t>(ops[0].number);
  else
    return ReturnAddressAt::kSaved;  // from rbp or another register: the frame is set up
  return offset == 8 ? ReturnAddressAt::kLinkRegister : ReturnAddressAt::kSaved;
}

ReturnAddressAt register_return_address(Dwarf_Frame* frame, int link) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, link, memory, &ops, &count) != 0) return ReturnAddressAt::kUnknown;
  if (count == 0) {
    // libdw: ops == nullptr is "same value", the register itself; ops == memory is "undefined", an outermost frame.
    return ops == nullptr ? ReturnAddressAt::kLinkRegister : ReturnAddressAt::kUnknown;
  }
  if (count == 1 && (ops[0].atom == DW_OP_regx || (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31))) {
    const auto holder = ops[0].atom == DW_OP_regx ? ops[0].number : Dwarf_Word{ops[0].atom} - DW_OP_reg0;
    return holder == static_cast<Dwarf_Word>(link) ? ReturnAddressAt::kLinkRegister : ReturnAddressAt::kUnknown;
  }
  return ReturnAddressAt::kSaved;
}

}  // namespace

CallFrames::~CallFrames() {
  if (eh_frame_ != nullptr) dwarf_cfi_end(eh_frame_);
}

ReturnAddressAt CallFrames::return_address_at(GuestVa pc) {
  if (!std::exchange(opened_, true)) {
    if (dwarf_ != nullptr) debug_frame_ = dwarf_getcfi(dwarf_);
    eh_frame_ = dwarf_getcfi_elf(elf_);
  }
  for (Dwarf_CFI* cfi : {debug_frame_, eh_frame_}) {
    if (cfi == nullptr) continue;
    if (const auto found = look_up(cfi, pc); found != ReturnAddressAt::kUnknown) return found;
  }
  return ReturnAddressAt::kUnknown;
}

ReturnAddressAt CallFrames::look_up(Dwarf_CFI* cfi, GuestVa pc) const {
  Dwarf_Frame* found = nullptr;
  if (dwarf_cfi_addrframe(cfi, pc.raw, &found) != 0) return ReturnAddressAt::kUnknown;
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(found, &std::free);
  const int link = dwarf_frame_info(frame.get(), nullptr, nullptr, nullptr);
  if (link < 0) return ReturnAddressAt::kUnknown;
  return target_ == guest::Target::kX86_64 ? x86_return_address(frame.get()) : register_return_address(frame.get(), link);
}

}  // namespace qperf::symbols

#pragma once

#include <elfutils/libdw.h>

#include <optional>

#include "base/types.h"
#include "guest/target.h"
#include "symbols/image.h"

namespace qperf::symbols {

/// Call frame information of an ELF, asked for one thing: where the return address is. elfutils before 0.189 know no LoongArch:
/// all is kUnknown there. Does not own what it is given.
class CallFrames {
 public:
  /// `dwarf` (may be null) holds .debug_frame, `elf` holds .eh_frame.
  CallFrames(Dwarf* dwarf, Elf* elf, guest::Target target) : dwarf_(dwarf), elf_(elf), target_(target) {}
  CallFrames(CallFrames&&) = delete;
  ~CallFrames();

  /// kUnknown also where no CFI covers `pc`.
  [[nodiscard]] ReturnAddressAt return_address_at(GuestVa pc);

 private:
  [[nodiscard]] ReturnAddressAt look_up(Dwarf_CFI* cfi, GuestVa pc) const;

  Dwarf* dwarf_;
  Elf* elf_;
  guest::Target target_;
  bool opened_ = false;
  Dwarf_CFI* debug_frame_ = nullptr;  // belongs to dwarf_
  Dwarf_CFI* eh_frame_ = nullptr;
};

}  // namespace qperf::symbols

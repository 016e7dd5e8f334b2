#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace qperf::symbols {

/// What a function's DIE says about it, through its abstract origin and specification.
struct FunctionName {
  std::string function;  // demangled; empty: the DIE has no name
  std::string linkage;
  uint32_t start_line = 0;
};

/// Names of function DIEs, each worked out once however often the function was inlined.
class DwarfNames {
 public:
  /// The reference stays valid as long as the cache.
  [[nodiscard]] const FunctionName& of(Dwarf_Die& die);

 private:
  std::unordered_map<const void*, FunctionName> by_die_;
};

}  // namespace qperf::symbols

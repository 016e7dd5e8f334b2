#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/capture_input.h"
#include "analysis/message.h"
#include "base/result.h"
#include "base/types.h"

namespace qperf::tools {

/// Names for addresses of one capture's guest: each is asked for with its time, all are named in one go.
class AddressNames {
 public:
  /// `elfs` as on a command line; empty: the ELF that the capture names.
  static Result<AddressNames> open(const std::string& capture_path, const std::vector<std::string>& elfs);
  AddressNames(AddressNames&&) noexcept;
  ~AddressNames();

  [[nodiscard]] const analysis::CaptureInput& capture() const noexcept;
  [[nodiscard]] const analysis::Messages& messages() const noexcept;

  /// Dense from 0, the same for the same place.
  uint32_t executed(WallNs at_ns, GuestVa pc);
  uint32_t returned_to(WallNs at_ns, GuestVa address);
  /// After the last address.
  Result<void> resolve();
  /// The innermost function, printable; an address without a name in hex.
  [[nodiscard]] const std::string& function(uint32_t id) const noexcept;
  /// The same with the functions that it is inlined into: "transfer < read_in_order".
  [[nodiscard]] const std::string& inline_chain(uint32_t id) const noexcept;

 private:
  struct State;
  explicit AddressNames(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Prints what was found about the ELFs to stderr.
void report_messages(const analysis::Messages& messages);

}  // namespace qperf::tools

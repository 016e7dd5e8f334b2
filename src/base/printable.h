#pragma once

#include <string>
#include <string_view>

namespace qperf {

/// Text from the guest or a file made safe for a terminal and for line-based formats: valid UTF-8 is kept, every control
/// character (C0, DEL, C1), bidirectional override and invalid byte becomes `\xNN` of its bytes. Never fails.
[[nodiscard]] std::string printable(std::string_view untrusted);

}  // namespace qperf

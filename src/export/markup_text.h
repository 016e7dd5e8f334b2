#pragma once

#include <string>
#include <string_view>

namespace qperf::exporter {

/// Untrusted text as text of HTML or XML, in an element or in a quoted attribute: printable, without a character that could open or end
/// markup, and without those that XML forbids.
[[nodiscard]] std::string markup_text(std::string_view untrusted);

/// At most `most` bytes of valid UTF-8, with "…" for what is cut.
[[nodiscard]] std::string clipped(std::string_view text, size_t most);

/// At most `columns` columns of a font of fixed width, with "…" for what is cut; ideographs and what else may be wide take two.
[[nodiscard]] std::string clipped_to_columns(std::string_view text, size_t columns);

}  // namespace qperf::exporter

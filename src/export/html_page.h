#pragma once

#include <string_view>

namespace qperf::exporter {

/// The parts of the report's page (src/export/html), put into the library when it is built.
struct HtmlPage {
  std::string_view page;    // with the placeholders @TITLE@, @STYLE@, @SCRIPT@, @DATA@, @STYLE_HASH@, @SCRIPT_HASH@
  std::string_view style;
  std::string_view script;  // all script files, one after the other
  std::string_view style_sha256;   // hex
  std::string_view script_sha256;  // hex
};

[[nodiscard]] const HtmlPage& html_page() noexcept;

}  // namespace qperf::exporter

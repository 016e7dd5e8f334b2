#pragma once

#include <string_view>

namespace qperf::exporter {

/// The parts of every SVG picture that are the same (src/export/svg), put into the library when it is built.
struct SvgPage {
  std::string_view style;
  std::string_view script;
};

[[nodiscard]] const SvgPage& svg_page() noexcept;

}  // namespace qperf::exporter

#include <array>

#include "tools/qperf/export_format.h"

namespace qperf::tools {

std::span<const ExportFormat* const> export_formats() noexcept {
  static constexpr std::array kFormats{
      &kFoldedFormat,
      &kSpeedscopeFormat,
      &kPprofFormat,
      &kPerfettoFormat,
      &kCallgrindFormat,
      &kChromeFormat,
      &kSvgFormat,
      &kHtmlFormat,
  };
  return kFormats;
}

}  // namespace qperf::tools

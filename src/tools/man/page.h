#pragma once

#include <string>
#include <string_view>

#include "tools/qperf/describe.h"

namespace qperf::tools {

/// What a manual page says beside what its parser says.
struct PageContext {
  std::string version;
  std::string date;   // "2026-12-01"
  std::string prose;  // sections in a small Markdown: docs/man/README.md
};

/// "qperf-trace-print" for the command "trace print" of qperf.
[[nodiscard]] std::string page_name(const std::string& program, const std::string& command);

/// A manual page of section 1 in roff's man macros. `command` is one of `program`'s, or `program` itself.
[[nodiscard]] std::string manual_page(const CommandDescription& program, const CommandDescription& command,
                                      const PageContext& context);

/// Prose as roff: "# HEADING", paragraphs, "- " lists, four blanks before what is shown as it is, `code` in bold.
[[nodiscard]] std::string prose_as_roff(std::string_view prose);

}  // namespace qperf::tools

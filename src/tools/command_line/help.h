#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace qperf::tools {

/// The rows of a help text: what `app` takes, in the order it was declared. CLI11's own layout differs between the versions
/// that distributions have, and help texts are interfaces.
[[nodiscard]] std::string option_rows(const CLI::App& app);

/// The whole help of a program or subcommand that CLI11 asks for: usage, description, rows, subcommands, footer.
[[nodiscard]] std::string command_help(const CLI::App& app);

}  // namespace qperf::tools

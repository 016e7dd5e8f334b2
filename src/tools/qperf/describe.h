#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace qperf::tools {

/// One option or positional argument as its parser knows it.
struct OptionDescription {
  std::vector<std::string> names;    // "-o", "--output"; of a positional argument its name alone
  std::string value;                 // "FILE"; empty: takes none
  std::vector<std::string> choices;  // what the value may be; empty: anything
  std::string text;
  bool positional = false;
  bool required = false;
  bool repeatable = false;
};

/// A command line: what completion and man pages are made from.
struct CommandDescription {
  std::string name;  // "trace print"; of the program "qperf"
  std::string summary;
  std::string footer;
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;
};

/// `name`: how the app is called.
[[nodiscard]] CommandDescription describe(const CLI::App& app, const std::string& name);

}  // namespace qperf::tools

#include "tools/command_line/help.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <vector>

namespace qperf::tools {
namespace {

constexpr size_t kColumn = 30;
constexpr size_t kWidth = 90;

/// Breaks at blanks into lines of at most `width` bytes.
std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (!lines.back().empty() && lines.back().size() + 1 + end > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string row(std::string names, std::string_view description) {
  std::string text;
  bool first = true;
  for (const std::string& line : wrapped(description, kWidth - kColumn)) {
    if (first && names.size() + 4 > kColumn) {
      fmt::format_to(std::back_inserter(text), "  {}\n", names);
      names.clear();
    }
    fmt::format_to(std::back_inserter(text), "  {:<{}}{}\n", first ? names : "", kColumn - 2, line);
    first = false;
  }
  return text;
}

std::string usage_line(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* parent = app.get_parent(); parent != nullptr; parent = parent->get_parent())
    path = parent->get_name() + ' ' + path;
  std::string line = "usage: " + path;
  if (!app.get_subcommands([](const CLI::App*) { return true; }).empty()) return line + " COMMAND ...\n";
  line += " [options]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true) + (option->get_expected_max() > 1 ? "..." : "");
    line += option->get_required() ? ' ' + name : " [" + name + ']';
  }
  return line + '\n';
}

}  // namespace

std::string option_rows(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    std::string names;
    if (option->get_positional()) names = option->get_name(true);
    for (const auto& name : option->get_snames()) names += '-' + name + ", ";
    for (const auto& name : option->get_lnames()) names += "--" + name;
    if (!option->get_positional() && option->get_expected_min() > 0) names += ' ' + option->get_type_name();
    text += row(std::move(names), option->get_description());
  }
  return text;
}

std::string command_help(const CLI::App& app) {
  std::string text = usage_line(app);
  for (const std::string& line : wrapped(app.get_description(), kWidth)) text += '\n' + line;
  text += "\n\n";
  text += option_rows(app);
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (!commands.empty()) text += "\nCommands:\n";
  for (const CLI::App* command : commands) text += row(command->get_name(), command->get_description());
  if (!app.get_footer().empty()) text += '\n' + app.get_footer() + '\n';
  return text;
}

}  // namespace qperf::tools

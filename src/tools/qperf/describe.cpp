#include "tools/qperf/describe.h"

#include <CLI/CLI.hpp>

#include <string_view>

namespace qperf::tools {
namespace {

/// CLI11 keeps the set of a choice as text only: "{a,b,c}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  std::string text;
  try {
    text = const_cast<CLI::Option&>(option).get_validator()->get_description();
  } catch (const CLI::Error&) {  // it has none
    return {};
  }
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return {};
  std::vector<std::string> choices(1);
  for (const char c : std::string_view(text).substr(1, text.size() - 2)) {
    if (c == ',') choices.emplace_back();
    if (c != ',') choices.back() += c;
  }
  return choices;
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription out;
  out.positional = option.get_positional();
  if (out.positional) out.names.push_back(option.get_name(true));
  for (const auto& name : option.get_snames()) out.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) out.names.push_back("--" + name);
  out.choices = choices_of(option);
  if (option.get_items_expected_max() > 0 && !out.positional) {
    const std::string type = option.get_type_name();
    out.value = type.substr(0, type.find(':'));  // the choices follow
  }
  out.text = option.get_description();
  out.required = option.get_required();
  out.repeatable = !out.value.empty() && option.get_expected_max() > 1;
  return out;
}

}  // namespace

CommandDescription describe(const CLI::App& app, const std::string& name) {
  CommandDescription out{
      .name = name, .summary = app.get_description(), .footer = app.get_footer(), .options = {}, .commands = {}};
  for (const CLI::Option* option : app.get_options()) out.options.push_back(describe_option(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string below = app.get_parent() == nullptr ? command->get_name() : name + " " + command->get_name();
    out.commands.push_back(describe(*command, below));
  }
  return out;
}

}  // namespace qperf::tools

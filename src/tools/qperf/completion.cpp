#include "tools/qperf/completion.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace qperf::tools {
namespace {

/// The program's own options are those of the empty command.
using Visit = std::function<void(const std::string& path, const CommandDescription& command)>;
void visit(const CommandDescription& program, const Visit& each) {
  each("", program);
  for (const CommandDescription& command : program.commands) {
    each(command.name, command);
    for (const CommandDescription& job : command.commands) each(job.name, job);
  }
}

std::string last_word(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

std::string words_of(const CommandDescription& command) {
  std::string words;
  const auto add = [&words](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
  for (const CommandDescription& below : command.commands) add(last_word(below.name));
  for (const OptionDescription& option : command.options) {
    for (const std::string& name : option.positional ? option.choices : option.names) add(name);
  }
  return words;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// What is a word of ours as it stands, and what must not end the quotes around it.
std::string in_quotes(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + out + "'";
}

/// The text of an option in zsh's _arguments: brackets and colons have a meaning there.
std::string in_specification(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const OptionDescription& option) {
  const std::string what = option.value.empty() ? option.names.front() : option.value;
  if (!option.choices.empty()) return fmt::format(":{}:({})", in_specification(what), joined(option.choices, " "));
  return fmt::format(":{}:_files", in_specification(what));
}

std::string zsh_function_name(const std::string& path) {
  std::string name = "_qperf_" + path;
  std::ranges::replace(name, ' ', '_');
  return name;
}

/// Options and files; the words of commands below are the caller's.
std::string zsh_arguments(const CommandDescription& command) {
  std::string lines;
  for (const OptionDescription& option : command.options) {
    if (option.positional) continue;
    for (const std::string& name : option.names) {
      // With several names the others are left out once one is there, unless it may be repeated.
      const std::string others = option.repeatable ? "*" : "(" + joined(option.names, " ") + ")";
      lines += " \\\n    " + in_quotes(others + name + "[" + in_specification(option.text) + "]" +
                                       (option.value.empty() ? "" : zsh_action(option)));
    }
  }
  return lines;
}

std::string zsh_command_list(const CommandDescription& command) {
  std::string lines;
  for (const CommandDescription& below : command.commands)
    lines += "\n        " + in_quotes(last_word(below.name) + ":" + in_specification(below.summary));
  return lines;
}

/// What stands where no option does: one of a set, or files.
std::string zsh_operands(const CommandDescription& command) {
  for (const OptionDescription& option : command.options) {
    if (option.positional && !option.choices.empty()) return in_quotes("*" + zsh_action(option));
  }
  return "'*:file:_files'";
}

std::string zsh_function(const std::string& name, const CommandDescription& command) {
  if (command.commands.empty())
    return fmt::format("{}() {{\n  _arguments -s{} \\\n    {}\n}}\n", name, zsh_arguments(command), zsh_operands(command));
  std::string cases;
  for (const CommandDescription& below : command.commands)
    cases += fmt::format("        {}) {} ;;\n", last_word(below.name), zsh_function_name(below.name));
  return fmt::format(
      "{0}() {{\n"
      "  local context state state_descr line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C{1} \\\n    '1: :->command' \\\n    '*:: :->rest'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=({2})\n"
      "      _describe command commands ;;\n"
      "    rest)\n"
      "      case $words[1] in\n{3}      esac ;;\n"
      "  esac\n"
      "}}\n",
      name, zsh_arguments(command), zsh_command_list(command), cases);
}

}  // namespace

std::string bash_completion(const CommandDescription& program) {
  std::string paths;
  std::string words;
  std::string values;
  visit(program, [&](const std::string& path, const CommandDescription& command) {
    for (const CommandDescription& below : command.commands)
      paths += fmt::format("      '{}:{}') command='{}' ;;\n", path, last_word(below.name), below.name);
    words += fmt::format("    '{}') words='{}' ;;\n", path, words_of(command));
    for (const OptionDescription& option : command.options) {
      if (option.choices.empty() || option.positional) continue;
      for (const std::string& name : option.names)
        values += fmt::format("    '{}:{}') values='{}' ;;\n", path, name, joined(option.choices, " "));
    }
  });
  return fmt::format(
      "# bash completion for qperf; made by 'qperf completion bash'.\n"
      "_qperf() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= words= values= i\n"
      "  COMPREPLY=()\n"
      "  # --option=value is three words here.\n"
      "  [[ $current == = ]] && current=\n"
      "  [[ $previous == = && COMP_CWORD -ge 2 ]] && previous=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    # QEMU and its arguments follow: programs for the first word, files for the others.\n"
      "    if [[ ${{COMP_WORDS[i]}} == -- ]]; then\n"
      "      ((i == COMP_CWORD - 1)) && COMPREPLY=($(compgen -c -- \"$current\"))\n"
      "      return\n"
      "    fi\n"
      "    case \"$command:${{COMP_WORDS[i]}}\" in\n"
      "{}"
      "    esac\n"
      "  done\n"
      "  case \"$command:$previous\" in\n"
      "    '') ;;\n"
      "{}"
      "  esac\n"
      "  if [[ $values ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case $command in\n"
      "{}"
      "  esac\n"
      "  # Nothing found: file names, by -o default.\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o bashdefault -o default -F _qperf qperf\n",
      paths, values, words);
}

std::string zsh_completion(const CommandDescription& program) {
  std::string functions;
  visit(program, [&](const std::string& path, const CommandDescription& command) {
    if (!path.empty()) functions += zsh_function(zsh_function_name(path), command);
  });
  return "#compdef qperf\n# zsh completion for qperf; made by 'qperf completion zsh'.\n" + functions +
         zsh_function("_qperf", program) +
         // Autoloaded from $fpath this file is the function's body; sourced it only declares it.
         "if [[ $funcstack[1] == _qperf ]]; then _qperf \"$@\"; else compdef _qperf qperf; fi\n";
}

}  // namespace qperf::tools

#include "tools/man/page.h"

#include <fmt/core.h>

#include <algorithm>

namespace qperf::tools {
namespace {

/// Text that roff shows as it is: its escapes and the hyphens that people copy.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  return out;
}

/// A line of text: one that begins with a dot would be a request.
std::string text_line(const std::string& roff) { return (roff.starts_with('.') ? "\\&" : "") + roff + "\n"; }

/// `code` in bold.
std::string with_code(std::string_view text) {
  std::string out;
  bool code = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '`') continue;
    out += (code ? "\\fB" : "") + escaped(text.substr(begin, i - begin)) + (code ? "\\fR" : "");
    code = !code;
    begin = i + 1;
  }
  return out;
}

/// Lines as they are, in a fixed font.
std::string example_block(const std::string& lines) { return ".PP\n.RS 4\n.nf\n" + lines + ".fi\n.RE\n"; }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string synopsis(const CommandDescription& program, const CommandDescription& command) {
  const bool whole = &program == &command;
  std::string text = "\\fB" + escaped(program.name) + (whole ? "" : " " + escaped(command.name)) + "\\fR";
  const bool has_options = std::ranges::any_of(command.options, [](const auto& option) { return !option.positional; });
  if (has_options) text += " [\\fIOPTIONS\\fR]";
  if (!command.commands.empty()) text += " \\fICOMMAND\\fR ...";
  for (const OptionDescription& option : command.options) {
    if (!option.positional) continue;
    const std::string name = (option.names.front() == "QEMU" ? "\\-\\- " : "") +
                             ("\\fI" + escaped(option.names.front()) + "\\fR") + (option.repeatable ? " ..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text_line(text);
}

std::string option_list(const CommandDescription& command) {
  std::string out;
  for (const OptionDescription& option : command.options) {
    std::string tag;
    for (const std::string& name : option.names) {
      const char* font = option.positional ? "\\fI" : "\\fB";
      tag += (tag.empty() ? "" : ", ") + (font + escaped(name)) + "\\fR";
    }
    if (!option.value.empty()) tag += " \\fI" + escaped(option.value) + "\\fR";
    std::string text = option.text;
    if (!option.choices.empty()) {
      std::string allowed;
      for (const std::string& choice : option.choices) allowed += (allowed.empty() ? "" : ", ") + choice;
      text += " (one of " + allowed + ")";
    }
    out += ".TP\n" + text_line(tag) + text_line(escaped(text));
  }
  return out;
}

/// The help text's foot: sentences, then "Examples:" and lines that are to be copied.
struct Foot {
  std::string text;
  std::string examples;
};

Foot split_foot(const std::string& footer) {
  Foot foot;
  bool in_examples = false;
  for (const std::string_view line : lines_of(footer)) {
    if (line == "Examples:") {
      in_examples = true;
    } else if (in_examples && line.starts_with("  ")) {
      foot.examples += text_line(escaped(line.substr(2)));
    } else {
      foot.text += text_line(escaped(line));
    }
  }
  return foot;
}

std::string command_list(const CommandDescription& program, const CommandDescription& command) {
  std::string out;
  for (const CommandDescription& below : command.commands)
    out += ".TP\n" + text_line("\\fB" + escaped(page_name(program.name, below.name)) + "\\fR(1)") +
           text_line(escaped(below.summary));
  return out;
}

}  // namespace

std::string page_name(const std::string& program, const std::string& command) {
  std::string name = command.empty() || command == program ? program : program + "-" + command;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string prose_as_roff(std::string_view prose) {
  std::string out;
  std::string shown;
  bool paragraph = false;
  const auto end_shown = [&] {
    if (!shown.empty()) out += example_block(shown);
    shown.clear();
  };
  for (const std::string_view line : lines_of(prose)) {
    if (line.starts_with("    ")) {
      shown += text_line(escaped(line.substr(4)));
      paragraph = false;
      continue;
    }
    end_shown();
    if (line.starts_with("# ")) {
      std::string heading(line.substr(2));
      std::ranges::transform(heading, heading.begin(),
                             [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
      out += ".SH " + escaped(heading) + "\n";
      paragraph = true;  // a heading begins one
    } else if (line.starts_with("- ")) {
      out += ".IP \\(bu 2\n" + text_line(with_code(line.substr(2)));
      paragraph = true;
    } else if (line.empty()) {
      paragraph = false;
    } else {
      if (!paragraph) out += ".PP\n";
      paragraph = true;
      const size_t text = std::min(line.find_first_not_of(' '), line.size());
      out += text_line(with_code(line.substr(text)));
    }
  }
  end_shown();
  return out;
}

std::string manual_page(const CommandDescription& program, const CommandDescription& command, const PageContext& context) {
  const std::string name = page_name(program.name, command.name);
  std::string title = name;
  std::ranges::transform(title, title.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  const Foot foot = split_foot(command.footer);
  std::string page = fmt::format(
      ".\\\" Made from the command line's description and docs/man; edit those.\n.TH {} 1 {} \"qperf {}\" \"qperf manual\"\n",
      escaped(title), context.date, context.version);
  page += ".SH NAME\n" + text_line(escaped(name) + " \\- " + escaped(command.summary));
  page += ".SH SYNOPSIS\n" + synopsis(program, command);
  if (!foot.text.empty()) page += ".SH DESCRIPTION\n" + foot.text;
  if (!command.commands.empty()) page += ".SH COMMANDS\n" + command_list(program, command);
  page += ".SH OPTIONS\n" + option_list(command);
  page += prose_as_roff(context.prose);
  if (!foot.examples.empty()) page += ".SH EXAMPLES\n" + example_block(foot.examples).substr(4);
  page += ".SH SEE ALSO\n" +
          text_line(name == program.name && program.name == "qperf" ? "\\fBqperf\\-analyzer\\fR(1)" : "\\fBqperf\\fR(1)");
  return page;
}

}  // namespace qperf::tools

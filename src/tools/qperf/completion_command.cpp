#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tools/qperf/command.h"
#include "tools/qperf/completion.h"
#include "tools/qperf/standard_output.h"

namespace qperf::tools {

void add_completion_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("completion", "print a script by which bash or zsh completes qperf's words");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->footer(
      "Examples:\n"
      "  source <(qperf completion bash)\n"
      "  qperf completion zsh > ~/.zfunc/_qperf     with fpath+=(~/.zfunc) before compinit in .zshrc");
  // The program's parser outlives the action, which runs after the parse.
  command->callback([&app, &action, shell] {
    action = [&app, shell] {
      const CommandDescription program = describe(app, "qperf");
      return write_out(*shell == "bash" ? bash_completion(program) : zsh_completion(program));
    };
  });
}

}  // namespace qperf::tools

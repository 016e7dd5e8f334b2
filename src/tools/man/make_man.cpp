#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/man/page.h"
#include "tools/qperf-analyzer/options.h"
#include "tools/qperf/commands.h"

/// make_man PROSE OUT VERSION DATE: writes the manual page of every program and command to OUT, with the sections that
/// PROSE/PAGE.md adds.
namespace qperf::tools {
namespace {

class Pages {
 public:
  Pages(std::string prose, std::string out, std::string version, std::string date)
      : prose_(std::move(prose)), out_(std::move(out)), version_(std::move(version)), date_(std::move(date)) {}

  void write(const CommandDescription& program, const CommandDescription& command) {
    const std::string name = page_name(program.name, command.name);
    std::ifstream file(prose_ + "/" + name + ".md");
    const PageContext context{.version = version_,
                              .date = date_,
                              .prose = std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>())};
    std::ofstream page(out_ + "/" + name + ".1", std::ios::binary);
    page << manual_page(program, command, context);
    page.close();
    failed_ = failed_ || !page;
    for (const CommandDescription& below : command.commands) write(program, below);
  }
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  std::string prose_;
  std::string out_;
  std::string version_;
  std::string date_;
  bool failed_ = false;
};

int make_man(char** words) {
  Pages pages(words[1], words[2], words[3], words[4]);
  std::filesystem::create_directories(words[2]);
  CLI::App qperf(kAbout, "qperf");
  Action action;
  add_commands(qperf, action);
  const CommandDescription front = describe(qperf, "qperf");
  pages.write(front, front);
  CLI::App old;
  declare_options(old);
  CommandDescription analyzer = describe(old, "qperf-analyzer");
  analyzer.summary = "turn a capture of libqperf.so and the kernel's ELF into a profile";
  pages.write(analyzer, analyzer);
  if (pages.failed()) fmt::print(stderr, "make_man: {}: cannot be written\n", words[2]);
  return pages.failed() ? 1 : 0;
}

}  // namespace
}  // namespace qperf::tools

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: make_man PROSE OUT VERSION DATE\n");
    return 2;
  }
  return qperf::tools::make_man(argv);
}

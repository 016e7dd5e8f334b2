// located_test INPUTS-FOLDER: the profile by addresses and lines of each golden capture. Its sums are those of the profile by
// function, and LLVM's symbolizer says the same of every address.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/profile_capture.h"

namespace qperf::analysis {
namespace {

std::string inputs_folder;

struct Case {
  const char* capture;
  std::vector<const char*> elfs;
};
const Case kCases[] = {{"wall.bin", {"kernel.elf"}}, {"icount.bin", {"kernel.elf"}}, {"exact.bin", {"kernel.elf"}},
                       {"wall.bin", {"kernel.elf", "firmware.elf"}}};

struct Profiled {
  profile::NamedStacks names;
  CaptureProfile profile;
};

std::unique_ptr<Profiled> profiled(const Case& of, Detail detail) {
  auto result = std::make_unique<Profiled>();
  CaptureRequest request;
  request.path = inputs_folder + '/' + of.capture;
  for (const char* elf : of.elfs) request.elfs.push_back(parse_elf_argument(inputs_folder + '/' + elf));
  request.detail = detail;
  auto profile = profile_capture(request, result->names);
  if (!profile) throw std::runtime_error(profile.error().message);
  result->profile = *std::move(profile);
  return result;
}

using Sums = std::map<std::pair<uint32_t, std::string>, std::pair<uint64_t, uint64_t>>;

/// By vCPU and the leaf's name: exact counts have no callers in the profile by function.
Sums sums_by_function(const Profiled& of) {
  Sums sums;
  for (const auto& row : of.profile.weights.rows()) {
    auto& sum = sums[{row.vcpu.raw, of.names.frames[of.names.stacks[row.stack].back()].name}];
    sum.first += row.weight;
    sum.second += row.samples;
  }
  return sums;
}

Sums sums_by_location(const Profiled& of) {
  Sums sums;
  const auto& located = *of.profile.located;
  for (const auto& row : located.rows) {
    const auto leaf = located.locations.lines(located.stacks[row.stack].front()).front();
    auto& sum = sums[{row.vcpu.raw, of.names.frames[leaf.frame].name}];
    sum.first += row.weight;
    sum.second += row.samples;
  }
  return sums;
}

TEST(Located, IsMadeOnlyWhenAskedFor) { EXPECT_FALSE(profiled(kCases[0], Detail::kFunctions)->profile.located); }

TEST(Located, SumsAreThoseOfTheProfileByFunction) {
  for (const Case& one : kCases) {
    const auto with_lines = profiled(one, Detail::kLines);
    ASSERT_TRUE(with_lines->profile.located);
    EXPECT_EQ(sums_by_location(*with_lines), sums_by_function(*with_lines)) << one.capture;
    EXPECT_EQ(sums_by_function(*profiled(one, Detail::kFunctions)), sums_by_function(*with_lines)) << one.capture;
  }
}

TEST(Located, StacksSpellTheStacksByFunction) {
  const auto of = profiled(kCases[0], Detail::kLines);
  std::map<std::vector<std::string>, uint64_t> by_function;
  for (const auto& row : of->profile.weights.rows()) {
    std::vector<std::string> stack;
    for (const auto frame : of->names.stacks[row.stack]) stack.push_back(of->names.frames[frame].name);
    by_function[stack] += row.weight;
  }
  std::map<std::vector<std::string>, uint64_t> by_line;
  const auto& located = *of->profile.located;
  for (const auto& row : located.rows) {
    std::vector<std::string> stack;
    for (const auto location : located.stacks[row.stack])
      for (const auto& line : located.locations.lines(location)) stack.insert(stack.begin(), of->names.frames[line.frame].name);
    by_line[stack] += row.weight;
  }
  EXPECT_EQ(by_line, by_function);
}

/// "function\nfile:line\n" for each level, innermost first, as the judge prints it.
std::string judged(const std::string& elf, GuestVa address) {
  const std::string command =
      fmt::format("llvm-symbolizer-19 --output-style=GNU --no-demangle -f -i -e '{}' {:#x} 2>&1", elf, address.raw);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string text;
  for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF;) text.push_back(static_cast<char>(c));
  return text.substr(0, text.find_last_not_of('\n') + 1) + '\n';
}

TEST(Located, LinesAreThoseOfLlvmSymbolizer) {
  if (std::system("command -v llvm-symbolizer-19 >/dev/null") != 0) GTEST_SKIP() << "skipped: needs llvm-symbolizer-19 (llvm-19)";
  const auto of = profiled(kCases[3], Detail::kLines);
  const auto& located = *of->profile.located;
  size_t inlined = 0;
  size_t compared = 0;
  for (uint32_t id = 0; id < located.locations.size(); ++id) {
    const auto& location = located.locations[profile::LocationId{id}];
    const auto lines = located.locations.lines(profile::LocationId{id});
    if (!location.image || lines.front().line == 0) continue;  // no ELF, or assembly without lines: no question for a judge
    std::string ours;
    for (const auto& line : lines) {
      const auto& frame = of->names.frames[line.frame];
      ours += fmt::format("{}\n./{}:{}\n", frame.name, frame.file, line.line);  // the ELFs' compilation folder is "."
    }
    EXPECT_EQ(ours, judged(located.images[*location.image].path, location.address));
    EXPECT_TRUE(located.images[*location.image].text.contains(location.address));
    inlined += lines.size() > 1 ? 1 : 0;
    ++compared;
  }
  EXPECT_GE(compared, 4U);
  EXPECT_GE(inlined, 1U);
}

}  // namespace
}  // namespace qperf::analysis

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) return 2;
  qperf::analysis::inputs_folder = argv[1];
  return RUN_ALL_TESTS();
}

// Compares the names and lines of random addresses in a real kernel with binutils' addr2line and LLVM's symbolizer.
//   symbols_kernel_judge VMLINUX [ADDRESSES]
// Exit code 0: they agree at 99.5 % of the addresses or more; 1: they do not; 77: no kernel or no judge to compare with.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "symbols/demangle.h"
#include "symbols/image.h"

namespace qperf::symbols {
namespace {

constexpr int kSkip = 77;
constexpr double kLeastAgreement = 0.995;

struct Judged {
  std::string function;
  std::string file;
  uint32_t line = 0;
};
using Answer = std::vector<Judged>;

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string line;
  for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF;) {
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
    } else {
      lines.push_back(std::exchange(line, {}));
    }
  }
  return lines;
}

/// Both judges print the address, then a line with the name and one with file:line for each level; LLVM an empty line after.
std::vector<Answer> ask(const std::string& command) {
  std::vector<Answer> answers;
  const auto lines = lines_of(command);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("0x")) {
      answers.emplace_back();
    } else if (!answers.empty() && !lines[i].empty() && i + 1 < lines.size()) {
      std::string place = lines[++i];
      place = place.substr(0, place.find(" (discriminator"));
      const size_t colon = place.rfind(':');
      answers.back().push_back(
          {lines[i - 1], place.substr(0, colon), static_cast<uint32_t>(std::atoi(place.c_str() + colon + 1))});
    }
  }
  return answers;
}

/// True if one path ends with the other: a relative compilation folder may stand before it.
bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  const std::string x = fs::path(a).lexically_normal().string();
  const std::string y = fs::path(b).lexically_normal().string();
  return x == y || x.ends_with('/' + y) || y.ends_with('/' + x);
}

enum class Compare : uint8_t { kNamesAndLines, kInlinedNamesAndPlaces };

/// addr2line names every level from DWARF but takes some inlined files from the wrong row; LLVM has the files right but takes
/// the outermost name from the symbol table.
bool agrees(const Location& ours, const Answer& theirs, Compare compare) {
  if (ours.frames.size() != theirs.size()) return false;
  for (size_t level = 0; level < theirs.size(); ++level) {
    const SourceFrame& frame = ours.frames[level];
    if (compare == Compare::kNamesAndLines || frame.inlined) {
      if (frame.function != without_clone_suffix(theirs[level].function)) return false;
    }
    if (frame.line != theirs[level].line) return false;
    if (compare == Compare::kInlinedNamesAndPlaces && frame.line != 0 && !same_file(frame.file, theirs[level].file))
      return false;
  }
  return true;
}

/// Between functions there is padding that no DWARF unit covers: its name is a matter of taste.
bool is_padding(const Location& ours, const Answer& theirs) {
  return ours.source != NameSource::kDwarf && (theirs.empty() || theirs.back().line == 0);
}

/// `padding[i]` is set where this judge says so and kept for the next: addr2line stretches the last row of a unit over what
/// follows it, so LLVM is asked first.
bool judge(const char* name, const std::string& command, std::span<const GuestVa> addresses, std::span<const Location> ours,
           std::vector<bool>& padding, Compare compare) {
  const auto theirs = ask(command);
  if (theirs.size() != addresses.size()) {
    fmt::print("{}: answered {} of {} addresses\n", name, theirs.size(), addresses.size());
    return false;
  }
  size_t agreed = 0;
  size_t shown = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (is_padding(ours[i], theirs[i])) padding[i] = true;
    if (padding[i]) continue;
    if (agrees(ours[i], theirs[i], compare)) {
      ++agreed;
    } else if (shown++ < 20) {
      fmt::print("  {:#x}\n", addresses[i].raw);
      for (const auto& frame : ours[i].frames) fmt::print("    ours   {} {}:{}\n", frame.function, frame.file, frame.line);
      for (const auto& frame : theirs[i]) fmt::print("    theirs {} {}:{}\n", frame.function, frame.file, frame.line);
    }
  }
  const auto paddings = static_cast<size_t>(std::count(padding.begin(), padding.end(), true));
  const size_t counted = addresses.size() - paddings;
  const double rate = counted == 0 ? 0 : static_cast<double>(agreed) / static_cast<double>(counted);
  fmt::print("{}: {} of {} addresses agree ({:.3f} %), {} more are padding\n", name, agreed, counted, 100 * rate, paddings);
  return rate >= kLeastAgreement && paddings * 20 < addresses.size();
}

int run(const std::string& path, size_t count) {
  if (!std::filesystem::exists(path)) {
    fmt::print("skipped: no kernel at {}; fetch one with debian-kernel --debug\n", path);
    return kSkip;
  }
  const auto image = Image::open(path);
  if (!image) {
    fmt::print("{}\n", image.error().message);
    return 1;
  }
  const auto text =
      *std::ranges::max_element(image->text_ranges(), {}, [](const GuestRange& r) { return r.last.raw - r.first.raw; });
  const uint64_t alignment = guest::info(*image->target()).instruction_alignment_bytes;
  std::mt19937_64 random(20);
  std::vector<GuestVa> addresses;
  for (size_t i = 0; i < count; ++i)
    addresses.push_back(GuestVa{text.first.raw + random() % ((text.last.raw - text.first.raw) / alignment) * alignment});
  const auto ours = image->symbolize(addresses);
  if (!ours) {
    fmt::print("{}\n", ours.error().message);
    return 1;
  }

  std::string list = (std::filesystem::temp_directory_path() / "qperf-judge-XXXXXX").string();
  const int fd = mkstemp(list.data());
  if (fd < 0) return 1;
  close(fd);
  std::ofstream out(list);
  for (const GuestVa address : addresses) out << fmt::format("{:#x}\n", address.raw);
  out.close();
  bool good = true;
  int judges = 0;
  std::vector<bool> padding(addresses.size());
  if (std::system("command -v llvm-symbolizer-19 >/dev/null") == 0) {
    ++judges;
    good &= judge("llvm-symbolizer", fmt::format("llvm-symbolizer-19 --output-style=GNU -a -f -i -e '{}' < {}", path, list),
                  addresses, *ours, padding, Compare::kInlinedNamesAndPlaces);
  }
  if (std::system("command -v addr2line >/dev/null") == 0) {
    ++judges;
    good &= judge("addr2line", fmt::format("addr2line -a -f -i -C -e '{}' < {}", path, list), addresses, *ours, padding,
                  Compare::kNamesAndLines);
  }
  std::filesystem::remove(list);
  if (judges == 0) {
    fmt::print("skipped: needs addr2line (binutils) or llvm-symbolizer-19 (llvm-19)\n");
    return kSkip;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace qperf::symbols

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: symbols_kernel_judge VMLINUX [ADDRESSES]\n");
    return 2;
  }
  return qperf::symbols::run(argv[1], argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2000);
}

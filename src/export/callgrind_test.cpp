#include "export/callgrind.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace qperf::exporter {
namespace {

using profile::FrameId;
using profile::LocatedProfile;

/// What a reader makes of a file: own and inclusive costs by function.
struct Read {
  std::map<std::string, uint64_t> self;
  std::map<std::string, uint64_t> called;  // "caller:line>callee"
  uint64_t summary = 0;
  uint64_t totals = 0;
};

std::string expand(const std::string& value, std::map<std::string, std::string>& names) {
  const size_t end = value.find(')');
  const std::string number = value.substr(0, end + 1);
  if (end + 2 < value.size()) names[number] = value.substr(end + 2);
  EXPECT_TRUE(names.contains(number)) << value;
  return names[number];
}

Read read(const std::string& text) {
  Read result;
  std::map<std::string, std::string> functions;
  std::map<std::string, std::string> files;
  std::istringstream in(text);
  std::string line;
  std::string function;
  std::string callee;
  EXPECT_TRUE(text.starts_with("# callgrind format\n"));
  while (std::getline(in, line)) {
    const auto value = line.substr(line.find('=') + 1);
    if (line.starts_with("fn=")) function = expand(value, functions);
    if (line.starts_with("fl=") || line.starts_with("cfi=")) expand(value, files);
    if (line.starts_with("cfn=")) callee = expand(value, functions);
    if (line.starts_with("summary: ")) result.summary = std::stoull(line.substr(9));
    if (line.starts_with("totals: ")) result.totals = std::stoull(line.substr(8));
    if (line.empty() || line[0] < '0' || line[0] > '9') continue;
    const size_t blank = line.find(' ');
    const uint64_t cost = std::stoull(line.substr(blank + 1));
    if (callee.empty())
      result.self[function] += cost;
    else
      result.called[function + ':' + line.substr(0, blank) + '>' + callee] += cost;
    callee.clear();
  }
  return result;
}

struct Fixture {
  /// Root first; `line` of each.
  void add(const std::vector<std::pair<std::string, uint32_t>>& stack, uint64_t cost) {
    std::vector<profile::LocationId> locations;
    for (auto entry = stack.rbegin(); entry != stack.rend(); ++entry) {
      const FrameId frame = frames.intern({.name = entry->first, .file = "a.c", .line = 3});
      locations.push_back(profile.locations.add({}, std::vector{profile::SourceLine{frame, entry->second}}));
    }
    graph.add(profile, profile.stacks.intern(locations), {cost, cost * 10}, 1);
  }
  [[nodiscard]] std::string text() const {
    StringSink sink;
    graph.write({.creator = "qperf", .command = "x", .notes = {"n"}, .events = {{"S", "Samples"}, {"Ns", "Wall"}}}, frames, sink);
    return sink.text();
  }
  profile::FrameTable frames;
  LocatedProfile profile;
  CallgrindGraph graph;
};

TEST(Callgrind, OwnCostsAddUpAndCallsAreInclusive) {
  Fixture f;
  f.add({{"main", 1}, {"a", 5}, {"b", 9}}, 2);
  f.add({{"main", 1}, {"a", 6}, {"b", 9}}, 3);
  f.add({{"main", 2}, {"a", 5}}, 4);
  const Read seen = read(f.text());
  EXPECT_EQ(seen.self, (std::map<std::string, uint64_t>{{"a", 4}, {"b", 5}}));
  EXPECT_EQ(seen.called, (std::map<std::string, uint64_t>{{"main:1>a", 5}, {"main:2>a", 4}, {"a:5>b", 2}, {"a:6>b", 3}}));
  EXPECT_EQ(seen.summary, 9U);
  EXPECT_EQ(seen.totals, 9U);
}

TEST(Callgrind, RecursionCountsOnce) {
  Fixture f;
  f.add({{"main", 1}, {"r", 5}, {"r", 5}, {"r", 5}, {"leaf", 7}}, 2);
  const Read seen = read(f.text());
  EXPECT_EQ(seen.called, (std::map<std::string, uint64_t>{{"main:1>r", 2}, {"r:5>r", 2}, {"r:5>leaf", 2}}));
}

TEST(Callgrind, NamesCannotBreakLinesOrLookLikeNumbers) {
  Fixture f;
  f.add({{"(1) x", 1}, {"a\nfn=(1) b", 1}, {" ", 1}, {"\xff;", 1}, {std::string(1 << 20, 'x'), 0}}, 1);
  const Read seen = read(f.text());
  EXPECT_EQ(seen.self, (std::map<std::string, uint64_t>{{std::string(1 << 20, 'x'), 1}}));
  EXPECT_TRUE(seen.called.contains("_(1) x:1>a\\x0afn=(1) b"));
  EXPECT_TRUE(seen.called.contains("???:1>\\xff;"));
}

TEST(Callgrind, OfNothingIsAFileWithNothing) {
  const Read seen = read(Fixture().text());
  EXPECT_TRUE(seen.self.empty());
  EXPECT_EQ(seen.totals, 0U);
}

}  // namespace
}  // namespace qperf::exporter

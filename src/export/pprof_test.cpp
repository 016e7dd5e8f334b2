#include "export/pprof.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "export/proto_test_support.h"

namespace qperf::exporter {
namespace {

using profile::FrameId;
using profile::LocatedProfile;
using profile::LocationId;

PprofHeader header() {
  PprofHeader header;
  header.sample_types = {{"samples", "count"}, {"wall", "nanoseconds"}};
  header.default_type = 1;
  header.period_type = PprofValueType{"wall", "nanoseconds"};
  header.period = 10'101'010;
  header.start_realtime_ns = 5;
  header.duration_ns = UINT64_MAX;
  header.comments = {"qperf"};
  return header;
}

/// What a reader checks before it believes a file (profile.CheckValid of pprof), and that ids and strings are dense.
void expect_valid(const DecodedMessage& file) {
  const size_t strings = file.count(6);
  ASSERT_GT(strings, 0U);
  EXPECT_EQ(file.text(6), "");
  const auto texts = file.texts(6);
  EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), strings);
  const auto expect_dense = [&](uint32_t field) {
    uint64_t next = 1;
    for (const auto& message : file.messages(field)) EXPECT_EQ(message.number(1), next++);
    return next;
  };
  const uint64_t mappings = expect_dense(3);
  const uint64_t locations = expect_dense(4);
  const uint64_t functions = expect_dense(5);
  for (const auto& location : file.messages(4)) {
    EXPECT_LT(location.number(2), mappings);
    EXPECT_GT(location.count(4), 0U);
    for (const auto& line : location.messages(4)) {
      EXPECT_GT(line.number(1), 0U);
      EXPECT_LT(line.number(1), functions);
    }
  }
  for (const auto& function : file.messages(5)) EXPECT_LT(function.number(2), strings);
  for (const auto& sample : file.messages(2)) {
    EXPECT_EQ(sample.packed(2).size(), file.count(1));
    for (const uint64_t location : sample.packed(1)) {
      EXPECT_GT(location, 0U);
      EXPECT_LT(location, locations);
    }
    std::set<uint64_t> keys;
    for (const auto& label : sample.messages(3)) EXPECT_TRUE(keys.insert(label.number(1)).second);
  }
  EXPECT_LT(file.number(14), strings);
}

/// A kernel with `caller` (which has `inlined` inlined into it) above `leaf`.
struct Fixture {
  explicit Fixture(uint32_t leaf_line = 7) { add(profile, leaf_line); }

  void add(LocatedProfile& to, uint32_t leaf_line) {
    const FrameId leaf = frames.intern({.name = "leaf", .file = "a.c", .line = 5});
    const FrameId inlined = frames.intern({.name = "inlined", .file = "a.h", .line = 1});
    const FrameId caller = frames.intern({.name = "caller", .file = "a.c", .line = 20});
    to.images.push_back(
        {.path = "vmlinux", .build_id = {std::byte{0xab}, std::byte{0x01}}, .text = {GuestVa{0x1000}, GuestVa{0x1fff}}});
    const LocationId at_leaf = to.locations.add({.image = 0, .address = GuestVa{0x1010}}, std::vector{profile::SourceLine{leaf, leaf_line}});
    const LocationId at_call = to.locations.add({.image = 0, .address = GuestVa{0x1103}},
                                                std::vector{profile::SourceLine{inlined, 2}, profile::SourceLine{caller, 25}});
    stack = to.stacks.intern(std::vector{at_leaf, at_call});
  }

  profile::FrameTable frames;
  LocatedProfile profile;
  profile::StackId stack;
};

TEST(Pprof, WritesAddressesLinesAndLabels) {
  Fixture f;
  StringSink sink;
  const PprofHeader head = header();
  PprofWriter writer(head, f.frames, sink);
  writer.begin_profile(f.profile);
  const std::vector<int64_t> values{3, 30};
  const std::vector<PprofLabel> labels{{.key = "task", .text = "init[1]", .number = {}}, {.key = "vcpu", .text = {}, .number = 2}};
  writer.sample(f.stack, values, labels);
  const DecodedMessage file(sink.text());
  expect_valid(file);
  const auto text = [&](uint64_t index) { return file.text(6, index); };
  EXPECT_EQ(text(file.number(14)), "wall");
  EXPECT_EQ(file.number(12), 10'101'010U);
  EXPECT_EQ(file.number(10), uint64_t{INT64_MAX}) << "the format's numbers are signed";
  const auto mapping = file.messages(3).at(0);
  EXPECT_EQ(text(mapping.number(5)), "vmlinux");
  EXPECT_EQ(text(mapping.number(6)), "ab01");
  EXPECT_EQ(mapping.number(2), 0x1000U);
  EXPECT_EQ(mapping.number(3), 0x2000U);
  for (uint32_t has = 7; has <= 10; ++has) EXPECT_EQ(mapping.number(has), 1U);
  const auto sample = file.messages(2).at(0);
  EXPECT_EQ(sample.packed(1), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(sample.packed(2), (std::vector<uint64_t>{3, 30}));
  const auto call = file.messages(4).at(1);
  EXPECT_EQ(call.number(3), 0x1103U);
  const auto lines = call.messages(4);
  ASSERT_EQ(lines.size(), 2U);
  const auto function = [&](uint64_t id) { return file.messages(5).at(id - 1); };
  EXPECT_EQ(text(function(lines[0].number(1)).number(2)), "inlined");
  EXPECT_EQ(lines[0].number(2), 2U);
  EXPECT_EQ(text(function(lines[1].number(1)).number(2)), "caller");
  EXPECT_EQ(text(function(lines[1].number(1)).number(4)), "a.c");
  EXPECT_EQ(function(lines[1].number(1)).number(5), 20U);
  const auto written = sample.messages(3);
  EXPECT_EQ(text(written.at(0).number(2)), "init[1]");
  EXPECT_EQ(written.at(0).count(3), 0U);
  EXPECT_EQ(written.at(1).number(3), 2U);
  EXPECT_EQ(written.at(1).count(2), 0U);
}

TEST(Pprof, TwoProfilesShareWhatIsTheSame) {
  Fixture f;
  LocatedProfile same;
  f.add(same, 7);
  LocatedProfile rebuilt;
  f.add(rebuilt, 8);
  rebuilt.images[0].build_id = {std::byte{0xcd}};
  StringSink sink;
  const PprofHeader head = header();
  PprofWriter writer(head, f.frames, sink);
  const std::vector<int64_t> values{1, 10};
  const std::vector<int64_t> negated{-1, -10};
  for (const LocatedProfile* profile : {&f.profile, &same, &rebuilt}) {
    writer.begin_profile(*profile);
    writer.sample(f.stack, profile == &f.profile ? values : negated, {});
  }
  const DecodedMessage file(sink.text());
  expect_valid(file);
  EXPECT_EQ(file.count(3), 2U);
  EXPECT_EQ(file.count(4), 4U);
  EXPECT_EQ(file.count(5), 3U);
  EXPECT_EQ(file.messages(2).at(1).packed(1), file.messages(2).at(0).packed(1));
  EXPECT_EQ(static_cast<int64_t>(file.messages(2).at(2).packed(2).at(1)), -10);
}

TEST(Pprof, TakesAnyNameAndAnyAddress) {
  profile::FrameTable frames;
  LocatedProfile profile;
  profile.images.push_back({.path = "k\n\xff", .build_id = {}, .text = {GuestVa{0}, GuestVa{UINT64_MAX}}});
  const std::vector<std::string> names{"", std::string("a\0b\x1b[31m", 8), "\xff\xfe", "x;y\nz 3", std::string(1 << 20, 'n'), "0"};
  std::vector<LocationId> stack;
  for (size_t i = 0; i < names.size(); ++i) {
    const FrameId frame = frames.intern({.name = names[i], .file = names[i], .line = UINT32_MAX});
    const auto image = i % 2 == 0 ? std::optional<uint32_t>(0) : std::nullopt;
    stack.push_back(profile.locations.add({.image = image, .address = GuestVa{i == 1 ? UINT64_MAX : 0}},
                                          std::vector{profile::SourceLine{frame, UINT32_MAX}}));
  }
  const auto id = profile.stacks.intern(stack);
  const auto none = profile.stacks.intern(std::vector<LocationId>{});
  StringSink sink;
  const PprofHeader head = header();
  PprofWriter writer(head, frames, sink);
  writer.begin_profile(profile);
  const std::vector<int64_t> values{INT64_MAX, INT64_MIN};
  const std::vector<PprofLabel> labels{{.key = "task", .text = "\xc0\x80;\n", .number = {}}};
  writer.sample(id, values, labels);
  writer.sample(none, values, labels);
  const DecodedMessage file(sink.text());
  expect_valid(file);
  EXPECT_EQ(file.messages(3).at(0).number(3), UINT64_MAX) << "the end of all addresses does not wrap";
  for (const std::string& text : file.texts(6)) {
    for (const char c : text) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << text;
  }
}

}  // namespace
}  // namespace qperf::exporter

#include "export/speedscope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace qperf::exporter {
namespace {

using nlohmann::json;
using profile::FrameId;

json written(const profile::NamedStacks& names, const SpeedscopeDocument& document) {
  StringSink sink;
  write_speedscope(names, document, sink);
  return json::parse(sink.text());
}

/// The rules that speedscope's reader throws on, and the ones of its schema that we use.
void expect_readable(const json& file) {
  EXPECT_EQ(file.at("$schema"), "https://www.speedscope.app/file-format-schema.json");
  const size_t frames = file.at("shared").at("frames").size();
  for (const auto& frame : file["shared"]["frames"]) EXPECT_FALSE(frame.at("name").get<std::string>().empty());
  ASSERT_LT(file.at("activeProfileIndex").get<size_t>(), file.at("profiles").size());
  for (const auto& profile : file["profiles"]) {
    EXPECT_EQ(profile.at("type"), "sampled");
    EXPECT_EQ(profile.at("startValue"), 0);
    ASSERT_EQ(profile.at("samples").size(), profile.at("weights").size());
    uint64_t total = 0;
    for (size_t i = 0; i < profile["samples"].size(); ++i) {
      for (const auto& frame : profile["samples"][i]) EXPECT_LT(frame.get<size_t>(), frames);
      EXPECT_GT(profile["weights"][i].get<uint64_t>(), 0U);
      total += profile["weights"][i].get<uint64_t>();
      if (i > 0) {
        EXPECT_NE(profile["samples"][i], profile["samples"][i - 1]);
      }
    }
    EXPECT_EQ(profile.at("endValue"), total);
  }
}

TEST(Speedscope, WritesWhatItsReaderTakes) {
  profile::NamedStacks names;
  const FrameId unused = names.frames.intern({.name = "unused", .file = "", .line = 0});
  const FrameId root = names.frames.intern({.name = "start", .file = "boot \"x\".c", .line = 12});
  const FrameId odd = names.frames.intern({.name = "a\\b\xff\x1b;c", .file = "", .line = 0});
  ASSERT_EQ(unused.raw, 0U);
  const auto one = names.stacks.intern(std::vector{root});
  const auto two = names.stacks.intern(std::vector{root, odd});
  const auto none = names.stacks.intern(std::vector<FrameId>{});
  SpeedscopeDocument document;
  document.name = "x.bin";
  document.exporter = "qperf@1";
  document.unit = SpeedscopeUnit::kNanoseconds;
  document.profiles.push_back(
      {.name = "all", .samples = {{one, 5}, {one, 6}, {two, 0}, {one, 1}, {two, 7}, {none, 2}, {one, 3}}});
  document.profiles.push_back({.name = "cpu1", .samples = {}});
  const json file = written(names, document);
  expect_readable(file);
  ASSERT_EQ(file["shared"]["frames"].size(), 2U);
  EXPECT_EQ(file["shared"]["frames"][0], (json{{"name", "start"}, {"file", "boot \"x\".c"}, {"line", 12}}));
  EXPECT_EQ(file["shared"]["frames"][1]["name"], "a\\b\\xff\\x1b;c");
  const json& all = file["profiles"][0];
  EXPECT_EQ(all["unit"], "nanoseconds");
  EXPECT_EQ(all["samples"], (json{{0}, {0, 1}, json::array(), {0}}));
  EXPECT_EQ(all["weights"], (json{12, 7, 2, 3}));
  EXPECT_EQ(file["profiles"][1]["endValue"], 0);
}

TEST(Speedscope, InstructionsHaveNoUnit) {
  SpeedscopeDocument document;
  document.profiles.push_back({.name = "all", .samples = {}});
  EXPECT_EQ(written({}, document)["profiles"][0]["unit"], "none");
}

}  // namespace
}  // namespace qperf::exporter

#include "export/svg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "export/markup_text.h"
#include "export/svg_colour.h"
#include "export/svg_page.h"

namespace qperf::exporter {
namespace {

using profile::FrameId;
using profile::NodeId;

class Picture {
 public:
  NodeId add(const std::vector<std::string>& names, uint64_t weight) {
    std::vector<FrameId> stack;
    for (const std::string& name : names) stack.push_back(frames.intern({.name = name, .file = "kernel/a.c", .line = 7}));
    const NodeId node = picture.tree.node_of(stack);
    picture.self.resize(picture.tree.size());
    picture.self[node.raw] += weight;
    return node;
  }

  SvgChange& change(NodeId node) {
    if (!picture.comparison) picture.comparison = SvgComparison{.unit = "%", .before = "old.bin", .what = "", .changes = {}};
    picture.comparison->changes.resize(picture.tree.size());
    return picture.comparison->changes[node.raw];
  }

  [[nodiscard]] SvgLayout layout(const SvgLimits& limits = {}) const {
    return svg_layout(picture.tree, frames, picture.tree.totals(picture.self), limits);
  }

  [[nodiscard]] std::string text(const SvgLimits& limits = {}) const {
    StringSink sink;
    write_svg(frames, picture, sink, limits);
    return sink.text();
  }

  /// The element of the frame with that name.
  [[nodiscard]] std::string frame_of(std::string_view name) const {
    const std::string all = text();
    const size_t title = all.find("<title>" + std::string(name) + "\n");
    if (title == std::string::npos) return "";
    const size_t begin = all.rfind("<g ", title);
    return all.substr(begin, all.find("</g>", title) - begin);
  }

  profile::FrameTable frames;
  SvgPicture picture;
};

size_t count(std::string_view text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(SvgLayout, PlacesCalleesInsideTheirCallersByName) {
  Picture p;
  p.add({"main", "write"}, 30);
  p.add({"main", "read"}, 60);
  p.add({"main"}, 10);
  const SvgLayout layout = p.layout();
  std::vector<std::string> seen;
  for (const SvgBox& box : layout.boxes) {
    const std::string name = box.node.raw == 0 ? "all" : p.frames[p.picture.tree.nodes()[box.node.raw].frame].name;
    seen.push_back(name + ' ' + std::to_string(box.depth) + ' ' + std::to_string(box.from) + '+' + std::to_string(box.weight));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"all 0 0+100", "main 1 0+100", "read 2 0+60", "write 2 60+30"}));
  EXPECT_EQ(layout.rows, 3U);
  EXPECT_EQ(layout.left_out, 0U);
}

TEST(SvgLayout, LeavesOutWhatIsTooThinAndCountsIt) {
  Picture p;
  p.add({"wide"}, 1'000'000);
  p.add({"thin", "below"}, 84);  // 84 of 1,000,169 weights on 1180 pixels: 0.0991
  p.add({"kept"}, 85);           // 0.1003
  const SvgLayout layout = p.layout();
  EXPECT_EQ(layout.boxes.size(), 3U);
  EXPECT_EQ(layout.left_out, 2U);
  EXPECT_NE(p.text().find("2 frames thinner than 0.1 pixels"), std::string::npos);
  EXPECT_TRUE(p.frame_of("thin").empty());
  EXPECT_FALSE(p.frame_of("kept").empty());
}

TEST(SvgLayout, HoldsTheLargestFramesOfTooMany) {
  Picture p;
  for (int i = 0; i < 1000; ++i) p.add({"f" + std::to_string(i)}, i < 100 ? 1000 : 10);
  const SvgLayout layout = p.layout({.boxes = 200});
  EXPECT_EQ(layout.boxes.size(), 101U);
  EXPECT_EQ(layout.left_out, 900U);
  EXPECT_GT(layout.least_pixels, 0.1);
}

TEST(SvgLayout, EndsAtTheTopRow) {
  Picture p;
  p.add(std::vector<std::string>(5000, "again"), 1);
  const SvgLayout layout = p.layout();
  EXPECT_EQ(layout.rows, 2048U);
  EXPECT_EQ(layout.left_out, 5000U - 2047U);
  EXPECT_NE(p.text().find("or above the top row"), std::string::npos);
}

TEST(SvgLayout, SumsThatSaturateStayDrawable) {
  Picture p;
  p.add({"a"}, ~uint64_t{0});
  p.add({"b"}, ~uint64_t{0});
  EXPECT_EQ(p.layout().boxes.size(), 3U);
  EXPECT_EQ(count(p.text(), "nan"), 0U);
}

TEST(Svg, NamesAreNeverMarkup) {
  const std::string hostile = "</title></svg><script>alert(1)</script><!--&\"'\\\xe2\x80\xa8\xef\xbf\xbf\xff\n\x01]]>";
  Picture quiet;
  quiet.picture.title = "quiet";
  quiet.picture.notes = {"note"};
  quiet.add({"name"}, 1);
  Picture p;
  p.picture.title = p.picture.subtitle = p.picture.unit.name = hostile;
  p.picture.notes = {hostile};
  const FrameId frame = p.frames.intern({.name = hostile, .file = hostile, .line = 1});
  const NodeId node = p.picture.tree.node_of(std::vector{frame});
  p.picture.self = {0, 1};
  ASSERT_EQ(node.raw, 1U);
  const std::string text = p.text();
  for (const std::string_view markup : {"<script", "</svg>", "</title>", "<!--", "]]>", "\xe2\x80\xa8", "\xef\xbf\xbf", "\xff", "\x01"})
    EXPECT_EQ(count(text, markup), count(quiet.text(), markup)) << markup;
  EXPECT_NE(text.find("&lt;/title&gt;&lt;/svg&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--&amp;&quot;"), std::string::npos);
  EXPECT_EQ(count(text, svg_page().script), 1U);
}

TEST(Svg, TellsShareWeightAndPlace) {
  Picture p;
  p.picture.unit = {.name = "ticks", .ns_per_weight = 1e7};
  p.add({"main", "read"}, 2500);
  p.add({"main"}, 7500);
  EXPECT_NE(p.frame_of("read").find("<title>read\n25.00 % of all, 2,500 ticks (25.000 s)\nkernel/a.c:7</title>"), std::string::npos)
      << p.frame_of("read");
  EXPECT_NE(p.frame_of("all").find("100.00 % of all, 10,000 ticks"), std::string::npos);
  EXPECT_NE(p.frame_of("read").find(">read</text>"), std::string::npos);
}

TEST(Svg, WritesWhatFitsIntoABox) {
  Picture p;
  p.add({"a_name_that_is_too_long"}, 100);
  p.add({"the_rest"}, 1080);
  const std::string frame = p.frame_of("a_name_that_is_too_long");  // 100 pixels: 13 columns
  EXPECT_NE(frame.find(">a_name_that_…</text>"), std::string::npos) << frame;
  EXPECT_EQ(clipped_to_columns("内核函数名字", 7), "内核函…");
  EXPECT_EQ(clipped_to_columns("内核函", 6), "内核函");
  EXPECT_EQ(clipped_to_columns("abc", 0), "");
}

TEST(Svg, DrawsNothingOfNothing) {
  Picture p;
  p.picture.self = {0};
  EXPECT_NE(p.text().find("there is nothing to draw"), std::string::npos);
  EXPECT_EQ(count(p.text(), "nan"), 0U);
}

TEST(Svg, ColoursParentsByTheirInclusiveChange) {
  Picture p;
  const NodeId grown = p.add({"main", "parent", "grown"}, 60);
  const NodeId shrunk = p.add({"main", "shrunk"}, 30);
  const NodeId noisy = p.add({"main", "noisy"}, 10);
  const NodeId gone = p.add({"main", "gone", "with_it"}, 0);
  const NodeId parent = p.picture.tree.nodes()[grown.raw].parent;
  p.change(grown) = p.change(parent) = {.before = 40, .after = 60, .noise = 2};
  p.change(shrunk) = {.before = 40, .after = 30, .noise = 2};
  p.change(noisy) = {.before = 11, .after = 10, .noise = 2};
  p.change(gone) = {.before = 9, .after = 0, .noise = 2};
  p.change(p.picture.tree.nodes()[gone.raw].parent) = p.change(gone);
  p.change(NodeId{}) = {.before = 100, .after = 120, .noise = std::nullopt};
  const auto has_fill = [&](std::string_view name, const std::string& colour) {
    return p.frame_of(name).find("fill=\"" + colour + '"') != std::string::npos;
  };
  EXPECT_TRUE(has_fill("grown", colour_of_change(1))) << p.frame_of("grown");
  EXPECT_TRUE(has_fill("parent", colour_of_change(1)));
  EXPECT_TRUE(has_fill("shrunk", colour_of_change(-0.5))) << p.frame_of("shrunk");
  EXPECT_TRUE(has_fill("noisy", std::string(kUnchangedColour)));
  EXPECT_NE(p.frame_of("parent").find("40.00 % before, 60.00 % now: +20.00 points"), std::string::npos);
  EXPECT_NE(p.text().find("gone since old.bin, and not drawn: 2 frames in its stacks that had 9.00 %: gone 9.00 %"), std::string::npos) << p.text();
  EXPECT_TRUE(p.frame_of("gone").empty());
  EXPECT_NE(p.frame_of("all").find("100.00 % before, 120.00 % now: +20.00 points, of unknown noise"), std::string::npos) << p.frame_of("all");
  EXPECT_TRUE(has_fill("all", std::string(kRootColour)));
}

TEST(SvgColour, ShowsTheKindOfFrame) {
  const auto kind = [](const std::string& name, const std::string& file) { return kind_of({.name = name, .file = file, .line = 0}); };
  EXPECT_EQ(kind("do_read", "fs/read.c"), FrameKind::kFunction);
  EXPECT_EQ(kind("memcpy", ""), FrameKind::kWithoutSource);
  EXPECT_EQ(kind("[module] 0xffffffff02001250", ""), FrameKind::kModule);
  EXPECT_EQ(kind("0xffffffff80010004", ""), FrameKind::kAddress);
  EXPECT_EQ(kind("[rare]", ""), FrameKind::kOther);
  EXPECT_EQ(colour_of(FrameKind::kFunction, "a"), colour_of(FrameKind::kFunction, "a"));
  EXPECT_NE(colour_of_change(0.5), colour_of_change(-0.5));
}

TEST(Unit, SaysWhatAWeightIs) {
  EXPECT_EQ(amount({.name = "ticks", .ns_per_weight = 1e7}, 1234), "1,234 ticks (12.340 s)");
  EXPECT_EQ(amount({.name = "periods", .insns_per_weight = 1000}, 12), "12 periods (12,000 instructions)");
  EXPECT_EQ(amount({.name = "ticks"}, 1), "1 tick");
  EXPECT_EQ(amount({.name = "samples"}, 1234567), "1,234,567 samples");
  EXPECT_EQ(amount({.name = "", .ns_per_weight = 1}, 1500), "1.5 µs");
}

}  // namespace
}  // namespace qperf::exporter

#include "export/html_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "export/html_page.h"

namespace qperf::exporter {
namespace {

/// The page's decoder, written again: base64 of LEB128 zigzag differences.
std::vector<uint64_t> decode(const std::string& text) {
  std::string bytes;
  uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (digit == std::string_view::npos) break;
    word = (word << 6) | static_cast<uint32_t>(digit);
    if ((bits += 6) >= 8) bytes += static_cast<char>(word >> (bits -= 8));
  }
  std::vector<uint64_t> values;
  uint64_t last = 0;
  for (size_t i = 0; i < bytes.size();) {
    uint64_t raw = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[i++]);
      raw |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    last += raw % 2 == 0 ? raw / 2 : ~(raw / 2);
    values.push_back(last);
  }
  return values;
}

TEST(Column, ReadsBackAsItWasBuilt) {
  const std::vector<uint64_t> values{0, 1, 0, 300, 2, 1U << 20, 1U << 20, Column::kMost, 5, 0};
  for (size_t length = 0; length <= values.size(); ++length) {
    Column column;
    for (size_t i = 0; i < length; ++i) column.add(values[i]);
    EXPECT_EQ(decode(column.text()), std::vector(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(length)));
  }
}

TEST(Column, StopsWhereThePagesNumbersEnd) {
  Column column;
  column.add(~uint64_t{0});
  EXPECT_EQ(decode(column.text()), std::vector<uint64_t>{Column::kMost});
}

TEST(Base64, IsThatOfTheRfc) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

const std::string kHostile = "</script><script>alert(1)</script><!--&\"'\\\xe2\x80\xa8\xe2\x80\xa9\xff\n";

HtmlReport hostile_report() {
  HtmlReport report;
  report.title = report.generator = report.unit.name = kHostile;
  report.about = {{kHostile, kHostile}};
  report.warnings = report.left_out = report.frame_names = report.frame_places = {kHostile};
  report.buckets = {{kHostile, 1}};
  report.states = {{kHostile, kHostile}};
  report.lanes.emplace_back().name = kHostile;
  report.phases = {{kHostile, 0, 1, false}};
  return report;
}

std::string text_of(const HtmlReport& report) {
  StringSink sink;
  write_html_report(report, sink);
  return sink.text();
}

size_t count(const std::string& text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(HtmlReport, NamesAreNeverMarkup) {
  const std::string hostile = text_of(hostile_report());
  const std::string plain = text_of(HtmlReport{});
  for (const std::string_view markup : {"<", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xff"}) EXPECT_EQ(count(hostile, markup), count(plain, markup));
  const auto json = nlohmann::json::parse(data_of(hostile));
  const std::string shown = "</script><script>alert(1)</script><!--&\"'\\\\xe2\\x80\\xa8\\xe2\\x80\\xa9\\xff\\x0a";
  EXPECT_EQ(json["frames"]["names"][0], shown);
  EXPECT_EQ(json["about"][0][1], shown);
  EXPECT_EQ(json["phases"][0]["name"], shown);
  EXPECT_EQ(json["lanes"][0]["name"], shown);
}

TEST(HtmlReport, TimesStopWhereThePagesNumbersEnd) {
  HtmlReport report;
  report.time = {.unit = HtmlTime::Unit::kWallNs, .start = (uint64_t{1} << 53) - 1, .end = uint64_t{1} << 63, .bins = 1};
  report.phases = {{"late", uint64_t{1} << 62, ~uint64_t{0}, false}};
  const auto data = nlohmann::json::parse(data_of(text_of(report)));
  EXPECT_EQ(data["time"]["start"], Column::kMost - 1);
  EXPECT_EQ(data["time"]["end"], Column::kMost);
  EXPECT_EQ(data["phases"][0]["from"], Column::kMost);
  EXPECT_EQ(data["phases"][0]["until"], Column::kMost);
}

TEST(HtmlReport, NoPlaceholderIsLeft) {
  const std::string page = text_of(HtmlReport{});
  for (const char* name : {"@TITLE@", "@STYLE@", "@SCRIPT@", "@DATA@", "@STYLE_HASH@", "@SCRIPT_HASH@"})
    EXPECT_EQ(page.find(name), std::string::npos) << name;
  EXPECT_EQ(count(page, html_page().script), 1U);
  EXPECT_EQ(nlohmann::json::parse(data_of(page))["version"], kHtmlReportVersion);
}

}  // namespace
}  // namespace qperf::exporter

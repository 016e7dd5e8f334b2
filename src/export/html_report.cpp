#include "export/html_report.h"

#include <algorithm>
#include <string_view>

#include "export/html_page.h"
#include "export/json_writer.h"
#include "export/markup_text.h"

namespace qperf::exporter {
namespace {

/// JSON inside a page: what could end or open markup is written as an escape. JSON has these characters in its strings only, so that
/// they can be replaced without a look at the structure. Line separators never come this far: printable() shows them as text.
class InPageSink final : public TextSink {
 public:
  explicit InPageSink(TextSink& sink) : sink_(sink) {}

  void write(std::string_view text) override {
    while (!text.empty()) {
      const size_t plain = std::min(text.find_first_of("<>&"), text.size());
      sink_.write(text.substr(0, plain));
      text.remove_prefix(plain);
      if (text.empty()) return;
      sink_.write(text.front() == '<' ? "\\u003c" : text.front() == '>' ? "\\u003e" : "\\u0026");
      text.remove_prefix(1);
    }
  }

 private:
  TextSink& sink_;
};

void strings(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void text(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key);
  json.string(value);
}

void number(JsonWriter& json, std::string_view key, uint64_t value) {
  json.key(key);
  json.number(value);
}

/// As columns hold it: the page's numbers are doubles.
void time(JsonWriter& json, std::string_view key, uint64_t value) { number(json, key, std::min(value, Column::kMost)); }

void column(JsonWriter& json, std::string_view key, const Column& values) {
  json.key(key);
  json.plain_string(values.text());
}

std::string_view unit_name(HtmlTime::Unit unit) {
  switch (unit) {
    case HtmlTime::Unit::kNone: return "none";
    case HtmlTime::Unit::kWallNs: return "ns";
    case HtmlTime::Unit::kPosition: return "samples";
  }
  return "none";
}

void write_tree(JsonWriter& json, const HtmlTree& tree) {
  column(json, "parents", tree.parents);
  column(json, "frames", tree.frames);
}

void write_head(JsonWriter& json, const HtmlReport& report) {
  number(json, "version", kHtmlReportVersion);
  text(json, "generator", report.generator);
  text(json, "title", report.title);
  json.key("about");
  json.begin_array();
  for (const auto& [key, value] : report.about) {
    json.begin_array();
    json.string(key);
    json.string(value);
    json.end_array();
  }
  json.end_array();
  strings(json, "warnings", report.warnings);
  strings(json, "left_out", report.left_out);
  json.key("buckets");
  json.begin_array();
  for (const HtmlBucket& bucket : report.buckets) {
    json.begin_object();
    text(json, "name", bucket.name);
    number(json, "weight", bucket.weight);
    json.end_object();
  }
  json.end_array();
  json.key("unit");
  json.begin_object();
  text(json, "name", report.unit.name);
  json.key("ns_per_weight");
  json.decimal(report.unit.ns_per_weight);
  number(json, "insns_per_weight", report.unit.insns_per_weight);
  json.end_object();
  json.key("time");
  json.begin_object();
  text(json, "unit", unit_name(report.time.unit));
  time(json, "start", report.time.start);
  time(json, "end", report.time.end);
  number(json, "bins", report.time.bins);
  json.end_object();
}

void write_profile(JsonWriter& json, const HtmlReport& report) {
  json.key("frames");
  json.begin_object();
  strings(json, "names", report.frame_names);
  strings(json, "places", report.frame_places);
  json.end_object();
  json.key("tree");
  json.begin_object();
  write_tree(json, report.tree);
  json.end_object();
  json.key("samples");
  json.begin_object();
  column(json, "bins", report.samples.bins);
  column(json, "nodes", report.samples.nodes);
  column(json, "cpus", report.samples.cpus);
  column(json, "tasks", report.samples.tasks);
  column(json, "weights", report.samples.weights);
  json.end_object();
  if (report.base) {
    json.key("base");
    json.begin_object();
    text(json, "name", report.base->name);
    column(json, "weights", report.base->weights);
    number(json, "samples", report.base->samples);
    number(json, "samples_of_now", report.base->samples_of_now);
    json.end_object();
  }
  if (report.off_cpu) {
    json.key("off");
    json.begin_object();
    write_tree(json, report.off_cpu->tree);
    json.key("samples");
    json.begin_object();
    column(json, "from_ns", report.off_cpu->from_ns);
    column(json, "until_ns", report.off_cpu->until_ns);
    column(json, "nodes", report.off_cpu->nodes);
    column(json, "tasks", report.off_cpu->tasks);
    json.end_object();
    json.end_object();
  }
}

void write_devices(JsonWriter& json, const HtmlReport& report) {
  json.key("devices");
  json.begin_object();
  json.key("lanes");
  json.begin_array();
  for (const HtmlLane& lane : report.device_lanes) {
    json.line_break();
    json.begin_object();
    text(json, "name", lane.name);
    column(json, "from_ns", lane.from_ns);
    column(json, "until_ns", lane.until_ns);
    column(json, "states", lane.states);
    if (report.requests) column(json, "requests", lane.requests);
    json.end_object();
  }
  json.end_array();
  if (report.requests) {
    json.key("requests");
    json.begin_object();
    column(json, "sectors", report.requests->sectors);
    column(json, "sector_counts", report.requests->sector_counts);
    column(json, "lengths_ns", report.requests->lengths_ns);
    json.end_object();
  }
  json.end_object();
}

void write_host(JsonWriter& json, const HtmlHost& host) {
  json.key("host");
  json.begin_object();
  text(json, "name", host.name);
  write_tree(json, host.tree);
  json.key("samples");
  json.begin_object();
  column(json, "bins", host.bins);
  column(json, "nodes", host.nodes);
  column(json, "threads", host.threads);
  column(json, "weights", host.weights);
  json.end_object();
  json.key("lanes");
  json.begin_array();
  for (const HtmlHost::Thread& lane : host.lanes) {
    json.line_break();
    json.begin_object();
    number(json, "id", lane.id);
    text(json, "name", lane.name);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_timeline(JsonWriter& json, const HtmlReport& report) {
  json.key("state_names");
  json.begin_array();
  for (const HtmlState& state : report.states) {
    json.begin_object();
    text(json, "name", state.name);
    text(json, "kind", state.kind);
    json.end_object();
  }
  json.end_array();
  json.key("lanes");
  json.begin_array();
  for (const HtmlLane& lane : report.lanes) {
    json.line_break();
    json.begin_object();
    text(json, "kind", lane.kind == HtmlLane::Kind::kVcpu ? "cpu" : "task");
    number(json, "id", lane.id);
    text(json, "name", lane.name);
    if (lane.has_states) {
      column(json, "from_ns", lane.from_ns);
      column(json, "until_ns", lane.until_ns);
      column(json, "states", lane.states);
    }
    json.end_object();
  }
  json.end_array();
  if (!report.device_lanes.empty()) write_devices(json, report);
  if (report.host) write_host(json, *report.host);
  json.key("phases");
  json.begin_array();
  for (const HtmlPhase& phase : report.phases) {
    json.begin_object();
    text(json, "name", phase.name);
    time(json, "from", phase.from_ns);
    time(json, "until", phase.until_ns);
    json.key("complete");
    json.boolean(phase.complete);
    json.end_object();
  }
  json.end_array();
}

void write_data(const HtmlReport& report, TextSink& sink) {
  InPageSink in_page(sink);
  JsonWriter json(in_page);
  json.begin_object();
  write_head(json, report);
  write_profile(json, report);
  write_timeline(json, report);
  json.end_object();
}

/// "sha256-..." of a Content-Security-Policy, from the digest in hex.
std::string policy_hash(std::string_view hex) {
  const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return "sha256-" + base64(bytes);
}

}  // namespace

void write_html_report(const HtmlReport& report, TextSink& sink) {
  const HtmlPage& parts = html_page();
  std::string_view rest = parts.page;
  while (!rest.empty()) {
    const size_t mark = rest.find('@');
    sink.write(rest.substr(0, mark));
    if (mark == std::string_view::npos) return;
    rest.remove_prefix(mark + 1);
    const size_t end = rest.find('@');
    const std::string_view name = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (name == "TITLE") sink.write(markup_text(report.title));
    if (name == "STYLE") sink.write(parts.style);
    if (name == "SCRIPT") sink.write(parts.script);
    if (name == "STYLE_HASH") sink.write(policy_hash(parts.style_sha256));
    if (name == "SCRIPT_HASH") sink.write(policy_hash(parts.script_sha256));
    if (name == "DATA") write_data(report, sink);
  }
}

}  // namespace qperf::exporter

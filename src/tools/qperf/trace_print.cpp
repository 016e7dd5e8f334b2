#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/json_quoted.h"
#include "qemutrace/print.h"
#include "tools/qperf/table.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_options.h"

namespace qperf::tools {
namespace {

using qemutrace::Event;
using qemutrace::PrettyPrinter;
using qemutrace::SimpletracePrinter;
using qemutrace::TextSink;
using qemutrace::ValueState;

/// A JSON object a line: numbers with their declared signs, addresses as strings of digits, since readers round large numbers.
class JsonLinePrinter {
 public:
  explicit JsonLinePrinter(TextSink& sink) : sink_(sink) {}

  void print(const Event& event) {
    JsonObject line;
    line.add("ts_ns", optional(event.has_time, event.time_ns));
    line.add("pid", optional(event.has_pid, event.pid));
    line.add("tid", optional(event.has_tid, event.tid));
    if (event.is_loss)
      line.add("lost", cell(event.values[0].number));
    else
      line.add("event", cell_text(event.name()));
    if (!event.is_loss) line.raw("fields", event.state == ValueState::kDecoded ? fields(event) : "null");
    std::string text = line.text();
    std::erase(text, '\n');
    sink_.append(text + "\n");
  }

 private:
  static Cell optional(bool there, uint64_t number) { return there ? cell(number) : Cell{"", "null"}; }

  static std::string fields(const Event& event) {
    JsonObject out;
    for (size_t i = 0; i < event.value_count; ++i) {
      if (event.has_value(i)) out.raw(event.info->arguments[i].name, value(event.values[i], event.info->arguments[i]));
    }
    return out.text();
  }

  static std::string value(const qemutrace::Value& value, const qemutrace::Argument& argument) {
    if (value.is_string()) return json_quoted(value.string());
    std::string text;
    qemutrace::append_value(value, argument, text);
    return text.starts_with("0x") ? json_quoted(text) : text;
  }

  TextSink& sink_;
};

template <typename Printer>
void print_all(OpenTrace& opened, Printer& printer, const TextSink& sink) {
  Event event;
  while (sink.failure() == 0 && opened.source().next(event)) {
    if (opened.filter.keeps(event)) printer.print(event);
  }
}

}  // namespace

int trace_print(const TraceOptions& options) {
  if (options.json && options.pretty) return report_error(Error{ErrorCode::kUsage, "--json and --pretty: give one of them"});
  TextSink sink(STDOUT_FILENO);
  // A live trace shows what it has while it waits.
  auto opened = open(options, [&sink] { sink.flush(); }, OutputComes::kMeanwhile);
  if (!opened) return report_error(opened.error());
  if (options.json) {
    sink.append("{\"format\": \"qperf-trace-print\", \"version\": 1}\n");
    JsonLinePrinter printer(sink);
    print_all(*opened, printer, sink);
  } else if (options.pretty) {
    PrettyPrinter printer(sink);
    print_all(*opened, printer, sink);
  } else {
    SimpletracePrinter printer(sink);
    print_all(*opened, printer, sink);
  }
  opened->all_read();
  sink.flush();
  if (sink.failure() == EPIPE) return kDone;  // "| head" has read enough
  if (sink.failure() != 0)
    return report_error(Error{ErrorCode::kIo, std::string("standard output: ") + std::strerror(sink.failure())});
  return conclude(opened->source().report());
}

}  // namespace qperf::tools

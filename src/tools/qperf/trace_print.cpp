#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "qemutrace/print.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_options.h"

namespace qperf::tools {
namespace {

using qemutrace::Event;
using qemutrace::PrettyPrinter;
using qemutrace::SimpletracePrinter;
using qemutrace::TextSink;

template <typename Printer>
void print_all(OpenTrace& opened, Printer& printer, const TextSink& sink) {
  Event event;
  while (sink.failure() == 0 && opened.source().next(event)) {
    if (opened.filter.keeps(event)) printer.print(event);
  }
}

}  // namespace

int trace_print(const TraceOptions& options) {
  TextSink sink(STDOUT_FILENO);
  auto opened = open(options, [&sink] { sink.flush(); });  // a live trace shows what it has while it waits
  if (!opened) return report_error(opened.error());
  if (options.pretty) {
    PrettyPrinter printer(sink);
    print_all(*opened, printer, sink);
  } else {
    SimpletracePrinter printer(sink);
    print_all(*opened, printer, sink);
  }
  sink.flush();
  if (sink.failure() == EPIPE) return kDone;  // "| head" has read enough
  if (sink.failure() != 0)
    return report_error(Error{ErrorCode::kIo, std::string("standard output: ") + std::strerror(sink.failure())});
  return conclude(opened->source().report());
}

}  // namespace qperf::tools

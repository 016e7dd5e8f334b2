#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "qemutrace/filter.h"
#include "trace_reading.h"

/// Any text as a condition, a duration and a name pattern.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf::qemutrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Declaration* declaration = fuzzing::declarations().find("memory_region_ops_read");
  EventInfo info{.name = declaration->name, .declaration = declaration, .arguments = declaration->arguments, .index = 0};
  Event event;
  event.info = &info;
  event.value_count = 6;
  for (size_t i = 0; i < 5; ++i) event.values[i] = {~uint64_t{0} - i, nullptr};
  event.values[5] = {6, "serial"};
  auto expression = Expression::parse(text);
  if (expression && expression->holds(event) != expression->holds(event)) std::abort();
  if (!expression && expression.error().message.find('\x1b') != std::string::npos) std::abort();
  (void)parse_duration_ns(text);
  auto filter = Filter::make({.events = {std::string(text)}, .from = {}, .until = {}, .where = std::string(text)},
                             fuzzing::declarations());
  if (filter) (void)filter->keeps(event);
  return 0;
}

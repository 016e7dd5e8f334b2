#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "qemutrace/declarations.h"
#include "qemutrace/format.h"

/// Any bytes as a trace-events file: parsed or refused; every format that compiles renders, and reads back what it rendered or
/// not.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf::qemutrace;
  using qperf::printable;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const TypeRule rule : {TypeRule::kToday, TypeRule::kHistoric}) {
    const auto parsed = Declarations::parse(text, "fuzz", rule);
    if (!parsed) {
      if (parsed.error().message.empty()) std::abort();
      continue;
    }
    for (const Declaration& declaration : parsed->all()) {
      if (parsed->find(declaration.name) != &declaration || declaration.arguments.size() > kMaxArguments) std::abort();
      for (const Argument& argument : declaration.arguments) {
        const auto in_word = [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        };
        if (argument.name.empty() || !std::all_of(argument.name.begin(), argument.name.end(), in_word)) std::abort();
      }
      const auto format = CompiledFormat::compile(declaration);
      if (!format) continue;
      std::vector<Value> values;
      for (const Argument& argument : declaration.arguments)
        values.push_back(argument.kind == ArgumentKind::kString ? Value{3, "a b"} : Value{~uint64_t{6}, nullptr});
      std::string out;
      format->render(values, out);
      // Printed as it is: strings are made printable, and the declaration was refused if it was not.
      for (const std::string& shown : {out, declaration.name}) {
        std::string without_tabs = shown;
        std::erase(without_tabs, '\t');
        if (printable(without_tabs) != without_tabs) std::abort();
      }
      std::vector<Value> back(declaration.arguments.size());
      (void)format->match(out, declaration, back);
    }
  }
  return 0;
}

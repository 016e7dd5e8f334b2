#include "symbols/demangle.h"

#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>

namespace qperf::symbols {
namespace {

constexpr size_t kMaxMangledBytes = 4096;
constexpr size_t kMaxDemangledBytes = 16'384;
/// Back references can make a short name expand without end; the demanglers have no way to be stopped but this one.
constexpr size_t kMaxPieces = 65'536;

struct Output {
  std::string text;
  size_t pieces = 0;
  std::jmp_buf too_much;
};

extern "C" void append_piece(const char* piece, size_t size, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  // The frames between here and run() are C without clean-up, so jumping over them is defined.
  if (++output.pieces > kMaxPieces || size > kMaxDemangledBytes - output.text.size()) std::longjmp(output.too_much, 1);
  output.text.append(piece, size);
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

bool run(Demangler demangler, const char* mangled, Output& output) {
  output.text.clear();
  output.text.reserve(kMaxDemangledBytes);  // so that nothing allocates between setjmp and longjmp
  output.pieces = 0;
  if (setjmp(output.too_much) != 0) return false;
  return demangler(mangled, DMGL_PARAMS | DMGL_ANSI, append_piece, &output) != 0 && !output.text.empty();
}

bool is_digits(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_rust_legacy(std::string_view name) noexcept {
  constexpr size_t kHashTail = 20;  // 17h, 16 hex digits, E
  if (!name.starts_with("_ZN") || name.size() < 3 + kHashTail) return false;
  const auto tail = name.substr(name.size() - kHashTail);
  return tail.starts_with("17h") && tail.ends_with('E') &&
         std::all_of(tail.begin() + 3, tail.end() - 1, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string_view without_clone_suffix(std::string_view linkage) noexcept {
  constexpr std::array<std::string_view, 6> kWords{"llvm", "isra", "constprop", "part", "lto_priv", "cold"};
  std::string_view name = linkage;
  while (true) {
    const size_t last_dot = name.rfind('.');
    if (last_dot == name.npos || last_dot == 0) return name;
    std::string_view word = name.substr(last_dot + 1);
    size_t cut = last_dot;
    if (is_digits(word)) {
      const size_t word_dot = name.rfind('.', last_dot - 1);
      if (word_dot == name.npos || word_dot == 0) return name;
      word = name.substr(word_dot + 1, last_dot - word_dot - 1);
      cut = word_dot;
    } else if (word != "cold") {
      return name;
    }
    if (std::find(kWords.begin(), kWords.end(), word) == kWords.end()) return name;
    name = name.substr(0, cut);
  }
}

std::string demangle(std::string_view linkage) {
  const std::string name(without_clone_suffix(linkage));
  if (name.size() > kMaxMangledBytes) return name;
  Output output;
  if (name.starts_with("_R") || is_rust_legacy(name)) {
    if (run(rust_demangle_callback, name.c_str(), output)) return std::move(output.text);
  }
  if (name.starts_with("_Z") && run(cplus_demangle_v3_callback, name.c_str(), output)) return std::move(output.text);
  return name;
}

}  // namespace qperf::symbols

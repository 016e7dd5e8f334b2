#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memory_file.h"
#include "symbols/image.h"

/// An ELF file that anybody wrote: opened, and asked everything about addresses all over its text.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf;
  const MemoryFile file(data, size);
  if (!file.ok()) return 0;
  const auto image = symbols::Image::open(file.path());
  if (!image) return 0;

  constexpr size_t kMaxAddresses = 64;
  std::vector<GuestVa> addresses{GuestVa{0}, GuestVa{0xffffffffffffffff}};
  for (const GuestRange& range : image->text_ranges()) {
    const uint64_t step = std::max<uint64_t>((range.last.raw - range.first.raw) / 16, 1);
    for (uint64_t i = 0; i < 16 && addresses.size() < kMaxAddresses; ++i)
      addresses.push_back(GuestVa{range.first.raw + i * step});
    addresses.push_back(range.last);
  }
  // So that tables without text are read too.
  for (uint64_t i = 0; i < 16; ++i) addresses.push_back(GuestVa{0xffffffff80200000 + i * 5});
  (void)image->symbolize(addresses);
  for (const GuestVa address : addresses) {
    (void)image->return_address_at(address);
    (void)image->follows_call(address);
    (void)image->function_start(address);
    (void)image->bytes_at(address, 64);
  }
  (void)image->symbol_address("leaf");
  return 0;
}

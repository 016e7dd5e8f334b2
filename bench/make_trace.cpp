// make_trace RECORDS > FILE: a simpletrace file (version 4, this host's byte order) of memory_region_ops_read and _write
// records, as a vCPU that polls a UART makes them. Same bytes for the same number.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

void append(std::string& out, uint64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }
void append32(std::string& out, uint32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

void mapping(std::string& out, uint64_t id, std::string_view name) {
  append(out, 0);
  append(out, id);
  append32(out, static_cast<uint32_t>(name.size()));
  out += name;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'100'000;
  std::string out;
  append(out, ~uint64_t{0});
  append(out, 0xf2b177cb0aa429b4);
  append(out, 4);
  mapping(out, 0, "memory_region_ops_read");
  mapping(out, 1, "memory_region_ops_write");
  constexpr std::string_view kRegion = "serial";
  uint64_t time_ns = 1'111'341'220'737;
  uint64_t random = 88172645463325252;
  for (uint64_t i = 0; i < records; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    time_ns += 200 + random % 1000;
    const bool is_write = random % 5 == 0;
    append(out, 1);
    append(out, is_write ? 1 : 0);
    append(out, time_ns);
    append32(out, static_cast<uint32_t>(24 + 40 + 4 + kRegion.size()));
    append32(out, 26474);
    append(out, random % 2);
    append(out, 0x55e2501e57c0);
    append(out, 0x10000000 + random % 8);
    append(out, is_write ? random & 0xff : 0x60);
    append(out, 1);
    append32(out, static_cast<uint32_t>(kRegion.size()));
    out += kRegion;
    if (out.size() > 1U << 20) {
      if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size()) return 1;
      out.clear();
    }
  }
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

// symbolize VMLINUX ADDRESSES: opens the ELF, symbolizes every address of the file (hexadecimal, one a line) once and prints
// what it took.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "symbols/image.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_symbolize VMLINUX ADDRESSES\n");
    return 2;
  }
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  std::ifstream list(argv[2]);
  std::vector<qperf::GuestVa> addresses;
  for (std::string line; std::getline(list, line);) addresses.push_back({std::strtoull(line.c_str(), nullptr, 16)});

  const auto start = Clock::now();
  const auto image = qperf::symbols::Image::open(argv[1]);
  if (!image) {
    fmt::print(stderr, "{}\n", image.error().message);
    return 1;
  }
  const auto opened = Clock::now();
  const auto found = image->symbolize(addresses);
  const auto cold = Clock::now();
  if (!found) return 1;
  (void)image->symbolize(addresses);
  const auto warm = Clock::now();
  size_t frames = 0;
  size_t unknown = 0;
  for (const auto& location : *found) {
    frames += location.frames.size();
    unknown += location.frames.empty() ? 1 : 0;
  }
  fmt::print("{} addresses, {} frames, {} unknown: open {:.3f} s, cold {:.3f} s, again {:.3f} s\n", addresses.size(), frames,
             unknown, seconds(opened - start), seconds(cold - opened), seconds(warm - cold));
  return 0;
}

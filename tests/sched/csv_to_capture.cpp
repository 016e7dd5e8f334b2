#include <cstdio>
#include <fstream>

#include "csv_capture.h"

/// csv_to_capture EVENTS.csv CAPTURE: for the tests of the analyzer.
namespace {

class FileSink final : public qperf::capture::ByteSink {
 public:
  explicit FileSink(const char* path) : file_(path, std::ios::binary) {}
  qperf::Result<void> write(std::span<const std::byte> bytes) override {
    file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file_) return qperf::Error{qperf::ErrorCode::kIo, "cannot be written"};
    return {};
  }

 private:
  std::ofstream file_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: csv_to_capture EVENTS.csv CAPTURE\n", stderr);
    return 2;
  }
  FileSink sink(argv[2]);
  const auto result = qperf::sched::csv_to_capture(argv[1], sink);
  if (result) return 0;
  std::fprintf(stderr, "csv_to_capture: %s\n", result.error().message.c_str());
  return 1;
}

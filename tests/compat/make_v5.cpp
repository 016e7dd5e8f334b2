#include <cstdio>
#include <fstream>

#include "capture/writer.h"
#include "v5_contents.h"

namespace {

class FileSink final : public qperf::capture::ByteSink {
 public:
  explicit FileSink(const char* path) : file_(path, std::ios::binary | std::ios::trunc) {}
  qperf::Result<void> write(std::span<const std::byte> bytes) override {
    file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file_.flush();
    if (!file_) return qperf::Error{qperf::ErrorCode::kIo, "cannot be written"};
    return {};
  }

 private:
  std::ofstream file_;
};

qperf::Result<void> make(const char* path) {
  using namespace qperf;
  FileSink sink(path);
  capture::Writer writer(sink);
  QPERF_RETURN_IF_ERROR(writer.begin(compat::v5_header()));
  QPERF_RETURN_IF_ERROR(writer.fingerprints(compat::v5_fingerprints()));
  QPERF_RETURN_IF_ERROR(writer.samples(compat::v5_samples(0)));
  QPERF_RETURN_IF_ERROR(writer.ledger(compat::v5_ledger(1)));
  QPERF_RETURN_IF_ERROR(writer.counts(compat::v5_counts()));
  QPERF_RETURN_IF_ERROR(writer.samples(compat::v5_samples(3)));
  QPERF_RETURN_IF_ERROR(writer.finish(compat::v5_trailer()));
  QPERF_RETURN_IF_ERROR(writer.metadata(compat::v5_labels()));
  return capture::append_metadata(path, compat::v5_appended());
}

}  // namespace

/// Makes v5.qperf; README.md says when.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s OUTPUT\n", argv[0]);
    return 2;
  }
  const auto made = make(argv[1]);
  if (!made) std::fprintf(stderr, "%s: %s\n", argv[1], made.error().message.c_str());
  return made ? 0 : 1;
}

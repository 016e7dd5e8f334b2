#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "capture/chunk_codec.h"
#include "capture/limits.h"
#include "capture/metadata_codec.h"
#include "capture/writer.h"

namespace qperf::capture {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int raw) noexcept : raw_(raw) {}
  ~Descriptor() {
    if (raw_ >= 0) ::close(raw_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int raw() const noexcept { return raw_; }

 private:
  int raw_;
};

Error io_error(const char* what) { return Error{ErrorCode::kIo, std::string(what) + ": " + std::strerror(errno)}; }

Result<void> check_is_capture(int file) {
  std::vector<std::byte> head(kMaxFileHeaderBytes);
  size_t size = 0;
  while (size < head.size()) {
    const ssize_t got = ::pread(file, head.data() + size, head.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("cannot be read");
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  QPERF_ASSIGN_OR_RETURN([[maybe_unused]] const FileHeader header, decode_file_header(std::span(head).first(size)));
  return {};
}

Result<void> write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<void> append(const char* path, const Metadata& metadata) {
  QPERF_RETURN_IF_ERROR(check_metadata(metadata));
  const Descriptor file(::open(path, O_RDWR | O_APPEND | O_CLOEXEC));
  if (file.raw() < 0) return io_error("cannot be opened for writing");
  // The recorder holds this lock: bytes appended in between would be overwritten by its next chunk.
  if (::flock(file.raw(), LOCK_EX | LOCK_NB) != 0)
    return Error{ErrorCode::kIo, "is still being recorded, or written by another program: try again when it is finished"};
  QPERF_RETURN_IF_ERROR(check_is_capture(file.raw()));

  Compressor compressor;
  ByteWriter payload;
  ByteWriter chunks;
  QPERF_RETURN_IF_ERROR(encode_metadata(metadata, payload, [&](uint32_t pair_count) -> Result<void> {
    encode_chunk({.kind = ChunkKind::kMetadata, .number = kUnnumbered, .record_count = pair_count}, payload.view(), compressor,
                 chunks);
    return {};
  }));
  struct stat before{};
  if (::fstat(file.raw(), &before) != 0) return io_error("cannot be examined");
  if (auto written = write_all(file.raw(), chunks.view()); !written) {
    // A chunk cut by a full disk would make a whole capture look damaged.
    if (::ftruncate(file.raw(), before.st_size) != 0)
      return io_error("cannot be written, and keeps a part of a chunk at its end");
    return written;
  }
  return {};
}

}  // namespace

Result<void> append_metadata(const char* path, const Metadata& metadata) {
  if (auto appended = append(path, metadata); !appended) return std::move(appended).error().in(path);
  return {};
}

}  // namespace qperf::capture

#include "export/output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace qperf::exporter {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;

Error io_error(const std::string& path, std::string_view what, int error) {
  return Error{ErrorCode::kIo, fmt::format("{}: {}: {}", path, what, std::strerror(error))};
}

/// The permissions a plain open() would give a new file.
mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

OutputFile::OutputFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {
  buffer_.reserve(kBufferBytes);
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
  if (path == "-") {
    const int descriptor = dup(STDOUT_FILENO);
    if (descriptor < 0) return io_error("standard output", "cannot be written", errno);
    return std::unique_ptr<OutputFile>(new OutputFile("standard output", "", descriptor));
  }
  struct stat status{};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return io_error(path, "cannot be written", errno);
    return std::unique_ptr<OutputFile>(new OutputFile(path, "", descriptor));
  }
  // Renaming over a symbolic link would replace the link, not the file it stands for.
  std::error_code failed;
  std::string target = exists ? std::filesystem::canonical(path, failed).string() : path;
  if (failed) target = path;
  if (exists && access(target.c_str(), W_OK) != 0) return io_error(path, "cannot be written", errno);
  std::string temporary = target + ".XXXXXX";
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return io_error(path, "cannot be created", errno);
  std::unique_ptr<OutputFile> file(new OutputFile(path, temporary, descriptor));
  file->target_ = std::move(target);
  if (fchmod(descriptor, exists ? status.st_mode & 07777 : default_mode()) != 0)
    return io_error(path, "cannot be given its permissions", errno);
  return file;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  buffer_ += text;
  if (buffer_.size() > kBufferBytes) flush();
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0)
      rest.remove_prefix(static_cast<size_t>(written));
    else if (errno != EINTR)
      error_ = errno;
  }
  buffer_.clear();
}

Result<void> OutputFile::finish() {
  if (descriptor_ >= 0) {
    flush();
    if (close(descriptor_) != 0 && error_ == 0) error_ = errno;
    descriptor_ = -1;
  }
  if (error_ != 0) return io_error(path_, "cannot be written", error_);
  return {};
}

Result<void> OutputFile::commit() {
  QPERF_RETURN_IF_ERROR(finish());
  if (temporary_.empty()) return {};
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return io_error(path_, "cannot be put in place", errno);
  temporary_.clear();
  return {};
}

}  // namespace qperf::exporter

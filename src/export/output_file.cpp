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

/// Where the kernel shows an open file as a link to it.
std::string link_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

/// A file in the target's folder that has no name yet, so that nothing of it is left however the program ends; -1: not possible there.
int create_unnamed(const std::string& target) {
  std::string folder = std::filesystem::path(target).parent_path().string();
  if (folder.empty()) folder = ".";
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0 || access(link_of(descriptor).c_str(), F_OK) == 0) return descriptor;
  close(descriptor);  // without /proc it could never be named
  return -1;
}

/// Gives an unnamed file a name beside `target`, which no other file has; empty: errno tells why not.
std::string name_beside(int descriptor, const std::string& target) {
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i) {
    std::string name = fmt::format("{}.{}.{}", target, getpid(), i);
    if (linkat(AT_FDCWD, link_of(descriptor).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) break;
  }
  return {};
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
  int descriptor = create_unnamed(target);
  std::string temporary;
  if (descriptor < 0) {
    temporary = target + ".XXXXXX";
    descriptor = mkostemp(temporary.data(), O_CLOEXEC);
    if (descriptor < 0) return io_error(path, "cannot be created", errno);
  }
  std::unique_ptr<OutputFile> file(new OutputFile(path, std::move(temporary), descriptor));
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
    // Named before it is closed, and not as late as in commit(): a program may have more finished files than it may hold open.
    if (error_ == 0 && temporary_.empty() && !target_.empty()) {
      temporary_ = name_beside(descriptor_, target_);
      if (temporary_.empty()) error_ = errno;
    }
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

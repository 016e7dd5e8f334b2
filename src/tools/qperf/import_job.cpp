#include "tools/qperf/import_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "analysis/capture_input.h"
#include "base/printable.h"
#include "capture/header_keys.h"
#include "export/output_file.h"
#include "foreign/capture_import.h"
#include "foreign/folded_text.h"
#include "foreign/line_reader.h"
#include "foreign/older_capture.h"
#include "foreign/perf_script.h"
#include "foreign/symbol_elf.h"
#include "symbols/image.h"

namespace qperf::tools {
namespace {

/// A capture's bytes on their way into a file.
class FileBytes final : public capture::ByteSink {
 public:
  explicit FileBytes(exporter::OutputFile& file) : file_(file) {}
  Result<void> write(std::span<const std::byte> bytes) override {
    file_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return {};
  }

 private:
  exporter::OutputFile& file_;
};

/// Text of either kind; the first line that says something decides which.
class TextImport {
 public:
  TextImport(ForeignFormat format, foreign::CaptureImport& sink) : format_(format), sink_(sink), perf_(sink), folded_(sink) {
    sink_.set_format(std::string(name()));
  }

  [[nodiscard]] std::string_view name() const noexcept {
    return format_ == ForeignFormat::kPerfScript ? capture::kPerfScriptImport : "folded stacks";
  }

  Result<void> line(std::string_view line, bool cut) {
    if (format_ == ForeignFormat::kDetect) detect(line);
    switch (format_) {
      case ForeignFormat::kPerfScript: return perf_.line(line, cut);
      case ForeignFormat::kFolded: return folded_.line(line, cut);
      case ForeignFormat::kDetect:
      case ForeignFormat::kOlderCapture: return {};
    }
    return {};
  }

  Result<void> finish() {
    if (format_ == ForeignFormat::kDetect)
      return Error{ErrorCode::kBadFormat,
                   unknown_.empty() ? "has no samples"
                                    : fmt::format("is neither text of perf script nor folded stacks: line {} is '{}'", unknown_line_,
                                                  printable(unknown_))};
    return format_ == ForeignFormat::kPerfScript ? perf_.finish() : Result<void>();
  }

  [[nodiscard]] ForeignFormat format() const noexcept { return format_; }
  [[nodiscard]] const foreign::ReadCounts& counts() const noexcept {
    return format_ == ForeignFormat::kPerfScript ? perf_.counts() : folded_.counts();
  }

 private:
  void detect(std::string_view line) {
    ++lines_;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos || line.front() == '#') return;
    if (foreign::PerfScriptReader::parse_head(line)) format_ = ForeignFormat::kPerfScript;
    else if (foreign::FoldedReader::parse(line)) format_ = ForeignFormat::kFolded;
    else if (unknown_.empty()) {
      constexpr size_t kShown = 60;
      unknown_ = line.substr(0, kShown);
      unknown_line_ = lines_;
    }
    sink_.set_format(std::string(name()));
  }

  ForeignFormat format_;
  foreign::CaptureImport& sink_;
  foreign::PerfScriptReader perf_;
  foreign::FoldedReader folded_;
  uint64_t lines_ = 0;
  std::string unknown_;
  uint64_t unknown_line_ = 0;
};

void warn(const ImportJob& job, const foreign::ReadCounts& read, const foreign::CaptureImport::Counts& written, ImportResult& result) {
  if (read.bad_lines != 0) {
    result.complete = false;
    result.warnings.push_back(fmt::format("{} lines were not understood, the first is line {}", read.bad_lines, read.first_bad_line));
  }
  if (read.cut_lines != 0) {
    result.complete = false;
    result.warnings.push_back(fmt::format("{} lines are longer than {} bytes: their ends were left out", read.cut_lines, foreign::kMaxLineBytes));
  }
  if (read.cut_stacks != 0) {
    result.complete = false;
    result.warnings.push_back(
        fmt::format("{} stacks have more than {} frames: their roots were left out", read.cut_stacks, foreign::kMaxHostFrames));
  }
  if (written.before_start != 0 && job.start_monotonic_ns)
    result.warnings.push_back(fmt::format("{} samples are older than the capture of --beside and were left out{}", written.before_start,
                                          written.samples == 0 ? ": was perf record run with -k CLOCK_MONOTONIC?" : ""));
  if (written.before_start != 0 && !job.start_monotonic_ns) {
    result.complete = false;
    result.warnings.push_back(fmt::format("{} samples are older than the first one and were left out: sort them by time", written.before_start));
  }
  if (written.names_cut != 0) {
    result.complete = false;
    result.warnings.push_back(fmt::format("{} frames have a name of more than {} bytes: its end was left out, and functions that begin alike are one",
                                          written.names_cut, foreign::kMaxNameBytes));
  }
  if (written.functions_merged != 0) {
    result.complete = false;
    result.warnings.push_back(
        fmt::format("more functions than {}: {} frames of others are '[other functions]'", foreign::kMaxFunctions - 1, written.functions_merged));
  }
  if (written.threads_unnamed != 0) {
    result.complete = false;
    result.warnings.push_back(fmt::format("{} samples are of threads whose names were left out: too many threads", written.threads_unnamed));
  }
}

/// Whether an import made the file: its functions are such as stand in no program.
bool is_of_an_import(const std::string& path) {
  const auto image = symbols::Image::open(path);
  if (!image) return false;
  const auto bytes = foreign::function_bytes(0);
  return std::ranges::equal(image->bytes_at(foreign::function_address(0), bytes.size()), bytes);
}

/// Nobody typed the name of this file: what lies there may be replaced only if an import made it.
Result<void> check_names_may_be_written(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_regular_file(path, failure) && std::filesystem::file_size(path, failure) > 0 && !is_of_an_import(path))
    return Error{ErrorCode::kUsage, fmt::format("{}: the names would be written there, and it was not made by an import: give another OUT "
                                                "(the names go to OUT.elf), or remove it",
                                                path)};
  return {};
}

Result<ImportResult> import_text(const ImportJob& job) {
  if (!job.elf.empty())
    return Error{ErrorCode::kUsage, fmt::format("--elf {}: goes with captures of the older format only: text has its names with it", job.elf)};
  QPERF_RETURN_IF_ERROR(check_names_may_be_written(names_path(job)));
  QPERF_ASSIGN_OR_RETURN(auto file, exporter::OutputFile::create(job.output));
  FileBytes bytes(*file);
  foreign::CaptureImport sink(bytes, {.format = {}, .start_monotonic_ns = job.start_monotonic_ns});
  TextImport text(job.format, sink);
  std::error_code no_file;  // a pipe has no size
  const uintmax_t size = std::filesystem::file_size(job.input, no_file);
  uint64_t done = 0;
  const auto read = foreign::read_lines(job.input, [&](std::string_view line, bool cut) {
    done += line.size() + 1;
    if (job.progress != nullptr) job.progress->step("reading samples", done, no_file ? 0 : size);
    return text.line(line, cut);
  });
  QPERF_RETURN_IF_ERROR(read);
  if (auto finished = text.finish(); !finished) return std::move(finished).error().in(job.input);
  if (text.format() == ForeignFormat::kFolded && job.start_monotonic_ns)
    return Error{ErrorCode::kUsage, fmt::format("{}: folded stacks have no time: --beside goes with perf script", job.input)};
  const std::string elf_path = names_path(job);
  QPERF_ASSIGN_OR_RETURN(const auto elf, sink.finish(elf_path));
  QPERF_ASSIGN_OR_RETURN(auto elf_file, exporter::OutputFile::create(elf_path));
  elf_file->write({reinterpret_cast<const char*>(elf.data()), elf.size()});
  QPERF_RETURN_IF_ERROR(file->finish());
  QPERF_RETURN_IF_ERROR(elf_file->finish());
  QPERF_RETURN_IF_ERROR(elf_file->commit());
  QPERF_RETURN_IF_ERROR(file->commit());
  ImportResult result;
  warn(job, text.counts(), sink.counts(), result);
  result.summary = fmt::format("{}: {} samples of {}; names in {}\n", printable(job.output), sink.counts().samples, text.name(), printable(elf_path));
  return result;
}

Result<ImportResult> import_older(const ImportJob& job) {
  if (job.start_monotonic_ns) return Error{ErrorCode::kUsage, "--beside: captures of the older format have no clock"};
  if (job.elf.empty())
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: a capture of the older format does not say which machine it is of: give the kernel with --elf", job.input)};
  QPERF_ASSIGN_OR_RETURN(const auto image, symbols::Image::open(job.elf));
  if (!image.target())
    return Error{ErrorCode::kUsage, fmt::format("{}: is an ELF for a machine that is not profiled", job.elf)};
  QPERF_ASSIGN_OR_RETURN(auto file, exporter::OutputFile::create(job.output));
  FileBytes bytes(*file);
  foreign::OlderCaptureOptions options{.target = *image.target(), .elf_path = job.elf, .elf_build_id = {}};
  options.elf_build_id.assign(image.build_id().begin(), image.build_id().end());
  QPERF_ASSIGN_OR_RETURN(const auto summary, foreign::convert_older_capture(job.input, options, bytes));
  QPERF_RETURN_IF_ERROR(file->commit());
  ImportResult result;
  if (summary.cut) {
    result.complete = false;
    result.warnings.push_back(fmt::format("{}: the capture is incomplete: it ends inside a record", job.input));
  }
  if (summary.without_address != 0)
    result.warnings.push_back(fmt::format("{}: {} records have no address and were left out", job.input, summary.without_address));
  result.summary = fmt::format("{}: {} samples of an older capture\n", printable(job.output), summary.samples);
  return result;
}

}  // namespace

Result<ImportResult> run_import(const ImportJob& job) {
  if (job.input != "-") {
    QPERF_ASSIGN_OR_RETURN(const bool older, analysis::is_legacy_file(job.input));
    if (older && job.format == ForeignFormat::kDetect) return import_older(job);
  }
  if (job.format == ForeignFormat::kOlderCapture) return import_older(job);
  return import_text(job);
}

}  // namespace qperf::tools

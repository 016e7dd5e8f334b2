#pragma once

#include <string>
#include <string_view>

/// `export` is a C++ keyword: the folder's namespace is `exporter`.
namespace qperf::exporter {

/// Where an exporter's text goes. Failures are kept by the sink and told once, at its end: exporters write on regardless.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void write(std::string_view text) = 0;
};

/// Keeps nothing but the length.
class CountingSink final : public TextSink {
 public:
  void write(std::string_view text) override { bytes_ += text.size(); }
  [[nodiscard]] size_t bytes() const noexcept { return bytes_; }

 private:
  size_t bytes_ = 0;
};

/// Collects the text in memory.
class StringSink final : public TextSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace qperf::exporter

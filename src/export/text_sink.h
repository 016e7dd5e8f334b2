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

/// Collects the text in memory.
class StringSink final : public TextSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace qperf::exporter

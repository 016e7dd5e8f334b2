#include "tools/qperf/record/run.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "tools/qperf/qmp.h"
#include "tools/qperf/record/child.h"
#include "tools/qperf/record/console.h"
#include "tools/qperf/record/plugin_control.h"
#include "tools/qperf/record/status_line.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

constexpr uint64_t kConnectAgainNs = 10'000'000;
constexpr uint64_t kSecondNs = 1'000'000'000;

uint64_t now_ns() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// The signals that would end qperf or that tell of QEMU, as a descriptor; others take their course, so that Ctrl-Z stops both.
class Signals {
 public:
  Signals() noexcept {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH, SIGPIPE}) sigaddset(&wanted, number);
    ::sigprocmask(SIG_BLOCK, &wanted, &before_);
    fd_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() {
    if (fd_ >= 0) ::close(fd_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }
  bool next(signalfd_siginfo& info) const noexcept { return ::read(fd_, &info, sizeof info) == sizeof info; }

 private:
  sigset_t before_;
  int fd_;
};

class QemuRun {
 public:
  QemuRun(RunPlan plan, Child child, std::optional<Console> console, const Signals& signals)
      : plan_(std::move(plan)),
        child_(std::move(child)),
        console_(std::move(console)),
        signals_(signals),
        gate_(std::move(plan_.gate)),
        status_(plan_.capture) {}

  RunOutcome until_the_end() {
    outcome_.pid = child_.pid();
    started_ns_ = now_ns();
    gate_.begin(started_ns_);
    for (;;) {
      const auto status = child_.ended();
      if (status) {
        outcome_.wait_status = *status;
        break;
      }
      wait();
      take_signals();
      work_console();
      work_gate();
      work_end();
    }
    status_.clear();
    drain_console();
    if (plan_.control_path.empty()) outcome_.ever_open = true;
    return outcome_;
  }

 private:
  void wait() {
    std::array<pollfd, 3> polled = {
        {{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
         {.fd = console_ ? console_->readable_fd() : -1, .events = POLLIN, .revents = 0},
         {.fd = console_ && console_->is_blocked() ? STDOUT_FILENO : -1, .events = POLLOUT, .revents = 0}}};
    const uint64_t now = now_ns();
    const uint64_t until = next_deadline(now);
    const uint64_t left_ms = until <= now ? 0 : (until - now) / 1'000'000 + 1;
    ::poll(polled.data(), polled.size(), static_cast<int>(std::min<uint64_t>(left_ms, 60'000)));
  }

  [[nodiscard]] uint64_t next_deadline(uint64_t now) const {
    uint64_t until = now + 60 * kSecondNs;
    const auto at = [&until](std::optional<uint64_t> due) {
      if (due) until = std::min(until, *due);
    };
    at(gate_.due_ns());
    at(end_ns());
    at(stop_step_ns_);
    if (!plan_.control_path.empty() && !control_) at(now + kConnectAgainNs);
    if (status_.is_shown()) at(now + kSecondNs);
    return until;
  }

  /// The duration counts from when samples are taken.
  [[nodiscard]] std::optional<uint64_t> end_ns() const {
    if (!plan_.duration_ns || stop_step_ns_) return std::nullopt;
    const auto begin = plan_.control_path.empty() ? std::optional(started_ns_) : sampling_since_ns_;
    return begin ? std::optional(*begin + *plan_.duration_ns) : std::nullopt;
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (signals_.next(info)) {
      const auto number = static_cast<int>(info.ssi_signo);
      // The keyboard's signals have reached QEMU as well; those that somebody sent to us alone have not.
      if ((number == SIGINT || number == SIGQUIT) && info.ssi_code <= 0) child_.send(number);
      if (number == SIGTERM || number == SIGHUP) next_stop_step();
      if (number == SIGWINCH && console_) console_->copy_window_size();
    }
  }

  void work_console() {
    if (!console_) return;
    console_->flush();
    console_->pump([this](std::string_view bytes) { see(bytes); });
  }

  void see(std::string_view bytes) {
    lines_.feed(bytes, [this](std::string_view line, bool whole) { gate_.line(line, whole, now_ns()); });
  }

  void work_gate() {
    gate_.tick(now_ns());
    if (plan_.control_path.empty()) return;
    if (!control_) {
      auto connected = PluginControl::connect(plan_.control_path);
      if (!connected) return;  // QEMU is not that far yet
      control_.emplace(*std::move(connected));
    }
    if (gate_.is_open() == sampling_) return;
    sampling_ = gate_.is_open();
    const auto answer = control_->ask(sampling_ ? "start" : "stop");
    if (!answer) {
      if (!child_is_stopping()) report_warning(answer.error().message);
      return;
    }
    if (sampling_ && !sampling_since_ns_) sampling_since_ns_ = now_ns();
    outcome_.ever_open = outcome_.ever_open || sampling_;
  }

  void work_end() {
    const uint64_t now = now_ns();
    const auto end = end_ns();
    if (end && now >= *end) next_stop_step();
    if (stop_step_ns_ && now >= *stop_step_ns_) next_stop_step();
    if (status_.is_shown()) status_.show(now - started_ns_, plan_.control_path.empty() || sampling_);
  }

  [[nodiscard]] bool child_is_stopping() const noexcept { return stop_step_ns_.has_value(); }

  /// SIGTERM, then QMP's quit, then SIGKILL.
  void next_stop_step() {
    if (!stop_step_ns_) {
      child_.send(SIGTERM);
    } else if (plan_.qmp_socket && !asked_by_qmp_) {
      asked_by_qmp_ = true;
      if (auto qmp = Qmp::connect(*plan_.qmp_socket); qmp) [[maybe_unused]]
        const auto ignored = qmp->execute("quit");
    } else {
      child_.send(SIGKILL);
      outcome_.killed = true;
    }
    stop_step_ns_ = now_ns() + kStopStepNs;
  }

  /// What QEMU wrote before it ended. Its own children may keep the other end open: nobody waits for them.
  void drain_console() {
    if (!console_) return;
    for (;;) {
      while (console_->is_blocked()) {
        pollfd writable{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
        if (::poll(&writable, 1, static_cast<int>(kStopStepNs / 1'000'000)) == 0) return;
        console_->flush();
      }
      if (!console_->pump([this](std::string_view bytes) { see(bytes); })) return;
    }
  }

  RunPlan plan_;
  Child child_;
  std::optional<Console> console_;
  const Signals& signals_;
  Gate gate_;
  StatusLine status_;
  ConsoleLines lines_;
  std::optional<PluginControl> control_;
  bool sampling_ = false;
  bool asked_by_qmp_ = false;
  uint64_t started_ns_ = 0;
  std::optional<uint64_t> sampling_since_ns_;
  std::optional<uint64_t> stop_step_ns_;  // when QEMU's patience with the last request to stop is over
  RunOutcome outcome_;
};

}  // namespace

Result<RunOutcome> run_qemu(RunPlan plan) {
  TerminalState terminal;
  const Signals signals;
  if (signals.fd() < 0) return Error{ErrorCode::kIo, std::string("signalfd: ") + std::strerror(errno)};
  std::optional<Console> console;
  if (plan.watch_console) {
    QPERF_ASSIGN_OR_RETURN(Console opened, Console::open());
    console.emplace(std::move(opened));
  }
  QPERF_ASSIGN_OR_RETURN(Child child, Child::start(plan.command, console ? console->child_fd() : -1));
  if (console) console->close_child_end();
  return QemuRun(std::move(plan), std::move(child), std::move(console), signals).until_the_end();
}

}  // namespace qperf::tools

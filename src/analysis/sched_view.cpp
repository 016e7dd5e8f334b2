#include "analysis/sched_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <system_error>

#include "analysis/naming.h"
#include "base/keyed_hash.h"
#include "capture/header_keys.h"
#include "capture/reader.h"
#include "sched/report_json.h"

namespace qperf::analysis {
namespace {

constexpr size_t kMostListedPhases = 40;

/// Names all return addresses of the replayed stacks in one go.
class ImageFrameNames final : public sched::FrameNames {
 public:
  static Result<std::unique_ptr<sched::FrameNames>> make(const ImageSet& images, const sched::StackTable& stacks) {
    auto names = std::make_unique<ImageFrameNames>();
    LookupTable lookups;
    for (uint32_t id = 0; id < stacks.size(); ++id) {
      for (const GuestVa address : stacks.frames(sched::StackId{id}))
        names->lookup_of_.try_emplace(address.raw, lookups.intern(lookup_for(images, address)).raw);
    }
    profile::FrameTable frames;
    QPERF_ASSIGN_OR_RETURN(const auto named, name_lookups(images, lookups.all(), frames));
    for (const NamedLookup& lookup : named) {
      auto& texts = names->texts_.emplace_back();
      for (const profile::SourceLine& line : lookup.lines) texts.push_back(frames[line.frame].name);
    }
    return std::unique_ptr<sched::FrameNames>(std::move(names));
  }

  std::vector<std::string> frames(GuestVa return_address) override {
    const auto found = lookup_of_.find(return_address.raw);
    return found == lookup_of_.end() ? sched::HexFrameNames().frames(return_address) : texts_[found->second];
  }

 private:
  /// Stacks are interned over all of time: after a reboot the latest era in which the address is text counts.
  static Lookup lookup_for(const ImageSet& images, GuestVa address) {
    for (size_t era = images.eras(); era-- > 0;) {
      if (const auto place = images.place(static_cast<uint32_t>(era), address - 1))
        return {.home = Home::kImage, .reached = Reached::kReturnedTo, .image = place->image, .address = place->address + 1};
    }
    return {.home = Home::kOutside, .reached = Reached::kReturnedTo, .image = 0, .address = address};
  }

  tsl::robin_map<uint64_t, uint32_t, KeyedHash> lookup_of_;
  std::vector<std::vector<std::string>> texts_;
};

bool needs_events(const SchedRequest& request) {
  return !request.events_optional || request.phase || request.tasks || request.group_by_task;
}

Result<void> feed(sched::Replay& replay, const std::string& path, Progress* progress) {
  capture::Handlers handlers;
  handlers.progress = progress_of(progress, "following tasks");
  handlers.events = [&replay](const capture::EventChunk& chunk) -> Result<void> {
    replay.chunk(chunk);
    return {};
  };
  QPERF_RETURN_IF_ERROR(capture::read_capture(path, handlers));
  replay.finish();
  return {};
}

uint64_t total(const capture::EventCounts& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

std::string by_kind(const capture::EventCounts& counts) {
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", capture::event_class_name(static_cast<capture::EventClass>(i)), counts[i]);
  }
  return text;
}

}  // namespace

SchedView::SchedView(SchedRequest request) : request_(std::move(request)) {}
SchedView::~SchedView() = default;

Result<void> SchedView::survey_events(const CaptureInput& input) {
  std::optional<sched::InsnsWindow> insns_window;
  const bool in_insns = input.summary.header.mode == guest::Mode::kIcount;
  if (in_insns && (request_.from || request_.until))
    insns_window = sched::InsnsWindow{request_.from.value_or(0), request_.until.value_or(UINT64_MAX)};
  survey_ = std::make_unique<sched::Survey>(insns_window);
  capture::Handlers handlers;
  handlers.progress = progress_of(request_.progress, "reading trace events");
  handlers.events = [this](const capture::EventChunk& chunk) -> Result<void> {
    survey_->chunk(chunk);
    return {};
  };
  // Only a window in instructions asks where each sample lies; else it is enough how far they reach.
  (insns_window ? handlers.packed_samples : handlers.last_samples) = [this](const capture::PackedSamples& chunk) -> Result<void> {
    for (const capture::Sample& sample : chunk.samples) survey_->sample(chunk.vcpu, sample.wall_ns, sample.insns);
    return {};
  };
  QPERF_RETURN_IF_ERROR(capture::read_capture(input.path, handlers));
  survey_->finish(input.summary.header.vcpus);
  count_drops(input);
  // A profile made of another tool's does not know of idle either, but its threads are told apart.
  vcpus_share_a_thread_ = !input.summary.header.idle_known && input.summary.header.max_vcpus > 1 &&
                          !capture::import_format(input.summary.metadata);
  if (!survey_->has_events() && needs_events(request_))
    return Error{ErrorCode::kUsage, fmt::format("{}: has no trace events, and all about tasks, phases and waiting needs some: "
                                                "record with trace=ADDRESS of the guest's trace marker",
                                                input.path)};
  if (request_.phase) {
    QPERF_ASSIGN_OR_RETURN(selected_, survey_->phases().select(*request_.phase, request_.occurrence));
  }
  sched::SpanSet everywhere = selected_;
  if (!in_insns) everywhere = everywhere.intersect({request_.from.value_or(0), request_.until.value_or(UINT64_MAX)});
  window_ = survey_->window(everywhere);
  for (uint32_t vcpu = 0; vcpu < survey_->vcpus(); ++vcpu)
    if (!request_.vcpus.contains(VcpuIndex{vcpu})) window_.leave_out(VcpuIndex{vcpu});
  return {};
}

/// The recorder's own totals, which also know of losses whose place a damaged file no longer tells; else what the places add up to.
void SchedView::count_drops(const CaptureInput& input) {
  drops_by_vcpu_ = survey_->drops_by_vcpu();
  if (!input.summary.last_ledger) return;
  for (const auto& vcpu : input.summary.last_ledger->vcpus) {
    not_written_ += total(vcpu.events_dropped_writer);
    if (total(vcpu.events_dropped_queue_full) > total(drops_by_vcpu_[vcpu.vcpu]))
      drops_by_vcpu_[vcpu.vcpu] = vcpu.events_dropped_queue_full;
  }
  std::erase_if(drops_by_vcpu_, [](const auto& entry) { return total(entry.second) == 0; });
}

Result<void> SchedView::begin_replay() {
  replay_ = std::make_unique<sched::Replay>(*survey_, window_, request_.wakers);
  replay_->set_listener(request_.listener);
  if (request_.intervals) {
    log_ = std::make_unique<sched::IntervalLog>(window_);
    replay_->set_log(log_.get());
  }
  if (request_.listener != nullptr) return feed(*replay_, path_, request_.progress);  // it is told on the caller's thread
  try {
    // How far it has come is not told: the reading of the samples says that of itself.
    replaying_ = std::async(std::launch::async, [this] { return feed(*replay_, path_, nullptr); });
  } catch (const std::system_error&) {
    return feed(*replay_, path_, request_.progress);  // no thread to be had
  }
  return {};
}

Result<void> SchedView::finish() {
  if (!has_replay()) return {};
  if (replaying_.valid()) {
    if (request_.progress != nullptr) request_.progress->step("following tasks", 0, 0);
    QPERF_RETURN_IF_ERROR(replaying_.get());
  }
  QPERF_ASSIGN_OR_RETURN(names_, ImageFrameNames::make(*images_, replay_->stacks()));
  return {};
}

Result<void> SchedView::replay_again(sched::IntervalSink& sink) const {
  sched::Replay again(*survey_, window_, request_.wakers);
  again.set_listener(&sink);
  return feed(again, path_, nullptr);
}

Result<void> SchedView::prepare(const CaptureInput& input, const ImageSet& images) {
  if (input.legacy && !needs_events(request_)) {
    survey_ = std::make_unique<sched::Survey>();
    survey_->finish(0);
    return {};
  }
  if (input.legacy)
    return Error{ErrorCode::kUsage, fmt::format("{}: captures of the older format have no trace events: record with trace=ADDRESS of the "
                                                "guest's trace marker",
                                                input.path)};
  path_ = input.path;
  QPERF_RETURN_IF_ERROR(survey_events(input));
  if (request_.label_samples || request_.group_by_phase) {
    const auto& phases = survey_->phases().all();
    innermost_.emplace(phases);
    std::map<std::string_view, uint32_t> first;
    for (uint32_t i = 0; i < phases.size(); ++i) first_occurrence_.push_back(first.try_emplace(phases[i].name, i).first->second);
  }
  if (!request_.replay || !has_events()) return {};
  images_ = &images;
  return begin_replay();
}

std::optional<uint32_t> SchedView::root_of(VcpuIndex, TaskId task, WallNs wall_ns) {
  if (request_.phase && !selected_.contains(wall_ns)) return std::nullopt;
  if ((request_.label_samples || request_.number_tasks) && !has_events()) return kNoRoot;
  if (request_.number_tasks && !request_.tasks) return numbered_root(task);
  if (!request_.tasks && request_.group_by_phase) return phase_root(wall_ns);
  if (!request_.group_by_task && !request_.tasks && !request_.label_samples) return kNoRoot;
  const sched::LabelId label = survey_->names().label(task, wall_ns);
  if (request_.tasks) {
    if (wanted_.size() <= label.raw) wanted_.resize(label.raw + size_t{1}, -1);
    signed char& wanted = wanted_[label.raw];
    if (wanted < 0) wanted = request_.tasks->found_in(survey_->names().labels().text(label)) ? 1 : 0;
    if (wanted == 0) return std::nullopt;
  }
  if (request_.group_by_phase) return phase_root(wall_ns);
  if (request_.number_tasks) return numbered_root(task);
  if (request_.label_samples) return labelled_root(label, wall_ns);
  return request_.group_by_task ? label.raw : kNoRoot;
}

/// 0: no phase; else the name's first occurrence, from 1.
uint32_t SchedView::phase_root(WallNs wall_ns) {
  const auto phase = innermost_->at(wall_ns);
  return phase ? first_occurrence_[*phase] + 1 : 0;
}

uint32_t SchedView::labelled_root(sched::LabelId task, WallNs wall_ns) {
  const auto phase = innermost_->at(wall_ns);
  const LabelPair pair{.task = task.raw, .phase = phase ? first_occurrence_[*phase] : kNoPhase};
  const auto [position, added] =
      root_of_pair_.try_emplace(uint64_t{pair.task} << 32 | pair.phase, static_cast<uint32_t>(label_pairs_.size()));
  if (added) label_pairs_.push_back(pair);
  return position->second;
}

uint32_t SchedView::numbered_root(TaskId task) {
  if (task == capture::kUnknownTask) return kNoRoot;
  // The replay tells no more tasks apart, either.
  if (numbered_tasks_.size() >= sched::kMaxTasks && !number_of_task_.contains(task.raw)) return kNoRoot;
  const auto [position, added] = number_of_task_.try_emplace(task.raw, static_cast<uint32_t>(numbered_tasks_.size()));
  if (added) numbered_tasks_.push_back(task);
  return position->second;
}

std::optional<sched::TaskIndex> SchedView::task_of(uint32_t root) const {
  return root < numbered_tasks_.size() ? replay_->tasks().find(numbered_tasks_[root]) : std::nullopt;
}

std::vector<std::string> SchedView::off_cpu_frames(uint32_t entry) const {
  return replay_->off_cpu().frames(entry, replay_->tasks(), replay_->stacks(), *names_);
}

std::optional<std::string> SchedView::root_name(uint32_t root) const {
  if (request_.number_tasks) return std::nullopt;
  if (request_.group_by_phase) return root == 0 ? "[no phase]" : survey_->phases().all()[root - 1].name;
  const uint32_t label = request_.label_samples ? label_pairs_[root].task : root;
  return survey_->names().labels().text(sched::LabelId{label});
}

SampleLabels SchedView::labels_of(uint32_t root) const {
  const LabelPair& pair = label_pairs_[root];
  const sched::LabelId task{pair.task};
  return {.task = survey_->names().labels().text(task),
          .tid = survey_->names().tid(task),
          .phase = pair.phase == kNoPhase ? std::string() : survey_->phases().all()[pair.phase].name};
}

std::vector<std::string> SchedView::report_lines() const {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("trace events: {} ({})", total(survey_->counts()), by_kind(survey_->counts())));
  uint64_t dropped = 0;
  std::string where;
  for (const auto& [vcpu, counts] : drops_by_vcpu_) {
    dropped += total(counts);
    where += fmt::format("; vcpu {}: {}", vcpu.raw, by_kind(counts));
  }
  std::string drops = fmt::format("event drops: {}{}", dropped, where);
  if (not_written_ != 0) drops += fmt::format("; not written {}", not_written_);
  lines.push_back(drops);
  if (replay_) lines.push_back(fmt::format("tasks: {}", replay_->tasks().size()));
  size_t listed = 0;
  for (const sched::Phase& phase : survey_->phases().all()) {
    if (listed++ == kMostListedPhases) {
      lines.push_back(fmt::format("and {} more phases (--sched-output lists all)", survey_->phases().all().size() - kMostListedPhases));
      break;
    }
    lines.push_back(fmt::format("phase {} {}: {} ns from {} ns, complete={}", phase.name, phase.occurrence,
                                phase.span.to_ns - phase.span.from_ns, phase.span.from_ns, phase.complete));
  }
  return lines;
}

Messages SchedView::weaknesses() const {
  Messages messages;
  if (vcpus_share_a_thread_)
    messages.push_back({Severity::kWarning,
                        "the vCPUs shared one thread (icount or thread=single) and cannot be told apart: all events and samples are under "
                        "vCPU 0, so tasks seem to switch from one another and much of their time is uncertain; record with one vCPU, or "
                        "with -accel tcg,thread=multi"});
  if (!survey_->losses().empty())
    messages.push_back({Severity::kWarning,
                        fmt::format("{} trace events were dropped{}: where they could have ended or cut a wait it is under [uncertain], so "
                                    "off-CPU attribution is incomplete; record with a larger event_queue=",
                                    total(survey_->drops()),
                                    survey_->missing_events() == 0 ? "" : fmt::format(" and {} are missing from the file", survey_->missing_events()))});
  if (survey_->phase_marks_left_out() != 0)
    messages.push_back({Severity::kWarning, fmt::format("{} phase marks beyond the first {} were left out", survey_->phase_marks_left_out(),
                                                        sched::kMaxPhaseMarks)});
  if (survey_->phases().ends_without_begin() != 0)
    messages.push_back({Severity::kWarning,
                        fmt::format("{} ends of phases without a begin were ignored", survey_->phases().ends_without_begin())});
  if (survey_->phases().unknown_marks() != 0)
    messages.push_back({Severity::kWarning,
                        fmt::format("{} phase marks that are neither begin nor end were ignored", survey_->phases().unknown_marks())});
  if (const uint64_t names = std::max(survey_->names().left_out(), replay_ ? replay_->tasks().names_left_out() : 0); names != 0)
    messages.push_back({Severity::kWarning, fmt::format("{} names of tasks beyond {} of one and {} in all were left out: such a task keeps an earlier name",
                                                        names, sched::kMaxNamesPerTask, sched::kMaxNames)});
  if (replay_) {
    const auto& [waiters, block_sites] = replay_->statistics().pairs_left_out();
    if (waiters + block_sites != 0)
      messages.push_back({Severity::kWarning, fmt::format("more than {} pairs of a resource with a task, or with a block site: {} waits are missing from the "
                                                          "count of tasks, {} from the sites of their resources",
                                                          sched::StatisticsLimits{}.pairs, waiters, block_sites)});
  }
  if (replay_ && replay_->oddities()[static_cast<size_t>(sched::Oddity::kTooManyTasks)] != 0)
    messages.push_back({Severity::kWarning, fmt::format("more than {} tasks: events of further ones were left out", sched::kMaxTasks)});
  return messages;
}

bool SchedView::wants(const std::string& label) const {
  return !request_.tasks || request_.tasks->found_in(label);
}

std::vector<std::string> SchedView::frames_of(sched::StackId stack) const {
  std::vector<std::string> all;
  for (const GuestVa address : replay_->stacks().frames(stack))
    for (std::string& frame : names_->frames(address)) all.push_back(std::move(frame));
  return all;
}

std::vector<sched::OffCpuLine> SchedView::off_cpu_lines() const {
  return replay_->off_cpu_lines(request_.tasks ? &*request_.tasks : nullptr, *names_);
}

std::string SchedView::statistics_json() const {
  return sched::report_json(*survey_, window_, *replay_, request_.tasks ? &*request_.tasks : nullptr, *names_);
}

}  // namespace qperf::analysis

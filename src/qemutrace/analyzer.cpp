#include "qemutrace/analyzer.h"

namespace qperf::qemutrace {

void Analyzer::on(std::string name, Handler handler) { handlers_.insert_or_assign(std::move(name), std::move(handler)); }

void Analyzer::dispatch(const Event& event) {
  if (event.is_loss) {
    lost(event, event.values[0].number);
    return;
  }
  const size_t index = event.info->index;
  if (index >= by_index_.size()) by_index_.resize(index + 1);
  auto& [info, handler] = by_index_[index];
  if (info != event.info) {
    const auto found = handlers_.find(event.info->name);
    info = event.info;
    handler = found == handlers_.end() ? nullptr : &found->second;
  }
  if (handler != nullptr) {
    (*handler)(event);
  } else {
    catch_all(event);
  }
}

void run(EventSource& source, Analyzer& analyzer, Filter* filter) {
  analyzer.begin(source);
  Event event;
  while (source.next(event)) {
    if (filter == nullptr || filter->keeps(event)) analyzer.dispatch(event);
  }
  analyzer.end(source.report());
}

}  // namespace qperf::qemutrace

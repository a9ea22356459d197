#include "node/chronicle.hpp"

#include "base/clock.hpp"

#include <muster/values/json.hpp>

#include <limits>
#include <utility>

namespace muster::net {

Expected<> Chronicle::load(const boost::asio::any_io_executor& strand, SafeStorage& storage,
                           StorageThread& thread, std::function<void(const Failure&)> fatal) {
  const auto may_write = [this] { return recorder_ && !recorder_->going_on({}); };
  auto history = HistoryStore::load(strand, storage, thread, {may_write, std::move(fatal)});
  if (!history) return history.error();
  history_ = *std::move(history);
  return {};
}

void Chronicle::begin_life(Incarnation incarnation) {
  recorder_.emplace(self_, incarnation);
  news_.emplace(self_);
}

Chronicle::Told Chronicle::take(Duration t, const Event& event, const View& after) {
  Told told{recorder_->take(t, event, after), news_->take(event, after), {}};
  told.cause = news_->last_reason().trigger;
  if (told.reorganized) history_->add(*told.reorganized);
  for (const News& news : told.news) log_->tell(news.level, news.topic, news.text);
  const auto goes_on = recorder_->going_on({});
  const std::lock_guard lock(mutex_);
  because_ = goes_on ? goes_on->evidence : std::string();
  return told;
}

std::string Chronicle::lines(const Page& page, bool goes_on) const {
  constexpr auto no_bound = std::numeric_limits<std::uint64_t>::max();
  std::string out = history_->lines(page.count, page.before.value_or(no_bound));
  if (page.before || !goes_on) return out;
  if (const auto entry = recorder_->going_on(monotonic_now())) {
    if (!out.empty()) out += '\n';
    write_json(out, *entry);
  }
  return out;
}

std::string Chronicle::because() const {
  const std::lock_guard lock(mutex_);
  return because_;
}

}  // namespace muster::net

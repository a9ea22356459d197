#pragma once

#include <muster/values/types.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace muster::lab::simulated {

using Work = std::function<void()>;

/// Simulated time, and the work that is planned. Work planned for the same time runs in the order
/// in which it was added.
class Agenda {
 public:
  [[nodiscard]] Duration now() const { return now_; }

  void at(Duration time, Work work) {
    std::uint32_t place = 0;
    if (free_.empty()) {
      place = static_cast<std::uint32_t>(works_.size());
      works_.push_back(std::move(work));
    } else {
      place = free_.back();
      free_.pop_back();
      works_[place] = std::move(work);
    }
    heap_.push_back({std::max(time, now_), order_++, place});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void after(Duration delay, Work work) { at(now_ + delay, std::move(work)); }
  void soon(Work work) { at(now_, std::move(work)); }

  /// Runs the next work if it is not later than `until`. False if there is none.
  bool run_next(Duration until) {
    if (heap_.empty() || until < heap_.front().time) return false;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    now_ = entry.time;
    const Work work = std::move(works_[entry.place]);
    works_[entry.place] = nullptr;
    free_.push_back(entry.place);
    work();
    return true;
  }
  /// Moves the time forward to a moment before which no work is planned.
  void pass(Duration until) { now_ = std::max(now_, until); }

 private:
  struct Entry {
    Duration time;
    std::uint64_t order;
    std::uint32_t place;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.time != b.time ? b.time < a.time : b.order < a.order;
  }
  Duration now_{};
  std::uint64_t order_ = 0;
  std::vector<Entry> heap_;
  std::vector<Work> works_;
  std::vector<std::uint32_t> free_;
};

}  // namespace muster::lab::simulated

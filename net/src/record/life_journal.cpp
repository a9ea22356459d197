#include <muster/journal/idle.hpp>

#include "record/life_journal.hpp"

namespace muster::net {

LifeJournal::LifeJournal(std::shared_ptr<JournalWriter> writer, journal::Detail detail,
                         journal::Header first, NextStamp next_stamp)
    : writer_(std::move(writer)),
      detail_(detail),
      first_(std::move(first)),
      next_stamp_(std::move(next_stamp)) {}

void LifeJournal::begin() {
  writer_->begin_step();
  writer_->forget_lost();
  if (writer_->has_lost()) return;
  begun_ = true;
  journal::header_line(held_.text, first_);
  release();
}

void LifeJournal::about_to_step(const Protocol& state) {
  writer_->begin_step();
  holds_ = true;
  is_full_ = writer_->is_full();
  before_.reset();
  if (is_full_ || left_out_ > 0 || writer_->has_lost()) before_ = state;
}

void LifeJournal::stepped(Duration t, const Event& event, Moment at, const Actions& actions,
                          const View& before, const View& after) {
  if (detail_ == journal::Detail::changes && journal::is_idle(before, event, actions, after)) {
    next_stamp_(t);
    ++left_out_;
    return;
  }
  if (before_ && !tell_of_gap(t, *before_)) before_.reset();
  journal::step_line(held_.text, next_stamp_(t), event, actions, after, at);
  ++held_.count;
  ++held_.dropped;
}

// Reports missing lines. A new segment begins with the state of the node. After lost lines a header
// with the state is needed too, as the end of the earlier lines, and their file, are unknown.
// Returns false if the journal cannot continue yet.
bool LifeJournal::tell_of_gap(Duration t, const Protocol& state) {
  const bool has_lost = writer_->has_lost();
  if (has_lost && !writer_->may_try_again()) return false;
  const std::uint64_t missing = left_out_ + (has_lost ? writer_->restart() : 0);
  if (is_full_ || has_lost) {
    held_.fresh = is_full_ && !has_lost;
    journal::Header header = first_;
    header.t = t;
    header.gap = missing;
    if (begun_ || missing > 0) header.state = state;
    journal::header_line(held_.text, header);
    begun_ = true;
  }
  left_out_ = 0;
  if (missing == 0) return true;
  journal::gap_line(held_.text, next_stamp_(t), missing, state);
  held_.count += missing + 1;
  return true;
}

void LifeJournal::line(Duration t,
                       const std::function<void(std::string&, const journal::Stamp&)>& append,
                       bool waits) {
  append(held_.text, next_stamp_(t));
  ++held_.count;
  ++held_.dropped;
  if (!holds_) release(waits);
}

void LifeJournal::hand_over() {
  if (held_.text.empty()) return;
  writer_->put(std::exchange(held_, {}));
}

void LifeJournal::release(bool waits) {
  holds_ = false;
  hand_over();
  if (waits) writer_->await();
}

void LifeJournal::end(Duration t, const Protocol* state, int code, const std::string& why) {
  writer_->begin_step();
  hand_over();
  is_full_ = false;
  if (state && (left_out_ > 0 || writer_->has_lost())) tell_of_gap(t, *state);
  line(t, [&](std::string& out, const journal::Stamp& stamp) {
    journal::ended_line(out, stamp, code, why);
  });
  release();
}

}  // namespace muster::net

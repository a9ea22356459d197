#include <muster/host/host.hpp>

#include <algorithm>
#include <utility>

namespace muster::host {

Host::Host(const Config& config, SafeState safe, Duration longest_wait, HookRunner::Limits limits,
           Driver& driver, HookHost& hooks)
    : config_(config),
      safe_(std::move(safe)),
      driver_(driver),
      hooks_(hooks, config.self, limits, safe_.assigned),
      protocol_(muster::begin(config)),
      inbox_(longest_wait) {}

// --- Its beginning and its end

void Host::begin() {
  begun_ = true;
  inbox_.begin(safe_, driver_.now());
  turn();
}

void Host::end() {
  ended_ = true;
  hooks_.abandon();
}

// --- Events

void Host::put(Event event) {
  if (!ended_) inbox_.put(std::move(event), driver_.now());
}

void Host::expired(Timer timer, Inbox::Arming arming) {
  if (ended_) return;
  inbox_.expire(timer, arming, driver_.now());
  turn();
}

// Gives the waiting events, one after the other. Steps do not overlap: the next event is given when
// the last action of the previous step has been performed.
void Host::turn() {
  if (turning_ || saving_ || !begun_) return;
  turning_ = true;
  while (!saving_ && !ended_) {
    std::optional<Event> event = inbox_.next(look_at_the_clock());
    if (!event) break;
    leave_out_what_is_known(*event);
    give(*event);
  }
  turning_ = false;
}

void Host::together(const std::function<void()>& work) {
  const bool turning = std::exchange(turning_, true);
  look_at_the_clock();
  work();
  turning_ = turning;
  turn();
}

// Reads the clock, and makes permits valid until the right ends. After a pause no permit is valid
// until `step` has been told of the pause and has revoked the old permits.
Duration Host::look_at_the_clock() {
  inbox_.on_pause(driver_.paused_for());
  const Duration now = driver_.now();
  if (!inbox_.pauses() && !inbox_.is_late(now)) driver_.permit_work(now, right_);
  return now;
}

// A letter names the instance of its sender's life only until `step` knows it. Otherwise each
// event, and each line of the journal, would repeat the instance.
void Host::leave_out_what_is_known(Event& event) const {
  auto* const received = std::get_if<Received>(&event);
  if (!received) return;
  const auto& known = common(protocol_).instances;
  const auto at = known.find(received->letter.from);
  if (at != known.end() && at->second == received->instance) received->instance = {};
}

void Host::give(const Event& event) {
  driver_.about_to_step();
  if (reads_clock(config_)) stepped_at_ = driver_.now();
  actions_ = step(config_, protocol_, event, stepped_at_);
  stepped_ = true;
  view_ = muster::view(config_, protocol_, view_);
  if (view_.status == Status::Normal) {
    was_normal_ = true;
    if (!view_.up || !view_.up->empty()) was_normal_in_company_ = true;
  }
  performed_ = 0;
  driver_.stepped(event, actions_, view_);
  perform_rest();
  driver_.begun(event, view_);
}

// --- Actions

void Host::perform_rest() {
  while (performed_ < actions_.size()) {
    if (!perform(actions_[performed_++]) || ended_) return;
    driver_.action_performed();
    if (ended_) return;
  }
  inbox_.performed();
  driver_.keep_only([this](CallNumber call) { return awaits(protocol_, call); });
}

bool Host::perform(const Action& action) {
  if (const auto* save = std::get_if<Save>(&action)) {
    saving_ = true;
    driver_.save(save->safe);
    return false;
  }
  if (const auto* send = std::get_if<Send>(&action)) perform_send(*send);
  if (const auto* timer = std::get_if<Arm>(&action))
    driver_.arm(timer->timer, length_of(timer->timer, timer->level, config_.timings),
                inbox_.arm(timer->timer));
  if (const auto* timer = std::get_if<Disarm>(&action)) {
    inbox_.disarm(timer->timer);
    driver_.disarm(timer->timer);
  }
  if (const auto* stop = std::get_if<Stop>(&action)) perform_stop(*stop);
  if (const auto* hook = std::get_if<Reorganize>(&action)) hooks_.perform(*hook);
  if (const auto* right = std::get_if<Right>(&action)) right_ = right->until;
  if (const auto* start = std::get_if<Start>(&action)) perform_start(*start);
  if (const auto* leave = std::get_if<Leave>(&action)) driver_.left(leave->cause);
  return true;
}

// Events that the remaining actions cause wait until all these actions have been performed.
void Host::saved() {
  if (ended_) return;
  driver_.save_performed();
  saving_ = false;
  together([this] { perform_rest(); });
}

void Host::perform_stop(Stop stop) {
  if (std::exchange(not_begun_, false)) stop.owed = false;
  if (!stop.by.at) return hooks_.perform(stop);
  const Duration left = *stop.by.at - driver_.now();
  hooks_.perform(stop, std::clamp(left, Duration::zero(), config_.timings.stop_deadline));
}

// The Save before the Start may have taken longer than the right to work lasts. Then nothing is
// started.
void Host::perform_start(const Start& start) {
  not_begun_ = right_ && *right_ <= driver_.now();
  if (not_begun_)
    put(HookFailed{start.ticket, Hook::start, "the right to work was over before it began"});
  else
    hooks_.perform(start);
}

// If a newer call with the same number waits, the answer is for a call of the caller's former life.
// It is dropped.
void Host::perform_send(const Send& send) {
  if (is_answer(send.letter) && inbox_.has_call(send.letter.to, send.letter.call)) return;
  std::optional<Duration> bound;
  if (send.bound) bound = length_of(*send.bound, config_.timings);
  driver_.send(send.letter, bound);
}

// --- Questions and observers

std::uint64_t Host::asked(Inquiry inquiry, Answered answered) {
  if (is_in(inquiry.group)) return hooks_.asked(std::move(inquiry), std::move(answered));
  answered({boost::system::in_place_error, "it is no member of that group"});
  return 0;
}

bool Host::is_in(GroupNumber group) const {
  return view_.group == group;
}

journal::Stamp Host::next_stamp(Duration t) {
  return {t, config_.self, safe_.incarnation, ++seq_};
}

}  // namespace muster::host

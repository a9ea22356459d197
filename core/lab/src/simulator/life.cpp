#include "life.hpp"

#include <muster/values/hash.hpp>

#include <algorithm>

namespace muster::lab::simulated {

namespace {

journal::HookEdge hook_edge(const journal::Stamp& stamp, Hook hook, journal::Edge edge,
                            const std::optional<GroupNumber>& group, Ticket ticket,
                            const Members* members) {
  journal::HookEdge line{stamp, hook, edge, group, ticket, {}};
  if (!members) return line;
  line.members.emplace();
  for (const Member& j : *members)
    line.members->push_back({j.node, j.incarnation, digest(j.holdings.report.data),
                             j.holdings.group, j.holdings.empty});
  return line;
}

}  // namespace

Life::Life(std::shared_ptr<Process> process, Network& network, const Config& config,
           const MakeApplication& make_application, SafeStorage& storage, SafeState safe,
           Handlers handlers)
    : process_(std::move(process)),
      network_(network),
      config_(config),
      safe_(std::move(safe)),
      handlers_(std::move(handlers)),
      permits_(process_, longest_wait()),
      disk_(process_, storage, disk_handlers()),
      services_(config.self, config.nodes, process_, permits_, disk_),
      hooks_(process_, services_, make_application, permits_, config.timings, safe_.assigned,
             hook_handlers()),
      sessions_(network, process_, config, safe_, session_handlers()),
      protocol_(muster::begin(config)),
      inbox_(longest_wait()) {}

// --- Its beginning and its end

void Life::begin() {
  network_.listen(config_.self, process_, &sessions_,
                  {[this](Inquiry inquiry, Answered answered) {
                     return asked(std::move(inquiry), std::move(answered));
                   },
                   [this](std::uint64_t question) { hooks_.not_wanted(question); }});
  record(journal::Header{process_->now(), config_.self, safe_.incarnation,
                         journal::Clock::simulated, config_, std::nullopt});
  sessions_.greet();
  inbox_.begin(safe_, process_->now());
  turn();
}

void Life::end(bool commit_in_the_store) {
  process_->end();
  permits_.close();
  disk_.end(commit_in_the_store);
  // Nothing of the application is called any more, but it may be what is being called now.
  if (std::shared_ptr<Application> application = hooks_.abandon())
    process_->world.agenda.soon([application] {});
}

void Life::note_end(const Failure& why) {
  record(journal::Ended{next_stamp(), static_cast<int>(why.code), why.what});
}

// --- Events

void Life::put(Event event) {
  if (process_->over()) return;
  inbox_.put(std::move(event), process_->now());
  turn();
}

// Steps do not overlap: the next event is given when the last action of the step before was
// performed.
void Life::turn() {
  if (turning_ || saving_) return;
  turning_ = true;
  while (!saving_ && !process_->over()) {
    const std::optional<Event> event = inbox_.next(process_->now());
    if (!event) break;
    give(*event);
  }
  turning_ = false;
}

void Life::give(const Event& event) {
  const journal::Stamp stamp = next_stamp();
  actions_ = step(config_, protocol_, event);
  recovered_ = true;
  View view = muster::view(config_, protocol_);
  record(journal::Step{stamp, event, actions_, view});
  performed_ = 0;
  was_normal_ = was_normal_ || view.status == Status::Normal;
  handlers_.seen(view);
  perform_rest();
}

// --- Actions

void Life::perform_rest() {
  while (performed_ < actions_.size()) {
    const Action& action = actions_[performed_++];
    if (!perform(action)) return;
    if (process_->over()) return;
    handlers_.point("an action");
    if (process_->over()) return;
  }
  inbox_.performed();
  sessions_.keep_only([this](CallNumber call) { return awaits(protocol_, call); });
  if (!inbox_.pauses()) permits_.stalled(std::nullopt);
}

bool Life::perform(const Action& action) {
  if (const auto* save = std::get_if<Save>(&action)) {
    saving_ = true;
    disk_.save(save->safe, [this] {
      record(journal::Performed{next_stamp()});
      saving_ = false;
      turning_ = true;  // what the rest of the actions brings about waits for its turn
      perform_rest();
      turning_ = false;
      turn();
    });
    return false;
  }
  if (const auto* send = std::get_if<Send>(&action)) perform_send(*send);
  if (const auto* timer = std::get_if<Arm>(&action)) arm(timer->timer, timer->level);
  if (const auto* timer = std::get_if<Disarm>(&action)) inbox_.disarm(timer->timer);
  if (const auto* stop = std::get_if<Stop>(&action)) hooks_.perform(*stop);
  if (const auto* hook = std::get_if<Reorganize>(&action)) hooks_.perform(*hook);
  if (const auto* start = std::get_if<Start>(&action)) hooks_.perform(*start);
  if (const auto* leave = std::get_if<Leave>(&action)) {
    note_end({ExitCode::ok, "left in order"});
    handlers_.left(leave->cause);
  }
  return true;
}

void Life::perform_send(const Send& send) {
  if (is_answer(send.letter) && inbox_.has_call(send.letter.to, send.letter.call)) return;
  std::optional<Duration> bound;
  if (send.bound) bound = length_of(*send.bound, config_.timings);
  sessions_.send(send.letter, bound);
}

void Life::arm(Timer timer, unsigned level) {
  const Duration period = length_of(timer, level, config_.timings);
  process_->after(period, [this, timer, arming = inbox_.arm(timer)] {
    inbox_.expire(timer, arming, process_->now());
    turn();
  });
}

// --- Questions

std::uint64_t Life::asked(Inquiry inquiry, Answered answered) {
  if (muster::view(config_, protocol_).group == inquiry.group)
    return hooks_.asked(std::move(inquiry), std::move(answered));
  answered({boost::system::in_place_error, "it is no member of that group"});
  return 0;
}

void Life::give_up_questions() {
  for (const auto& [member, question] : std::exchange(questions_, {}))
    network_.give_up(question, config_.self, member);
}

// --- Promptness

void Life::pause() {
  paused_at_ = process_->now();
  permits_.stalled(paused_at_);
  process_->pause();
}

void Life::resume() {
  inbox_.stood_still(process_->now() - paused_at_);
  // No permit is valid again before `step` was told of the pause and revoked what there was.
  if (!inbox_.pauses()) permits_.stalled(std::nullopt);
  turning_ = true;  // all that has arrived is there before the first of it is given
  process_->resume();
  turning_ = false;
  turn();
}

// --- The journal, and what the parts of a life tell

journal::Stamp Life::next_stamp() {
  return {process_->now(), config_.self, safe_.incarnation, ++seq_};
}

SessionDriver::Handlers Life::session_handlers() {
  SessionDriver::Handlers handlers;
  handlers.event = [this](Event event) { inbox_.put(std::move(event), process_->now()); };
  handlers.outlived = [this](const host::Voices& voices) { handlers_.outlived(voices); };
  handlers.told = [this] { turn(); };
  return handlers;
}

Hooks::Handlers Life::hook_handlers() {
  Hooks::Handlers handlers;
  handlers.event = [this](Event event) { put(std::move(event)); };
  handlers.edge = [this](Hook hook, journal::Edge edge, std::optional<GroupNumber> group,
                         Ticket ticket, const Members* members) {
    record(hook_edge(next_stamp(), hook, edge, group, ticket, members));
  };
  handlers.permits = [this](journal::PermitsEdge edge, GroupNumber group) {
    record(journal::Permits{next_stamp(), edge, group});
  };
  handlers.fatal = [this](const std::string& why) {
    handlers_.fatal({ExitCode::hook_failed, why});
  };
  handlers.fate = handlers_.fate;
  handlers.ask = [this](NodeId member, Inquiry inquiry, const Answered& answered) {
    questions_[member] = network_.ask(process_, member, std::move(inquiry), answered);
  };
  handlers.give_up_questions = [this] { give_up_questions(); };
  return handlers;
}

Disk::Handlers Life::disk_handlers() {
  return {handlers_.commit_time, handlers_.point, handlers_.fatal};
}

}  // namespace muster::lab::simulated

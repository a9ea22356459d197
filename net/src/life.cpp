#include "life.hpp"

#include "clock.hpp"

#include <boost/asio/post.hpp>
#include <boost/describe/enumerators.hpp>

#include <algorithm>
#include <random>

namespace muster::net {

namespace asio = boost::asio;

namespace {

std::uint64_t random_instance() {
  std::random_device source;
  return (std::uint64_t{source()} << 32 | source()) | 1;
}

}  // namespace

Life::Life(asio::any_io_executor strand, asio::any_io_executor hooks, const NodeOptions& options,
           const MakeApplication& make_application, StorageThread& storage, SafeState safe,
           Handlers handlers)
    : strand_(std::move(strand)),
      hooks_executor_(std::move(hooks)),
      options_(options),
      make_application_(make_application),
      storage_(storage),
      safe_(std::move(safe)),
      handlers_(std::move(handlers)),
      permits_(std::make_shared<LifePermits>(options.config.timings.T / 2, hooks_executor_)),
      protocol_(begin(options.config)),
      inbox_(longest_wait()),
      watch_(strand_) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Timer>>(
      [this](auto) { timers_.emplace_back(strand_); });
  seen_.as_of = monotonic_now();
}

// --- Its beginning and its end
// ------------------------------------------------------------------------

Expected<> Life::listen() {
  const Self self{options_.config.self, safe_.incarnation, random_instance(), options_.cluster};
  questions_ =
      std::make_shared<Questions>(strand_, self, options_.addresses, options_.config.timings.T,
                                  Questions::Limits{options_.answer_limit}, question_handlers());
  sessions_ =
      std::make_unique<Sessions>(strand_, self, options_.addresses, options_.config.timings.T,
                                 SessionLimits{}, safe_.seen, session_handlers());
  return sessions_->listen();
}

void Life::recover() {
  if (ended_) return;
  if (options_.journal)
    journal_ = std::make_unique<JournalFile>(*options_.journal,
                                             [this](std::string& out) { write_header(out, true); });
  write_journal([this](std::string& out) { write_header(out, false); });
  services_ = std::make_shared<NodeServices>(
      options_.config.self, options_.config.nodes, hooks_executor_, permits_, storage_,
      [weak = weak_from_this(), strand = strand_](const Failure& failure) {
        asio::post(strand, [weak, failure] {
          if (const auto self = weak.lock()) self->handlers_.fatal(failure);
        });
      });
  hooks_ =
      std::make_shared<Hooks>(strand_, hooks_executor_, services_, make_application_, permits_,
                              HookRunner::Limits{options_.config.timings, options_.report_limit,
                                                 options_.definition_limit, options_.answer_limit},
                              safe_.assigned, hook_handlers());
  last_alive_ = boottime_now();
  watch();
  sessions_->greet();
  begun_ = true;
  inbox_.begin(safe_, last_alive_);
  turn();
}

void Life::leave() {
  put(Leaving{});
}

void Life::elect(std::string why) {
  put(ElectionAsked{std::move(why)});
}

void Life::end(const Failure& why) {
  if (std::exchange(ended_, true)) return;
  note_end(why);
  for (asio::steady_timer& timer : timers_) timer.cancel();
  watch_.cancel();
  permits_->close();
  if (services_) services_->close();
  if (hooks_) hooks_->abandon();
  if (questions_) questions_->close();
  if (sessions_) sessions_->close();
}

void Life::note_end(const Failure& why) {
  write_journal([&](std::string& out) {
    journal::ended_line(out, next_stamp(monotonic_now()), static_cast<int>(why.code), why.what);
  });
}

void Life::break_connections() {
  if (begun_) sessions_->break_connections();
}

// --- Events
// -------------------------------------------------------------------------------------------

void Life::put(Event event) {
  if (ended_) return;
  inbox_.put(std::move(event), boottime_now());
  turn();
}

// Steps do not overlap: the next event is given when the last action of the step before was
// performed.
void Life::turn() {
  if (turning_ || saving_ || !begun_) return;
  turning_ = true;
  while (!saving_ && !ended_) {
    const Duration now = boottime_now();
    note_stillness(now);
    permit_work(now);
    const std::optional<Event> event = inbox_.next(now);
    if (!event) break;
    give(*event);
  }
  turning_ = false;
}

// Where `step` can be told of what came. No permit is valid again before it was told of a pause and
// revoked what there was.
void Life::permit_work(Duration now) {
  if (!inbox_.pauses() && !inbox_.is_late(now)) permits_->turned(now);
}

void Life::give(const Event& event) {
  if (journal_) journal_->make_room();
  const Duration t = monotonic_now();
  try {
    actions_ = step(options_.config, protocol_, event);
  } catch (const std::exception& error) {
    handlers_.fatal({ExitCode::impossible_state,
                     "node " + std::to_string(options_.config.self.value) + ": " + error.what() +
                         "; please report it with the end of its journal"});
  }
  performed_ = 0;
  recovered_ = true;
  View view = muster::view(options_.config, protocol_);
  write_journal(
      [&](std::string& out) { journal::step_line(out, next_stamp(t), event, actions_, view); });
  was_normal_ = was_normal_ || view.status == Status::Normal;
  show(view, t);
  perform_rest();
  handlers_.stepped(t, event, view);
}

// --- Actions
// ------------------------------------------------------------------------------------------

void Life::perform_rest() {
  while (performed_ < actions_.size() && !ended_) {
    const Action& action = actions_[performed_++];
    if (!perform(action)) return;
  }
  inbox_.performed();
  if (!ended_) sessions_->keep_only([this](CallNumber call) { return awaits(protocol_, call); });
}

bool Life::perform(const Action& action) {
  if (const auto* save = std::get_if<Save>(&action)) {
    saving_ = true;
    storage_.save(save->safe, [weak = weak_from_this(), strand = strand_,
                               begun = boottime_now()](Expected<> saved) {
      asio::post(strand, [weak, saved, took = boottime_now() - begun] {
        const auto self = weak.lock();
        if (!self || self->ended_) return;
        if (!saved) return self->handlers_.fatal(saved.error());
        self->note_save(took);
        self->write_journal([&](std::string& out) {
          journal::performed_line(out, self->next_stamp(monotonic_now()));
        });
        self->saving_ = false;
        const Duration now = boottime_now();
        self->note_stillness(now);
        self->permit_work(now);  // a start among the rest finds what it permits
        self->turning_ = true;   // what the rest of the actions brings about waits for its turn
        self->perform_rest();
        self->turning_ = false;
        self->turn();
      });
    });
    return false;
  }
  if (const auto* send = std::get_if<Send>(&action)) perform_send(*send);
  if (const auto* timer = std::get_if<Arm>(&action)) arm(timer->timer, timer->level);
  if (const auto* timer = std::get_if<Disarm>(&action)) disarm(timer->timer);
  if (const auto* stop = std::get_if<Stop>(&action)) hooks_->perform(*stop);
  if (const auto* hook = std::get_if<Reorganize>(&action)) hooks_->perform(*hook);
  if (const auto* start = std::get_if<Start>(&action)) hooks_->perform(*start);
  if (const auto* leave = std::get_if<Leave>(&action)) {
    const LeaveCause cause = leave->cause;
    end({ExitCode::ok, "left in order"});
    asio::post(strand_, [self = shared_from_this(), cause] { self->handlers_.left(cause); });
  }
  return true;
}

void Life::perform_send(const Send& send) {
  if (is_answer(send.letter) && inbox_.has_call(send.letter.to, send.letter.call)) return;
  std::optional<Duration> bound;
  if (send.bound) bound = length_of(*send.bound, options_.config.timings);
  sessions_->send(send.letter, bound);
}

void Life::arm(Timer timer, unsigned level) {
  asio::steady_timer& armed = timers_[static_cast<std::size_t>(timer)];
  armed.expires_after(length_of(timer, level, options_.config.timings));
  armed.async_wait([weak = weak_from_this(), timer, arming = inbox_.arm(timer)](auto error) {
    const auto self = weak.lock();
    if (error || !self || self->ended_) return;
    self->inbox_.expire(timer, arming, boottime_now());
    self->turn();
  });
}

void Life::disarm(Timer timer) {
  inbox_.disarm(timer);
  timers_[static_cast<std::size_t>(timer)].cancel();
}

// --- Promptness
// ---------------------------------------------------------------------------------------

// A timer that should have run long ago tells that the process was paused, or the loop was busy:
// what came meanwhile waited in the kernel, where nothing says for how long.
void Life::watch() {
  watch_.expires_after(longest_wait() / 4);
  watch_.async_wait([weak = weak_from_this()](auto error) {
    const auto self = weak.lock();
    if (error || !self || self->ended_) return;
    self->watch();
    self->show_counters();
    self->note_stillness(boottime_now());
    self->turn();
  });
}

void Life::note_stillness(Duration now) {
  inbox_.stood_still(now - std::exchange(last_alive_, now));
}

void Life::note_save(Duration took) {
  if (took <= longest_wait()) return;
  const std::lock_guard lock(seen_mutex_);
  if (seen_.slow_saves++ > 0) return;
  handlers_.warn(
      "node " + std::to_string(options_.config.self.value) + ": a commit took " +
      std::to_string(took / std::chrono::milliseconds(1)) +
      " ms, and what waits for longer than T/2 counts as a pause: choose a longer T or a "
      "faster disk (the status counts slow_saves)");
}

// --- The journal
// --------------------------------------------------------------------------------------

void Life::write_journal(const std::function<void(std::string&)>& append) {
  if (!journal_) return;
  line_.clear();
  append(line_);
  journal_->append(line_);
}

journal::Stamp Life::next_stamp(Duration t) {
  return {t, options_.config.self, safe_.incarnation, ++seq_};
}

void Life::write_header(std::string& out, bool in_a_life) {
  journal::Header header;
  header.t = monotonic_now();
  header.node = options_.config.self;
  header.incarnation = safe_.incarnation;
  header.clock = journal::Clock::monotonic;
  header.config = options_.config;
  if (in_a_life) header.state = protocol_;
  journal::header_line(out, header);
}

// --- What others may see
// ------------------------------------------------------------------------------

void Life::show(View view, Duration as_of) {
  {
    const std::lock_guard lock(seen_mutex_);
    seen_.view = std::move(view);
    seen_.as_of = as_of;
  }
  show_counters();
}

// Before it has begun it is still being made, on the thread of its owner.
void Life::show_counters() {
  if (!begun_) return;
  const std::lock_guard lock(seen_mutex_);
  if (journal_) seen_.journal_dropped = journal_->dropped();
  seen_.progress = hooks_->how_far();
  seen_.counters = sessions_->counters();
  if (seen_.differing != sessions_->differing()) seen_.differing = sessions_->differing();
}

Life::Seen Life::seen() const {
  const std::lock_guard lock(seen_mutex_);
  return seen_;
}

// --- What sessions and hooks tell
// ---------------------------------------------------------------------

Sessions::Handlers Life::session_handlers() {
  Sessions::Handlers handlers;
  handlers.received = [this](Letter letter) { put(Received{std::move(letter)}); };
  handlers.unanswered = [this](NodeId by, CallNumber call) { put(Unanswered{by, call}); };
  handlers.failed = [this](NodeId node, Incarnation life) { put(Failed{node, life}); };
  handlers.outlived = [this](const Voices& voices) { handlers_.outlived(voices); };
  handlers.status = [this] { return handlers_.status(); };
  handlers.asker = [this](const std::shared_ptr<Connection>& connection, const Hello& hello) {
    questions_->take(connection, hello);
  };
  handlers.warn = [this](std::string sentence) { handlers_.warn(std::move(sentence)); };
  return handlers;
}

Questions::Handlers Life::question_handlers() {
  Questions::Handlers handlers;
  handlers.is_in = [this](GroupNumber group) {
    return muster::view(options_.config, protocol_).group == group;
  };
  handlers.asked = [this](Inquiry inquiry, Answered answered) {
    return hooks_->asked(std::move(inquiry), std::move(answered));
  };
  handlers.not_wanted = [this](std::uint64_t question) { hooks_->not_wanted(question); };
  return handlers;
}

Hooks::Handlers Life::hook_handlers() {
  Hooks::Handlers handlers;
  handlers.event = [this](Event event) { put(std::move(event)); };
  handlers.edge = [this](Hook hook, journal::Edge edge, std::optional<GroupNumber> group,
                         Ticket ticket, const Members* members) {
    write_journal([&](std::string& out) {
      journal::hook_line(out, next_stamp(monotonic_now()), hook, edge, group, ticket, members);
    });
  };
  handlers.permits = [this](journal::PermitsEdge edge, GroupNumber group) {
    write_journal([&](std::string& out) {
      journal::permits_line(out, next_stamp(monotonic_now()), edge, group);
    });
  };
  handlers.ask = [this](NodeId member, Inquiry inquiry, Answered answered) {
    questions_->ask(member, std::move(inquiry), std::move(answered));
  };
  handlers.give_up_questions = [this] { questions_->give_up(); };
  handlers.fatal = [this](const std::string& why) {
    handlers_.fatal(
        {ExitCode::hook_failed, "node " + std::to_string(options_.config.self.value) + ": " + why +
                                    "; mend the application, then start the node again"});
  };
  return handlers;
}

}  // namespace muster::net

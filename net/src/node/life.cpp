#include "node/life.hpp"

#include "base/clock.hpp"
#include "base/on_strand.hpp"
#include "metrics/metrics.hpp"

#include <muster/protocol/cluster_text.hpp>
#include <muster/values/text.hpp>

#include <boost/asio/post.hpp>
#include <boost/describe/enumerators.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;

namespace {

std::uint64_t random_instance() {
  std::random_device source;
  return (std::uint64_t{source()} << 32 | source()) | 1;
}

}  // namespace

Life::Life(asio::any_io_executor strand, asio::any_io_executor hooks, const NodeOptions& options,
           const MakeApplication& make_application, StorageThread& storage,
           std::shared_ptr<JournalWriter> journal, std::shared_ptr<const Tls> tls, SafeState safe,
           Handlers handlers)
    : strand_(std::move(strand)),
      way_(std::make_shared<Way>(strand_)),
      hooks_executor_(std::move(hooks)),
      options_(options),
      config_{options.config, {}},
      make_application_(make_application),
      storage_(storage),
      tls_(std::move(tls)),
      safe_(std::move(safe)),
      handlers_(std::move(handlers)),
      writer_(std::move(journal)),
      watch_(strand_),
      halted_in_turn_(config_.timings) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Timer>>(
      [this](auto) { timers_.emplace_back(strand_); });
  seen_.as_of = monotonic_now();
}

// --- Its beginning and its end

Expected<> Life::listen() {
  make_parts();
  return sessions_->listen();
}

void Life::make_parts() {
  const Self own{config_.self, safe_.incarnation, random_instance(), options_.cluster,
                 options_.network.wire};
  questions_ = std::make_shared<Questions>(
      strand_, own, options_.network.addresses, config_.timings.T,
      Questions::Limits{options_.limits.answer}, tls_, question_handlers());
  SessionLimits limits;
  limits.proofs = options_.network.proofs;
  if (options_.network.tls) limits.arrivals = SessionLimits::arrivals_with_proofs;
  sessions_ =
      std::make_unique<Sessions>(strand_, own, options_.network.addresses, config_.timings.T,
                                 limits, safe_, session_handlers(), options_.network.listen, tls_);
  permits_ =
      std::make_shared<LifePermits>(config_.timings.T / 2, hooks_executor_,
                                    [way = way_, weak = weak_from_this()](const std::string& why) {
                                      way->post([weak, why] {
                                        if (const auto self = weak.lock())
                                          self->hook_fatal(HookFault::failed, why);
                                      });
                                    });
  services_ = std::make_shared<NodeServices>(config_.self, config_.nodes, hooks_executor_, permits_,
                                             storage_, service_handlers());
  hooks_ = std::make_shared<Hooks>(strand_, hooks_executor_, services_, make_application_, permits_,
                                   hook_handlers());
  const HookRunner::Limits of_hooks{config_.timings, options_.limits.report,
                                    options_.limits.definition, options_.limits.answer};
  host_ = std::make_unique<host::Host>(config_, safe_, longest_wait(), of_hooks, *this, *hooks_);
}

void Life::recover() {
  if (ended_) return;
  begin_journal();
  last_alive_ = boottime_now();
  watch();
  sessions_->greet();
  begun_ = true;
  {
    const std::lock_guard lock(seen_mutex_);
    shows_ = services_;
  }
  host_->begin();
}

void Life::leave() {
  on_event(Leaving{});
}

void Life::elect(std::string why) {
  on_event(ElectionAsked{std::move(why)});
}

void Life::end(const Failure& why) {
  if (std::exchange(ended_, true)) return;
  note_end(why);
  if (handlers_.metrics) handlers_.metrics->ceased(monotonic_now());
  for (asio::steady_timer& timer : timers_) timer.cancel();
  watch_.cancel();
  way_->close();
  if (permits_) permits_->close();
  if (services_) services_->close();
  if (host_) host_->end();
  if (hooks_) hooks_->abandon();
  if (questions_) questions_->close();
  if (sessions_) sessions_->close();
}

void Life::note_end(const Failure& why) {
  if (!journal_) return;
  const Protocol* const state = host_->is_at_rest() ? &host_->protocol() : nullptr;
  journal_->end(monotonic_now(), state, static_cast<int>(why.code), why.what);
}

void Life::break_connections() {
  if (begun_) sessions_->break_connections();
}
void Life::break_unproven() {
  if (begun_) sessions_->break_unproven(std::chrono::system_clock::now());
}

// --- The actions of the host

void Life::arm(Timer timer, Duration period, Inbox::Arming arming) {
  asio::steady_timer& armed = timers_[static_cast<std::size_t>(timer)];
  armed.expires_after(period);
  armed.async_wait([weak = weak_from_this(), timer, arming](auto error) {
    const auto self = weak.lock();
    if (!error && self) self->host_->expired(timer, arming);
  });
}

void Life::keep_only(const std::function<bool(CallNumber)>& awaited) {
  sessions_->keep_only(awaited);
  flush();
}

// Writes the journal and then sends the letters of a step, before anything slower that the step
// asks for. If a step asks for nothing, its line in the journal is not waited for.
void Life::flush() {
  if (journal_) journal_->release(std::exchange(acts_, false));
  sessions_->flush();
}

void Life::disarm(Timer timer) {
  timers_[static_cast<std::size_t>(timer)].cancel();
}

void Life::save(const SafeState& safe) {
  acts_ = true;
  flush();
  const auto saved = on_strand(strand_, weak_from_this(),
                               [](Life& self, const std::pair<Expected<>, Duration>& commit) {
                                 const auto& [outcome, took] = commit;
                                 if (self.ended_) return;
                                 if (!outcome) return self.handlers_.fatal(outcome.error());
                                 self.note_save(took);
                                 self.host_->saved();
                               });
  storage_.save(safe, [saved, begun = boottime_now()](Expected<> outcome) {
    saved(std::pair(std::move(outcome), boottime_now() - begun));
  });
}

void Life::left(LeaveCause cause) {
  end({ExitCode::ok, "left in order"});
  asio::post(strand_, [self = shared_from_this(), cause] { self->handlers_.left(cause); });
}

void Life::about_to_step() {
  if (journal_) journal_->about_to_step(host_->protocol());
  step_at_ = monotonic_now();
}

void Life::stepped(const Event& event, const Actions& actions, const View& after) {
  // Only the strand changes `seen_.view`, and this runs on the strand, so it needs no lock to read
  // it.
  if (journal_) journal_->stepped(step_at_, event, host_->stepped_at(), actions, seen_.view, after);
  show(after);
  if (const auto* paused = std::get_if<Paused>(&event)) note_pause(paused->gap);
  note_halt(event, after);
}

void Life::save_performed() {
  if (journal_) journal_->hold();
  write_journal(
      [](std::string& out, const journal::Stamp& stamp) { journal::performed_line(out, stamp); });
}

void Life::begun(const Event& event, const View& after) {
  handlers_.stepped(step_at_, event, after);
}

// --- Events

void Life::on_event(Event event) {
  host_->put(std::move(event));
  host_->turn();
}

// --- Promptness

// Sets a timer, so that a node without any other event still wakes up. If the timer runs much too
// late, the process was paused or its loop was busy. Letters that arrived during the pause waited
// in the kernel, which does not say for how long.
void Life::watch() {
  watch_.expires_after(longest_stillness());
  watch_.async_wait([weak = weak_from_this()](auto error) {
    const auto self = weak.lock();
    if (error || !self || self->ended_) return;
    self->show_counters();
    self->note_stillness();
    self->host_->turn();
  });
}

void Life::note_stillness() {
  const Duration now = boottime_now();
  paused_for_ = std::max(paused_for_, now - std::exchange(last_alive_, now));
  if (watch_.expiry() - std::chrono::steady_clock::now() < longest_stillness() / 2) watch();
}

Duration Life::now() {
  return boottime_now();
}

Duration Life::paused_for() {
  note_stillness();
  return std::exchange(paused_for_, {});
}

void Life::note_save(Duration took) {
  if (handlers_.metrics) handlers_.metrics->saved(took);
  if (took <= longest_wait()) return;
  const std::lock_guard lock(seen_mutex_);
  ++seen_.slow_saves;
  note_wait("a commit took ", took, ", or use a faster disk (the status counts slow_saves)");
}

// A first pause, or a long one, is ignored: somebody may have stopped the process.
void Life::note_pause(Duration gap) {
  if (pauses_++ == 0 || gap > 4 * config_.timings.T) return;
  const std::lock_guard lock(seen_mutex_);
  note_wait("it was paused for ", gap, ", or give the machine less other work");
}

// Warns about the first long wait, and later only about one that is more than 1.5 times as long as
// any before.
void Life::note_wait(const char* what, Duration time, const char* otherwise) {
  const auto needed = std::chrono::ceil<std::chrono::milliseconds>(2 * time);
  const bool is_news = 2 * needed > 3 * seen_.needed_T;
  seen_.needed_T = std::max<Duration>(seen_.needed_T, needed);
  if (!is_news) return;
  handlers_.warn("node " + std::to_string(config_.self.value) + ": " + what +
                 std::to_string(time / std::chrono::milliseconds(1)) +
                 " ms, and a wait longer than T/2 counts as a pause: T = " +
                 format_duration(config_.timings.T) + " is too small here; choose at least \"" +
                 format_duration(needed) + '"' + otherwise);
}

void Life::note_halt(const Event& event, const View& after) {
  const std::lock_guard lock(seen_mutex_);
  const bool known = !halted_in_turn_.by(step_at_).empty();
  halted_in_turn_.take(step_at_, event, after);
  const NodeSet by = halted_in_turn_.by(step_at_);
  if (known || by.empty()) return;
  handlers_.warn(halted_in_turn_words(config_.self, by));
}

// --- The journal

void Life::begin_journal() {
  if (!writer_) return;
  journal::Header first;
  first.t = monotonic_now();
  first.node = config_.self;
  first.incarnation = safe_.incarnation;
  first.clock = journal::Clock::monotonic;
  first.config = config_;
  journal_ = std::make_unique<LifeJournal>(writer_, options_.journal->detail, std::move(first),
                                           [this](Duration t) { return host_->next_stamp(t); });
  journal_->begin();
}

void Life::write_journal(const std::function<void(std::string&, const journal::Stamp&)>& append,
                         bool waits) {
  if (journal_) journal_->line(monotonic_now(), append, waits);
}

// --- The status

void Life::show(const View& view) {
  {
    const std::lock_guard lock(seen_mutex_);
    seen_.view = view;
    seen_.as_of = step_at_;
  }
  show_counters();
}

// Does nothing before the life has begun, because another thread may still be making its parts.
void Life::show_counters() {
  if (!begun_) return;
  const std::lock_guard lock(seen_mutex_);
  if (journal_) seen_.journal_dropped = writer_->dropped();
  seen_.progress = hooks_->how_far();
  seen_.counters = sessions_->counters();
  if (seen_.differing != sessions_->differing()) seen_.differing = sessions_->differing();
  seen_.wire = sessions_->wire();
  const auto coordinator = seen_.view.coordinator;
  seen_.heard = coordinator ? sessions_->heard(*coordinator) : std::nullopt;
}

Life::Seen Life::seen() const {
  const std::lock_guard lock(seen_mutex_);
  Seen now = seen_;
  if (shows_) now.shown = shows_->shown();
  now.halted_in_turn_by = halted_in_turn_.by(monotonic_now());
  return now;
}

// --- Calls from sessions, hooks and the application

NodeServices::Handlers Life::service_handlers() {
  const auto while_it_lives = [this](auto act) {
    return on_strand(strand_, weak_from_this(), [act](Life& self, const auto& what) {
      if (!self.ended_) act(self, what);
    });
  };
  NodeServices::Handlers handlers;
  handlers.fatal =
      while_it_lives([](Life& self, const Failure& failure) { self.handlers_.fatal(failure); });
  handlers.elect = while_it_lives([](Life& self, const std::string& why) { self.elect(why); });
  handlers.step_down =
      while_it_lives([](Life& self, Duration back_after) { self.handlers_.step_down(back_after); });
  // The log has this line at once: the application's next action may end the process.
  handlers.remark = [strand = strand_, weak = weak_from_this(), broken = handlers_.broken](
                        journal::RemarkKind kind, const std::string& text) {
    if (kind == journal::RemarkKind::broken) broken(text);
    asio::post(strand, [weak, kind, text] {
      if (const auto self = weak.lock(); self && !self->ended_) self->remark(kind, text);
    });
  };
  return handlers;
}

void Life::remark(journal::RemarkKind kind, const std::string& text) {
  write_journal([&](std::string& out,
                    const journal::Stamp& stamp) { journal::remark_line(out, stamp, kind, text); },
                false);
  if (kind != journal::RemarkKind::broken) return;
  if (handlers_.metrics) ++handlers_.metrics->broken;
  const std::lock_guard lock(seen_mutex_);
  if (seen_.broken.empty()) seen_.broken = text;
}

Sessions::Handlers Life::session_handlers() {
  Sessions::Handlers handlers;
  handlers.event = [this](Event event) { host_->put(std::move(event)); };
  handlers.turn = [this] { host_->turn(); };
  handlers.outlived = [this](const LifeClaims& life_claims) { handlers_.outlived(life_claims); };
  handlers.status = [this] { return handlers_.status(); };
  handlers.asker = [this](const std::shared_ptr<Connection>& connection, const Hello& hello) {
    questions_->take(connection, hello);
  };
  handlers.warn = [this](std::string sentence) { handlers_.warn(std::move(sentence)); };
  return handlers;
}

Questions::Handlers Life::question_handlers() {
  Questions::Handlers handlers;
  handlers.is_in = [this](GroupNumber group) { return host_->is_in(group); };
  handlers.asked = [this](Inquiry inquiry, Answered answered) {
    return host_->asked(std::move(inquiry), std::move(answered));
  };
  handlers.not_wanted = [this](std::uint64_t question) { host_->not_wanted(question); };
  return handlers;
}

Hooks::Handlers Life::hook_handlers() {
  Hooks::Handlers handlers;
  handlers.event = [this](Event event) { on_event(std::move(event)); };
  handlers.edge = [this](Hook hook, journal::Edge edge, std::optional<GroupNumber> group,
                         Ticket ticket, const Members* members) {
    const bool begins = edge == journal::Edge::begin;
    acts_ = acts_ || begins;
    if (handlers_.metrics)
      handlers_.metrics->hook(monotonic_now(), hook, edge, permits_->may_work());
    write_journal(
        [&](std::string& out, const journal::Stamp& stamp) {
          journal::hook_line(out, stamp, hook, edge, group, ticket, members);
        },
        begins);
  };
  handlers.permits = [this](journal::PermitsEdge edge, GroupNumber group) {
    if (handlers_.metrics && edge == journal::PermitsEdge::revoked)
      handlers_.metrics->ceased(monotonic_now());
    write_journal(
        [&](std::string& out, const journal::Stamp& stamp) {
          journal::permits_line(out, stamp, edge, group);
        },
        false);
  };
  handlers.ask = [this](NodeId member, Inquiry inquiry, Answered answered) {
    questions_->ask(member, std::move(inquiry), std::move(answered));
  };
  handlers.give_up_questions = [this] { questions_->give_up(); };
  handlers.fatal = [this](HookFault fault, const std::string& why) { hook_fatal(fault, why); };
  return handlers;
}

void Life::hook_fatal(HookFault fault, const std::string& why) {
  std::string advice = "fix the application";
  if (fault == HookFault::late)
    advice = "allow more time if the machine was paused or is too slow, otherwise " + advice;
  handlers_.fatal({ExitCode::hook_failed, "node " + to_text(config_.self) + ": " + why + "; " +
                                              advice + ", then start the node again"});
}

}  // namespace muster::net

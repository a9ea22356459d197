#include <muster/journal/journal.hpp>

#include "simulated_life.hpp"

namespace muster::lab::simulated {

SimulatedLife::SimulatedLife(std::shared_ptr<Process> process, Network& network,
                             const Config& config, const std::string& cluster,
                             const MakeApplication& make_application, SafeStorage& storage,
                             SafeState safe, Handlers handlers)
    : process_(std::move(process)),
      network_(network),
      config_(config),
      handlers_(std::move(handlers)),
      permits_(process_, config_.timings.T / 2),
      disk_(process_, storage, disk_handlers()),
      services_(config.self, config.nodes, process_, permits_, disk_, service_handlers()),
      hooks_(process_, services_, make_application, permits_, hook_handlers()),
      sessions_(network, process_, config, cluster, safe, session_handlers()),
      host_(config, std::move(safe), config_.timings.T / 2, HookRunner::Limits{config.timings},
            *this, hooks_) {}

// --- Beginning and end

void SimulatedLife::begin() {
  network_.listen(config_.self, process_, &sessions_,
                  {[this](Inquiry inquiry, Answered answered) {
                     return host_.asked(std::move(inquiry), std::move(answered));
                   },
                   [this](std::uint64_t question) { host_.not_wanted(question); }});
  record(journal::Header{process_->now(), config_.self, safe().incarnation,
                         journal::Clock::simulated, config_, std::nullopt});
  sessions_.greet();
  host_.begin();
}

void SimulatedLife::end(bool commit_in_the_store) {
  process_->end();
  host_.end();
  permits_.close();
  disk_.end(commit_in_the_store);
  // No function of the application will be called any more, but one may be running now.
  if (std::shared_ptr<Application> application = hooks_.abandon())
    process_->world.agenda.soon([application] {});
}

void SimulatedLife::note_end(const Failure& why) {
  record(journal::Ended{next_stamp(), static_cast<int>(why.code), why.what});
}

// --- host::Driver

void SimulatedLife::arm(Timer timer, Duration period, Inbox::Arming arming) {
  process_->after(period, [this, timer, arming] { host_.expired(timer, arming); });
}

void SimulatedLife::save(const SafeState& safe) {
  disk_.save(safe, [this] { host_.saved(); });
}

void SimulatedLife::left(LeaveCause cause) {
  note_end({ExitCode::ok, "left in order"});
  handlers_.left(cause);
}

void SimulatedLife::stepped(const Event& event, const Actions& actions, const View& after) {
  record(journal::Step{next_stamp(), event, actions, after, host_.stepped_at()});
  if (const Stepped& stepped = process_->world.options.stepped)
    stepped(config_.self, actions, protocol());
  handlers_.seen(after);
}

// --- Events

void SimulatedLife::on_event(Event event) {
  host_.put(std::move(event));
  host_.turn();
}

void SimulatedLife::give_up_questions() {
  for (const auto& [member, question] : std::exchange(questions_, {}))
    network_.give_up(question, config_.self, member);
}

// --- Pauses

void SimulatedLife::pause() {
  paused_at_ = now();
  permits_.stalled(paused_at_);
  process_->pause();
}

// All events that have arrived are in the inbox before the first event is given.
void SimulatedLife::resume() {
  paused_for_ = now() - paused_at_;
  host_.together([this] { process_->resume(); });
}

// --- Handlers for the parts of a life

SessionDriver::Handlers SimulatedLife::session_handlers() {
  SessionDriver::Handlers handlers;
  handlers.event = [this](Event event) { host_.put(std::move(event)); };
  handlers.outlived = [this](const host::LifeClaims& life_claims) {
    handlers_.outlived(life_claims);
  };
  handlers.told = [this] { host_.turn(); };
  return handlers;
}

NodeServices::Handlers SimulatedLife::service_handlers() {
  NodeServices::Handlers handlers;
  handlers.fatal = [this](const std::string& why) {
    handlers_.failed_by_itself(why);
    handlers_.fatal({ExitCode::hook_failed, why});
  };
  handlers.remark = [this](journal::RemarkKind kind, std::string text) {
    record(journal::Remark{next_stamp(), kind, std::move(text)});
  };
  handlers.elect = [this](std::string why) { on_event(ElectionAsked{std::move(why)}); };
  handlers.step_down = [this](Duration back_after) {
    back_after_ = back_after;
    on_event(Leaving{});
  };
  return handlers;
}

SimulatedHooks::Handlers SimulatedLife::hook_handlers() {
  SimulatedHooks::Handlers handlers;
  handlers.event = [this](Event event) { on_event(std::move(event)); };
  handlers.edge = [this](Hook hook, journal::Edge edge, std::optional<GroupNumber> group,
                         Ticket ticket, const Members* members) {
    record(journal::hook_edge(next_stamp(), hook, edge, group, ticket, members));
  };
  handlers.permits = [this](journal::PermitsEdge edge, GroupNumber group) {
    record(journal::Permits{next_stamp(), edge, group});
  };
  handlers.fatal = [this](const std::string& why) {
    handlers_.fatal({ExitCode::hook_failed, why});
  };
  handlers.failed_by_itself = handlers_.failed_by_itself;
  handlers.fate = handlers_.fate;
  handlers.ask = [this](NodeId member, Inquiry inquiry, const Answered& answered) {
    questions_[member] = network_.ask(process_, member, std::move(inquiry), answered);
  };
  handlers.give_up_questions = [this] { give_up_questions(); };
  return handlers;
}

Disk::Handlers SimulatedLife::disk_handlers() {
  return {handlers_.commit_time, handlers_.point, [this](const Failure& failure) {
            if (failure.code == ExitCode::hook_failed) handlers_.failed_by_itself(failure.what);
            handlers_.fatal(failure);
          }};
}

}  // namespace muster::lab::simulated

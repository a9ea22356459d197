#include <muster/host/hook_runner.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>

#include <utility>

namespace muster {

namespace {

std::string in_words(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

std::string in_words(const PermitsOut& permits) {
  constexpr std::size_t most = 8;
  std::string words;
  std::size_t listed = 0;
  std::size_t others = 0;
  for (const auto& [name, count] : permits) {
    if (++listed > most) {
      others += count;
      continue;
    }
    if (!words.empty()) words += ", ";
    if (name.empty())
      words += (count == 1 ? "one" : std::to_string(count)) + " without a name";
    else
      words += '"' + name + '"' + (count == 1 ? "" : " (" + std::to_string(count) + " of them)");
  }
  return others == 0 ? words : words + ", and " + std::to_string(others) + " more";
}

template <class Value, class Give>
Done<Value> done_with(HookHost::Ended on_ended, Give give) {
  return Done<Value>([on_ended = std::move(on_ended), give](typename Done<Value>::Outcome outcome) {
    if (outcome)
      on_ended(give(std::move(*outcome)));
    else
      on_ended(HookHost::Outcome(boost::system::in_place_error, outcome.error()));
  });
}

Done<Bytes> done_with_bytes(HookHost::Ended on_ended) {
  return done_with<Bytes>(std::move(on_ended), [](Bytes value) { return value; });
}

Done<> done_with_nothing(HookHost::Ended on_ended) {
  return done_with<std::monostate>(std::move(on_ended), [](std::monostate) { return Bytes{}; });
}

std::optional<AssignedTask> opened(const std::optional<Assigned>& assigned) {
  if (!assigned) return std::nullopt;
  auto task = decode<Task>(assigned->definition.data);
  if (!task) return std::nullopt;
  return AssignedTask{assigned->group, std::move(*task), digest(assigned->definition.data)};
}

Bytes part_of(const Task& task, NodeId node) {
  const auto found = task.parts.find(node);
  return found == task.parts.end() ? Bytes{} : found->second;
}

std::size_t size_of(const Bytes& definition, const std::map<NodeId, Bytes>& parts) {
  std::size_t size = definition.data.size();
  for (const auto& [node, part] : parts) size += part.data.size();
  return size;
}

}  // namespace

HookRunner::HookRunner(HookHost& host, NodeId self, Limits limits,
                       const std::optional<Assigned>& assigned)
    : host_(host),
      self_(self),
      limits_(limits),
      asking_(host, {limits.answer},
              [this](NodeId member, Inquiry inquiry, Answered answered) {
                if (member == self_)
                  own_question_ = asked(std::move(inquiry), std::move(answered));
                else
                  host_.ask(member, std::move(inquiry), std::move(answered));
              }),
      answering_(host, {limits.answer}, [this] { answered_all(); }),
      assigned_(opened(assigned)) {}

void HookRunner::abandon() {
  host_.revoke([] {});
  host_.unbound();
  asking_.abandon();
  answering_.abandon();
  next_.reset();
  if (const auto running = std::exchange(running_, std::nullopt))
    host_.request_stop(running->cancel);
}

HookContext HookRunner::context(Duration deadline) {
  HookContext context;
  context.cause = cause_;
  context.previous = assigned_;
  context.deadline = deadline;
  context.listener = host_.new_listener();
  return context;
}

// --- The three actions

// Permits are revoked first. One deadline covers everything that Stop includes.
void HookRunner::perform(const Stop& action, std::optional<Duration> within) {
  cause_ = action.cause;
  end_asking();
  answering_.stopping();
  stopping_ = Stopping{action.ticket, action.owed};
  const auto revoked = host_.revoke([this] {
    if (!stopping_) return;
    stopping_->returned = true;
    if (group_) host_.note(journal::PermitsEdge::returned, *group_);
    stopped_when_all_done();
  });
  if (revoked)
    host_.note(journal::PermitsEdge::revoked, *revoked);
  else
    stopping_->returned = true;
  host_.bound(within.value_or(limits_.timings.stop_deadline), [this] { stop_overran(); });
  if (running_)
    cancel_running();
  else if (!next_)
    go_on_stopping();
}

void HookRunner::perform(const Reorganize& action) {
  Reorganization reorganization{{context(limits_.timings.reorganize_deadline)},
                                action.group,
                                action.members,
                                std::make_shared<std::map<NodeId, Bytes>>()};
  host_.bound(limits_.timings.reorganize_deadline, [this] { overran(); });
  Running running{Hook::reorganize, action.ticket, action.group};
  running.members = reorganization.nodes();
  running.parts = reorganization.parts;
  reorganization.cancelled = running.cancel.get_token();
  reorganization.questioner = questioner(action.group, false, running.members);
  run(std::move(running), action.members,
      [reorganization](Application& application, HookHost::Ended on_ended) {
        application.reorganize(reorganization, done_with_bytes(std::move(on_ended)));
      });
}

void HookRunner::perform(const Start& action) {
  group_ = action.group;
  host_.bound(limits_.timings.start_deadline, [this] { overran(); });
  Running running{Hook::start, action.ticket, action.group};
  auto task = opened(Assigned{action.definition, action.group});
  if (!task) {
    return run(std::move(running), {}, [](Application&, const HookHost::Ended& on_ended) {
      on_ended({boost::system::in_place_error, "its coordinator's definition is no task"});
    });
  }
  Assignment assignment{{context(limits_.timings.start_deadline)},
                        action.group,
                        task->task.definition,
                        task->task.members,
                        part_of(task->task, self_),
                        task->digest};
  assignment.cancelled = running.cancel.get_token();
  if (action.group.coordinator == self_)
    assignment.questioner = questioner(action.group, true, assignment.members);
  assigned_ = std::move(task);
  run(std::move(running), {}, [assignment](Application& application, HookHost::Ended on_ended) {
    application.start(assignment, done_with_nothing(std::move(on_ended)));
  });
}

// --- Stopping

void HookRunner::go_on_stopping() {
  if (answering_.busy()) return answering_.cancel();
  if (!stopping_->owed) {
    stopping_->ceased = true;
    return stopped_when_all_done();
  }
  Running running{Hook::stop, stopping_->ticket, group_};
  StopContext stop{context(host_.left()), group_};
  stop.cancelled = running.cancel.get_token();
  run(std::move(running), {}, [stop](Application& application, HookHost::Ended on_ended) {
    application.stop(stop, done_with_bytes(std::move(on_ended)));
  });
}

void HookRunner::stopped_when_all_done() {
  if (!stopping_->ceased || !stopping_->returned) return;
  host_.unbound();
  const Stopping stopped = *std::exchange(stopping_, std::nullopt);
  if (stopped.owed) host_.note(Hook::stop, journal::Edge::end, group_, stopped.ticket, nullptr);
  host_.event(Stopped{stopped.ticket, stopped.report});
}

void HookRunner::stop_overran() {
  const bool hook_runs = running_ && running_->hook != Hook::stop;
  std::string who = stopping_->returned ? "stop" : "a permit";
  if (hook_runs) who = "a cancelled hook";
  if (answering_.busy()) who = "a cancelled answer";
  std::string why = who + " overran stop_deadline = " + in_words(limits_.timings.stop_deadline);
  if (!stopping_->returned) why += "; still out: " + in_words(host_.permits_out());
  host_.fatal(HookFault::late, why);
}

// --- Calling a hook, and its end

void HookRunner::run(Running running, std::optional<Members> members, HookHost::Call call) {
  next_ = Next{std::move(running), std::move(members), std::move(call)};
  run_next();
}

// No hook begins while a question is being answered. A `start` that was stopped before it ran
// grants no permits.
void HookRunner::run_next() {
  if (answering_.busy()) return answering_.cancel();
  Next next = *std::exchange(next_, std::nullopt);
  running_ = std::move(next.running);
  if (running_->hook == Hook::start && !stopping_) host_.grant(*running_->group);
  host_.note(running_->hook, journal::Edge::begin, running_->group, running_->ticket,
             next.members ? &*next.members : nullptr);
  host_.call(running_->hook, std::move(next.call),
             [this, hook = running_->hook, ticket = running_->ticket](HookHost::Outcome outcome) {
               on_hook_ended(hook, ticket, std::move(outcome));
             });
}

void HookRunner::on_hook_ended(Hook hook, Ticket ticket, HookHost::Outcome outcome) {
  if (!running_ || running_->hook != hook || running_->ticket != ticket) return;
  const Running ran = *std::exchange(running_, std::nullopt);
  if (hook == Hook::reorganize) end_asking();
  if (!stopping_) host_.unbound();
  if (ran.overran) {
    const Timings& timings = limits_.timings;
    ended_badly(ran,
                hook == Hook::start
                    ? "it overran start_deadline = " + in_words(timings.start_deadline)
                    : "it overran reorganize_deadline = " + in_words(timings.reorganize_deadline));
  } else if (!outcome) {
    ended_badly(ran, outcome.error());
  } else if (const auto why = refused(ran, *outcome)) {
    ended_badly(ran, *why);
  } else {
    ended_well(ran, std::move(*outcome));
  }
}

std::optional<std::string> HookRunner::refused(const Running& ran, const Bytes& value) const {
  const auto too_large = [](const std::string& what, std::size_t size, std::size_t limit) {
    return "its " + what + " of " + std::to_string(size) + " bytes is larger than the limit of " +
           std::to_string(limit);
  };
  if (ran.hook == Hook::stop && value.data.size() > limits_.report)
    return too_large("report", value.data.size(), limits_.report);
  if (ran.hook != Hook::reorganize) return std::nullopt;
  for (const auto& [node, part] : *ran.parts) {
    if (!ran.members.contains(node))
      return "it gave a part to node " + std::to_string(node.value) + ", which is no member";
  }
  const std::size_t size = size_of(value, *ran.parts);
  if (size <= limits_.definition) return std::nullopt;
  return too_large(ran.parts->empty() ? "definition" : "definition with its parts", size,
                   limits_.definition);
}

void HookRunner::ended_well(const Running& ran, Bytes value) {
  if (ran.hook == Hook::stop) {
    stopping_->report = std::move(value);
    stopping_->ceased = true;
    return stopped_when_all_done();
  }
  host_.note(ran.hook, journal::Edge::end, ran.group, ran.ticket, nullptr);
  if (stopping_) return go_on_stopping();
  if (ran.hook == Hook::start) {
    answering_.started();
    return host_.event(Started{ran.ticket});
  }
  const Task task{ran.members, std::move(value), *ran.parts};
  host_.event(Reorganized{ran.ticket, Definition{encode(task)}});
}

void HookRunner::ended_badly(const Running& ran, const std::string& why) {
  host_.note(ran.hook, journal::Edge::failed, ran.group, ran.ticket, nullptr);
  if (ran.hook == Hook::stop) return host_.fatal(HookFault::failed, "stop failed: " + why);
  if (stopping_) return go_on_stopping();
  host_.event(HookFailed{ran.ticket, ran.hook, why});
}

// --- Questions

// The questioner may be called when the life is over and this HookRunner is gone. Only the function
// that it gives to `door` uses the HookRunner, and `door` drops that function once the life is
// over.
Questioner HookRunner::questioner(GroupNumber group, bool working, NodeSet members) {
  return [this, self = self_, number = asking_.begin(std::move(members)), group, working,
          door = host_.new_door()](NodeId member, Bytes question, Answered answered) {
    door([this, number, member, inquiry = Inquiry{self, group, working, std::move(question)},
          answered = std::move(answered)] { asking_.ask(number, member, inquiry, answered); });
  };
}

std::uint64_t HookRunner::asked(Inquiry inquiry, Answered answered) {
  return answering_.asked({context(limits_.timings.reorganize_deadline), std::move(inquiry)},
                          std::move(answered));
}

void HookRunner::end_asking() {
  asking_.end();
  answering_.give_up(own_question_);
}

void HookRunner::answered_all() {
  if (next_) {
    run_next();
    if (stopping_ && running_->hook != Hook::stop) cancel_running();
  } else if (stopping_ && !running_) {
    go_on_stopping();
  }
}

// --- Cancelling

void HookRunner::overran() {
  if (!running_)
    return host_.fatal(HookFault::late,
                       "an answer did not end within the deadline of the next hook");
  cancel_running();
}

// Asks the hook to end early. If the hook has overrun its own deadline, it has one stop deadline
// left to end.
void HookRunner::cancel_running() {
  host_.request_stop(running_->cancel);
  if (running_->hook == Hook::reorganize) end_asking();
  if (stopping_) return;
  running_->overran = true;
  host_.bound(limits_.timings.stop_deadline, [this] {
    host_.fatal(HookFault::late, "a hook did not end within stop_deadline = " +
                                     in_words(limits_.timings.stop_deadline) +
                                     " after it was cancelled");
  });
}

}  // namespace muster

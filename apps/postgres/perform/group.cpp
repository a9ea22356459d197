#include "apps/postgres/perform/group.hpp"

#include "apps/postgres/perform/wanted.hpp"
#include "apps/postgres/server/durable.hpp"

#include <memory>

namespace muster::postgres {

namespace {

/// The question of the coordinator to each member: do you have the definition? When all members
/// have answered, the coordinator tells the primary that all of them have the definition.
const Bytes have_you_it{"have you it"};
const Bytes all_have{"all have it"};

constexpr Duration between_questions = std::chrono::milliseconds(250);

}  // namespace

void OfGroup::cease(StopContext context, Done<Report> done) {
  group_.reset();
  const auto kept = std::make_shared<Done<Report>>(std::move(done));
  const bool forgotten = has_forgotten();
  const auto promise = forgotten ? std::nullopt : promise_in(context.previous);
  seal(context, Done<Evidence>([kept, promise, forgotten](Done<Evidence>::Outcome outcome) {
         if (outcome)
           (*kept)(Report{std::move(*outcome), promise, forgotten});
         else
           kept->fail(outcome.error());
       }));
}

bool OfGroup::has_forgotten() const {
  std::error_code error;
  return std::filesystem::exists(forgotten_, error) || error;
}

// If the promise cannot be decoded, this node reports that it has none.
std::optional<Promise> OfGroup::promise_in(const std::optional<AssignedTask>& task) const {
  if (!task || copies_.witnesses.empty()) return std::nullopt;
  for (auto version = version_of_values; version >= first_version_of_promises; --version)
    if (const auto choice = decode_version<Choice>(version, task->task.definition.data))
      return choice->promises.contains(self_) ? std::optional(choice->promises.at(self_))
                                              : std::nullopt;
  return std::nullopt;
}

void OfGroup::define(Reorganization reorganization, std::map<NodeId, Report> reports,
                     Done<Choice> done) {
  done(choose(copies_, reorganization.group, reports));
}

// The node has put the definition into safe storage before this call, so it no longer counts as a
// node that has forgotten its promise. It still counts as one if the file `forgotten` cannot be
// removed.
void OfGroup::install(Assignment assignment, Choice choice, Done<> done) {
  if (choice.promises.contains(self_) && has_forgotten()) (void)remove_durably(forgotten_);
  group_ = assignment.group;
  begin(assignment.group, choice, std::move(done));
  if (assignment.group.coordinator != self_) return;
  if (choice.is_alone()) return ask_all(assignment, *choice.primary);
  ask_for_wanted(assignment, services_);
}

// A member answers after it has started, so its safe storage has the definition by then. A member
// gets one question at a time. The question whether the member wants an election can stay open for
// a long time, so this question comes last.
void OfGroup::ask_all(const Assignment& assignment, NodeId primary) {
  const auto left = std::make_shared<std::size_t>(assignment.members.size() - 1);
  const auto has_it = [this, assignment, left, primary] {
    if (--*left > 0) return;
    const auto told = [this, assignment] { ask_for_wanted(assignment, services_); };
    if (primary != self_) return ask_until_answered(assignment, primary, all_have, told);
    all_have_it(assignment.group);
    told();
  };
  for (NodeId member : assignment.members)
    if (member != self_) ask_until_answered(assignment, member, have_you_it, has_it);
}

// Asks again if a connection breaks. If the member stays unreachable, the group ends, and with the
// group the questions end.
void OfGroup::ask_until_answered(const Assignment& assignment, NodeId member, const Bytes& question,
                                 const std::function<void()>& then) {
  assignment.ask(member, question, [=, this](const Done<Bytes>::Outcome& answered) {
    if (answered) return then();
    services_.post_after(between_questions, [=, this] {
      if (group_ == assignment.group) ask_until_answered(assignment, member, question, then);
    });
  });
}

void OfGroup::answer(Question question, Done<Bytes> done) {
  const bool all = question.bytes.data == all_have.data;
  if (!all && question.bytes.data != have_you_it.data)
    return stand_by(question.cancelled, std::move(done));
  if (all) all_have_it(question.group);
  done(Bytes{});
}

namespace {

class Witness final : public OfGroup {
 public:
  Witness(Services& services, const Copies& copies, const std::filesystem::path& forgotten)
      : OfGroup(services, copies, forgotten) {
    services.show(
        {{{"primary", false}, {"replica", false}}, "is the witness: it votes and has no database"});
  }

 private:
  void seal(const StopContext&, Done<Evidence> done) override { done(Nothing{}); }
  void begin(const GroupNumber&, const Choice&, Done<> done) override { done(); }
  void all_have_it(const GroupNumber&) override {}
  void stand_by(const std::stop_token&, Done<Bytes> done) override { done(Bytes{}); }
};

}  // namespace

MakeApplication witness(Copies copies, std::filesystem::path forgotten) {
  return [copies = std::move(copies), forgotten = std::move(forgotten)](Services& services) {
    return std::make_unique<Witness>(services, copies, forgotten);
  };
}

}  // namespace muster::postgres

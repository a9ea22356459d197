#include "numbers.hpp"

#include <muster/protocol/canonical.hpp>

namespace muster::lab::explored {

namespace {

/// Sorts numbers by the counter that they belong to. If counters are dropped, the groups of each
/// node are ranked among themselves, and the counters that letters report are dead.
class Counting : public NumberVisitor {
 public:
  Counting(bool counters, const VisitNumber& visit) : counters_(counters), visit_(visit) {}

  void life(NodeId node, Incarnation& life) override {
    if (life.value > 0) visit_(number_of(Count::life, node, 0, life.value), life.value);
  }
  void election(ElectionId& id) override {
    if (id.incarnation.value == 0) return;
    if (id.number > 0)
      visit_(number_of(Count::election, id.candidate, id.incarnation.value, id.number), id.number);
    life(id.candidate, id.incarnation);
  }
  void call(NodeId caller, CallNumber& call) override {
    visit_(number_of(Count::call, caller, 0, call.value), call.value);
  }
  void group(GroupNumber& group) override {
    counter(Count::group, group.coordinator, group.counter);
  }
  void reported(std::uint64_t& counter) override {
    if (counters_) visit_(number_of(Count::counter, {}, 0, counter), counter);
  }
  void last_election(NodeId candidate, Incarnation life, std::uint64_t& number) override {
    visit_(number_of(Count::last_election, candidate, life.value, number), number);
  }
  void last_call(NodeId caller, CallNumber& call) override {
    visit_(number_of(Count::last_call, caller, 0, call.value), call.value);
  }
  void last_counter(NodeId node, std::uint64_t& number) override {
    counter(Count::own, node, number);
  }
  void written(Bytes& bytes) override {
    auto task = read_task(bytes);
    if (!task) return;
    group(task->group);
    life(task->group.coordinator, task->life);
    bytes = write_task(*task);
  }

 private:
  void counter(Count count, NodeId node, std::uint64_t& number) {
    visit_(counters_ ? number_of(Count::counter, {}, 0, number) : number_of(count, node, 0, number),
           number);
  }

  bool counters_;
  const VisitNumber& visit_;
};

void show(NumberVisitor& visitor, Letter& letter) {
  muster::visit_numbers(letter, visitor);
}
void show(NumberVisitor& visitor, NewLife& item) {
  visitor.life(item.peer, item.life);
}
void show(NumberVisitor& visitor, Begins& item) {
  visitor.life(item.peer, item.life);
}
void show(NumberVisitor&, Refusal&) {}
void show(NumberVisitor&, Differs&) {}
void show(NumberVisitor& visitor, NoAnswer& item) {
  visitor.call(item.at, item.call);
}

void show(NumberVisitor& visitor, NodeId caller, std::map<CallNumber, OutCall>& calls) {
  std::map<CallNumber, OutCall> changed;
  for (auto& [number, call] : calls) {
    CallNumber own = number;
    visitor.call(caller, own);
    show(visitor, call.letter);
    if (call.sent_to) visitor.life(call.letter.to, *call.sent_to);
    changed.emplace(own, std::move(call));
  }
  calls = std::move(changed);
}

}  // namespace

void visit_numbers(bool counters, Local& local, const VisitNumber& visit_number) {
  Counting visitor(counters, visit_number);
  // Binds all fields, so that a new one does not compile until it is handled here.
  auto& [self, up, paused, returns, other, safe, copy, state, calls, with, armed, runs, stops,
         stop_owed, works, right, discounted, accepted] = local;
  static_cast<void>(right);
  muster::visit_numbers(self, safe, visitor);
  if (copy) muster::visit_numbers(self, *copy, visitor);
  muster::visit_numbers(self, state, visitor);
  show(visitor, self, calls);
  for (std::uint32_t i = 0; i < with.size(); ++i)
    if (with[i]) visitor.life(NodeId{i + 1}, *with[i]);
  if (runs) visitor.group(runs->group);
  if (works) visitor.group(*works);
  if (accepted) visitor.group(*accepted);
}

void visit_numbers(bool counters, Item& item, const VisitNumber& visit_number) {
  Counting visitor(counters, visit_number);
  std::visit([&](auto& what) { show(visitor, what); }, item);
}

}  // namespace muster::lab::explored

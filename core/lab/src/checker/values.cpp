#include "checked_world.hpp"

#include <muster/lab/checker.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/ensure.hpp>

#include <algorithm>

namespace muster::lab::explored {

namespace {

// Changes no number.
template <class T>
Numbers collect(bool counters, T& value) {
  Numbers found;
  visit_numbers(counters, value, [&](Number number, std::uint64_t&) { found.push_back(number); });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

Values::Values(const Bounds& what) : bounds(what) {
  Struck struck = bounds.struck;
  if (leaves_out_counter_test(bounds)) struck.push_back(Line::counter_test);
  NodeSet all;
  for (std::uint32_t id = 1; id <= bounds.nodes; ++id) all.insert(NodeId{id});
  for (std::uint32_t id = 1; id <= bounds.nodes; ++id)
    configs.push_back(Config{{NodeId{id},
                              all,
                              bounds.repairs,
                              {},
                              bounds.protocol,
                              bounds.invitation_repairs,
                              {},
                              bounds.options},
                             struck});
  has_clocks = reads_clock(configs.front());
  for (Config& config : configs) {
    if (!has_clocks) break;
    config.timings = timings_of_clocks();
    config.options.clock_drift = {0};
    if (config.options.calm > Duration::zero()) config.options.calm = one_tick;
  }
  by_their_tests = calls_act_by_their_tests(configs.front(), surroundings(bounds));
  counters_restart = !counters_are_safe(bounds);
  of_groups = claims_of(configs.front()).of_groups;
  looked_at_ = looked_at(bounds);
}

bool Values::looks_at(std::string_view assertion) const {
  if (assertion == "sound-state" && bounds.assertions.empty()) return true;
  return std::find(looked_at_.begin(), looked_at_.end(), assertion) != looked_at_.end();
}

std::uint32_t Values::local(Local& local) {
  forget_dead(bounds, configs[local.node.value - 1], local);
  return locals.intern(encode(local), [&] { return facts_of(local); });
}

std::uint32_t Values::item(Item& item) {
  forget_dead(bounds, configs.front(), item);
  return items.intern(encode(item), [&] { return facts_of(item); });
}

std::uint32_t Values::not_waited(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = not_waited_.find(id); known != not_waited_.end()) return known->second;
  Item call = item(id);
  std::get<Letter>(call).call = {};
  return not_waited_[id] = item(call);
}

Local Values::local(std::uint32_t id) const {
  return decode<Local>(locals.bytes(id)).value();
}

Item Values::item(std::uint32_t id) const {
  return decode<Item>(items.bytes(id)).value();
}

std::uint32_t Values::numbers(const Numbers& numbers) {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()),
                               numbers.size() * sizeof(Number));
  return signatures.intern(bytes, [&] { return numbers; });
}

Standing Values::standing(std::uint32_t id) const {
  return decode<Standing>(standings.bytes(id)).value();
}

std::uint32_t Values::wrong(Wrong wrong) {
  const std::scoped_lock lock(mutex_);
  wrongs_.push_back(std::move(wrong));
  return static_cast<std::uint32_t>(wrongs_.size());
}

Wrong Values::wrong(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  return wrongs_[id - 1];
}

std::uint32_t Values::members(Members members) {
  const std::scoped_lock lock(mutex_);
  members_.push_back(std::move(members));
  return static_cast<std::uint32_t>(members_.size());
}

Members Values::members(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  return members_[id - 1];
}

std::uint64_t Values::memory() const {
  return locals.memory() + items.memory() + standings.memory() + signatures.memory();
}

LocalFacts Values::facts_of(Local& local) {
  Protocol& state = local.state;
  LocalFacts facts;
  facts.up = local.up;
  facts.paused = local.paused;
  facts.returns = local.returns;
  facts.other = local.other;
  facts.copied = local.copy.has_value();
  for (NodeId met : common(state).met.differ)
    facts.differ = static_cast<std::uint8_t>(facts.differ | 1u << (met.value - 1));
  facts.leaving = common(state).leaving.has_value();
  facts.hook_ends = local.runs || local.stops;
  facts.hook_may_fail = local.runs && !local.stops;
  facts.works = local.works && !local.discounted;
  facts.ceased = !local.runs && !local.stops && !local.works;
  facts.timers = local.timers;
  facts.right_is_due = local.up && right_is_due(state);
  facts.works_until_now = facts.works && local.right <= Moment{};
  const Incarnation life = local.up ? common(state).safe.incarnation : local.safe.incarnation;
  facts.life = static_cast<std::uint32_t>(life.value);
  const View seen = view(configs[local.node.value - 1], state);
  facts.outvoted = seen.procedure == Wait::Outvoted;
  if (seen.status == Status::Election) facts.halted_by = seen.halted_by.value_or(NodeId{});
  if (seen.status == Status::Reorganization) facts.joined = seen.coordinator.value_or(NodeId{});
  for (std::size_t i = 0; i < local.with.size(); ++i)
    facts.with[i] = static_cast<std::uint32_t>(local.with[i].value_or(Incarnation{}).value);
  for (const auto& [number, call] : local.calls) {
    MUSTER_ENSURE(facts.waiting < facts.waits.size());
    const auto narrow = [](auto strong) { return static_cast<std::uint32_t>(strong.value); };
    const auto named =
        bounds.channels == Channels::session ? life_called(call.letter) : std::nullopt;
    facts.waits[facts.waiting++] = {static_cast<std::uint8_t>(call.letter.to.value - 1),
                                    call.given_up, narrow(on_its_way(bounds, life, number)),
                                    narrow(call.sent_to.value_or(Incarnation{})),
                                    narrow(named.value_or(Incarnation{}))};
  }
  visit_owed(state, [&](NodeId to, CallNumber call) {
    MUSTER_ENSURE(facts.owing < facts.owes.size());
    facts.owes[facts.owing++] = {static_cast<std::uint8_t>(to.value - 1),
                                 static_cast<std::uint32_t>(call.value)};
  });
  for (const auto& [coordinator, call] : granted(state)) {
    MUSTER_ENSURE(facts.granting < facts.granted.size());
    facts.granted[facts.granting++] = {static_cast<std::uint8_t>(coordinator.candidate.value - 1),
                                       static_cast<std::uint32_t>(call.value)};
  }
  for (std::uint32_t i = 0; i < bounds.nodes; ++i)
    facts.heard[i] =
        static_cast<std::uint32_t>(heard(state, NodeId{i + 1}).value_or(CallNumber{}).value);
  const auto works = local.discounted ? std::nullopt : local.works;
  Standing stands = muster::standing(local.node, seen, works);
  stands.up = local.up && !local.paused;
  facts.standing = standings.intern(encode(stands), [] { return Nothing{}; });
  if (bounds.canonical) facts.numbers = numbers(collect(bounds.counters, local));
  return facts;
}

ItemFacts Values::facts_of(Item& item) {
  ItemFacts facts;
  if (const auto* letter = std::get_if<Letter>(&item)) {
    facts.letter = true;
    facts.answer = is_answer(*letter);
    facts.call = static_cast<std::uint32_t>(letter->call.value);
    facts.life = static_cast<std::uint32_t>(letter->incarnation.value);
    facts.acts = acts(letter->message);
    if (letter->by_quorum)
      facts.heard =
          static_cast<std::uint32_t>(letter->by_quorum->heard.value_or(CallNumber{}).value);
  }
  facts.new_life = std::holds_alternative<NewLife>(item) || std::holds_alternative<Begins>(item) ||
                   std::holds_alternative<Differs>(item);
  if (bounds.canonical) facts.numbers = numbers(collect(bounds.counters, item));
  return facts;
}

}  // namespace muster::lab::explored

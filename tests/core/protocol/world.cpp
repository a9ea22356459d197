#include "world.hpp"

#include <muster/values/kinds.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <utility>

namespace muster::test::any {

using muster::operator==;

namespace {

[[noreturn]] void wrong(const Node& node, const std::string& what) {
  throw Wrong("node " + to_text(node.config.self) + ": " + what);
}

void demand(bool holds, const Node& node, const std::string& what) {
  if (!holds) wrong(node, what);
}

void demand_nothing(const Node& node, const HookGrammar::Wrong& found) {
  if (found) wrong(node, "hook grammar: " + *found);
}

template <class T>
const T* as(const Action& action) {
  return std::get_if<T>(&action);
}

}  // namespace

World::World(std::uint32_t nodes, Config like) : nodes_(nodes) {
  for (std::uint32_t id = 1; id <= nodes; ++id) all_.insert(NodeId{id});
  for (std::uint32_t id = 1; id <= nodes; ++id) {
    Config& config = at(NodeId{id}).config = like;
    config.self = NodeId{id};
    config.nodes = all_;
    at(NodeId{id}).protocol = begin(config);
  }
}

// --- One step
// -----------------------------------------------------------------------------------------

void World::take(Node& node, const Event& event) {
  const auto before = common(node.protocol).g;
  const Actions actions = step(node.config, node.protocol, event);
  last_actions_ = actions;
  if (record)
    story_.push_back(to_text(node.config.self) + "  " + to_text(event) + "  |  " +
                     to_text(actions) + "  |  " +
                     to_text(muster::view(node.config, node.protocol)));
  demand_nothing(node, node.grammar.step(event, actions));
  for (const Action& action : actions) {
    perform(node, action);
    if (!node.up) break;
  }
  if (node.up) {
    std::erase_if(node.calls, [&](const auto& call) { return !awaits(node.protocol, call.first); });
    check_node(node, before);
    const auto group = common(node.protocol).g;
    if (group) node.accepted = std::max(node.accepted, group);
  }
  if (claim) check_all();
}

void World::perform(Node& node, const Action& action) {
  App& app = node.app;
  if (const auto* save = as<Save>(action)) {
    demand(save->safe.incarnation == node.safe.incarnation, node, "saves another incarnation");
    demand(save->safe.counter_limit >= node.safe.counter_limit, node, "the limit falls");
    node.safe = save->safe;
    demand_nothing(node, node.grammar.performed());
  } else if (const auto* letter = as<Send>(action)) {
    send(node, *letter);
  } else if (const auto* arm = as<Arm>(action)) {
    node.timers[arm->timer] = now + length_of(arm->timer, arm->level, node.config.timings);
  } else if (const auto* disarm = as<Disarm>(action)) {
    node.timers.erase(disarm->timer);
  } else if (const auto* stop = as<Stop>(action)) {
    if (app.permits)
      demand_nothing(node, node.grammar.permits(journal::PermitsEdge::revoked, *app.permits));
    app.permits.reset();
    app.stopping = *stop;
    if (app.running)
      app.running->cancelled = true;
    else if (stop->owed)
      begin_stop(node);
  } else if (const auto* reorganize = as<Reorganize>(action)) {
    app.running = Running{Hook::reorganize, reorganize->ticket, false, reorganize->group};
    hook_edge(node, *app.running, journal::Edge::begin, &reorganize->members);
  } else if (const auto* start = as<Start>(action)) {
    app.permits = app.works = start->group;
    app.running = Running{Hook::start, start->ticket, false, start->group};
    hook_edge(node, *app.running, journal::Edge::begin, nullptr);
  } else if (const auto* leave = as<Leave>(action)) {
    demand(!app.running && !app.works && !app.stopping, node, "leaves before it has ceased");
    end_life(node);
    if (leave->cause == LeaveCause::stood_back) node.returns = now + std::chrono::seconds(1);
  }
}

void World::send(Node& node, const Send& send) {
  const Letter& letter = send.letter;
  demand(letter.from == node.config.self && letter.to != node.config.self &&
             letter.incarnation == node.safe.incarnation,
         node, "a letter of another, to itself, or of another life");
  if (record) sent_.push_back(letter);
  if (send.bound)
    node.calls[letter.call] = {letter, now + length_of(*send.bound, node.config.timings)};
  if (is_answer(letter)) {
    // An answer is to the life that called.
    const auto asked = node.asked.find({letter.to, letter.call});
    demand(asked != node.asked.end(), node, "answers what was not asked");
    if (asked->second != at(letter.to).safe.incarnation) return;
  }
  if (!at(letter.to).up || cut_.contains({letter.from, letter.to})) return;
  letters_[{letter.from, letter.to}].push_back(letter);
  order_.emplace_back(letter.from, letter.to);
}

const Actions& World::give(std::uint32_t id, const Event& event) {
  if (const auto* received = std::get_if<Received>(&event))
    (*this)[id].asked[{received->letter.from, received->letter.call}] =
        received->letter.incarnation;
  take((*this)[id], event);
  return last_actions_;
}

// --- Checks
// -------------------------------------------------------------------------------------------

void World::check_node(const Node& node, const std::optional<GroupNumber>& before) const {
  const View view = muster::view(node.config, node.protocol);
  const bool leaving = common(node.protocol).leaving.has_value();
  for (const auto& [number, call] : node.calls)
    demand(awaits(node.protocol, number), node, "a call that nobody awaits");
  const bool has_timer = !node.timers.empty();
  // The textbook's coordinator is disturbed by nobody but others.
  const bool rests = node.config.protocol == ProtocolName::textbook &&
                     view.status == Status::Normal && view.coordinator == node.config.self;
  const bool waits =
      rests || has_timer || !node.calls.empty() || node.app.running || node.app.stopping;
  demand(waits, node, "nothing will ever happen to it again: " + to_text(view));
  if (leaving) demand(!has_timer, node, "a leaving node has a timer");
  if (view.procedure == Wait::Idle && !leaving && !rests)
    demand(node.timers.contains(Timer::coordinator) || node.timers.contains(Timer::check), node,
           "no procedure runs, and no timer: " + to_text(view));
  const auto group = common(node.protocol).g;
  const bool grows = node.config.protocol != ProtocolName::invitation ||
                     (node.config.invitation_repairs.growing_numbers &&
                      node.config.invitation_repairs.safe_counter && !volatile_counter);
  if (grows && group && group != before && node.config.protocol != ProtocolName::textbook) {
    demand(!node.accepted || *node.accepted < *group, node,
           "group " + to_text(*group) + " after group " + to_text(node.accepted));
    demand(group->counter <= node.safe.counter_limit, node, "a counter beyond the durable limit");
  }
}

void World::check_all() const {
  const auto all = standings();
  const auto must_hold = [](const char* assertion, const std::optional<Disagreement>& found) {
    if (found) throw Wrong(std::string("assertion ") + assertion + ": " + found->why);
  };
  if (nodes_.front().config.protocol != ProtocolName::invitation) return;
  must_hold("3a", assertion_3a(all));
  must_hold("3b", assertion_3b(all));
}

// --- Lives
// --------------------------------------------------------------------------------------------

bool World::recover(std::uint32_t id) {
  Node& node = (*this)[id];
  if (node.up) return false;
  node.up = true;
  node.returns.reset();
  ++node.safe.incarnation.value;
  node.grammar = {};
  SafeState safe = node.safe;
  if (volatile_counter) safe.counter_limit = 0;
  take(node, Recovered{safe});
  return true;
}

bool World::fail(std::uint32_t id) {
  Node& node = (*this)[id];
  if (!node.up) return false;
  end_life(node);
  if (record) story_.push_back(std::to_string(id) + " fails");
  return true;
}

// Calls on their way to it reach its next life; answers do not.
void World::end_life(Node& node) {
  node.up = node.paused = false;
  node.protocol = begin(node.config);
  node.timers.clear();
  node.calls.clear();
  node.asked.clear();
  node.proven.clear();
  node.app = {};
  for (auto& [pair, letters] : letters_) {
    if (pair.second != node.config.self) continue;
    std::erase_if(letters, [](const Letter& letter) { return is_answer(letter); });
  }
}

bool World::prove(std::uint32_t witness, std::uint32_t of) {
  Node& node = (*this)[witness];
  const Node& other = (*this)[of];
  if (witness == of || !node.up || node.paused || other.safe.incarnation.value == 0) return false;
  // What is over is the newest life, where it is down, and the one before, where it is up.
  const Incarnation over{other.safe.incarnation.value - (other.up ? 1 : 0)};
  if (over.value == 0 || node.proven[other.config.self] >= over) return false;
  for (const Letter& letter : between(of, witness))
    if (letter.incarnation <= over) return false;
  node.proven[other.config.self] = over;
  take(node, Failed{other.config.self, over});
  return true;
}

bool World::pause(std::uint32_t id) {
  Node& node = (*this)[id];
  if (!node.up || node.paused) return false;
  return node.paused = true;
}

bool World::resume(std::uint32_t id) {
  Node& node = (*this)[id];
  if (!node.up || !node.paused) return false;
  node.paused = false;
  take(node, Paused{node.config.timings.T});
  return true;
}

bool World::leave(std::uint32_t id) {
  Node& node = (*this)[id];
  if (!node.up || node.paused || common(node.protocol).leaving) return false;
  take(node, Leaving{});
  return true;
}

bool World::expire(std::uint32_t id, Timer timer) {
  Node& node = (*this)[id];
  if (!node.up || node.paused || node.timers.erase(timer) == 0) return false;
  take(node, Expired{timer});
  return true;
}

// --- Letters
// ------------------------------------------------------------------------------------------

const std::deque<Letter>& World::between(std::uint32_t from, std::uint32_t to) const {
  static const std::deque<Letter> none;
  const auto found = letters_.find({NodeId{from}, NodeId{to}});
  return found == letters_.end() ? none : found->second;
}

bool World::deliver(std::uint32_t from, std::uint32_t to) {
  Node& node = (*this)[to];
  auto& letters = letters_[{NodeId{from}, NodeId{to}}];
  if (letters.empty() || node.paused) return false;
  const Letter letter = std::move(letters.front());
  letters.pop_front();
  if (!node.up) return true;  // lost
  if (const auto life = life_called(letter); life && life != node.safe.incarnation) return true;
  if (is_answer(letter)) {
    const auto call = node.calls.find(letter.call);
    if (call == node.calls.end() || call->second.letter.to != letter.from) return true;
    node.calls.erase(call);
  } else {
    node.asked[{letter.from, letter.call}] = letter.incarnation;
  }
  take(node, Received{letter});
  return true;
}

bool World::lose(std::uint32_t from, std::uint32_t to) {
  auto& letters = letters_[{NodeId{from}, NodeId{to}}];
  if (letters.empty()) return false;
  letters.pop_front();
  return true;
}

bool World::give_up(std::uint32_t id, std::uint32_t to) {
  Node& node = (*this)[id];
  if (!node.up || node.paused) return false;
  const auto call = std::find_if(node.calls.begin(), node.calls.end(),
                                 [&](const auto& out) { return out.second.letter.to.value == to; });
  if (call == node.calls.end()) return false;
  const CallNumber number = call->first;
  node.calls.erase(call);
  take(node, Unanswered{NodeId{to}, number});
  return true;
}

bool World::cut(std::uint32_t from, std::uint32_t to) {
  if (from == to) return false;
  letters_[{NodeId{from}, NodeId{to}}].clear();
  return cut_.emplace(NodeId{from}, NodeId{to}).second;
}

void World::heal() {
  cut_.clear();
}

// --- Hooks
// --------------------------------------------------------------------------------------------

void World::hook_edge(Node& node, const Running& hook, journal::Edge edge, const Members* members) {
  journal::HookEdge line;
  line.hook = hook.hook;
  line.edge = edge;
  line.group = hook.group;
  line.ticket = hook.ticket;
  if (members) {
    line.members.emplace();
    for (const Member& member : *members)
      line.members->push_back({member.node, member.incarnation, {}, {}, {}});
  }
  demand_nothing(node, node.grammar.hook(line));
}

void World::begin_stop(Node& node) {
  node.app.running = Running{Hook::stop, node.app.stopping->ticket, false, node.app.works};
  hook_edge(node, *node.app.running, journal::Edge::begin, nullptr);
}

bool World::end_hook(std::uint32_t id, bool well) {
  Node& node = (*this)[id];
  App& app = node.app;
  if (!node.up || node.paused || (!app.running && !app.stopping)) return false;
  const auto hook = std::exchange(app.running, std::nullopt);
  const std::string words = to_text(node.config.self) + '.' + to_text(node.safe.incarnation) +
                            (hook ? '.' + to_text(hook->ticket) : "");
  if (hook)
    hook_edge(node, *hook, well && !hook->cancelled ? journal::Edge::end : journal::Edge::failed,
              nullptr);
  if (!hook || hook->cancelled) {
    if (app.stopping->owed) {
      begin_stop(node);
    } else {
      const Ticket ticket = std::exchange(app.stopping, std::nullopt)->ticket;
      take(node, Stopped{ticket, std::nullopt});
    }
  } else if (hook->hook == Hook::stop && !well) {
    fail(id);
  } else if (hook->hook == Hook::stop) {
    app.works.reset();
    const Ticket ticket = std::exchange(app.stopping, std::nullopt)->ticket;
    take(node, Stopped{ticket, Report{"holds " + words}});
  } else if (!well) {
    take(node, HookFailed{hook->ticket, hook->hook, "it failed"});
  } else if (hook->hook == Hook::start) {
    take(node, Started{hook->ticket});
  } else {
    take(node, Reorganized{hook->ticket, Definition{"task " + words}});
  }
  return true;
}

// --- Looking
// ------------------------------------------------------------------------------------------

std::vector<Standing> World::standings() const {
  std::vector<Standing> all;
  for (const Node& node : nodes_) {
    all.push_back(
        standing(node.config.self, muster::view(node.config, node.protocol), node.app.works));
    all.back().up = node.up && !node.paused;
  }
  return all;
}

View World::view(std::uint32_t id) const {
  return muster::view((*this)[id].config, (*this)[id].protocol);
}

std::string World::story() const {
  std::string text;
  for (const std::string& line : story_) text += line + '\n';
  return text;
}

}  // namespace muster::test::any

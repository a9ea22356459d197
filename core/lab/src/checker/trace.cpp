#include "trace.hpp"

#include <muster/values/text.hpp>

#include <algorithm>
#include <chrono>

namespace muster::lab::explored {

namespace {

using std::chrono::milliseconds;

/// Writes the journal of all nodes into one file, with one millisecond between the lines.
class Scribe : public Witness {
 public:
  explicit Scribe(const Values& values) : values_(values), seq_(values.bounds.nodes) {}

  void begins(const Local& node) {
    const std::size_t i = node.node.value - 1;
    seq_[i] = 0;
    journal::header_line(out, {tick(), node.node, node.safe.incarnation, journal::Clock::simulated,
                               values_.configs[i], std::nullopt});
  }
  /// Lets time pass on the clocks of all nodes, which begin at 0.
  void let_pass(Duration time) { time_ += time; }
  void fault(journal::FaultKind kind, NodeId node, std::optional<NodeSet> from = std::nullopt) {
    journal::fault_line(out, {tick(), kind, node, std::move(from)});
  }
  void step(const Local& node, const Event& event, const Actions& actions) override {
    const Config& config = values_.configs[node.node.value - 1];
    Actions asked = actions;
    for (Action& action : asked) {
      if (auto* send = std::get_if<Send>(&action)) as_called(send->letter);
      if (auto* right = std::get_if<Right>(&action)) right->until += time_;
      if (auto* stop = std::get_if<Stop>(&action); stop && stop->by.at) *stop->by.at += time_;
    }
    Event happened = event;
    if (auto* received = std::get_if<Received>(&happened)) as_called(received->letter);
    journal::step_line(out, stamp(node), happened, asked, view(config, node.state), time_);
  }
  void performed(const Local& node) override { journal::performed_line(out, stamp(node)); }
  void hook(const Local& node, Hook hook, journal::Edge edge, Ticket ticket,
            const std::optional<GroupNumber>& group, const Members* members) override {
    journal::hook_line(out, stamp(node), hook, edge, group, ticket, members);
  }
  void revoked(const Local& node, const GroupNumber& group) override {
    journal::permits_line(out, stamp(node), journal::PermitsEdge::revoked, group);
    journal::permits_line(out, stamp(node), journal::PermitsEdge::returned, group);
  }
  void on_node_ended(const Local& node, ExitCode code, const std::string& why) override {
    journal::ended_line(out, stamp(node), static_cast<int>(code), why);
  }

  std::string out;

 private:
  static void as_called(Letter& letter) {
    letter.call = at_the_caller(letter.call);
    if (letter.by_quorum && letter.by_quorum->heard)
      letter.by_quorum->heard = at_the_caller(*letter.by_quorum->heard);
  }
  Duration tick() { return now_ += milliseconds(1); }
  journal::Stamp stamp(const Local& node) {
    return {tick(), node.node, node.safe.incarnation, ++seq_[node.node.value - 1]};
  }

  const Values& values_;
  std::vector<std::uint64_t> seq_;
  Duration now_{};
  Moment time_{};
};

std::string in_words(const Item& item) {
  const auto* letter = std::get_if<Letter>(&item);
  if (!letter) return to_text(item);
  const auto* answer = std::get_if<Answer>(&letter->message);
  return answer ? to_text(answer->result) : to_text(letter->message);
}

std::optional<Item> taken(const Label& label, const Values& values, const CheckedWorld& world) {
  if (label.op != Op::take || label.what == Label::What::lose_last ||
      label.what == Label::What::tick)
    return std::nullopt;
  std::size_t at = label.index;
  for (std::size_t q = 0; q < label.node * values.bounds.nodes + label.peer; ++q)
    at += world.length[q];
  return values.item(world.item[at]);
}

std::string what_happens(const Label& label, const std::optional<Item>& taken) {
  static constexpr const char* words[] = {"takes",         "expires",
                                          "its hook ends", "its hook fails",
                                          "silence",       "is refused",
                                          "recovers",      "fails",
                                          "pauses",        "resumes",
                                          "leaves",        "meets",
                                          "waits",         "gets another configuration",
                                          "is copied",     "is restored from its copy"};
  if (label.what == Label::What::tick) return "a tick passes";
  std::string line = "node " + std::to_string(label.node + 1) + ' ';
  if (label.what == Label::What::duplicate)
    line += "takes a first time";
  else if (label.what == Label::What::op)
    line += words[static_cast<std::size_t>(label.op)];
  else
    line += "never gets";
  const std::string peer = std::to_string(label.peer + 1);
  if (label.op == Op::expire) line += ": " + to_text(static_cast<Timer>(label.index));
  if (label.op == Op::silence || label.op == Op::refuse) line += " by " + peer;
  if (label.op == Op::take) line += " from " + peer;
  if (taken) line += ": " + in_words(*taken);
  if (label.fails_after != Label::whole)
    line += ", and fails after " + std::to_string(label.fails_after) + " actions";
  return line;
}

std::string standings_in_words(const std::vector<Standing>& nodes) {
  std::string line;
  for (const Standing& node : nodes) {
    line += " | " + to_text(node.node) + ' ' + (node.up ? to_text(node.status) : "failed");
    if (node.coordinator) line += " c=" + to_text(*node.coordinator);
  }
  return line;
}

// The number of delivered letters, expiries of timers or calls, failures and recoveries.
unsigned counted(const Label& label, const std::optional<Item>& taken) {
  unsigned count = label.fails_after == Label::whole ? 0 : 1;
  if (label.what == Label::What::lose_last || label.what == Label::What::lose ||
      label.what == Label::What::tick)
    return count;
  if (taken)
    return count +
           (std::holds_alternative<Letter>(*taken) || std::holds_alternative<NoAnswer>(*taken));
  const bool own = label.op == Op::end_hook || label.op == Op::fail_hook || label.op == Op::refuse;
  return count + (own ? 0 : 1);
}

// These bounds, but with true numbers and all fields, and with room for letters that the search has
// dropped.
Bounds exact(Bounds bounds) {
  bounds.canonical = false;
  bounds.queue = std::max(bounds.queue, 8u);
  return bounds;
}

/// Makes the moves of a path and writes them down.
class Teller {
 public:
  explicit Teller(const Bounds& bounds)
      : values_(exact(bounds)), mover_(values_), scribe_(values_), world_(mover_.all_down()) {}

  std::vector<Label> opening() { return mover_.opening(); }
  /// Returns false if a move of the path is not possible.
  bool tell(const Label& label);
  /// Writes down the letters before this one that the search has dropped because they can have no
  /// effect.
  bool tell_what_is_before(const Label& label);
  [[nodiscard]] Told end() {
    story_.journal = std::move(scribe_.out);
    return {std::move(story_), std::move(wrong_)};
  }
  void begins_here() {
    story_.opening = story_.lines.size();
    story_.counted = 0;
    mover_.cut_links(world_);
    for (const auto& [i, j] : values_.bounds.cuts)
      scribe_.fault(journal::FaultKind::cut, i, NodeSet{j});
  }

 private:
  Values values_;
  Mover mover_;
  Scribe scribe_;
  CheckedWorld world_;
  Trace story_;
  std::optional<Wrong> wrong_;
};

bool Teller::tell(const Label& label) {
  const auto item = taken(label, values_, world_);
  std::string line = what_happens(label, item);
  const NodeId node{label.node + 1u};
  if (label.what == Label::What::tick) scribe_.let_pass(one_tick);
  if (label.what == Label::What::op) {
    Local local = values_.local(world_.node[label.node]);
    if (label.op == Op::fail) scribe_.fault(journal::FaultKind::killed, node);
    if (label.op == Op::restore) scribe_.fault(journal::FaultKind::restored, node);
    if (label.op == Op::pause) scribe_.fault(journal::FaultKind::paused, node);
    if (label.op == Op::resume) scribe_.fault(journal::FaultKind::resumed, node);
    if (label.op == Op::recover) {
      ++local.safe.incarnation.value;
      scribe_.begins(local);
    }
  }
  std::uint32_t wrong = 0;
  if (!mover_.move(world_, label, wrong, &scribe_)) {
    story_.lines.push_back(line +
                           ": DIFFERENT with the true numbers: this is a fault of the checker");
    return false;
  }
  if (label.fails_after != Label::whole) scribe_.fault(journal::FaultKind::killed, node);
  wrong_ = wrong ? values_.wrong(wrong) : mover_.judge(world_);
  story_.lines.push_back(line + standings_in_words(mover_.standings(world_)));
  story_.counted += counted(label, item);
  return true;
}

bool Teller::tell_what_is_before(const Label& label) {
  if (label.what == Label::What::tick) return true;
  if (label.what == Label::What::op && label.op != Op::take) return true;
  while (const auto first = mover_.ineffective_first(world_, label.node, label.peer))
    if (!tell(*first)) return false;
  return true;
}

}  // namespace

Told tell_story(const Bounds& bounds, const std::vector<Label>& path) {
  Teller teller(bounds);
  for (const Label& label : teller.opening()) teller.tell(label);
  teller.begins_here();
  for (const Label& label : path) {
    if (bounds.canonical && !teller.tell_what_is_before(label)) break;
    if (!teller.tell(label)) break;
  }
  return teller.end();
}

}  // namespace muster::lab::explored

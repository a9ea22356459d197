#include "sessions.hpp"

#include <muster/values/text.hpp>

namespace muster::host::test {

namespace {

std::string number_of(ConnectionId connection) {
  return "#" + std::to_string(connection.value);
}

std::string kind_of(const Letter& letter) {
  const auto* answer = std::get_if<Answer>(&letter.message);
  return std::string(answer ? alternative_name(answer->result) : alternative_name(letter.message));
}

std::string in_words(const Frame& frame) {
  if (const auto* refusal = std::get_if<Refusal>(&frame))
    return "Refusal " + std::string(enumerator_name(refusal->reason));
  const auto* carried = std::get_if<Carried>(&frame);
  if (!carried) return std::string(alternative_name(frame));
  return std::to_string(carried->number) + " " + kind_of(carried->letter);
}

struct InWords {
  std::string operator()(const Dial& dial) const { return "dial " + to_text(dial.node); }
  std::string operator()(const GiveUp& dial) const { return "give up " + to_text(dial.node); }
  std::string operator()(const Write& write) const {
    return "write " + number_of(write.connection) + " " + in_words(write.frame);
  }
  std::string operator()(const TellRoom& room) const {
    return "room " + number_of(room.connection);
  }
  std::string operator()(const Close& close) const {
    return "close " + number_of(close.connection);
  }
  std::string operator()(const Drain& drain) const {
    std::string words = "drain";
    for (ConnectionId connection : drain.connections) words += " " + number_of(connection);
    return words + (drain.listener ? " listener" : "");
  }
  std::string operator()(const LetterCame& came) const {
    return "came " + to_text(came.letter.from) + " " + kind_of(came.letter);
  }
  std::string operator()(const CallUnanswered& call) const {
    return "unanswered " + to_text(call.by) + ":" + to_text(call.call);
  }
  std::string operator()(const LifeOver& over) const {
    return "over " + to_text(over.node) + ":" + to_text(over.life);
  }
  std::string operator()(const OutlivedBy& outlived) const {
    std::string words = "outlived";
    for (const auto& [claimant, life] : outlived.life_claims)
      words += " " + to_text(claimant) + ":" + to_text(life);
    return words;
  }
  std::string operator()(const OthersDiffer& others) const {
    return "differ " + to_text(others.differ) + " agree " + to_text(others.agree);
  }
  std::string operator()(const HandOver& asker) const {
    return "hand over " + number_of(asker.connection);
  }
  std::string operator()(const TellStatus& question) const {
    return "status " + number_of(question.connection);
  }
  std::string operator()(const Wake&) const { return {}; }
  std::string operator()(const Warning&) const { return {}; }
};

}  // namespace

Sessions2::Sessions2(const SafeState& safe)
    : config{{NodeId{2}, Incarnation{5}, 2222, "T=100ms\nname=test\n"},
             {{NodeId{1}, "one:1"}, {NodeId{3}, "three:3"}},
             T,
             {}},
      sessions(Sessions::begin(config, safe)) {}

Words Sessions2::give(SessionInput input) {
  SessionOutputs outputs;
  sessions.take(config, now, std::move(input), outputs);
  Words words;
  for (const SessionOutput& output : outputs) {
    if (const auto* asked = std::get_if<Wake>(&output)) wake = asked->at;
    if (const auto* warning = std::get_if<Warning>(&output)) warnings.push_back(warning->text);
    if (const auto* write = std::get_if<Write>(&output)) written.push_back(write->frame);
    std::string said = std::visit(InWords{}, output);
    if (!said.empty()) words.push_back(std::move(said));
  }
  return words;
}

Words Sessions2::give_all(const SessionInput& input) {
  Words words = give(input);
  while (!sessions.verdicts.empty())
    for (std::string& said : give(Drained{})) words.push_back(std::move(said));
  return words;
}

Words Sessions2::wake_up() {
  now = std::max(now, wake.value());
  wake.reset();
  return give(Due{});
}

Words Sessions2::ask(std::uint32_t to, std::uint64_t call, std::optional<Duration> bound) {
  return give(SendLetter{
      {NodeId{2}, Incarnation{5}, NodeId{to}, CallNumber{call}, AreYouThere{}}, bound, 1000});
}

Words Sessions2::announce(const CallFields& fields) {
  return give(SendLetter{
      {NodeId{2}, Incarnation{5}, NodeId{fields.to}, CallNumber{fields.call},
       NewCoordinator{{NodeId{2}, Incarnation{5}, 1}, Incarnation{fields.life}, {1, NodeId{2}}}},
      std::nullopt});
}

Words Sessions2::answer(std::uint32_t to, std::uint64_t call) {
  return give(SendLetter{{NodeId{2}, Incarnation{5}, NodeId{to}, CallNumber{call}, Answer{Here{}}},
                         std::nullopt});
}

Words Sessions2::reaches(std::uint32_t node, std::uint64_t connection) {
  sessions.peers.at(NodeId{node}).touch = Dialling{};
  return dialled(node, connection);
}

Words Sessions2::refused_by(std::uint32_t node, std::uint64_t connection, const Refusal& refusal) {
  reaches(node, connection);
  received(connection, refuser(node));
  return received(connection, refusal);
}

Words Sessions2::greeted(std::uint64_t connection, const Hello& hello) {
  accepted(connection);
  Words words = received(connection, hello);
  while (!sessions.verdicts.empty()) words = give(Drained{});
  return words;
}

void Sessions2::join(const JoinFields& fields) {
  reaches(fields.node, fields.connection);
  received(fields.connection, newcomer({.from = fields.node, .life = fields.life}));
}

Hello Sessions2::newcomer(const NewcomerFields& fields) const {
  Hello hello = muster::test::hello_of({.from = fields.from,
                                        .to = config.self.id.value,
                                        .life = fields.life,
                                        .instance = 1000 * fields.from + fields.life,
                                        .number = fields.number});
  hello.cluster = config.self.cluster;
  return hello;
}

Hello Sessions2::refuser(std::uint32_t from) const {
  Hello hello = newcomer({.from = from});
  hello.session = 0;
  return hello;
}

Hello Sessions2::acquainted(const AcquaintedFields& fields) const {
  Hello hello = newcomer({.from = fields.from, .life = fields.life, .number = fields.number});
  hello.peer_instance = config.self.instance;
  hello.peer_session = sessions.peers.at(NodeId{fields.from}).session_count;
  hello.received = fields.received;
  return hello;
}

}  // namespace muster::host::test

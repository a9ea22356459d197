#include "net/frames/golden.hpp"

#include <muster/values/archive.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace muster::test {

namespace {

const ElectionId election{NodeId{5}, Incarnation{3}, 7};
const GroupNumber group{17, NodeId{5}};

net::Frame carried(Message message, std::optional<ByQuorum> by_quorum = {}) {
  return net::Carried{258,
                      41,
                      {NodeId{5}, Incarnation{3}, NodeId{2}, CallNumber{1030}, std::move(message),
                       std::move(by_quorum)}};
}

std::string path_of(const std::string& name) {
  return std::string(MUSTER_GOLDEN) + '/' + name + ".hex";
}

std::string hexadecimal(const net::Frame& frame, std::uint8_t version) {
  std::ostringstream out;
  out << "# " << frame << std::hex;
  const std::string bytes = net::encode_frame(frame, version);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned>(static_cast<unsigned char>(bytes[i]));
    out << (i % 16 == 0 ? '\n' : ' ') << byte / 16 << byte % 16;
  }
  out << '\n';
  return out.str();
}

// With MUSTER_REWRITE_GOLDEN=1 the tests write the files again. Review the change as a diff. A
// change of an existing file needs a new wire version.
Golden golden(std::string name, net::Frame frame, std::uint8_t version = 2) {
  if (std::getenv("MUSTER_REWRITE_GOLDEN"))
    std::ofstream(path_of(name)) << hexadecimal(frame, version);
  std::ifstream file(path_of(name));
  if (!file) throw std::runtime_error(path_of(name) + " is not there");
  std::ostringstream text;
  text << file.rdbuf();
  return {std::move(name), std::move(frame), bytes_of(text.str())};
}

net::Hello hello() {
  net::Hello made;
  made.newest_version = 2;
  made.cluster = "name=demo\nnodes.1=127.0.0.1:7101\n";
  made.from = NodeId{5};
  made.to = NodeId{2};
  made.incarnation = Incarnation{3};
  made.instance = 0x0123456789abcdef;
  made.number = 4;
  made.session = 6;
  made.peer_instance = 0xfedcba9876543210;
  made.peer_session = 8;
  made.received = 9;
  return made;
}

}  // namespace

std::string bytes_of(const std::string& hexadecimal) {
  std::istringstream lines(hexadecimal);
  std::string bytes;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream pairs(line);
    for (std::string pair; pairs >> pair;) bytes += static_cast<char>(std::stoi(pair, nullptr, 16));
  }
  return bytes;
}

std::vector<Golden> golden_frames() {
  const Holdings holdings{{"shard 7"}, group, Digest{0x9f3c}, false};
  const ByQuorum asks{CallNumber{1029}, false, false, {}};
  const Rights of_a_member{group, Duration(-5), Duration(250'000'000), false, {}};
  const Rights own_word{group, Duration(7), {}, true, {{NodeId{1}, Duration(9)}}};
  const ByQuorum tells{std::nullopt, true, false, {of_a_member, own_word}};
  return {
      golden("hello", hello()),
      golden("refusal", net::Refusal{net::RefusalReason::outlived, "seen before", 12}),
      golden("are_you_there", carried(AreYouThere{})),
      golden("are_you_normal", carried(AreYouNormal{group})),
      golden("halt", carried(Halt{election})),
      golden("new_coordinator", carried(NewCoordinator{election, Incarnation{2}, group})),
      golden("ready", carried(Ready{election, Incarnation{2}, group, {"shards=1,2"}})),
      golden("here", carried(Answer{Here{}})),
      golden("normality", carried(Answer{Normality{true}})),
      golden("halted", carried(Answer{Halted{17}})),
      golden("joined", carried(Answer{Joined{holdings}})),
      golden("joined_empty", carried(Answer{Joined{Holdings{}}})),
      golden("installed", carried(Answer{Installed{}})),
      golden("refused", carried(Answer{Refused{"another election"}})),
      golden("are_you_coordinator", carried(invitation::AreYouCoordinator{})),
      golden("are_you_there_in_group",
             carried(invitation::AreYouThere{group, Status::Reorganization})),
      golden("invitation", carried(invitation::Invitation{group})),
      golden("accept", carried(invitation::Accept{group, holdings, {NodeId{1}, NodeId{3}}})),
      golden("ready_in_group", carried(invitation::Ready{group, Incarnation{2}, {"shards=1,2"}})),
      golden("election", carried(textbook::Election{})),
      golden("coordinator", carried(textbook::Coordinator{group, {"shards=1,2"}})),
      golden("coordinating", carried(Answer{invitation::Coordinating{true, group, 17}})),
      golden("membership", carried(Answer{invitation::Membership{true}})),
      golden("invited", carried(Answer{invitation::Invited{true, 17}})),
      golden("are_you_free", carried(AreYouFree{})),
      golden("free", carried(Answer{Free{Duration(250'000'000)}})),
      golden("asks_for_a_grant", carried(AreYouNormal{group}, asks)),
      golden("awaits_a_majority", carried(Answer{Here{}}, ByQuorum{{}, false, true, {}})),
      golden("has_ceased", carried(Answer{Here{}}, ByQuorum{{}, false, false, {}, true})),
      golden("grants_and_tells", carried(Answer{Joined{holdings}}, tells)),
      golden("acknowledged", net::Acknowledged{258}),
      golden("status_question", net::StatusQuestion{}),
      golden("status_answer", net::StatusAnswer{R"({"node":3})"}),
      golden("asks", net::Asks{{7, NodeId{3}}, true}),
      golden("piece", net::Piece{"half", false}),
      golden("no_answer", net::NoAnswer{"it awaits no assignment"}),
  };
}

std::vector<Golden> golden_frames_of_3() {
  return {
      golden("are_you_there_in_group_3", carried(in_group::AreYouThere{group}), 3),
      golden("elsewhere", carried(Answer{Elsewhere{group}}), 3),
      golden("elsewhere_in_none", carried(Answer{Elsewhere{}}), 3),
  };
}

std::string repaired(std::string bytes) {
  const auto put = [&bytes](std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> (8 * i));
  };
  put(0, static_cast<std::uint32_t>(bytes.size() - 4));
  put(4, checksum(std::string_view(bytes).substr(8)));
  return bytes;
}

Expected<> feed(net::FrameReader& reader, std::string_view stream,
                std::vector<net::Frame>& frames) {
  while (!stream.empty()) {
    const std::span<char> room = reader.room();
    const std::size_t size = std::min(room.size(), stream.size());
    if (size == 0) return Failure{ExitCode::impossible_state, "the reader has no room"};
    std::memcpy(room.data(), stream.data(), size);
    reader.filled(size);
    stream.remove_prefix(size);
    for (;;) {
      auto next = reader.next();
      if (!next) return next.error();
      if (!*next) break;
      frames.push_back(**std::move(next));
    }
  }
  return {};
}

}  // namespace muster::test

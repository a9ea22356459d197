#pragma once

#include "fuzz/input.hpp"
#include "generate.hpp"

#include <muster/application.hpp>
#include <muster/host/sessions.hpp>
#include <muster/values/archive.hpp>

#include <utility>

/// The peers of node 2 in a cluster of three. They know all that node 2 knows, and lie to it.

namespace muster::fuzz {

class Liar {
 public:
  Liar(Input& input, const host::Self& self, const host::Sessions& sessions)
      : input_(input), self_(self), sessions_(sessions) {}

  /// A frame that in most cases fits the earlier frames on this connection. `counter` is the
  /// counter of the latest group.
  host::Frame frame_on(host::ConnectionId connection, std::uint64_t counter) {
    const auto whose = sessions_.whose.find(connection);
    const NodeId node =
        whose != sessions_.whose.end() ? whose->second : NodeId{input_.one_in(2) ? 1u : 3u};
    const host::Peer& peer = sessions_.peers.at(node);
    switch (input_.below(8)) {
      case 0:
        return generator_.make<host::Frame>();
      case 1:
        return generator_.make<host::Refusal>();
      case 2:
      case 3:
        return hello_of(node, peer);
      default:
        if (!peer.session) return hello_of(node, peer);
        return letter_of(node, *peer.session, counter);
    }
  }

 private:
  host::Hello hello_of(NodeId node, const host::Peer& peer) {
    constexpr std::uint64_t ahead[] = {0, 0, 0, 1, most_lives_ahead, highest_number};
    host::Hello hello = generator_.make<host::Hello>();
    if (input_.one_in(8)) return hello;
    hello.oldest_version = hello.newest_version = host::wire_newest;
    if (!input_.one_in(8)) hello.role = host::Role::node;
    if (!input_.one_in(8)) hello.cluster = self_.cluster;
    if (!input_.one_in(8)) hello.from = node;
    if (!input_.one_in(8)) hello.to = self_.id;
    const std::uint64_t seen = std::max<std::uint64_t>(peer.seen.value, 1);
    hello.incarnation.value = std::min(seen + ahead[input_.below(6)], highest_number);
    hello.instance = 1000 * node.value + hello.incarnation.value;
    hello.number = ++said_;
    hello.peer_instance = input_.one_in(4) ? 0 : self_.instance;
    if (!input_.one_in(8)) hello.session = peer.session ? peer.session->peer_session : 1;
    if (!input_.one_in(8)) hello.peer_session = peer.session_count;
    if (!input_.one_in(8)) hello.received = peer.session ? peer.session->highest_written : 0;
    return hello;
  }

  host::Carried letter_of(NodeId node, const host::Session& session, std::uint64_t counter) {
    host::Carried carried = generator_.make<host::Carried>();
    Letter& letter = carried.letter;
    if (!input_.one_in(8)) carried.number = session.received + 1;
    if (!input_.one_in(4)) carried.acknowledged = session.highest_written;
    if (input_.one_in(16)) return carried;
    letter.from = node;
    letter.incarnation = session.life;
    letter.to = self_.id;
    if (is_answer(letter) && !sessions_.calls.empty())
      letter.call =
          std::next(sessions_.calls.begin(), static_cast<int>(input_.below(sessions_.calls.size())))
              ->first;
    if (!input_.one_in(4))
      std::visit([&](auto& message) { make_fit(message, node, session.life, counter); },
                 letter.message);
    return carried;
  }

  template <class Message>
  void make_fit(Message& message, NodeId node, Incarnation life, std::uint64_t counter) {
    if constexpr (requires { message.election.candidate; })
      message.election = {node, input_.one_in(8) ? never : life, message.election.number % 4};
    if constexpr (requires { message.receiver; }) message.receiver = self_.incarnation;
    if constexpr (requires { message.group.counter; })
      message.group = {counter + message.group.counter % 4, node};
    if constexpr (requires { message.definition.data; })
      message.definition.data = encode(Task{{node, self_.id}, Bytes{"task"}, {}});
  }

  /// An incarnation that no node reaches. A node that believed it would ignore the real life.
  static constexpr Incarnation never{highest_number - 1};

  Input& input_;
  const host::Self& self_;
  const host::Sessions& sessions_;
  test::Generator generator_{[this] { return input_.byte(); }};
  std::uint64_t said_ = 0;  ///< number of Hellos so far
};

}  // namespace muster::fuzz

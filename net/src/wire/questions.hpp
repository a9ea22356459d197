#pragma once

#include "tls/tls.hpp"
#include "wire/connection.hpp"
#include "wire/dial.hpp"

#include <muster/application.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace muster::net {

/// Carries a coordinator's questions to the members, and their answers back. Each question has its
/// own connection and is sent in pieces, so that no letter waits behind it. This object and
/// everything that it calls run on the protocol's strand.
class Questions final : public ConnectionOwner, public std::enable_shared_from_this<Questions> {
 public:
  struct Handlers {
    /// True if this node is in that group.
    std::function<bool(GroupNumber group)> is_in;
    /// This node, a member, is asked a question. Returns the question's number for `not_wanted`.
    std::function<std::uint64_t(Inquiry, Answered)> asked;
    std::function<void(std::uint64_t question)> not_wanted;
  };
  struct Limits {
    std::size_t bytes{};          ///< the largest question, and the largest answer
    std::size_t connections = 4;  ///< most from other nodes; a further one ends the oldest
  };

  Questions(boost::asio::any_io_executor executor, Self self,
            const std::map<NodeId, std::string>& addresses, Duration T, Limits limits,
            std::shared_ptr<const Tls> tls, Handlers handlers);
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;
  ~Questions() override { close(); }

  /// Asks another node. Call this only if no other question to that node is under way.
  void ask(NodeId member, Inquiry inquiry, Answered answered);
  /// Gives up all questions that this node asks. Their `answered` is not called.
  void give_up();

  /// Takes over a connection on which a coordinator has said Hello in order to ask.
  void take(std::shared_ptr<Connection> connection, const Hello& hello);

  void close();

  void on_frame(Connection& connection, Frame frame) override;
  void on_connection_ended(Connection& connection, ConnectionEnd end,
                           const std::string& why) override;
  void writable(Connection& connection) override;
  void turn_ended() override {}

 private:
  /// One question, as the side that asks or the side that answers keeps it.
  struct Exchange {
    NodeId other;
    std::optional<Asks> asks{};
    std::shared_ptr<Dial> dial{};
    std::shared_ptr<Connection> connection{};
    std::string asked{};               ///< the question, until the other side has said Hello
    std::optional<std::string> out{};  ///< bytes to be written, from `written` on
    std::size_t written = 0;
    std::string in{};
    Answered answered{};         ///< set if this node asks
    std::uint64_t question = 0;  ///< if this node is asked: the complete question's number
    bool refused = false;        ///< further input is ignored
  };
  using Exchanges = std::list<Exchange>;

  void connected(NodeId member, std::optional<DialEnd> failed, Tcp::socket socket);
  void came_to_ask(Exchanges::iterator exchange, Frame frame);
  void came_to_answer(Exchanges::iterator exchange, Frame frame);
  void answer(const Connection& connection, const Done<Bytes>::Outcome& answer);
  [[nodiscard]] bool too_much(const Exchange& exchange, const Piece& piece) const;
  void refuse(Exchange& exchange, std::string why);
  void write(Exchange& exchange);
  void finish(Exchanges::iterator exchange, const Done<Bytes>::Outcome& answer);
  void drop(Exchanges::iterator exchange);
  Exchanges::iterator find(Exchanges& exchanges, const Connection& connection);

  boost::asio::any_io_executor executor_;
  const Self self_;
  const std::map<NodeId, std::string>& addresses_;
  const Duration bound_;  ///< the longest time for a dial, and for a frame
  const Limits limits_;
  const std::shared_ptr<const Tls> tls_;
  Handlers handlers_;
  Counters counters_;
  Exchanges asking_;     ///< at most one for each node
  Exchanges answering_;  ///< the oldest first
};

}  // namespace muster::net

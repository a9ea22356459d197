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

/// Takes a coordinator's questions to the members, and their answers back: each on a connection of
/// its own, in pieces, so that no letter waits behind them. Lives on the protocol's strand, as
/// everything that it calls.
class Questions final : public ConnectionOwner, public std::enable_shared_from_this<Questions> {
 public:
  struct Handlers {
    /// True where this node is in that group.
    std::function<bool(GroupNumber group)> is_in;
    /// It asks: gives a number for `not_wanted`.
    std::function<std::uint64_t(Inquiry, Answered)> asked;
    std::function<void(std::uint64_t question)> not_wanted;
  };
  struct Limits {
    std::size_t bytes{};          ///< of a question, and of an answer
    std::size_t connections = 4;  ///< of others; one more ends the oldest
  };

  Questions(boost::asio::any_io_executor executor, Self self,
            const std::map<NodeId, std::string>& addresses, Duration T, Limits limits,
            std::shared_ptr<const Tls> tls, Handlers handlers);
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;
  ~Questions() override { close(); }

  /// Asks another node; no question to it is on its way.
  void ask(NodeId member, Inquiry inquiry, Answered answered);
  /// Nothing that was asked is answered any more.
  void give_up();

  /// Somebody who asks has said Hello.
  void take(std::shared_ptr<Connection> connection, const Hello& hello);

  void close();

  void came(Connection& connection, Frame frame) override;
  void ended(Connection& connection, ConnectionEnd end, const std::string& why) override;
  void writable(Connection& connection) override;
  void turn_ended() override {}

 private:
  /// One question, on either side of its connection.
  struct Exchange {
    NodeId other;
    std::optional<Asks> asks{};
    std::shared_ptr<Dial> dial{};
    std::shared_ptr<Connection> connection{};
    std::string asked{};               ///< what is, once the other side has said Hello
    std::optional<std::string> out{};  ///< what is to be written, from `written` on
    std::size_t written = 0;
    std::string in{};
    Answered answered{};         ///< where this node asks
    std::uint64_t question = 0;  ///< where it is asked: its number, when all of it has come
    bool refused = false;        ///< what still comes is not looked at
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
  const Duration bound_;  ///< of a dial, and of a frame
  const Limits limits_;
  const std::shared_ptr<const Tls> tls_;
  Handlers handlers_;
  Counters counters_;
  Exchanges asking_;     ///< one for each node at most
  Exchanges answering_;  ///< the oldest first
};

}  // namespace muster::net

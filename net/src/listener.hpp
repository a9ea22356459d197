#pragma once

#include "connection.hpp"
#include "context.hpp"

#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <list>
#include <memory>
#include <string>

namespace muster::net {

/// Accepts connections and hears who it is that has dialled. Nodes are handed on with their Hello;
/// observers are answered here.
class Listener final : public ConnectionOwner, public std::enable_shared_from_this<Listener> {
 public:
  struct Handlers {
    /// True of the ids of the other nodes of the cluster.
    std::function<bool(NodeId)> is_member;
    /// A node has said Hello: true when that node is one of the cluster.
    std::function<bool(const std::shared_ptr<Connection>&, const Hello&)> greeted;
    /// Somebody has said Hello who asks; may be missing.
    std::function<void(const std::shared_ptr<Connection>&, const Hello&)> asker;
    /// For observers; may be missing.
    std::function<std::string()> status;
  };

  Listener(std::shared_ptr<Context> context, Handlers handlers);

  Expected<> listen(const std::string& address);
  [[nodiscard]] std::uint16_t port() const;

  /// Takes note of every Hello that has come already.
  void read_hellos();

  void close();

  void came(Connection& connection, Frame frame) override;
  void ended(Connection& connection, End end, const std::string& why) override;
  void writable(Connection&) override {}
  void turn_ended() override { context_->deliver(); }

 private:
  struct Stranger {
    std::shared_ptr<Connection> connection;
    boost::asio::steady_timer timer;
    bool observer;
  };
  using Strangers = std::list<Stranger>;

  void accept();
  void took(Tcp::socket socket);
  void accept_later();
  void make_room(bool observers, std::size_t most);
  void watch(Strangers::iterator stranger);
  Strangers::iterator find(const Connection& connection);
  void heard(Strangers::iterator stranger, const Hello& hello);
  void heard_observer(Strangers::iterator stranger);
  void heard_asker(Strangers::iterator stranger, const Hello& hello);
  void refuse(Strangers::iterator stranger, const Refusal& refusal, NodeId who);
  std::optional<Refusal> refuse_namesake(const Hello& hello);
  void tell_difference(const Hello& hello);

  std::shared_ptr<Context> context_;
  Handlers handlers_;
  /// A socket by another descriptor, closed when this ends.
  class SecondDescriptor {
   public:
    SecondDescriptor() = default;
    SecondDescriptor(const SecondDescriptor&) = delete;
    SecondDescriptor& operator=(const SecondDescriptor&) = delete;
    ~SecondDescriptor() { close(); }
    void open(int descriptor);
    void close();

   private:
    int descriptor_ = -1;
  };

  Tcp::acceptor acceptor_;
  SecondDescriptor high_;
  boost::asio::steady_timer retry_;
  Strangers strangers_;  // and observers, the oldest first
};

}  // namespace muster::net

#pragma once

#include "network.hpp"

#include <muster/host/sessions.hpp>
#include <muster/protocol/config.hpp>

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace muster::lab::simulated {

/// Drives host::Sessions over the simulated network: passes arrivals in, and performs the outputs.
/// A turn may come late, so that a Drain finds frames to read.
class SessionDriver {
 public:
  /// `event` and `outlived` only record what has happened. The effects begin when `told` is called.
  struct Handlers {
    std::function<void(Event)> event;  ///< Received, Unanswered, Failed
    std::function<void(const host::LifeClaims&)> outlived;
    std::function<void()> told;  ///< all present events have been passed on
  };

  SessionDriver(Network& network, std::shared_ptr<Process> process, const Config& config,
                const std::string& cluster, const SafeState& safe, Handlers handlers);
  SessionDriver(const SessionDriver&) = delete;
  SessionDriver& operator=(const SessionDriver&) = delete;

  void greet() { take(host::Greet{}); }
  void send(Letter letter, std::optional<Duration> bound) {
    take(host::SendLetter{std::move(letter), bound});
  }
  void keep_only(const std::function<bool(CallNumber)>& awaited) { sessions_.keep_only(awaited); }

  /// Inserts a forged letter before the next letter to that node.
  void forge(NodeId to, Message message) { lies_.insert_or_assign(to, std::move(message)); }

  // --- Called by the network
  void dial_ended(NodeId to, std::uint64_t dial, const ConnectionPtr& connection);
  /// A connection or a frame has arrived, and can be read.
  void arrived(const ConnectionPtr& connection, std::size_t side);

 private:
  struct End {
    ConnectionPtr connection;
    std::size_t side = 0;
  };

  void take(host::SessionInput input);
  void turn();
  void read_all();
  void read(const End& end);
  host::ConnectionId add(const End& end);
  [[nodiscard]] host::Time now();
  template <class F>
  void after(Duration delay, F work);

  void lie_before(const End& end, const host::Carried& carried);

  void perform(const host::Dial& dial);
  void perform(const host::GiveUp& dial) { dials_.erase(dial.node); }
  void perform(host::Write& write);
  void perform(const host::TellRoom& room);
  void perform(const host::Close& close);
  void perform(const host::Drain& drain);
  void perform(const host::Wake& wake);
  void perform(host::LetterCame& came) {
    handlers_.event(Received{std::move(came.letter), came.instance});
  }
  void perform(const host::CallUnanswered& call) {
    handlers_.event(Unanswered{call.by, call.call, call.how});
  }
  void perform(const host::LifeOver& over) { handlers_.event(Failed{over.node, over.life}); }
  void perform(host::OthersDiffer& others) {
    handlers_.event(Differing{std::move(others.differ), std::move(others.agree)});
  }
  void perform(const host::OutlivedBy& outlived) { handlers_.outlived(outlived.life_claims); }
  void perform(const host::Warning&) {}
  // The lab has no observers, and questions use the network directly.
  void perform(const host::HandOver&) {}
  void perform(const host::TellStatus&) {}

  Network& network_;
  std::shared_ptr<Process> process_;
  Handlers handlers_;
  host::SessionConfig config_;
  host::Sessions sessions_;
  std::map<host::ConnectionId, End> connections_;
  std::uint64_t last_number_ = 0;
  std::map<NodeId, std::uint64_t> dials_;  ///< the number of each running dial
  std::uint64_t last_dial_ = 0;
  std::uint64_t wakes_ = 0;
  std::map<NodeId, Message> lies_;  ///< forged letters, by receiver
  host::Time clock_{};              ///< never goes back
  std::vector<End> arrived_;        ///< ends with something to read
  bool turn_comes_ = false;
};

}  // namespace muster::lab::simulated

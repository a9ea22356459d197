#pragma once

#include "bell.hpp"

#include <muster/application.hpp>

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

/// Applications that do what a test says, and record their calls.

namespace muster::test {

/// A hook that was called.
struct Called {
  NodeId node;
  unsigned application{};  ///< number of the node's application, counted from 1
  Hook hook{};
  std::optional<GroupNumber> group;
  StopCause cause{};        ///< the argument of a `stop`
  Members members;          ///< the argument of a `reorganize`
  Definition definition;    ///< the argument of a `start`
  Digest digest;            ///< the digest of the task in a `start`
  NodeSet lost, came_back;  ///< arguments of a `reorganize` and of a `start`
  std::thread::id thread;
  bool beside_another = false;  ///< true if another hook of the node had not ended
};

/// A hook that has not ended yet.
class Cue {
 public:
  using AnyDone = std::variant<Done<Bytes>, Done<>>;  // for a report or a definition; for a `start`

  Cue(Called called, std::stop_token cancelled_by, AnyDone done, std::function<void()> over)
      : about(std::move(called)),
        cancelled(std::move(cancelled_by)),
        done_(std::move(done)),
        over_(std::move(over)) {}
  Cue(Cue&&) = default;
  Cue& operator=(Cue&&) = default;
  ~Cue() { end(); }

  /// The hook ends well, with the usual result.
  void complete();
  /// The hook ends well, with this report or definition.
  void complete(Bytes result);
  void fail(const std::string& why);

  Called about;
  std::stop_token cancelled;

 private:
  void end() {
    if (auto over = std::exchange(over_, nullptr)) over();
  }
  AnyDone done_;
  std::function<void()> over_;
};

/// Called when a hook is called, on the node's executor for hooks.
using Play = std::function<void(Cue)>;

inline const auto fails = [](Cue cue) { cue.fail("as it was told"); };

/// Plays the applications of some nodes. May be used from any thread.
class Stage {
 public:
  explicit Stage(Bell& bell) : bell_(bell) {}

  /// Sets how that hook of that node is played from now on. By default it completes at once.
  void play(NodeId node, Hook hook, Play play);
  /// From now on this hook does not end before the test takes its cue and completes it.
  void hold(NodeId node, Hook hook);

  /// Waits for a hook that is held, and takes its cue.
  Cue take(NodeId node, Hook hook);

  [[nodiscard]] std::vector<Called> calls() const;
  [[nodiscard]] std::vector<Called> calls(NodeId node) const;
  [[nodiscard]] std::size_t count(NodeId node, Hook hook) const;
  /// The number of applications of the node that exist now.
  [[nodiscard]] int applications(NodeId node) const;
  /// The services of the node's latest application. The services are valid only while the life of
  /// that application lasts.
  [[nodiscard]] Services& services(NodeId node) const;

  /// The function that makes the node's applications.
  MakeApplication make(NodeId node);

  void keep(Cue cue);

 private:
  friend class Puppet;
  struct Actor {
    std::map<Hook, Play> plays;
    unsigned made = 0;
    int there = 0;
    std::map<unsigned, int> running;  ///< hooks of each application
    Services* services = nullptr;
  };

  void called(Called about, std::stop_token cancelled, Cue::AnyDone done);

  Bell& bell_;
  mutable std::mutex mutex_;  // guards all members below
  std::map<NodeId, Actor> actors_;
  std::vector<Called> calls_;
  std::deque<Cue> held_;
};

/// The usual report of an application.
Report usual_report(NodeId node);

}  // namespace muster::test

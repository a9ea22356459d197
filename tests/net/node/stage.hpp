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

/// Applications that do what a test says, and write down what is asked of them.

namespace muster::test {

/// A hook that was called.
struct Called {
  NodeId node;
  unsigned application{};  ///< the how manieth that was made for the node
  Hook hook{};
  std::optional<GroupNumber> group;
  StopCause cause{};        ///< of a stop
  Members members;          ///< of a reorganize
  Definition definition;    ///< of a start
  Digest digest;            ///< of its task
  NodeSet lost, came_back;  ///< of a reorganize and a start
  std::thread::id thread;
  bool beside_another = false;  ///< another hook of the node had not ended
};

/// A hook that has not ended yet.
class Cue {
 public:
  using AnyDone = std::variant<Done<Bytes>, Done<>>;  // of a report or definition, of a start

  Cue(Called called, std::stop_token cancelled_by, AnyDone done, std::function<void()> over)
      : about(std::move(called)),
        cancelled(std::move(cancelled_by)),
        done_(std::move(done)),
        over_(std::move(over)) {}
  Cue(Cue&&) = default;
  Cue& operator=(Cue&&) = default;
  ~Cue() { end(); }

  /// It ends well, with what an application would give that has nothing special to say.
  void complete();
  /// It ends well, with this report or definition.
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

/// What an application does when a hook is called. On the node's executor for hooks.
using Play = std::function<void(Cue)>;

inline const auto fails = [](Cue cue) { cue.fail("as it was told"); };

/// Where the applications of some nodes play. May be used from any thread.
class Stage {
 public:
  explicit Stage(Bell& bell) : bell_(bell) {}

  /// From now on that hook of that node is played so; complete at once where nothing was said.
  void play(NodeId node, Hook hook, Play play);
  /// It does not end before the test takes its cue.
  void hold(NodeId node, Hook hook);

  /// Waits for a hook that is held, and takes it.
  Cue take(NodeId node, Hook hook);

  [[nodiscard]] std::vector<Called> calls() const;
  [[nodiscard]] std::vector<Called> calls(NodeId node) const;
  [[nodiscard]] std::size_t count(NodeId node, Hook hook) const;
  /// How many applications of the node there are now.
  [[nodiscard]] int applications(NodeId node) const;
  /// The services that the node's latest application was given; only while that life lasts.
  [[nodiscard]] Services& services(NodeId node) const;

  /// What a node is made with.
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
  mutable std::mutex mutex_;  // guards all below
  std::map<NodeId, Actor> actors_;
  std::vector<Called> calls_;
  std::deque<Cue> held_;
};

/// The report that an application gives that has nothing special to say.
Report usual_report(NodeId node);

}  // namespace muster::test

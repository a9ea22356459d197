#pragma once

#include <muster/host/hook_host.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>

/// Questions of a coordinator to its members: the asking side and the answering side, the same on
/// every host. Both sides are parts of HookRunner.

namespace MUSTER_EXPORT muster {

/// The asking side. Each member works on one question at a time; a few further questions to the
/// member wait here.
class Asking {
 public:
  struct Limits {
    std::size_t bytes{};       ///< the largest question
    std::size_t waiting = 64;  ///< questions to one member without an answer yet
  };
  /// Sends a question to this member.
  using Take = std::function<void(NodeId member, Inquiry, Answered)>;

  Asking(HookHost& host, Limits limits, Take take)
      : host_(host), limits_(limits), take_(std::move(take)) {}

  /// From now on these members may be asked questions. Returns a number that identifies this
  /// period.
  std::uint64_t begin(NodeSet members);
  /// Asks a question within the period `number`. If that period is over, the question fails.
  void ask(std::uint64_t number, NodeId member, Inquiry inquiry, Answered answered);
  /// The period ends: all questions that have no answer yet fail.
  void end();
  /// The life is over: no callback is called any more.
  void abandon() { waiting_.clear(); }

 private:
  struct Waiting {
    Inquiry inquiry;
    Answered answered;
  };
  void ask_next(NodeId member);
  void on_answer(NodeId member, HookHost::Outcome answer);
  void tell(Answered answered, HookHost::Outcome answer);

  HookHost& host_;
  const Limits limits_;
  const Take take_;
  std::uint64_t number_ = 0;  ///< of the present period; answers of an older one are ignored
  std::optional<NodeSet> members_;
  std::map<NodeId, std::deque<Waiting>> waiting_;  ///< the first of each member is being asked
};

/// The answering side. The application answers one question at a time.
class Answering {
 public:
  /// `quiet` is called when an answer has ended and no other question can be answered at once.
  Answering(HookHost& host, Asking::Limits limits, std::function<void()> quiet)
      : host_(host), limits_(limits), quiet_(std::move(quiet)) {}

  std::uint64_t asked(Question question, Answered answered);
  /// The node's own `start` has succeeded: questions of a coordinator that works are answered from
  /// now on.
  void started();
  /// The node must stop: questions of a coordinator that works are no longer answered.
  void stopping();
  /// The answer to this question is no longer needed.
  void give_up(std::uint64_t question);
  /// Asks the running answer to end, and fails all other questions.
  void cancel();
  /// The life is over: no callback is called any more.
  void abandon();

  [[nodiscard]] bool busy() const { return !asked_.empty(); }

 private:
  struct Asked {
    std::uint64_t number{};
    Question question;
    Answered answered;
    std::stop_source cancelled{};
  };
  void put(Asked asked);
  void answer_first();
  void on_answered(std::uint64_t number, HookHost::Outcome answer);

  HookHost& host_;
  const Asking::Limits limits_;
  const std::function<void()> quiet_;
  std::uint64_t last_ = 0;
  std::deque<Asked> asked_;  ///< the first is being answered
  bool works_ = false;
  std::deque<Asked> held_;  ///< wait until this node has started
};

}  // namespace muster

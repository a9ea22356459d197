#pragma once

#include <muster/host/hook_host.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>

/// What a coordinator asks its members: both sides of it, the same on every host. Parts of
/// HookRunner.

namespace MUSTER_EXPORT muster {

/// The questions of one coordinator at a time: one on its way to each member, a few waiting.
class Asking {
 public:
  struct Limits {
    std::size_t bytes{};       ///< of a question
    std::size_t waiting = 64;  ///< questions that one member has not answered yet
  };
  /// Takes a question to that member.
  using Take = std::function<void(NodeId member, Inquiry, Answered)>;

  Asking(HookHost& host, Limits limits, Take take)
      : host_(host), limits_(limits), take_(std::move(take)) {}

  /// From now on these may be asked. Gives the number by which that is known.
  std::uint64_t begin(NodeSet members);
  void ask(std::uint64_t number, NodeId member, Inquiry inquiry, Answered answered);
  /// Not any more: whatever is not answered fails.
  void end();
  /// The life is over: nothing is told any more.
  void abandon() { waiting_.clear(); }

 private:
  struct Waiting {
    Inquiry inquiry;
    Answered answered;
  };
  void ask_next(NodeId member);
  void came(NodeId member, HookHost::Outcome answer);
  void tell(Answered answered, HookHost::Outcome answer);

  HookHost& host_;
  const Limits limits_;
  const Take take_;
  std::uint64_t number_ = 0;  ///< so that what comes too late is known as such
  std::optional<NodeSet> members_;
  std::map<NodeId, std::deque<Waiting>> waiting_;  ///< the first of each is on its way
};

/// The questions that a member is asked, answered one at a time by its application.
class Answering {
 public:
  /// `quiet` is called when what ran has ended and nothing waits to be answered at once.
  Answering(HookHost& host, Asking::Limits limits, std::function<void()> quiet)
      : host_(host), limits_(limits), quiet_(std::move(quiet)) {}

  std::uint64_t asked(Question question, Answered answered);
  /// The node's own `start` has ended well: what is asked of those who work is answered.
  void started();
  /// It is to stop: that is over.
  void stopping();
  /// The answer is of no use any more.
  void give_up(std::uint64_t question);
  /// Asks the answer that is being made to end, and answers nothing else.
  void cancel();
  /// The life is over: nothing is told any more.
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
  void ended(std::uint64_t number, HookHost::Outcome answer);

  HookHost& host_;
  const Asking::Limits limits_;
  const std::function<void()> quiet_;
  std::uint64_t last_ = 0;
  std::deque<Asked> asked_;  ///< the first is being answered
  bool works_ = false;
  std::deque<Asked> held_;  ///< until it works
};

}  // namespace muster

#pragma once

#include <muster/application.hpp>
#include <muster/journal/journal.hpp>

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

namespace MUSTER_EXPORT muster {

/// How many permits are out, by name.
using PermitsOut = std::map<std::string, std::size_t>;

/// The kind of fault by which hooks end the process of their node.
enum class HookFault {
  failed,  ///< the application failed
  late,    ///< something overran a deadline: the application is slow, or the machine paused
};

/// What a host does for the hooks of one life. What it calls back it calls on the protocol's side,
/// one thing after the other, never from within these functions, and not at all when the life is
/// over.
class HookHost {
 public:
  /// What any hook ended with: the bytes of a report or a definition, nothing after a `start`, or
  /// why it failed.
  using Outcome = boost::system::result<Bytes, std::string>;
  using Ended = std::function<void(Outcome)>;
  using Call = std::function<void(Application&, Ended)>;

  virtual ~HookHost() = default;

  /// Has the application make the call on its own executor, and gives what it ended with, once it
  /// has returned: an exception that drops the Done on its way out is reported as that exception.
  /// `hook` is none where a question is to be answered.
  virtual void call(std::optional<Hook> hook, Call call, Ended ended) = 0;
  /// Has `work` done there.
  virtual void tell(std::function<void()> work) = 0;
  /// Asks for the stop on the application's side.
  virtual void request_stop(std::stop_source cancel) = 0;
  /// Calls `overrun` after that time, instead of what was asked for before.
  virtual void bound(Duration deadline, std::function<void()> overrun) = 0;
  virtual void unbound() = 0;
  /// What is left until then.
  [[nodiscard]] virtual Duration left() const = 0;

  /// From now on permits of this group are given.
  virtual void grant(GroupNumber group) = 0;
  /// No permit is valid from now on, and their stop is requested on the application's side;
  /// `returned` is called when the last is back. Gives the group, or none where nothing was
  /// permitted: then `returned` is not called.
  virtual std::optional<GroupNumber> revoke(std::function<void()> returned) = 0;
  [[nodiscard]] virtual PermitsOut permits_out() const = 0;

  virtual void event(Event event) = 0;  ///< Stopped, Reorganized, Started, HookFailed
  virtual void note(Hook hook, journal::Edge edge, std::optional<GroupNumber> group, Ticket ticket,
                    const Members* members) = 0;
  virtual void note(journal::PermitsEdge edge, GroupNumber group) = 0;
  /// What the hook that is called next may tell how far it is: from any thread, and even when the
  /// life is over.
  virtual std::function<void(std::string how_far)> new_listener() = 0;
  /// What takes work of any thread to the protocol's side, and drops it when the life is over.
  virtual std::function<void(std::function<void()> work)> new_door() = 0;

  /// Takes a question to another node, to be given to its HookRunner::asked where that node's view
  /// is of the same group, and gives the answer, or why there is none; one at a time to each. No
  /// letter of the protocol waits for any of it.
  virtual void ask(NodeId member, Inquiry inquiry, Ended answered) = 0;
  /// Whatever was asked is of no use any more: whoever was asked is told so.
  virtual void give_up_questions() = 0;

  /// A hook failed in a way that only ends the process.
  virtual void fatal(HookFault fault, const std::string& why) = 0;
};

}  // namespace muster

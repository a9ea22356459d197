#pragma once

#include <muster/application.hpp>
#include <muster/journal/journal.hpp>

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

namespace MUSTER_EXPORT muster {

/// How many permits have not been returned, by name.
using PermitsOut = std::map<std::string, std::size_t>;

/// The kinds of hook failures that end the process of a node.
enum class HookFault {
  failed,  ///< the application failed
  late,    ///< a deadline was exceeded: the application is slow, or the machine paused
};

/// The functions that a host provides for the hooks of one life.
///
/// @par Thread safety
/// The host calls every callback on the protocol's side, one at a time, and never from within one
/// of these functions. Once the life is over, the host calls no callback.
class HookHost {
 public:
  /// The result of a hook: the bytes of a report or a definition, nothing after a `start`, or why
  /// the hook failed.
  using Outcome = boost::system::result<Bytes, std::string>;
  using Ended = std::function<void(Outcome)>;
  using Call = std::function<void(Application&, Ended)>;

  virtual ~HookHost() = default;

  /// Makes the application run `call` on its own executor, then calls `on_ended` with the result
  /// once the call has returned. If an exception leaves `call` and destroys the Done, the result is
  /// a failure with that exception. `hook` is none for a question that must be answered.
  virtual void call(std::optional<Hook> hook, Call call, Ended on_ended) = 0;
  /// Runs `work` on the application's executor.
  virtual void tell(std::function<void()> work) = 0;
  /// Requests the stop of the hook, on the application's side.
  virtual void request_stop(std::stop_source cancel) = 0;
  /// Calls `overrun` after this time. A request replaces an earlier one.
  virtual void bound(Duration deadline, std::function<void()> overrun) = 0;
  /// Drops the request.
  virtual void unbound() = 0;
  /// The time left until then.
  [[nodiscard]] virtual Duration left() const = 0;

  /// From now on, permits of this group are given.
  virtual void grant(GroupNumber group) = 0;
  /// Makes every permit invalid and requests the permits' stop on the application's side. Calls
  /// `returned` when the last permit is back. Returns the group. Returns none if no permits were
  /// given; then `returned` is not called.
  virtual std::optional<GroupNumber> revoke(std::function<void()> returned) = 0;
  [[nodiscard]] virtual PermitsOut permits_out() const = 0;

  virtual void event(Event event) = 0;  ///< Stopped, Reorganized, Started or HookFailed
  virtual void note(Hook hook, journal::Edge edge, std::optional<GroupNumber> group, Ticket ticket,
                    const Members* members) = 0;
  virtual void note(journal::PermitsEdge edge, GroupNumber group) = 0;
  /// A function for the progress of the hook that is called next. The function may be called from
  /// any thread, even after the life is over.
  virtual std::function<void(std::string how_far)> new_listener() = 0;
  /// A function that passes work from any thread to the protocol's side. Once the life is over, the
  /// function drops the work.
  virtual std::function<void(std::function<void()> work)> new_door() = 0;

  /// Sends a question to another node and calls `answered` with the answer or the reason why there
  /// is none. The other node passes the question to its HookRunner::asked if its view has the same
  /// group. At most one question to each node is running. No letter of the protocol waits for it.
  virtual void ask(NodeId member, Inquiry inquiry, Ended answered) = 0;
  /// The answers to all running questions are no longer needed. The host tells this to the asked
  /// nodes.
  virtual void give_up_questions() = 0;

  /// A hook failed in a way that must end the process.
  virtual void fatal(HookFault fault, const std::string& why) = 0;
};

}  // namespace muster

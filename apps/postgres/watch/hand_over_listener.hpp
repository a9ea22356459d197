#pragma once

#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/interview.hpp"
#include "apps/postgres/server/options.hpp"

#include <deque>
#include <set>

/// Receives requests that the cluster's operator sends to the primary. The operator can send such
/// requests to the primary's PostgreSQL from any machine.

namespace muster::postgres {

/// The `NOTIFY` channel. A message is the number of the node that should become primary next.
inline constexpr const char* hand_over_channel = "muster_hand_over";
/// The `application_name` of the connection that listens on that channel.
inline constexpr const char* listener_name = "muster_wishes";

/// Listens at this node's PostgreSQL from begin() to stop(). Any role has the right to `NOTIFY`, so
/// the listener obeys only a superuser. The superuser has to stay connected until the listener has
/// checked the request. Requests of other roles are only logged.
class HandOverListener {
 public:
  /// `tell` is called with a sentence for the node's log, and `hand_over` with the node that should
  /// become primary next.
  HandOverListener(const Executor& executor, InstanceOptions options,
                   std::function<void(const std::string&)> tell,
                   std::function<void(NodeId)> hand_over);

  void begin();
  void stop();

 private:
  void listen();
  void hear(const Notification& wish);
  void look_up_sender();
  void judge(const Notification& wish, const std::vector<Row>& asks);
  void obey();
  void cannot_hear(const SqlError& error);

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(const std::string&)> tell_;
  std::function<void(NodeId)> hand_over_;
  Pause pause_;
  std::optional<Session> session_;
  std::deque<Notification> hand_over_listener_;
  std::optional<Interview> interview_;
  std::optional<NodeId> heir_;
  std::set<std::string>
      told_of_;  ///< roles that asked without the right to, and errors, which the log has mentioned
};

}  // namespace muster::postgres

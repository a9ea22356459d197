#pragma once

#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/interview.hpp"
#include "apps/postgres/server/options.hpp"

#include <deque>
#include <set>

/// What the cluster's owner wishes of the primary, said to its PostgreSQL from any machine.

namespace muster::postgres {

/// The channel of `NOTIFY` on which a node's number says who is to be primary next.
inline constexpr const char* hand_over_channel = "muster_hand_over";
/// Who listens there is called so (`application_name`).
inline constexpr const char* listener_name = "muster_wishes";

/// Listens at this node's PostgreSQL while it is told to. A superuser is obeyed, who stays
/// connected until that is looked at; whoever else asks is told of in the log, as any role may
/// `NOTIFY`.
class Wishes {
 public:
  /// `tell` is given a sentence for the node's log; `hand_over` who is to be primary next.
  Wishes(const Executor& executor, InstanceOptions options,
         std::function<void(const std::string&)> tell, std::function<void(NodeId)> hand_over);

  void begin();
  void stop();

 private:
  void listen();
  void hear(const Notification& wish);
  void look_who_asks();
  void judge(const Notification& wish, const std::vector<Row>& asks);
  void obey();
  void cannot_hear(const SqlError& error);

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(const std::string&)> tell_;
  std::function<void(NodeId)> hand_over_;
  Pause pause_;
  std::optional<Session> session_;
  std::deque<Notification> wishes_;
  std::optional<Interview> interview_;
  std::optional<NodeId> heir_;
  std::set<std::string> told_of_;  ///< roles that may not ask and have, and errors
};

}  // namespace muster::postgres

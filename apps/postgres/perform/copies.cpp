#include "apps/postgres/perform/order_task.hpp"
#include "apps/postgres/server/standbys.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

/// Orders by which a primary learns how far its standbys are.

namespace muster::postgres {
namespace {

/// The standbys in pg_stat_replication that are nodes of this cluster, and their positions.
struct Followers {
  Lsn own;  ///< this node's own position
  /// The flushed position of each standby by its name, such as "n2". Zero: the standby has not
  /// reported a position.
  std::map<std::string, Lsn> flushed;
  /// The same of standbys that do not count as copies yet.
  std::map<std::string, Lsn> uncounted;
  bool is_copied = false;  ///< a node is being cloned from this one
};

/// The position that at least k standbys have flushed. Zero: fewer than k standbys follow.
Lsn farthest(const Followers& followers, std::size_t k) {
  std::vector<Lsn> flushed;
  for (const auto& [name, lsn] : followers.flushed) flushed.push_back(lsn);
  std::sort(flushed.rbegin(), flushed.rend());
  return k > flushed.size() ? Lsn{} : flushed[k - 1];
}

/// Decides when a standby counts as gone. If a link is cut, the standby stays in
/// pg_stat_replication until a timeout, and commits wait for it during that time. So a standby
/// counts as gone if it lacks some log and gets no further for a time. With a witness this time is
/// 2 s, and then the primary goes on alone. Without a witness the time is 10 s, and then another
/// node can become primary. These 10 s are longer because a new primary does not help if PostgreSQL
/// is only restarting on the standbys. The time does not run during a clone, because a new primary
/// would break the clone.
class Stillness {
 public:
  explicit Stillness(const InstanceOptions& options)
      : beside_witness_(!options.witnesses.empty()),
        longest_(std::chrono::seconds(beside_witness_ ? 2 : 10)) {}

  /// Must be called repeatedly. True if no standby has got further for too long.
  bool lasts(const Followers& followers, bool have_all) {
    const auto now = std::chrono::steady_clock::now();
    bool further = have_all || (followers.is_copied && !beside_witness_);
    for (const auto* standbys : {&followers.flushed, &followers.uncounted})
      for (const auto& [name, lsn] : *standbys) {
        Lsn& farthest = farthest_[name];
        further = further || lsn > farthest;
        farthest = std::max(farthest, lsn);
      }
    if (further) since_ = now;
    return now > since_ + longest_;
  }

 private:
  const bool beside_witness_;
  const Duration longest_;
  std::map<std::string, Lsn> farthest_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

Lsn lsn_in(const Row& row, std::size_t column) {
  return parse_lsn(text_in(row, column)).value_or(Lsn{});
}

/// Asks which standbys follow, and how far each one is.
class FollowersTask : public OrderTask {
 public:
  using OrderTask::OrderTask;

  void begin() override {
    ask(std::string("SELECT pg_current_wal_flush_lsn(), application_name, flush_lsn, ") +
            has_its_slot +
            " FROM (SELECT) AS one LEFT JOIN pg_stat_replication"
            " ON application_name ~ '^(mend_|muster_clone_)?n[0-9]+$'",
        {}, [this](const Answer& answer) { look(followers_in(answer.rows)); });
  }

 protected:
  virtual void look(const Followers& followers) = 0;

 private:
  [[nodiscard]] Followers followers_in(const std::vector<Row>& rows) const {
    Followers followers{lsn_in(rows.at(0), 0), {}, {}};
    for (const Row& row : rows) {
      const std::string name = text_in(row, 1);
      if (is_true(row, 3) && is_another(name))
        followers.flushed[name] = std::max(followers.flushed[name], lsn_in(row, 2));
      else if (name.starts_with("mend_"))
        followers.uncounted[name] = lsn_in(row, 2);
      else if (name.starts_with("muster_clone_"))
        followers.is_copied = true;
    }
    return followers;
  }

  [[nodiscard]] bool is_another(const std::string& name) const {
    return std::any_of(options().nodes.begin(), options().nodes.end(), [&](const auto& node) {
      return node.first != options().node && name == name_of(node.first);
    });
  }
};

class AwaitCopiesTask : public FollowersTask {
 public:
  AwaitCopiesTask(const AwaitCopies& order, Core& core, Tell tell)
      : FollowersTask(core, std::move(tell)), lsn_(order.lsn), bounded_(order.bounded) {}

 private:
  void look(const Followers& followers) override {
    if (farthest(followers, options().copies_of_commit - 1) >= lsn_) return done(CopiesHold{});
    if (bounded_ && is_in_vain(followers)) return done(FollowerGone{});
    again([this] { begin(); });
  }

  /// True if the order should give up, because commits wait meanwhile. With a witness, the order
  /// also gives up on a standby that gets further but takes too long.
  bool is_in_vain(const Followers& followers) {
    return stillness_.lasts(followers, false) ||
           (!options().witnesses.empty() &&
            std::chrono::steady_clock::now() > began_ + longest_catching_up);
  }

  static constexpr Duration longest_catching_up = std::chrono::seconds(10);
  const Lsn lsn_;
  const bool bounded_;
  Stillness stillness_{options()};
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Asks again at intervals.
class FollowerTask : public FollowersTask {
 public:
  using FollowersTask::FollowersTask;

 protected:
  void look_again() {
    pause_.wait(between_looks, [this] { begin(); });
  }

 private:
  static constexpr Duration between_looks = std::chrono::milliseconds(250);
  Pause pause_{core().executor};
};

/// With a witness: waits until the other node has all log that was written when that node was first
/// seen to follow. Commits must not wait for the other node before that, since a standby that is
/// far behind would block them.
class AwaitFollowerTask : public FollowerTask {
 public:
  using FollowerTask::FollowerTask;

 private:
  void look(const Followers& followers) override {
    const Lsn its = farthest(followers, 1);
    if (its < last_) mark_.reset();  // the standby has another connection, or none
    last_ = its;
    if (mark_ && its >= *mark_) return done(FollowerThere{});
    if (mark_ || its == Lsn{}) return look_again();
    ask(write_a_record, {}, [this](const Answer& answer) {
      mark_ = lsn_in(answer.rows.at(0), 0);
      look_again();
    });
  }

  Lsn last_;
  std::optional<Lsn> mark_;
};

// A standby that restarts gets enough time to come back before the order ends (Stillness).
class AwaitNoFollowerTask : public FollowerTask {
 public:
  using FollowerTask::FollowerTask;

 private:
  void look(const Followers& followers) override {
    const Lsn its = farthest(followers, options().copies_of_commit - 1);
    const bool have_all = its != Lsn{} && its >= own_before_;
    own_before_ = followers.own;
    if (stillness_.lasts(followers, have_all)) return done(FollowerGone{});
    look_again();
  }

  Lsn own_before_;
  Stillness stillness_{options()};
};

class AcknowledgeTask : public OrderTask {
 public:
  using OrderTask::OrderTask;
  // An acknowledger that has not begun would call this object later.
  ~AcknowledgeTask() override {
    if (!begun_) core().acknowledger.reset();
  }

  void begin() override {
    core().acknowledger.emplace(core().executor, options());
    core().acknowledger->begin(
        [this] {
          begun_ = true;
          done(Acknowledges{});
        },
        [this](const SqlError& error) {
          if (std::chrono::steady_clock::now() > patient_until_)
            fail(
                "PostgreSQL does not let its own node stream its log, so no commit can be "
                "acknowledged alone: " +
                error.what);
        });
  }

 private:
  const std::chrono::steady_clock::time_point patient_until_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(5);
  bool begun_ = false;
};

class EndAcknowledgerTask : public OrderTask {
 public:
  using OrderTask::OrderTask;
  void begin() override {
    core().acknowledger.reset();
    end_walsender();
  }

 private:
  void end_walsender() {
    ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'walsender'"
        " AND application_name = $1",
        {name_of_acknowledger}, [this](const Answer& answer) {
          if (answer.rows.empty()) return done(AcknowledgerGone{});
          again([this] { end_walsender(); });
        });
  }
};

class KickTask : public OrderTask {
 public:
  using OrderTask::OrderTask;
  void begin() override {
    ask(write_a_record, {},
        [this](const Answer& answer) { done(Kicked{lsn_in(answer.rows.at(0), 0)}); });
  }
};

}  // namespace

std::unique_ptr<OrderTask> make_task(const AwaitCopies& order, Core& core, Tell tell) {
  return std::make_unique<AwaitCopiesTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const AwaitFollower&, Core& core, Tell tell) {
  return std::make_unique<AwaitFollowerTask>(core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const AwaitNoFollower&, Core& core, Tell tell) {
  return std::make_unique<AwaitNoFollowerTask>(core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const Acknowledge&, Core& core, Tell tell) {
  return std::make_unique<AcknowledgeTask>(core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const EndAcknowledger&, Core& core, Tell tell) {
  return std::make_unique<EndAcknowledgerTask>(core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const Kick&, Core& core, Tell tell) {
  return std::make_unique<KickTask>(core, std::move(tell));
}

}  // namespace muster::postgres

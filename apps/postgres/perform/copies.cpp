#include "apps/postgres/perform/errand.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

/// Orders by which a primary learns how far its standbys are.

namespace muster::postgres {
namespace {

/// Whoever has a walsender by a name of ours, and how far it is.
struct Followers {
  Lsn own;                             ///< how far this node is
  std::map<std::string, Lsn> flushed;  ///< by "n2": zero where it has not said
  bool is_copied = false;              ///< somebody clones it, or is being mended by it
};

/// The k-th of those that are farthest, zero where there are fewer.
Lsn farthest(const Followers& followers, std::size_t k) {
  std::vector<Lsn> flushed;
  for (const auto& [name, lsn] : followers.flushed) flushed.push_back(lsn);
  std::sort(flushed.rbegin(), flushed.rend());
  return k > flushed.size() ? Lsn{} : flushed[k - 1];
}

/// Over a link that is cut a standby stays in pg_stat_replication until a timeout, and commits wait
/// for it: who neither has all nor gets further for so long is gone. With a witness the primary
/// goes on alone then; without one another may take its place, which is no help against a
/// PostgreSQL that only begins anew, and breaks a clone that is being made.
class Stillness {
 public:
  explicit Stillness(const InstanceOptions& options)
      : beside_witness_(!options.witnesses.empty()),
        longest_(std::chrono::seconds(beside_witness_ ? 2 : 10)) {}

  /// Of what is asked again and again: whether nobody gets further for too long by now.
  bool lasts(const Followers& followers, bool have_all) {
    const auto now = std::chrono::steady_clock::now();
    bool further = have_all || (followers.is_copied && !beside_witness_);
    for (const auto& [name, lsn] : followers.flushed) {
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

/// A message of a transaction is flushed with it, and so goes out at once. Where it ends.
constexpr const char* write_a_record = "SELECT pg_logical_emit_message(true, 'muster', '')";

Lsn lsn_in(const Row& row, std::size_t column) {
  return parse_lsn(text_in(row, column)).value_or(Lsn{});
}

/// Asks who follows, and how far each is.
class FollowersErrand : public Errand {
 public:
  using Errand::Errand;

  void begin() override {
    ask("SELECT pg_current_wal_flush_lsn(), application_name, flush_lsn FROM (SELECT) AS one"
        " LEFT JOIN pg_stat_replication ON application_name ~ '^(mend_|muster_clone_)?n[0-9]+$'",
        {}, [this](const Answer& answer) { look(followers_in(answer.rows)); });
  }

 protected:
  virtual void look(const Followers& followers) = 0;

 private:
  [[nodiscard]] Followers followers_in(const std::vector<Row>& rows) const {
    Followers followers{lsn_in(rows.at(0), 0), {}};
    for (const Row& row : rows) {
      const std::string name = text_in(row, 1);
      if (name.starts_with('n') && is_another(name))
        followers.flushed[name] = std::max(followers.flushed[name], lsn_in(row, 2));
      else if (!name.empty())
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

class AwaitCopiesErrand : public FollowersErrand {
 public:
  AwaitCopiesErrand(const AwaitCopies& order, Core& core, Tell tell)
      : FollowersErrand(core, std::move(tell)), lsn_(order.lsn), bounded_(order.bounded) {}

 private:
  void look(const Followers& followers) override {
    if (farthest(followers, options().copies_of_commit - 1) >= lsn_) return done(CopiesHold{});
    if (bounded_ && is_in_vain(followers)) return done(FollowerGone{});
    again([this] { begin(); });
  }

  /// Commits wait meanwhile: beside a witness also for who is far behind.
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

/// Asks now and then.
class FollowerErrand : public FollowersErrand {
 public:
  using FollowersErrand::FollowersErrand;

 protected:
  void look_again() {
    pause_.wait(between_looks, [this] { begin(); });
  }

 private:
  static constexpr Duration between_looks = std::chrono::milliseconds(250);
  Pause pause_{core().executor};
};

/// With a witness: until the other has what was written when it was seen. Only then is it demanded,
/// as commits wait then.
class AwaitFollowerErrand : public FollowerErrand {
 public:
  using FollowerErrand::FollowerErrand;

 private:
  void look(const Followers& followers) override {
    const Lsn its = farthest(followers, 1);
    if (its < last_) mark_.reset();  // another connection, or none
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

// A standby that is begun anew is back before that.
class AwaitNoFollowerErrand : public FollowerErrand {
 public:
  using FollowerErrand::FollowerErrand;

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

class KickErrand : public Errand {
 public:
  using Errand::Errand;
  void begin() override {
    ask(write_a_record, {},
        [this](const Answer& answer) { done(Kicked{lsn_in(answer.rows.at(0), 0)}); });
  }
};

}  // namespace

std::unique_ptr<Errand> make_errand(const AwaitCopies& order, Core& core, Tell tell) {
  return std::make_unique<AwaitCopiesErrand>(order, core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const AwaitFollower&, Core& core, Tell tell) {
  return std::make_unique<AwaitFollowerErrand>(core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const AwaitNoFollower&, Core& core, Tell tell) {
  return std::make_unique<AwaitNoFollowerErrand>(core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const Kick&, Core& core, Tell tell) {
  return std::make_unique<KickErrand>(core, std::move(tell));
}

}  // namespace muster::postgres

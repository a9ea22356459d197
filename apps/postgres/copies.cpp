#include "apps/postgres/errand.hpp"

#include <algorithm>
#include <chrono>

/// Orders by which a primary learns how far its standbys are.

namespace muster::postgres {
namespace {

/// Over a link that is cut a standby stays in pg_stat_replication until a timeout, and commits wait
/// for it: who neither has all nor gets further for so long is gone. A primary goes on alone sooner
/// than another takes its place.
class Stillness {
 public:
  explicit Stillness(const InstanceOptions& options)
      : longest_(std::chrono::seconds(options.witnesses.empty() ? 5 : 2)) {}

  /// Of what is asked again and again: whether it stands still for too long by now.
  bool lasts(bool has_all, Lsn flushed) {
    const auto now = std::chrono::steady_clock::now();
    if (has_all || flushed > furthest_) since_ = now;
    furthest_ = std::max(furthest_, flushed);
    return now > since_ + longest_;
  }

 private:
  const Duration longest_;
  Lsn furthest_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// A message of a transaction is flushed with it, and so goes out at once. Where it ends.
constexpr const char* write_a_record = "SELECT pg_logical_emit_message(true, 'muster', '')";

Lsn lsn_in(const Row& row, std::size_t column) {
  return parse_lsn(text_in(row, column)).value_or(Lsn{});
}

/// What the other nodes call themselves as its standbys, as an array.
std::string names_of_others(const InstanceOptions& options) {
  std::string names;
  for (const auto& [node, address] : options.nodes)
    if (node != options.node) names += (names.empty() ? "{" : ",") + name_of(node);
  return names + "}";
}

class AwaitCopiesErrand : public Errand {
 public:
  AwaitCopiesErrand(const AwaitCopies& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), lsn_(to_text(order.lsn)), bounded_(order.bounded) {}

  void begin() override {
    ask("SELECT count(DISTINCT application_name) FILTER (WHERE flush_lsn >= $2::pg_lsn),"
        " max(flush_lsn) FROM pg_stat_replication WHERE application_name = ANY($1::text[])",
        {names_of_others(options()), lsn_}, [this](const Answer& answer) {
          const Row& row = answer.rows.at(0);
          if (number_in(row, 0) + 1 >= options().copies_of_commit) return done(CopiesHold{});
          if (bounded_ && is_in_vain(lsn_in(row, 1)))
            return fail("no other node has the log of node " +
                        std::to_string(options().node.value) + " to its end");
          again([this] { begin(); });
        });
  }

 private:
  /// Commits wait meanwhile: beside a witness also for who is far behind.
  bool is_in_vain(Lsn flushed) {
    return stillness_.lasts(false, flushed) ||
           (!options().witnesses.empty() &&
            std::chrono::steady_clock::now() > began_ + longest_catching_up);
  }

  static constexpr Duration longest_catching_up = std::chrono::seconds(10);
  const std::string lsn_;
  const bool bounded_;
  Stillness stillness_{options()};
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Asks now and then how far that one is with which W - 1 follow under their own names.
class FollowerErrand : public Errand {
 public:
  using Errand::Errand;
  void begin() override {
    ask("SELECT (array_agg(flush_lsn ORDER BY flush_lsn DESC NULLS LAST))[$2::int],"
        " pg_current_wal_flush_lsn() FROM pg_stat_replication"
        " WHERE application_name = ANY($1::text[])",
        {names_of_others(options()), std::to_string(options().copies_of_commit - 1)},
        [this](const Answer& answer) {
          const Row& row = answer.rows.at(0);
          look(lsn_in(row, 0), lsn_in(row, 1));
        });
  }

 protected:
  /// What it has flushed, zero where none follows, and what this node has.
  virtual void look(Lsn its, Lsn own) = 0;
  void look_again() {
    pause_.wait(between_looks_, [this] { begin(); });
  }

 private:
  const Duration between_looks_ =
      options().witnesses.empty() ? std::chrono::seconds(1) : std::chrono::milliseconds(250);
  Pause pause_{core().executor};
};

/// Until it has what was written when it was seen. Only then is it demanded, as commits wait then.
class AwaitFollowerErrand : public FollowerErrand {
 public:
  using FollowerErrand::FollowerErrand;

 private:
  void look(Lsn its, Lsn) override {
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
  void look(Lsn its, Lsn own) override {
    const bool has_all = its != Lsn{} && its >= own_before_;
    own_before_ = own;
    if (stillness_.lasts(has_all, its)) return done(FollowerGone{});
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

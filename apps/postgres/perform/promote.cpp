#include "apps/postgres/perform/errand.hpp"

/// Orders by which a node becomes the primary of its group.

namespace muster::postgres {
namespace {

class PromoteErrand : public Errand {
 public:
  using Errand::Errand;

  void begin() override {
    ask("SELECT pg_is_in_recovery()", {}, [this](const Answer& answer) {
      if (!is_true(answer.rows.at(0), 0)) return done(Promoted{});
      ask("SELECT pg_promote(wait => false)", {}, [this](const Answer&) { await(); });
    });
  }

 private:
  void await() {
    ask("SELECT pg_is_in_recovery()", {}, [this](const Answer& answer) {
      if (!is_true(answer.rows.at(0), 0)) return done(Promoted{});
      again([this] { await(); });
    });
  }
};

// Our sessions commit locally: rows that wait for copies would be seen by nobody.
class WriteTermErrand : public Errand {
 public:
  WriteTermErrand(const WriteTerm& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), group_(order.group) {
    for (const auto& [node, address] : options().nodes) {
      if (node != options().node) slots_ += (slots_.empty() ? "{" : ",") + slot_of(group_, node);
    }
    slots_ += "}";
  }

  void begin() override { end_users_of_other_slots(); }

 private:
  // One that is in use cannot go.
  void end_users_of_other_slots() {
    ask("SELECT pg_terminate_backend(active_pid)" + from_other_slots() +
            " AND active_pid IS NOT NULL",
        {slots_, slots_begin_with}, [this](const Answer& answer) {
          if (answer.rows.empty()) return drop_other_slots();
          again([this] { end_users_of_other_slots(); });
        });
  }

  void drop_other_slots() {
    ask(
        "SELECT pg_drop_replication_slot(slot_name)" + from_other_slots(),
        {slots_, slots_begin_with}, [this](const Answer&) { create_slots(); },
        [this](const SqlError&) {
          if (++tries_ > most_tries) return fail("the slots of an earlier group do not go");
          again([this] { end_users_of_other_slots(); });
        });
  }

  void create_slots() {
    ask("SELECT pg_create_physical_replication_slot(name) FROM unnest($1::text[]) AS name"
        " WHERE name NOT IN (SELECT slot_name FROM pg_replication_slots)",
        {slots_}, [this](const Answer&) { look_for_table(); });
  }

  static std::string from_other_slots() {
    return " FROM pg_replication_slots WHERE slot_type = 'physical'"
           " AND starts_with(slot_name, $2) AND slot_name <> ALL($1::text[])";
  }

  void look_for_table() {
    ask("SELECT to_regclass('muster.term') IS NOT NULL, EXISTS (SELECT FROM pg_attribute"
        " WHERE attrelid = to_regclass('muster.term') AND attname = 'copies')",
        {}, [this](const Answer& answer) {
          if (!is_true(answer.rows.at(0), 0)) return create();
          if (is_true(answer.rows.at(0), 1)) return write();
          ask(add_copies, {}, [this](const Answer&) { write(); });
        });
  }

  void create() {
    ask(make_schema, {},
        [this](const Answer&) { ask(make_table, {}, [this](const Answer&) { write(); }); });
  }

  // A start may come again with the same group: then its row stands.
  void write() {
    ask(row_statement(group_, options().node, options().copies()), {},
        [this](const Answer&) { read(); });
  }

  void read() {
    ask(std::string("SELECT ") + columns_of_terms +
            ", pg_current_wal_flush_lsn() FROM muster.term"
            " WHERE counter = $1::bigint AND coordinator = $2::bigint",
        {std::to_string(group_.counter), std::to_string(group_.coordinator.value)},
        [this](const Answer& answer) {
          if (answer.rows.empty()) return fail("the row of the group is not in muster.term");
          const Row& row = answer.rows[0];
          done(TermWritten{term_in(row), parse_lsn(text_in(row, 5)).value_or(Lsn{})});
        });
  }

  static constexpr unsigned most_tries = 1000;

  GroupNumber group_;
  std::string slots_;
  unsigned tries_ = 0;
};

// The process that makes them may take the first request with settings that it read before; by
// the second it has read those of now (CheckpointerMain).
class CheckpointErrand : public Errand {
 public:
  using Errand::Errand;
  void begin() override {
    // Over a connection of its own, as it may take long.
    ask_there(options().node, "CHECKPOINT", [this](const Answer&) {
      ask_there(options().node, "CHECKPOINT", [this](const Answer&) { done(Checkpointed{}); });
    });
  }
};

}  // namespace

std::unique_ptr<Errand> make_errand(const Promote&, Core& core, Tell tell) {
  return std::make_unique<PromoteErrand>(core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const WriteTerm& order, Core& core, Tell tell) {
  return std::make_unique<WriteTermErrand>(order, core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const Checkpoint&, Core& core, Tell tell) {
  return std::make_unique<CheckpointErrand>(core, std::move(tell));
}

}  // namespace muster::postgres

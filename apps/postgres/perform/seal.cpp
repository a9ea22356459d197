#include "apps/postgres/perform/errand.hpp"
#include "apps/postgres/server/processes.hpp"

#include <charconv>

/// Orders that make sure of what a sealed node holds.

namespace muster::postgres {
namespace {

class ShowNamesErrand : public Errand {
 public:
  ShowNamesErrand(const ShowNames& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), names_(names_text(order.names, options().copies())) {}

  void begin() override {
    ask_anew(
        "SHOW synchronous_standby_names", {},
        [this](const Answer& answer) {
          if (!answer.rows.empty() && text_in(answer.rows[0], 0) == names_)
            return done(NamesShown{});
          if (++tries_ % tries_before_doubt == 0) return find_who_says_so();
          again([this] { begin(); });
        },
        [this](const SqlError& error) {
          if (++tries_ >= most_tries) return fail("PostgreSQL does not answer: " + error.what);
          again([this] { begin(); });
        });
  }

 private:
  static constexpr unsigned tries_before_doubt = 100;
  static constexpr unsigned most_tries = 2000;

  // muster.conf is read last of all files but the one that ALTER SYSTEM writes.
  void find_who_says_so() {
    ask("SELECT coalesce(sourcefile, source) FROM pg_settings"
        " WHERE name = 'synchronous_standby_names'",
        {}, [this](const Answer& answer) {
          const std::string source = answer.rows.empty() ? "" : text_in(answer.rows[0], 0);
          if (std::filesystem::path(source).filename() == "muster.conf") return begin();
          fail("synchronous_standby_names come from " + source +
               ", not from muster.conf: ALTER SYSTEM RESET synchronous_standby_names, and let \"" +
               include_line + "\" be the last line of postgresql.conf");
        });
  }

  std::string names_;
  unsigned tries_ = 0;
};

class EndWalsendersErrand : public Errand {
 public:
  using Errand::Errand;

  void begin() override {
    ask("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender'", {},
        [this](const Answer& answer) { watch(answer.rows); });
  }

 private:
  void watch(const std::vector<Row>& rows) {
    if (rows.empty()) return done(WalsendersGone{});
    left_ = rows.size();
    std::string pids;
    for (const Row& row : rows) {
      pids += (pids.empty() ? "{" : ",") + text_in(row, 0);
      ends_.push_back(std::make_unique<EndOfProcess>(core().executor,
                                                     static_cast<pid_t>(number_in(row, 0)), [this] {
                                                       --left_;
                                                       see();
                                                     }));
    }
    ask("SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid", {pids + "}"},
        [this](const Answer&) {
          told_ = true;
          see();
        });
  }

  void see() {
    if (told_ && left_ == 0) done(WalsendersGone{});
  }

  std::vector<std::unique_ptr<EndOfProcess>> ends_;
  std::size_t left_ = 0;
  bool told_ = false;
};

class LookErrand : public Errand {
 public:
  using Errand::Errand;

  void begin() override {
    ask("SELECT (SELECT system_identifier FROM pg_control_system()), pg_is_in_recovery(),"
        " CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
        " ELSE pg_current_wal_flush_lsn() END,"
        " CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END,"
        " (SELECT pid FROM pg_stat_activity WHERE backend_type = 'startup')",
        {}, [this](const Answer& answer) { see(answer.rows.at(0)); });
  }

 private:
  void see(const Row& row) {
    holding_.system = number_in(row, 0);
    holding_.primary = !is_true(row, 1);
    const auto lsn = parse_lsn(text_in(row, 2));
    if (!lsn) return fail("PostgreSQL does not tell where its log stands");
    holding_.lsn = *lsn;
    std::string file = text_in(row, 3);
    if (!holding_.primary) {
      // What it replays has the timeline of the file that it is in, or of one before.
      const auto read = log_file_read_by(static_cast<pid_t>(number_in(row, 4)));
      file = read ? *read : last_log_file();
    }
    const auto digits = std::string_view(file).substr(0, 8);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), holding_.timeline, 16);
    if (error != std::errc{} || end != digits.data() + 8)
      return fail("PostgreSQL does not tell the timeline of its log");
    ask(
        std::string("SELECT ") + columns_of_terms + ", " + copies_of_term +
            " FROM muster.term ORDER BY counter DESC, coordinator DESC LIMIT 1",
        {},
        [this](const Answer& answer) {
          if (answer.rows.empty()) return done(Seen{holding_});
          const auto copies = copies_in(answer.rows[0], 5);
          if (!copies) return fail(copies.error().what);
          holding_.term = term_in(answer.rows[0]);
          holding_.copies = *copies;
          done(Seen{holding_});
        },
        [this](const SqlError& error_of_table) {
          if (is_missing_table(error_of_table)) return done(Seen{holding_});
          fail("cannot read muster.term: " + error_of_table.what);
        });
  }

  /// Of the highest timeline: where the startup process waits for a file that is not there.
  std::string last_log_file() {
    std::string last;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(options().data / "pg_wal", error)) {
      const std::string name = entry.path().filename().string();
      if (name.size() == 24) last = std::max(last, name);
    }
    return last;
  }

  Holding holding_;
};

}  // namespace

std::unique_ptr<Errand> make_errand(const ShowNames& order, Core& core, Tell tell) {
  return std::make_unique<ShowNamesErrand>(order, core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const EndWalsenders&, Core& core, Tell tell) {
  return std::make_unique<EndWalsendersErrand>(core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const Look&, Core& core, Tell tell) {
  return std::make_unique<LookErrand>(core, std::move(tell));
}

}  // namespace muster::postgres

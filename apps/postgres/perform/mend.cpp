#include "apps/postgres/perform/clone.hpp"
#include "apps/postgres/perform/errand.hpp"

#include <charconv>
#include <sstream>

/// Orders by which a node gets the log of another.

namespace muster::postgres {
namespace {

/// The lines of a timeline's history: a timeline, where it ended, and why.
std::map<std::uint32_t, Lsn> ends_in(const std::string& history) {
  std::map<std::uint32_t, Lsn> ends;
  std::istringstream lines(history);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::uint32_t timeline = 0;
    std::string lsn;
    if (!(fields >> timeline >> lsn)) continue;
    if (const auto end = parse_lsn(lsn)) ends[timeline] = *end;
  }
  return ends;
}

class ReadLineageErrand : public Errand {
 public:
  ReadLineageErrand(const ReadLineage& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), of_(order.of), group_(order.group) {}

  void begin() override {
    const auto later = [this](const SqlError&) { again([this] { begin(); }); };
    ask_there(
        of_,
        std::string("SELECT ") + columns_of_terms +
            ", CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END"
            " FROM muster.term ORDER BY counter, coordinator",
        [this](const Answer& answer) { see(answer.rows); }, later);
  }

 private:
  void see(const std::vector<Row>& rows) {
    lineage_ = {};
    bool there = false;
    for (const Row& row : rows) {
      lineage_.terms.push_back(term_in(row));
      there = there || lineage_.terms.back().group == group_;
    }
    const std::string file = rows.empty() ? "" : text_in(rows.back(), 5);
    if (!there || file.size() != 24) return again([this] { begin(); });
    const std::string timeline = file.substr(0, 8);
    std::from_chars(timeline.data(), timeline.data() + 8, lineage_.timeline, 16);
    const auto later = [this](const SqlError&) { again([this] { begin(); }); };
    // A file of that name is there unless it is the first timeline.
    ask_there(
        of_, "SELECT pg_read_file('pg_wal/" + timeline + ".history', 0, 1048576, true)",
        [this](const Answer& answer) {
          lineage_.ends_of_timelines = ends_in(text_in(answer.rows.at(0), 0));
          if (lineage_.timeline > 1 && lineage_.ends_of_timelines.empty())
            return fail("node " + std::to_string(of_.value) +
                        " has no history of its timeline in pg_wal");
          done(LineageRead{lineage_});
        },
        later);
  }

  NodeId of_;
  GroupNumber group_;
  Lineage lineage_;
};

class RewindErrand : public Errand {
 public:
  RewindErrand(const Rewind& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), from_(order.from) {}

  void begin() override {
    if (core().postmaster) return fail("PostgreSQL runs: it cannot be rewound");
    ask_there(from_, "SELECT pg_is_in_recovery()", [this](const Answer& answer) {
      if (is_true(answer.rows.at(0), 0))
        return fail("node " + std::to_string(from_.value) + " is no primary to rewind from");
      // Else its control file may tell its timeline of before: "no rewind required".
      ask_there(from_, "CHECKPOINT", [this](const Answer&) { rewind(); });
    });
  }

 private:
  void rewind() {
    // With it the recovery that pg_rewind begins with is refused.
    if (!holds(remove_durably(options().data / "standby.signal"))) return;
    const std::string source =
        connection_text(options(), from_, "muster_rewind") + " dbname=" + options().database;
    run("pg_rewind", {"--target-pgdata", options().data.string(), "--source-server", source},
        [this] { done(Mended{}); });
  }

  NodeId from_;
};

class CloneErrand : public Errand {
 public:
  CloneErrand(const Clone& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), from_(order.from) {}

  void begin() override {
    if (core().postmaster) return fail("PostgreSQL runs: another cannot take its place");
    if (!holds(finish_clone(options()))) return;
    // What was left of an attempt before, or nothing.
    run("rm", {"-rf", part_path(options()).string(), rubbish_path(options()).string()},
        [this] { copy(); });
  }

 private:
  void copy() {
    run("pg_basebackup",
        {"--pgdata", part_path(options()).string(), "--dbname",
         connection_text(options(), from_, name_of_clone(options().node)), "--checkpoint=fast",
         "--wal-method=stream", "--no-password"},
        [this] { take_place(); });
  }

  void take_place() {
    if (holds(complete_clone(options())) && holds(finish_clone(options()))) done(Mended{});
  }

  NodeId from_;
};

class AwaitStreamingErrand : public Errand {
 public:
  using Errand::Errand;

  void begin() override {
    const auto later = [this](const SqlError&) { again([this] { begin(); }); };
    ask(
        "SELECT status FROM pg_stat_wal_receiver", {},
        [this](const Answer& answer) {
          if (!answer.rows.empty() && text_in(answer.rows[0], 0) == "streaming") return tidy_up();
          again([this] { begin(); });
        },
        later);
  }

 private:
  void tidy_up() {
    std::vector<std::string> rest;
    for (const auto& path : {old_path(options()), rubbish_path(options())}) {
      if (std::filesystem::exists(path)) rest.push_back(path.string());
    }
    if (rest.empty()) return done(Streams{});
    rest.insert(rest.begin(), "-rf");
    run("rm", rest, [this] { done(Streams{}); });
  }
};

}  // namespace

std::unique_ptr<Errand> make_errand(const ReadLineage& order, Core& core, Tell tell) {
  return std::make_unique<ReadLineageErrand>(order, core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const Rewind& order, Core& core, Tell tell) {
  return std::make_unique<RewindErrand>(order, core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const Clone& order, Core& core, Tell tell) {
  return std::make_unique<CloneErrand>(order, core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const AwaitStreaming&, Core& core, Tell tell) {
  return std::make_unique<AwaitStreamingErrand>(core, std::move(tell));
}

}  // namespace muster::postgres

#include "apps/postgres/decide/check.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace muster::postgres {

const std::vector<std::string> settings_of_muster{"synchronous_standby_names", "primary_conninfo",
                                                  "primary_slot_name",
                                                  "default_transaction_read_only"};

const std::vector<std::string> settings_of_primary{"max_connections", "max_worker_processes",
                                                   "max_wal_senders", "max_prepared_transactions",
                                                   "max_locks_per_transaction"};

const std::vector<std::string> settings_looked_at = [] {
  std::vector<std::string> names{"synchronous_commit",       "fsync",
                                 "full_page_writes",         "wal_log_hints",
                                 "data_checksums",           "restore_command",
                                 "recovery_min_apply_delay", "superuser_reserved_connections",
                                 "log_min_messages"};
  names.insert(names.end(), settings_of_primary.begin(), settings_of_primary.end());
  return names;
}();

namespace {

constexpr std::uint32_t tried_major = 15;
constexpr std::uint32_t least_version = 150013;

/// What was said of a role may be any word that PostgreSQL takes.
bool waits_for_copies(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"on", "remote_apply", "true", "yes", "1"})
    if (value == word) return true;
  return false;
}

std::optional<std::uint64_t> number_of(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

class Check {
 public:
  explicit Check(const Facts& facts) : facts_(facts) {}

  std::vector<Finding> findings() {
    if (facts_.databases < 3 && !facts_.witness)
      find("nodes", "the cluster has " + std::to_string(facts_.databases) +
                        " databases: the loss of either ends all writing; have three nodes");
    if (!version()) return std::move(findings_);
    copies();
    commits();
    roles();
    places();
    disk();
    replay();
    slots();
    limits();
    log();
    return std::move(findings_);
  }

 private:
  void find(const std::string& about, std::string sentence) {
    findings_.push_back({about, std::move(sentence)});
  }
  [[nodiscard]] std::string value(const std::string& name) const {
    const auto found = facts_.settings.find(name);
    return found == facts_.settings.end() ? "" : found->second;
  }
  [[nodiscard]] bool off(const std::string& name) const { return value(name) == "off"; }

  bool version() {
    const std::string is = "PostgreSQL is " + version_text(facts_.version);
    if (facts_.version / 10000 != tried_major) {
      find("version", is + ", and what was tried is " + std::to_string(tried_major) +
                          ": nothing else of it is looked at; install PostgreSQL " +
                          std::to_string(tried_major));
      return false;
    }
    if (facts_.version < least_version)
      find("version", is + ": before " + version_text(least_version) +
                          " a commit right after the server's start may wait for no copy; install "
                          "a newer minor version");
    return true;
  }

  void copies() {
    if (facts_.alone)
      find(
          "copies",
          "this primary goes on alone, as the witness lets it: a commit is in its log only when it "
          "is acknowledged; let another node follow, and see muster postgres status");
    if (!facts_.followers || *facts_.followers + 1 >= facts_.copies) return;
    find("copies",
         "only " + std::to_string(*facts_.followers) + " of the " +
             std::to_string(facts_.copies - 1) +
             " other nodes that each commit waits for follow this primary: none is acknowledged; "
             "see muster postgres status, and that the others reach its port");
  }

  void commits() {
    constexpr const char* too_early = "commits are acknowledged that no other node may hold; ";
    const std::string usual = value("synchronous_commit");
    if (facts_.settings.contains("synchronous_commit") && !waits_for_copies(usual))
      find("synchronous_commit",
           "synchronous_commit is " + usual + ": " + too_early + "set it to on");
    for (const OfSome& some : facts_.synchronous_commit) {
      if (waits_for_copies(some.value)) continue;
      std::string of, cure;
      if (some.role.empty()) {
        of = some.database.empty() ? "all roles" : "database " + some.database;
        cure = some.database.empty() ? "ROLE ALL" : "DATABASE " + some.database;
      } else {
        of = "role " + some.role;
        cure = "ROLE " + some.role;
        if (!some.database.empty()) {
          of += " in database " + some.database;
          cure += " IN DATABASE " + some.database;
        }
      }
      find("synchronous_commit", "synchronous_commit is " + some.value + " for " + of + ": " +
                                     too_early + "ALTER " + cure + " RESET synchronous_commit");
    }
  }

  void roles() {
    for (const Replicates& one : facts_.replicates)
      find("roles", "role " + one.role + (one.superuser ? " is a superuser, and" : "") +
                        " may replicate: whoever follows under a node's name counts as its copy; "
                        "ALTER ROLE " +
                        one.role + (one.superuser ? " NOSUPERUSER" : "") + " NOREPLICATION");
  }

  void places() {
    for (const std::string& name : settings_of_muster) {
      const auto found = facts_.places.find(name);
      const std::string place = found == facts_.places.end() ? "" : found->second;
      if (place.find("/muster.conf line ") != std::string::npos) continue;
      if (place.empty()) {
        find(name, name +
                       " is in no file of settings: muster.conf is not read; let "
                       "\"include_if_exists '../muster.conf'\" be the last line of "
                       "postgresql.conf");
        continue;
      }
      find(name, name + " comes from " + place +
                     ", which counts for more than muster.conf: this node can be neither sealed "
                     "nor opened; ALTER SYSTEM RESET " +
                     name + ", or take that line out");
    }
  }

  void disk() {
    if (off("fsync"))
      find("fsync", "fsync is off: what was acknowledged may be lost with the power; set it to on");
    if (off("full_page_writes"))
      find("full_page_writes",
           "full_page_writes is off: a page that is half written in a crash, or is read by a "
           "rewind meanwhile, stays broken; set it to on");
    if (off("wal_log_hints") && off("data_checksums"))
      find("wal_log_hints",
           "wal_log_hints is off, and the database has no checksums: who has more than its "
           "primary cannot be rewound, and is cloned; set wal_log_hints to on");
    if (value("superuser_reserved_connections") == "0")
      find("superuser_reserved_connections",
           "superuser_reserved_connections is 0: when clients have all connections this node "
           "cannot ask its own PostgreSQL, and shuts it down; set it to 3 or more");
  }

  // Who read it reads at the primary now; and a logical one cannot be read on a standby at all.
  void slots() {
    for (const std::string& slot : facts_.unread_slots)
      find("slots", "nobody reads the replication slot " + slot +
                        " of this standby, maybe of when it was primary, and it keeps all log from "
                        "being removed: SELECT pg_drop_replication_slot('" +
                        slot + "')");
  }

  void replay() {
    if (!value("restore_command").empty())
      find("restore_command",
           "restore_command is set: a standby would replay log that its primary has not sent; set "
           "it to ''");
    if (value("recovery_min_apply_delay") != "0")
      find("recovery_min_apply_delay",
           "recovery_min_apply_delay is " + value("recovery_min_apply_delay") +
               " ms: as a standby this node is not sealed in time, and is shut down at each stop; "
               "set it to 0");
    if (facts_.standby && facts_.replay_paused)
      find("replay",
           "replay is paused: this node is not sealed in time, and is shut down at the next stop; "
           "SELECT pg_wal_replay_resume()");
  }

  void limits() {
    if (!facts_.standby) return;
    for (const auto& [name, least] : facts_.least) {
      const auto here = number_of(value(name));
      if (!here || *here >= least) continue;
      find(name, name + " is " + value(name) + " here and " + std::to_string(least) +
                     " at the primary: replay pauses, and PostgreSQL does not start any more; set "
                     "it to " +
                     std::to_string(least) + " or more, and restart this node");
    }
  }

  void log() {
    const std::string least = value("log_min_messages");
    if (least == "fatal" || least == "panic")
      find("log_min_messages",
           "log_min_messages is " + least +
               ": postgres.log does not say whether PostgreSQL had looked at its data when it "
               "ended, so data that is broken is kept, and is not cloned anew; set it to log, or "
               "to what says more");
  }

  const Facts& facts_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check(const Facts& facts) {
  return Check(facts).findings();
}

std::string version_text(std::uint32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000);
}

}  // namespace muster::postgres

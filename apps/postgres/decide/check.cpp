#include "apps/postgres/decide/check.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace muster::postgres {

const std::vector<std::string> settings_of_muster{"primary_conninfo", "primary_slot_name",
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

/// True if commits with this value of `synchronous_commit` wait for copies. PostgreSQL stores the
/// setting of a role as its user wrote it, so each spelling of a value is possible.
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
      find("nodes",
           "the cluster has " + std::to_string(facts_.databases) +
               " databases, so nobody can write when one of them is lost; run three nodes");
    if (!version()) return std::move(findings_);
    files();
    markers();
    names();
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
      find("version", is + ", but Muster was tested only with " + std::to_string(tried_major) +
                          ": nothing else is checked; install PostgreSQL " +
                          std::to_string(tried_major));
      return false;
    }
    if (facts_.version < least_version)
      find("version", is + ": before " + version_text(least_version) +
                          " a commit right after the server's start may be acknowledged without a "
                          "copy; install a newer minor version");
    return true;
  }

  void files() {
    if (facts_.file_error.empty()) return;
    find("files", "PostgreSQL reads no new settings, and does not start again, because of " +
                      facts_.file_error + "; correct that line");
  }

  void markers() {
    if (!facts_.has_marker_key && facts_.rows_ended)
      return find("markers",
                  "this node has no marker key any more, so it cannot read its own log at the next "
                  "election; copy the key of another node, and restart this node");
    if (!facts_.has_marker_key)
      return find("markers",
                  "this node has no marker key, so rows of the table muster.term decide which data "
                  "is the newest, and a restored dump could replace them; if no node has a key, "
                  "run muster postgres key, and otherwise copy the key of another node");
    if (!facts_.rows_ended && facts_.followers)
      find("markers",
           "rows of the table muster.term still decide which data is the newest, and a restored "
           "dump could replace them, because not all nodes have this node's marker key yet; copy "
           "it to all nodes, and restart them with this version of muster");
  }

  void names() {
    for (const Impostor& impostor : facts_.impostors) find("copies", in_words(impostor));
    if (facts_.foreign_names)
      find("synchronous_standby_names", foreign_names_in_words(*facts_.foreign_names));
  }

  void copies() {
    if (facts_.alone)
      find("copies",
           "this primary acknowledges commits that only its own disk has, because the other node "
           "with a database does not follow or has not caught up; let that node follow, and see "
           "muster postgres status");
    if (!facts_.followers || *facts_.followers + 1 >= facts_.copies) return;
    find("copies", "this primary has only " + std::to_string(*facts_.followers) + " of the " +
                       std::to_string(facts_.copies - 1) +
                       " followers that each commit needs, so no commit is acknowledged; see "
                       "muster postgres status, and make sure that the other nodes reach "
                       "PostgreSQL's port here");
  }

  void commits() {
    constexpr const char* too_early = "commits are acknowledged before another node has them; ";
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
                                     too_early + "run ALTER " + cure + " RESET synchronous_commit");
    }
  }

  void roles() {
    for (const Replicates& one : facts_.replicates)
      find("roles", "role " + one.role + (one.superuser ? " is a superuser and" : "") +
                        " may replicate: a client of this role could follow under the name of a "
                        "node and count as that node's copy; run ALTER ROLE " +
                        one.role + (one.superuser ? " NOSUPERUSER" : "") + " NOREPLICATION");
  }

  void places() {
    for (const std::string& name : settings_of_muster) {
      const auto found = facts_.places.find(name);
      const std::string place = found == facts_.places.end() ? "" : found->second;
      if (place.find("/muster.conf line ") != std::string::npos) continue;
      if (place.empty()) {
        find(name, name +
                       " is set in no settings file, so muster.conf is not read; make "
                       "\"include_if_exists '../muster.conf'\" the last line of postgresql.conf");
        continue;
      }
      find(name,
           name + " comes from " + place +
               ", which overrides muster.conf: Muster cannot tell this node whom to follow, or "
               "whether it takes writes; run ALTER SYSTEM RESET " +
               name + ", or remove that line");
    }
  }

  void disk() {
    if (off("fsync"))
      find("fsync", "fsync is off: a power cut may lose acknowledged commits; set it to on");
    if (off("full_page_writes"))
      find("full_page_writes",
           "full_page_writes is off: a page that is half written in a crash, or while a rewind "
           "reads it, stays broken; set it to on");
    if (off("wal_log_hints") && off("data_checksums"))
      find("wal_log_hints",
           "wal_log_hints is off, and the database has no checksums: a node with more WAL than its "
           "primary cannot be rewound and has to be cloned; set wal_log_hints to on");
    if (value("superuser_reserved_connections") == "0")
      find("superuser_reserved_connections",
           "superuser_reserved_connections is 0: when clients hold all connections, this node "
           "cannot reach its own PostgreSQL, and shuts it down; set it to 3 or more");
  }

  // Nothing reads these slots: a reader has to use the slots of the primary, and PostgreSQL 15
  // cannot read a logical slot on a standby at all.
  void slots() {
    for (const std::string& slot : facts_.unread_slots)
      find("slots", "no client reads the replication slot " + slot +
                        " of this standby, perhaps since it was the primary: the slot keeps all "
                        "WAL, which may fill the disk; run SELECT pg_drop_replication_slot('" +
                        slot + "')");
  }

  void replay() {
    if (!value("restore_command").empty())
      find("restore_command",
           "restore_command is set: a standby would replay WAL that its primary has not sent; set "
           "it to ''");
    if (value("recovery_min_apply_delay") != "0")
      find("recovery_min_apply_delay",
           "recovery_min_apply_delay is " + value("recovery_min_apply_delay") +
               " ms: as a standby, this node cannot be sealed in time, and its PostgreSQL is shut "
               "down in each election; set it to 0");
    if (facts_.standby && facts_.replay_paused && !has_smaller_limit())
      find("replay",
           "replay is paused: this node cannot be sealed in time, and its PostgreSQL is shut down "
           "in the next election; run SELECT pg_wal_replay_resume()");
  }

  [[nodiscard]] bool is_smaller(const std::string& limit, std::uint64_t least) const {
    const auto here = number_of(value(limit));
    return facts_.standby && here && *here < least;
  }
  [[nodiscard]] bool has_smaller_limit() const {
    return std::any_of(facts_.least.begin(), facts_.least.end(),
                       [this](const auto& each) { return is_smaller(each.first, each.second); });
  }

  void limits() {
    for (const auto& [name, least] : facts_.least)
      if (is_smaller(name, least))
        find(name, name + " is " + value(name) + " here but " + std::to_string(least) +
                       " at the primary, so replay pauses: this node starts its PostgreSQL again "
                       "with the greater value; set it to " +
                       std::to_string(least) + " or more in postgresql.conf, too");
  }

  void log() {
    const std::string least = value("log_min_messages");
    if (least == "fatal" || least == "panic")
      find("log_min_messages", "log_min_messages is " + least +
                                   ": postgres.log does not say whether PostgreSQL had read its "
                                   "data when it ended, so broken data is kept and not cloned "
                                   "again; set it to log, or to a level that logs more");
  }

  const Facts& facts_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check(const Facts& facts) {
  return Check(facts).findings();
}

std::string in_words(const Impostor& impostor) {
  return "process " + std::to_string(impostor.process) + " serves a client" +
         (impostor.address.empty() ? " on this machine" : " at " + impostor.address) +
         " that calls itself " + impostor.name +
         " and is not that node, so commits may be acknowledged that no node has a copy of; end it "
         "with SELECT pg_terminate_backend(" +
         std::to_string(impostor.process) + "), and let no role but Muster's replicate";
}

std::string foreign_names_in_words(const std::string& names) {
  return "Muster did not start this PostgreSQL with its command line, so any file can change "
         "synchronous_standby_names, which is now '" +
         names +
         "': commits may be acknowledged without a copy; stop this PostgreSQL, and let muster "
         "postgres run start it";
}

std::string version_text(std::uint32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000);
}

}  // namespace muster::postgres

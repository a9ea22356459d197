#include "apps/postgres/adopting/existing.hpp"

#include "apps/base/text.hpp"
#include "apps/base/user.hpp"
#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/own_settings.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/tools.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

constexpr const char* first_cure = ", then adopt it";

Failure refused(const fs::path& what, const std::string& why) {
  return {ExitCode::bad_configuration, what.string() + ": " + why};
}

fs::path real(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? path : found;
}

/// The value of a key, such as "Database cluster state:", in the output of pg_controldata.
std::string value_of(const std::string& said, const std::string& key) {
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key + ":")) continue;
    const auto at = line.find_first_not_of(' ', key.size() + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

/// The quoted value in a line `name = "value"`, which PostgreSQL prints in single-user mode.
std::string answer_in(const std::string& said, const std::string& name) {
  const std::string before = name + " = \"";
  const auto at = said.find(before);
  if (at == std::string::npos) return "";
  const auto from = at + before.size();
  return said.substr(from, said.find('"', from) - from);
}

bool is_of_place(const std::string& name) {
  for (const char* each :
       {"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"})
    if (name == each) return true;
  return false;
}

// True for a setting of a recovery. Such settings are not taken over: a recovery that stops at a
// target would end the replay, or promote a sealed standby.
bool is_of_recovery(const std::string& name) {
  return name.starts_with("recovery_target") || name == "promote_trigger_file" ||
         name == "recovery_end_command";
}

bool is_musters(const std::string& name) {
  return std::find(settings_of_muster.begin(), settings_of_muster.end(), name) !=
         settings_of_muster.end();
}

enum class Looks { whole, survivor, again };

class Inspection {
 public:
  Inspection(const Whereabouts& place, const InstanceOptions& options, Looks looks)
      : place_(place), options_(options), looks_(looks) {}

  Expected<Existing> existing() {
    found_.place = place_;
    using I = Inspection;
    std::vector<Expected<> (I::*)()> all{&I::control_file};
    if (looks_ == Looks::survivor)
      all = {&I::version, &I::owner, &I::rest, &I::file_system, &I::altered, &I::control_file};
    if (looks_ == Looks::whole)
      all = {&I::version, &I::owner,        &I::debian,   &I::rest,
             &I::role,    &I::control_file, &I::links,    &I::file_system,
             &I::altered, &I::effective,    &I::interview};
    for (const auto look : all)
      if (const auto right = (this->*look)(); !right) return right.error();
    return found_;
  }

 private:
  [[nodiscard]] Failure refuse(const std::string& why) const { return refused(place_.data, why); }

  Expected<> version() {
    const auto text = read_text(place_.data / "PG_VERSION");
    if (!text) return text.error();
    const auto said = output_of(options_, "postgres", {"--version"});
    if (!said) return said.error();
    std::string its = **text;
    its.erase(its.find_last_not_of(" \n") + 1);
    const auto at = said->find(") ");
    const std::string ours = at == std::string::npos ? "" : said->substr(at + 2);
    if (ours.starts_with(its + ".") || ours.starts_with(its + "\n")) return {};
    return refuse(
        "the database is of PostgreSQL " + its + ", but the programs in " +
        options_.programs.string() + " are of " + ours.substr(0, ours.find_first_of(" \n")) +
        ": upgrade the database first (pg_upgrade, or Debian's pg_upgradecluster)" + first_cure);
  }

  Expected<> owner() { return look_at_owner(place_.data); }

  Expected<> debian() {
    if (!place_.debians || !place_.debians->begins_with_machine) return {};
    return refuse(
        "the database belongs to Debian's " + place_.debians->unit +
        ", which would still try to start it when this machine boots: disable that service " +
        place_.debians->how_it_is_let_be() + first_cure);
  }

  Expected<> rest() {
    const auto processes = processes_on(place_.data);
    if (processes.empty()) return {};
    std::string how = "stop it with " + (options_.programs / "pg_ctl").string() + " stop -D " +
                      place_.data.string();
    if (place_.debians) how = "stop it with systemctl stop " + place_.debians->unit;
    if (looks_ == Looks::survivor) how = "stop the node that runs it, and disable its service";
    const auto postmaster = postmaster_on(place_.data);
    return refuse("PostgreSQL runs on this database, as process " +
                  std::to_string(postmaster.value_or(processes.front())) + ": " + how + first_cure);
  }

  Expected<> role() {
    std::error_code error;
    for (const char* signal : {"standby.signal", "recovery.signal"})
      if (fs::exists(place_.data / signal, error))
        return refuse(std::string("this is the database of a standby, because it contains ") +
                      signal +
                      ": adopt the database of its primary instead; if the primary is gone, start "
                      "this database, promote it (pg_ctl promote) and stop it" +
                      first_cure);
    return {};
  }

  Expected<> control_file() {
    const auto said = output_of(options_, "pg_controldata", {"--pgdata", place_.data.string()});
    if (!said) return said.error();
    found_.segment_bytes = apps::parse_number(value_of(*said, "Bytes per WAL segment")).value_or(0);
    found_.checksums = value_of(*said, "Data page checksum version") != "0";
    const std::string state = value_of(*said, "Database cluster state");
    if (looks_ != Looks::whole || state == "shut down") return {};
    return refuse("the database was not shut down cleanly, its state is \"" + state +
                  "\": start it where it is and stop it" + first_cure);
  }

  // A relative link would point elsewhere once the directory has moved.
  Expected<> links() {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(place_.data / "pg_tblspc", error))
      return refuse("the database has a tablespace at " +
                    fs::read_symlink(entry.path(), error).string() +
                    ", and a later clone of this node could not replace it: move its contents to "
                    "pg_default, run DROP TABLESPACE, and stop PostgreSQL" +
                    first_cure);
    for (const auto& entry : fs::directory_iterator(place_.data, error)) {
      if (!entry.is_symlink(error)) continue;
      const fs::path to = fs::read_symlink(entry.path(), error);
      if (to.is_relative())
        return refuse(
            entry.path().filename().string() + " is a link to " + to.string() +
            ", a relative path that points elsewhere after the move: make it an absolute link" +
            first_cure);
    }
    return {};
  }

  Expected<> file_system() {
    struct stat from {};
    struct stat to {};
    const fs::path target = options_.data.parent_path();
    if (::stat(place_.data.c_str(), &from) == 0 && ::stat(target.c_str(), &to) == 0 &&
        from.st_dev == to.st_dev)
      return {};
    return refuse(
        "the database is not on the file system of " + target.string() +
        ", and it can be moved only within one file system, because it is never copied: name "
        "a directory on its own file system, with --data, or with database = \"...\" in "
        "[application]");
  }

  Expected<> altered() {
    const fs::path file = place_.data / "postgresql.auto.conf";
    std::error_code error;
    if (!fs::exists(file, error)) return {};
    const auto counts = [](const std::string& name) {
      return is_musters(name) || is_of_place(name) || is_of_recovery(name);
    };
    const auto settings = read_settings(file, counts);
    if (!settings) return settings.error();
    for (const auto& [name, value] : settings->left_out) {
      // Muster sets this setting on the command line, so the file's value does not matter.
      if (settings_on_command_line(options_).contains(name)) continue;
      return refused(
          file,
          name + " is set by ALTER SYSTEM, which overrides muster.conf: run ALTER SYSTEM RESET " +
              name + " while PostgreSQL runs, or remove that line" + first_cure);
    }
    return {};
  }

  Expected<std::string> effective_value(const char* name) {
    return output_of(
        options_, "postgres",
        {"-C", name, "-D", place_.data.string(), "-c", "config_file=" + place_.settings.string(),
         "-c", "data_directory=" + place_.data.string()});
  }

  // The other nodes clone and follow this database, so the settings have to allow cloning and
  // following.
  Expected<> effective() {
    const auto level = effective_value("wal_level");
    if (!level) return refused(place_.settings, level.error().what + ": correct that" + first_cure);
    if (level->starts_with("minimal"))
      return refused(place_.settings,
                     std::string("wal_level is minimal, so no other node could clone or follow the "
                                 "database: set it to replica") +
                         first_cure);
    const std::uint64_t least = 2 * options_.nodes.size();
    for (const char* name : {"max_wal_senders", "max_replication_slots"}) {
      auto said = effective_value(name);
      if (!said) return refused(place_.settings, said.error().what);
      said->erase(said->find_last_not_of('\n') + 1);
      if (apps::parse_number(*said).value_or(0) < least)
        return refused(place_.settings, std::string(name) + " is " + *said + ", but " +
                                            std::to_string(options_.nodes.size()) +
                                            " nodes need at least " + std::to_string(least) +
                                            ": raise it" + first_cure);
    }
    return {};
  }

  Expected<> interview() {
    InstanceOptions there = options_;
    there.data = place_.data;
    const std::string question =
        "SELECT (SELECT count(*) FROM pg_roles WHERE rolname = '" + options_.role +
        "' AND rolsuper AND rolcanlogin) AS superusers,"
        " coalesce(to_regclass('muster.term')::text, '') AS kept,"
        " (SELECT string_agg(DISTINCT datcollate, ', ') FROM pg_database) AS locales\n";
    const auto said = in_single_user(there, question,
                                     {"-c", "config_file=" + place_.settings.string(), "-c",
                                      "data_directory=" + place_.data.string()});
    if (!said) return refuse("PostgreSQL does not start on this database: " + said.error().what);
    if (answer_in(*said, "superusers") != "1")
      return refuse("the database has no superuser " + options_.role +
                    " that may log in, which the nodes connect as: start it, run CREATE ROLE " +
                    options_.role + " SUPERUSER LOGIN, stop it" + first_cure);
    if (!answer_in(*said, "kept").empty())
      return refuse(
          "the database has a table muster.term although Muster has never run it: start it, run "
          "DROP SCHEMA muster CASCADE, stop it" +
          std::string(first_cure));
    found_.locales = answer_in(*said, "locales");
    return {};
  }

  const Whereabouts& place_;
  const InstanceOptions& options_;
  const Looks looks_;
  Existing found_;
};

}  // namespace

Expected<Whereabouts> whereabouts_of(const fs::path& named, const fs::path& clusters) {
  std::error_code error;
  Whereabouts place;
  place.data = real(named);
  const bool has_settings = fs::exists(place.data / "postgresql.conf", error);
  if (has_settings && !fs::exists(place.data / "PG_VERSION", error)) {
    place.settings = place.data / "postgresql.conf";
    const auto settings =
        read_settings(place.settings, [](const auto& name) { return name == "data_directory"; });
    if (!settings) return settings.error();
    const auto directory = settings->left_out.find("data_directory");
    if (directory == settings->left_out.end())
      return refused(place.settings,
                     "sets no data_directory: pass the data directory itself to --adopt");
    place.data = real(directory->second);
  }
  for (const DebiansCluster& cluster : debians_clusters(clusters)) {
    if (real(cluster.data) != place.data) continue;
    place.debians = cluster;
    place.settings = cluster.settings;
  }
  if (place.settings.empty()) place.settings = place.data / "postgresql.conf";
  return place;
}

Expected<> look_at_owner(const fs::path& data) {
  struct stat found {};
  if (::stat(data.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return {};  // the caller reports that the file is missing
    return refused(data, std::generic_category().message(errno));
  }
  if (found.st_uid == ::geteuid()) return {};
  const std::string name = apps::name_of(found.st_uid);
  return refused(
      data, "belongs to " + name +
                ", and only its owner can run it: run this command as root with --user " + name);
}

Expected<Existing> look_at(const Whereabouts& place, const InstanceOptions& options) {
  return Inspection(place, options, Looks::whole).existing();
}

Expected<Existing> look_at_survivor(const Whereabouts& place, const InstanceOptions& options) {
  return Inspection(place, options, Looks::survivor).existing();
}

Expected<Existing> look_again(const Whereabouts& place, const InstanceOptions& options) {
  return Inspection(place, options, Looks::again).existing();
}

bool is_kept(const Whereabouts& place) {
  const auto text = read_text(place.data / "postgresql.conf");
  return text && *text && (*text)->find(include_line) != std::string::npos;
}

bool is_left_out(const InstanceOptions& options, const std::string& name) {
  return is_of_place(name) || is_of_recovery(name) || is_musters(name) ||
         name == "wal_retrieve_retry_interval" || name == "ssl" || name.starts_with("ssl_") ||
         settings_on_command_line(options).contains(name);
}

}  // namespace muster::postgres

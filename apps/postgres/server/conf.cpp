#include "apps/postgres/server/conf.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <utility>

namespace muster::postgres {
namespace {

/// Quotes text for formats in which a backslash also has to be escaped.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// Quotes text for a settings file, where quotes are doubled.
std::string setting_in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  return out + "'";
}

void add_credentials(Session::Parameters& to, const Credentials& credentials) {
  to.emplace_back("sslmode", "verify-full");
  to.emplace_back("sslrootcert", credentials.authority.string());
  to.emplace_back("sslcrl", credentials.revocations.string());
  to.emplace_back("sslcert", credentials.client_certificate.string());
  to.emplace_back("sslkey", credentials.client_key.string());
}

Session::Parameters way_to(const InstanceOptions& options, NodeId to) {
  const Address& address = options.nodes.at(to);
  const bool own = to == options.node;
  Session::Parameters way{{"host", own ? options.sockets.string() : address.host},
                          {"port", std::to_string(address.port)},
                          {"user", options.role},
                          // Looking for Kerberos tickets costs time, and no node has any.
                          {"gssencmode", "disable"}};
  if (own) return way;
  // A firewall may forget a connection, and then drops what comes over it. So a connection ends if
  // the other machine has confirmed nothing for 11 s.
  way.insert(way.end(), {{"keepalives_idle", "5"},
                         {"keepalives_interval", "2"},
                         {"keepalives_count", "3"},
                         {"tcp_user_timeout", "11000"}});
  if (options.credentials) add_credentials(way, *options.credentials);
  return way;
}

// An administrator can set each of these settings for the role, the database or the server. Any of
// them could change the answers to our statements, or end the session before the first statement.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> pinned_for_every_session{{
    {"default_transaction_isolation", "read committed"},
    {"default_transaction_deferrable", "off"},
    {"statement_timeout", "0"},
    {"lock_timeout", "0"},
    {"idle_session_timeout", "0"},
    {"idle_in_transaction_session_timeout", "0"},
    {"role", "none"},
    {"session_preload_libraries", ""},
    {"local_preload_libraries", ""},
    {"search_path", "pg_catalog"},
    {"client_min_messages", "warning"},
    {"standard_conforming_strings", "on"},
    {"bytea_output", "hex"},
    {"IntervalStyle", "postgres"},
    {"timezone_abbreviations", "Default"},
    {"extra_float_digits", "1"},
    {"temp_tablespaces", ""},
    {"default_text_search_config", "pg_catalog.simple"},
}};

/// Formats settings for the parameter "options", in which a backslash comes before each blank.
template <class Settings>
std::string pinned(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) {
    text.append(text.empty() ? "" : " ").append("-c ").append(name) += '=';
    for (const char c : value) (text += c == ' ' ? "\\" : "") += c;
  }
  return text;
}

std::string one_text(const Session::Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += (text.empty() ? "" : " ") + name + "=" + in_quotes(value);
  return text;
}

/// Adds the files with which the server proves its identity, and those with which it checks its
/// clients.
void add_proofs(std::map<std::string, std::string>& settings, const InstanceOptions& options) {
  if (!options.hba.empty()) {
    settings["hba_file"] = options.hba.string();
    settings["ident_file"] = ident_path(options).string();
  }
  if (!options.credentials) return;
  settings["ssl"] = "on";
  settings["ssl_ca_file"] = options.credentials->authority.string();
  settings["ssl_crl_file"] = options.credentials->revocations.string();
  settings["ssl_cert_file"] = options.credentials->server_certificate.string();
  settings["ssl_key_file"] = options.credentials->server_key.string();
}

Failure unreadable(const std::filesystem::path& path, const std::string& why) {
  return {
      ExitCode::storage_refused,
      path.string() +
          ", in which this node has recorded the state of its database, cannot be read: " + why};
}

/// Returns nothing if there is no such file.
Expected<std::optional<boost::json::value>> json_in(const std::filesystem::path& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  if (!*text) return std::optional<boost::json::value>();
  boost::json::error_code error;
  auto value = boost::json::parse(**text, error);
  if (error) return unreadable(path, error.message());
  return std::optional(std::move(value));
}

template <class T>
Expected<T> read_in(const boost::json::value& value, const std::filesystem::path& path) {
  auto read = read_json_of_any_version<T>(value);
  if (!read) return unreadable(path, read.error().what);
  return *std::move(read);
}

/// Returns nothing if there is no such file.
template <class T>
Expected<std::optional<T>> file_of(const std::filesystem::path& path) {
  const auto value = json_in(path);
  if (!value) return value.error();
  if (!*value) return std::optional<T>();
  auto read = read_in<T>(**value, path);
  if (!read) return read.error();
  return std::optional(*std::move(read));
}

const char* on_or_off(bool on) {
  return on ? "on" : "off";
}

}  // namespace

std::map<std::string, std::string> settings_on_command_line(const InstanceOptions& options) {
  std::map<std::string, std::string> settings{
      {"wal_keep_size", std::to_string(options.wal_keep) + "MB"},
      // A node that is down must not fill this disk.
      {"max_slot_wal_keep_size", std::to_string(options.wal_keep) + "MB"},
      {"wal_receiver_timeout", "5s"},
      {"wal_sender_timeout", "5s"},
      {"superuser_reserved_connections", "5"},
  };
  for (const auto& [name, value] : options.settings) settings[name] = value;
  const Address& own = options.nodes.at(options.node);
  const std::map<std::string, std::string> fixed{
      {"listen_addresses", options.listen.empty() ? own.host : options.listen},
      {"port", std::to_string(own.port)},
      {"unix_socket_directories", options.sockets.string()},
      {"synchronous_commit", "on"},
      {"synchronous_standby_names", names_text(options.copies())},
      {"wal_log_hints", "on"},
      {"full_page_writes", "on"},
      {"fsync", "on"},
      {"hot_standby", "on"},
      {"restart_after_crash", "off"},
      {"recovery_target_timeline", "latest"},
      {"recovery_target", ""},
      {"recovery_target_lsn", ""},
      {"recovery_target_name", ""},
      {"recovery_target_time", ""},
      {"recovery_target_xid", ""},
      {"restore_command", ""},
      {"recovery_min_apply_delay", "0"},
      {"update_process_title", "on"},  // the process title shows which log file is read
      {"cluster_name", ""},            // would be part of the process title
      {"logging_collector", "off"},
      {"log_destination", "stderr"},
      {"lc_messages", "C"},  // Muster reads from the log why the server ended
  };
  for (const auto& [name, value] : fixed) settings[name] = value;
  settings["muster.directory"] = options.data.parent_path().string();
  settings["muster.marker_keys"] = options.marker_keys.shown();
  add_proofs(settings, options);
  return settings;
}

Copies InstanceOptions::copies() const {
  Copies copies;
  for (const auto& [id, address] : nodes) copies.nodes.insert(id);
  copies.of_commit = copies_of_commit;
  copies.witnesses = witnesses;
  copies.generation = generation;
  return copies;
}

std::filesystem::path conf_path(const InstanceOptions& options) {
  return options.data.parent_path() / "muster.conf";
}

std::optional<std::uint64_t> system_identifier_in(const std::filesystem::path& data) {
  std::uint64_t system = 0;  // the control file begins with it
  std::ifstream control(data / "global/pg_control", std::ios::binary);
  if (!control.read(reinterpret_cast<char*>(&system), sizeof system)) return std::nullopt;
  return system;
}

std::filesystem::path note_path(const InstanceOptions& options) {
  return options.data.parent_path() / "muster.note";
}

std::filesystem::path held_path(const InstanceOptions& options) {
  return options.data.parent_path() / "muster.held";
}

std::filesystem::path copies_path(const InstanceOptions& options) {
  return options.data.parent_path() / "muster.copies";
}

std::filesystem::path known_terms_path(const InstanceOptions& options) {
  return options.data.parent_path() / "muster.terms";
}

std::filesystem::path log_path(const InstanceOptions& options) {
  return options.data.parent_path() / "postgres.log";
}

std::filesystem::path ident_path(const InstanceOptions& options) {
  return options.data.parent_path() / "pg_ident.conf";
}

std::filesystem::path admin_socket(const InstanceOptions& options) {
  return options.sockets / "muster.sock";
}

std::string name_of(NodeId node, bool counts) {
  return (counts ? "n" : "mend_n") + std::to_string(node.value);
}

std::string name_of_clone(NodeId node) {
  return "muster_clone_" + name_of(node);
}

std::string slot_of(GroupNumber group, NodeId node) {
  return slots_begin_with + std::to_string(group.counter) + "_" +
         std::to_string(group.coordinator.value) + "_" + name_of(node);
}

std::vector<std::string> standby_names(const Copies& copies) {
  std::vector<std::string> names;
  for (const NodeId node : copies.nodes) names.push_back(name_of(node));
  if (!copies.witnesses.empty()) names.emplace_back(name_of_acknowledger);
  return names;
}

std::string names_text(const Copies& copies) {
  std::string list;
  for (const std::string& name : standby_names(copies)) list += (list.empty() ? "" : ", ") + name;
  return "ANY " + std::to_string(copies.of_commit - 1) + " (" + list + ")";
}

std::string sql_array(const std::vector<std::string>& names) {
  std::string array;
  for (const std::string& name : names) array += (array.empty() ? "{" : ",") + name;
  return array + "}";
}

Session::Parameters session_parameters(const InstanceOptions& options, NodeId to) {
  Session::Parameters parameters = way_to(options, to);
  parameters.emplace_back("dbname", options.database);
  parameters.emplace_back("application_name", "muster");
  parameters.emplace_back("options", pinned(pinned_for_every_session) +
                                         " -c default_transaction_read_only=off"
                                         " -c synchronous_commit=local");
  return parameters;
}

Session::Parameters parameters_of_a_client(const InstanceOptions& options) {
  Session::Parameters parameters = session_parameters(options, options.node);
  for (auto& [name, value] : parameters)
    if (name == "options") value = pinned(pinned_for_every_session);
  return parameters;
}

Session::Parameters parameters_of_a_standby(const InstanceOptions& options,
                                            const std::string& name) {
  Session::Parameters parameters = way_to(options, options.node);
  parameters.emplace_back("application_name", name);
  parameters.emplace_back("replication", "true");
  return parameters;
}

std::string connection_text(const InstanceOptions& options, NodeId to, const std::string& name) {
  Session::Parameters parameters = way_to(options, to);
  parameters.emplace_back("application_name", name);
  parameters.emplace_back("connect_timeout", "5");
  return one_text(parameters);
}

namespace {

std::string settings_of(const InstanceOptions& options, const Conf& conf) {
  const std::string from =
      conf.follows ? connection_text(options, *conf.follows, name_of(options.node, conf.counts))
                   : "";
  std::string text = "primary_conninfo = " + setting_in_quotes(from) + "\n";
  const bool has_slot = conf.follows && conf.group != GroupNumber{};
  text += "primary_slot_name = '" + (has_slot ? slot_of(conf.group, options.node) : "") + "'\n";
  text += std::string("default_transaction_read_only = ") + on_or_off(!conf.writable) + "\n";
  // A standby without a source logs each attempt in postgres.log, so the interval is long. When the
  // standby gets a source, Muster wakes it.
  text += std::string("wal_retrieve_retry_interval = ") + (conf.follows ? "20ms" : "1s") + "\n";
  // These settings are on the command line as well. The file repeats them for a server that starts
  // without that command line: by hand, or by pg_rewind, whose server would remove the log that it
  // needs next.
  for (const auto& [name, value] : settings_on_command_line(options))
    text += name + " = " + setting_in_quotes(value) + "\n";
  return text;
}

}  // namespace

std::string conf_text(const InstanceOptions& options, const Conf& conf) {
  return "# muster writes this file again with each group. Changes to it are lost.\n" +
         settings_of(options, conf) + digest_setting + " = '" + conf_digest(options, conf) + "'\n";
}

std::string conf_digest(const InstanceOptions& options, const Conf& conf) {
  return std::to_string(std::hash<std::string>()(settings_of(options, conf)));
}

Expected<bool> include_again(const InstanceOptions& options) {
  const auto path = options.data / "postgresql.conf";
  const auto text = read_text(path);
  if (!text) return text.error();
  std::istringstream lines(text->value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (line.substr(std::min(line.find_first_not_of(" \t"), line.size())).starts_with(include_line))
      return false;
  const auto written = write_durably(path, text->value_or("") + "\n" + include_line + "\n");
  if (!written) return written.error();
  return true;
}

std::vector<std::string> postmaster_arguments(const InstanceOptions& options) {
  std::vector<std::string> arguments{"-D", options.data.string()};
  for (const auto& [name, value] : settings_on_command_line(options)) {
    arguments.emplace_back("-c");
    arguments.push_back(name + "=" + value);
  }
  return arguments;
}

std::string row_statement(const Marker& marker) {
  const Term& term = marker.term;
  return "INSERT INTO muster.term (counter, coordinator, node, timeline, lsn, at, copies, system)"
         " SELECT " +
         std::to_string(term.group.counter) + ", " + std::to_string(term.group.coordinator.value) +
         ", " + std::to_string(term.node.value) + ", " + std::to_string(term.timeline) + ", '" +
         to_text(term.lsn) + "', to_timestamp(" + std::to_string(marker.written) + "), " +
         (marker.copies ? "'" + to_json(*marker.copies) + "'" : std::string("NULL")) +
         ", system_identifier FROM pg_control_system() ON CONFLICT DO NOTHING";
}

std::uint64_t seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

Marker first_marker(const InstanceOptions& options, std::uint32_t timeline) {
  return {{{0, options.node}, options.node, timeline, {}},
          {},
          options.copies(),
          !options.marker_keys.empty(),
          seconds_since_1970()};
}

std::string statements_of_first_row(const Marker& first) {
  return std::string(make_schema) + "\n" + make_table + "\n" + add_columns +
         "\nTRUNCATE muster.term\n" + row_statement(first) + "\n";
}

Expected<> write_note(const InstanceOptions& options, const std::optional<Note>& note) {
  if (!note) return remove_durably(note_path(options));
  return write_durably(note_path(options), (note->held ? to_json(*note->held) : "null") + "\n");
}

Expected<std::optional<Note>> read_note(const InstanceOptions& options) {
  const auto value = json_in(note_path(options));
  if (!value) return value.error();
  if (!*value) return std::optional<Note>();
  if ((*value)->is_null()) return std::optional(Note{});
  const auto held = read_in<Held>(**value, note_path(options));
  if (!held) return held.error();
  return std::optional(Note{*held});
}

Expected<> write_held(const InstanceOptions& options, const Held& held) {
  if (auto written = write_durably(held_path(options), to_json(held) + "\n"); !written)
    return written;
  return remove_durably(brought_record(options.data));
}

Expected<std::optional<Held>> read_held(const InstanceOptions& options) {
  const auto brought = file_of<Held>(brought_record(options.data));
  if (!brought || *brought) return brought;
  return file_of<Held>(held_path(options));
}

std::filesystem::path brought_record(const std::filesystem::path& data) {
  return data / "muster.held";
}

Expected<> write_copies(const InstanceOptions& options) {
  return write_durably(copies_path(options), to_json(options.copies()) + "\n");
}

Expected<std::optional<Copies>> read_copies(const InstanceOptions& options) {
  return file_of<Copies>(copies_path(options));
}

}  // namespace muster::postgres

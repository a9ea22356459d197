#include "apps/postgres/server/conf.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <string_view>
#include <utility>

namespace muster::postgres {
namespace {

/// Between single quotes, where both kinds of text know '\' as well.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// As a file of settings has it, where quotes are doubled.
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
                          // What looks for tickets that nobody has given costs time.
                          {"gssencmode", "disable"}};
  if (options.credentials && !own) add_credentials(way, *options.credentials);
  return way;
}

std::string one_text(const Session::Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += (text.empty() ? "" : " ") + name + "=" + in_quotes(value);
  return text;
}

/// What it shows of itself, and demands of others.
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
      "what is remembered of this node's database cannot be read in " + path.string() + ": " + why};
}

/// None where there is no such file.
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

/// None where there is no such file.
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
      {"wal_keep_size", "512MB"},
      {"max_slot_wal_keep_size", "512MB"},  // a node that is away for long fills no disk
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
      {"wal_log_hints", "on"},
      {"full_page_writes", "on"},
      {"fsync", "on"},
      {"hot_standby", "on"},
      {"restart_after_crash", "off"},
      {"recovery_target_timeline", "latest"},
      {"restore_command", ""},
      {"recovery_min_apply_delay", "0"},
      {"update_process_title", "on"},  // tells which file of the log is read
      {"cluster_name", ""},            // would stand in that title
      {"logging_collector", "off"},
      {"log_destination", "stderr"},
      {"lc_messages", "C"},  // why it ended is read there
  };
  for (const auto& [name, value] : fixed) settings[name] = value;
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

std::filesystem::path note_path(const InstanceOptions& options) {
  return options.data.parent_path() / "muster.note";
}

std::filesystem::path held_path(const InstanceOptions& options) {
  return options.data.parent_path() / "muster.held";
}

std::filesystem::path copies_path(const InstanceOptions& options) {
  return options.data.parent_path() / "muster.copies";
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

std::string name_of(NodeId node, bool mending) {
  return (mending ? "mend_n" : "n") + std::to_string(node.value);
}

std::string name_of_clone(NodeId node) {
  return "muster_clone_" + name_of(node);
}

std::string slot_of(GroupNumber group, NodeId node) {
  return slots_begin_with + std::to_string(group.counter) + "_" +
         std::to_string(group.coordinator.value) + "_" + name_of(node);
}

std::string names_text(Names names, const Copies& copies) {
  if (names == Names::sealed) return "ANY 1 (muster_halted)";
  if (names == Names::alone) return "";
  std::string list;
  for (const NodeId node : copies.nodes) list += (list.empty() ? "" : ", ") + name_of(node);
  return "ANY " + std::to_string(copies.of_commit - 1) + " (" + list + ")";
}

Session::Parameters session_parameters(const InstanceOptions& options, NodeId to) {
  Session::Parameters parameters = way_to(options, to);
  parameters.emplace_back("dbname", options.database);
  parameters.emplace_back("application_name", "muster");
  parameters.emplace_back(
      "options",
      "-c default_transaction_read_only=off -c synchronous_commit=local -c statement_timeout=0"
      " -c lock_timeout=0 -c idle_session_timeout=0 -c search_path=pg_catalog"
      " -c client_min_messages=warning");
  return parameters;
}

std::string connection_text(const InstanceOptions& options, NodeId to, const std::string& name) {
  Session::Parameters parameters = way_to(options, to);
  parameters.emplace_back("application_name", name);
  parameters.emplace_back("connect_timeout", "5");
  return one_text(parameters);
}

std::string conf_text(const InstanceOptions& options, const Conf& conf) {
  const bool sealed = conf.names == Names::sealed;
  const std::string from =
      conf.follows ? connection_text(options, *conf.follows, name_of(options.node, conf.mending))
                   : "";
  std::string text = "# Written by muster, anew with each group: what you write here is lost.\n";
  text += "primary_conninfo = " + setting_in_quotes(from) + "\n";
  const bool has_slot = conf.follows && conf.group != GroupNumber{};
  text += "primary_slot_name = '" + (has_slot ? slot_of(conf.group, options.node) : "") + "'\n";
  text +=
      "synchronous_standby_names = " + setting_in_quotes(names_text(conf.names, options.copies())) +
      "\n";
  text += std::string("default_transaction_read_only = ") + on_or_off(sealed) + "\n";
  // At each attempt a standby without a source says so in postgres.log; it is woken when it has
  // one.
  text += std::string("wal_retrieve_retry_interval = ") + (conf.follows ? "20ms" : "1s") + "\n";
  // The command line has them, too; here for the server that pg_rewind runs for a moment, which
  // would throw away the log that it needs next.
  for (const auto& [name, value] : settings_on_command_line(options))
    text += name + " = " + setting_in_quotes(value) + "\n";
  return text;
}

std::vector<std::string> postmaster_arguments(const InstanceOptions& options) {
  std::vector<std::string> arguments{"-D", options.data.string()};
  for (const auto& [name, value] : settings_on_command_line(options)) {
    arguments.emplace_back("-c");
    arguments.push_back(name + "=" + value);
  }
  return arguments;
}

std::string row_statement(GroupNumber group, NodeId node, const Copies& copies) {
  return "INSERT INTO muster.term (counter, coordinator, node, timeline, lsn, copies) SELECT " +
         std::to_string(group.counter) + ", " + std::to_string(group.coordinator.value) + ", " +
         std::to_string(node.value) +
         ", ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint,"
         " pg_current_wal_insert_lsn(), '" +
         to_json(copies) + "' ON CONFLICT DO NOTHING";
}

std::string statements_of_first_row(NodeId node, const Copies& copies) {
  return std::string(make_schema) + "\n" + make_table + "\n" + add_copies +
         "\nTRUNCATE muster.term\n" + row_statement({0, node}, node, copies) + "\n";
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
  return write_durably(held_path(options), to_json(held) + "\n");
}

Expected<std::optional<Held>> read_held(const InstanceOptions& options) {
  return file_of<Held>(held_path(options));
}

Expected<> write_copies(const InstanceOptions& options) {
  return write_durably(copies_path(options), to_json(options.copies()) + "\n");
}

Expected<std::optional<Copies>> read_copies(const InstanceOptions& options) {
  return file_of<Copies>(copies_path(options));
}

}  // namespace muster::postgres

#include "apps/muster/config/config_sections.hpp"

#include "apps/base/process.hpp"
#include "apps/base/text.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/text.hpp>

#include <unistd.h>

namespace muster::apps {

std::filesystem::path beside(const std::filesystem::path& file, const std::string& path) {
  return (std::filesystem::absolute(file).parent_path() / path).lexically_normal();
}

void check_length(Reader& reader, std::size_t line, const std::string& what,
                  const std::filesystem::path& socket) {
  const std::size_t length = socket.native().size();
  if (length <= longest_socket_path) return;
  reader.refuse(line, what + ": the path of the socket " + socket.string() + " has " +
                          std::to_string(length) + " bytes: expected at most " +
                          std::to_string(longest_socket_path) + "; choose a shorter directory");
}

namespace {

namespace fs = std::filesystem;

// The journal is checked here, because a node that cannot write its journal would run without one.
void look_at(Reader& reader, const toml::table& section, const fs::path& journal,
             const NodeConfig& config) {
  const auto refuse = [&](const std::string& why) {
    reader.refuse(*section.get("file"), "file", why);
  };
  const fs::path directory = journal.parent_path();
  std::error_code error;
  if (fs::is_directory(journal, error))
    return refuse("a file, but " + journal.string() + " is a directory: name a file in it");
  if (storage::is_of_store(journal, config.data))
    return refuse("a file that is not part of the node's store: name another file");
  if (!fs::exists(directory, error)) {
    if (directory == config.data) return;  // the node makes that directory
    return refuse("a file in an existing directory: make it first (mkdir -p " + directory.string() +
                  ")");
  }
  const fs::path written = fs::exists(journal, error) ? journal : directory;
  if (::access(written.c_str(), W_OK) != 0)
    refuse("a file that this user can write to: let the user that runs the node write to " +
           written.string());
}

void look_at(Reader& reader, const toml::node& at, std::string_view key,
             const std::string& program) {
  const auto refuse = [&](const std::string& why) {
    std::string text;
    detail::append_quoted(text, program);
    reader.refuse(Reader::line_of(at), std::string(key) + " = [" + text + "...]: " + why);
  };
  const fs::path found = find_program(program);
  std::error_code error;
  if (!fs::exists(found, error))
    return refuse("there is no such program" +
                  std::string(program.find('/') == std::string::npos ? " in PATH" : "") +
                  ": expected the path of an existing program");
  if (fs::is_directory(found, error) || ::access(found.c_str(), X_OK) != 0)
    refuse("it is not executable: expected a program (chmod +x " + found.string() +
           ", if it is one)");
}

std::vector<std::string> read_command(Reader& reader, const toml::table& table,
                                      std::string_view key, const std::filesystem::path& file) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  std::vector<std::string> command;
  if (const toml::array* words = node->as_array(); words && words->is_homogeneous<std::string>())
    for (const toml::node& word : *words) command.push_back(word.value_or(std::string()));
  if (command.empty() || command.front().empty()) {
    reader.refuse(*node, key, "a program and its arguments, such as [\"./deal.py\", \"--fair\"]");
  } else if (command.front().find('/') != std::string::npos) {  // else it is searched in PATH
    command.front() = beside(file, command.front()).string();
  }
  if (reader.looks_at_files() && !reader.failure()) look_at(reader, *node, key, command.front());
  return command;
}

/// Reads one of the names of an enumeration.
template <class E>
void read_named(Reader& reader, const toml::table& table, std::string_view key,
                const std::string& expected, E& to) {
  const auto named = enumerator_named<E>(reader.text(table, key, std::string(enumerator_name(to))));
  if (named)
    to = *named;
  else
    reader.refuse(*table.get(key), key, expected);
}

}  // namespace

void read_tls(Reader& reader, const toml::table& root, const std::filesystem::path& file,
              NodeConfig& config) {
  const toml::table* tls = reader.table(root, "tls", false);
  if (tls == nullptr) return;
  reader.only(*tls, "[tls]", {"ca", "cert", "key", "crl", "name", "observer"});
  net::TlsOptions to;
  for (const auto& [key, path] : {std::pair("ca", &to.ca), std::pair("cert", &to.certificate),
                                  std::pair("key", &to.key), std::pair("crl", &to.crl)}) {
    const std::string name = reader.text(*tls, key, "");
    if (!name.empty()) *path = beside(file, name).string();
    if (name.empty() && path != &to.crl)
      reader.refuse(Reader::line_of(*tls), "[tls] has no " + std::string(key) + ": expected " +
                                               key +
                                               " = a PEM file, such as muster cert issue makes");
    if (std::error_code error;
        reader.looks_at_files() && !path->empty() && !fs::is_regular_file(*path, error))
      reader.refuse(*tls->get(key), key, "an existing file");
  }
  const auto template_of = [&](const char* key, std::string& text,
                               std::initializer_list<std::string_view> words) {
    text = reader.text(*tls, key, text);
    for (std::string_view word : words)
      if (const std::size_t at = text.find(word);
          at == std::string::npos || text.find(word, at + 1) != std::string::npos)
        reader.refuse(*tls->get(key), key,
                      "a URI that contains " + std::string(word) + " exactly once");
  };
  template_of("name", to.name, {"CLUSTER", "ID"});
  template_of("observer", to.observer, {"CLUSTER"});
  config.tls = std::move(to);
}

void read_journal(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                  NodeConfig& config) {
  const toml::table* journal = reader.table(root, "journal", false);
  if (journal == nullptr) return;
  reader.only(*journal, "[journal]", {"file", "limit", "keep", "detail"});
  JournalConfig to;
  const std::string name = reader.text(*journal, "file", "");
  if (name.empty())
    reader.refuse(Reader::line_of(*journal),
                  "[journal] has no file: expected a line such as file = \"n3/journal.jsonl\"");
  to.file = beside(file, name);
  if (reader.looks_at_files() && !reader.failure()) look_at(reader, *journal, to.file, config);
  if (const toml::node* limit = journal->get("limit")) {
    const auto size = parse_size(reader.text(*journal, "limit", ""));
    if (size && *size >= 1'000'000) {
      to.limit = *size;
    } else {
      reader.refuse(*limit, "limit", "a size of at least \"1MB\", such as \"64MB\"");
    }
  }
  to.keep = std::max(to.keep, 2 * to.limit);
  if (const toml::node* keep = journal->get("keep")) {
    const auto size = parse_size(reader.text(*journal, "keep", ""));
    if (size && *size >= 2 * to.limit) {
      to.keep = *size;
    } else {
      reader.refuse(*keep, "keep",
                    "a size of at least two segments, \"" + format_size(2 * to.limit) +
                        "\" with this limit, such as \"1GB\"");
    }
  }
  read_named(reader, *journal, "detail", "\"all\" or \"changes\"", to.detail);
  config.journal = to;
}

void read_log(Reader& reader, const toml::table& root, LogConfig& to) {
  const toml::table* log = reader.table(root, "log", false);
  if (log == nullptr) return;
  reader.only(*log, "[log]", {"level", "format"});
  read_named(reader, *log, "level", "\"error\", \"warning\" or \"info\"", to.level);
  read_named(reader, *log, "format", "\"text\" or \"json\"", to.format);
}

void read_application(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                      NodeConfig& config) {
  const toml::table* application = reader.table(root, "application", false);
  if (application == nullptr) return;
  reader.only(
      *application, "[application]",
      {"kind", "records_per_second", "program", "inherit", "role", "database", "programs", "listen",
       "hba", "tls", "wal_keep", "marker_key", "marker_period", "marker_deadline"});
  ApplicationConfig& to = config.application;
  to.kind = reader.text(*application, "kind", to.kind);
  if (to.kind != "none" && to.kind != "shards" && to.kind != "socket" && to.kind != "postgres") {
    reader.refuse(*application->get("kind"), "kind",
                  "\"none\", \"shards\", \"postgres\" or \"socket\"");
  }
  const auto only_beside = [&](const char* key, const std::string& kind) {
    if (to.kind != kind && application->get(key) != nullptr) {
      reader.refuse(*application->get(key), key, "this key only with kind = \"" + kind + "\"");
    }
  };
  if (to.kind == "socket") {
    check_length(reader, Reader::line_of(*application->get("kind")), "kind = \"socket\"",
                 config.application_socket());
  }
  only_beside("records_per_second", "shards");
  only_beside("program", "socket");
  for (const char* key : {"role", "database", "programs", "listen", "hba", "tls", "wal_keep",
                          "marker_key", "marker_period", "marker_deadline"})
    only_beside(key, "postgres");
  if (to.kind == "postgres") read_postgres(reader, *application, file, config);
  to.records_per_second =
      reader.number(*application, "records_per_second", to.records_per_second, 1, 10'000);
  to.program = read_command(reader, *application, "program", file);
  if (to.program.empty() && application->get("inherit") != nullptr)
    reader.refuse(*application->get("inherit"), "inherit", "this key only with a program");
  to.inherit = reader.flag(*application, "inherit", false);
  to.directory = beside(file, ".");
}

void read_hooks(Reader& reader, const toml::table& root, const std::filesystem::path& file,
                NodeConfig& config) {
  const toml::table* hooks = reader.table(root, "hooks", false);
  if (hooks == nullptr) return;
  reader.only(*hooks, "[hooks]", {"stop", "reorganize", "start", "inherit"});
  const auto command = [&](const char* key) { return read_command(reader, *hooks, key, file); };
  config.hooks = {command("stop"), command("reorganize"), command("start"), beside(file, "."),
                  reader.flag(*hooks, "inherit", false)};
  if (config.application.kind != "none") {
    reader.refuse(Reader::line_of(*hooks), "[hooks] is set, and so is [application] kind = \"" +
                                               config.application.kind +
                                               "\": expected only one of the two");
  }
}

}  // namespace muster::apps

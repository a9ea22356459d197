#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/certificates/issued.hpp"
#include "apps/muster/commands/commands.hpp"

#include <muster/values/json.hpp>

#include <CLI/CLI.hpp>

#include <array>
#include <ctime>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>

// `muster cert`: makes certificates for a cluster whose owner has no certificate authority.

namespace muster::apps {
namespace {

namespace fs = std::filesystem;
using certificates::Authority;
using certificates::Days;
using certificates::Entry;
using certificates::IssuedFiles;

struct CertOptions {
  std::string authority = "ca";
  std::string cluster;
  std::optional<std::uint32_t> node;
  bool observer = false;
  std::string name;
  std::string directory;
  std::string which;
  unsigned days = 0;
  bool json = false;
};

/// One line of `list --json`.
struct CertLine {
  std::string serial;
  std::string name;
  std::string expires;
  bool revoked = false;
};
MUSTER_DESCRIBE(CertLine, serial, name, expires, revoked);

std::string utc(certificates::Clock::time_point when) {
  const std::time_t seconds = certificates::Clock::to_time_t(when);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Expected<Authority> open(const CertOptions& options) {
  return Authority::open(options.authority);
}

int init(const CertOptions& options) {
  if (!is_cluster_name(options.cluster))
    return failed(
        {ExitCode::usage,
         "--cluster " + options.cluster +
             ": expected 1 to 64 letters, digits, '.', '_', '-', the same as [cluster] name"});
  const auto made = Authority::create(options.authority, options.cluster, Days(options.days));
  if (!made) return failed(made.error());
  std::cout << "an authority for the cluster " << options.cluster << " is in " << options.authority
            << ": keep ca.key off every node; next: muster cert issue --node 1 --out n1\n";
  return 0;
}

Expected<std::string> name_for(const Authority& authority, const CertOptions& options) {
  const int said = (options.node ? 1 : 0) + (options.observer ? 1 : 0) + !options.name.empty();
  if (said != 1)
    return Failure{ExitCode::usage,
                   "expected exactly one of --node ID, --observer and --name URI; see muster cert "
                   "issue --help"};
  if (!options.name.empty()) return options.name;
  const auto cluster = authority.cluster();
  if (!cluster) return cluster.error();
  return "muster://" + *cluster +
         (options.observer ? "/observer" : "/node/" + std::to_string(*options.node));
}

int told(const Expected<Entry>& entry, const CertOptions& options) {
  if (!entry) return failed(entry.error());
  std::cout << entry->name << " is in " << options.directory << " until " << utc(entry->expires)
            << ": serial " << entry->serial << '\n';
  return 0;
}

int issue(const CertOptions& options) {
  const auto authority = open(options);
  if (!authority) return failed(authority.error());
  const auto name = name_for(*authority, options);
  if (!name) return failed(name.error());
  const IssuedFiles files(options.directory);
  for (const fs::path* file : {&files.certificate, &files.key})
    if (std::error_code none; fs::exists(*file, none))
      return failed({ExitCode::bad_configuration, file->string() +
                                                      " already exists: muster cert renew " +
                                                      options.directory + " replaces it"});
  std::error_code error;
  fs::create_directories(options.directory, error);
  return told(issue_into(options.directory, *authority, {*name}, Days(options.days), false),
              options);
}

int renew(const CertOptions& options) {
  const auto authority = open(options);
  if (!authority) return failed(authority.error());
  const IssuedFiles files(options.directory);
  const auto before = certificates::subject_of(files.certificate);
  if (!before) return failed(before.error());
  const auto believed = certificates::is_among(authority->certificate(), files.ca);
  if (!believed) return failed(believed.error());
  if (!*believed)
    return failed({ExitCode::bad_configuration,
                   files.ca.string() + " does not contain the certificate of the authority in " +
                       options.authority +
                       ", so no node would accept a certificate from it: name another --ca, or "
                       "first append its ca.crt to that file on every node"});
  return told(issue_into(options.directory, *authority, *before, Days(options.days), true),
              options);
}

int revoke(const CertOptions& options) {
  const auto authority = open(options);
  if (!authority) return failed(authority.error());
  std::string serial = options.which;
  if (std::error_code none; fs::is_regular_file(options.which, none)) {
    const auto entry = certificates::entry_of(options.which);
    if (!entry) return failed(entry.error());
    serial = entry->serial;
  }
  const auto entry = authority->revoke(serial, Days(options.days));
  if (!entry) return failed(entry.error());
  std::cout << entry->name << ", serial " << entry->serial << ", is revoked: copy "
            << authority->revocations().string()
            << " to every node, in place of the file that [tls] crl names (if a node has no crl, "
               "set that key and restart the node)\n";
  return 0;
}

int renew_revocations(const CertOptions& options) {
  const auto authority = open(options);
  if (!authority) return failed(authority.error());
  if (const auto done = authority->renew_revocations(Days(options.days)); !done)
    return failed(done.error());
  std::cout << authority->revocations().string() << " is renewed\n";
  return 0;
}

int list(const CertOptions& options) {
  const auto authority = open(options);
  if (!authority) return failed(authority.error());
  const auto entries = authority->list();
  if (!entries) return failed(entries.error());
  for (const Entry& entry : *entries) {
    const CertLine line{entry.serial, entry.name, utc(entry.expires), entry.revoked};
    if (options.json) {
      std::cout << to_json(line) << '\n';
      continue;
    }
    std::cout << line.serial << "  " << line.expires << "  " << line.name
              << (line.revoked ? "  revoked" : "") << '\n';
  }
  return 0;
}

}  // namespace

void add_cert_command(CLI::App& app, int& exit_code) {
  CLI::App* cert = app.add_subcommand(
      "cert", "Make certificates for a cluster that has no certificate authority");
  cert->require_subcommand(1);
  constexpr unsigned year = 365;
  const auto add = [&](const char* name, const char* what, int (*run)(const CertOptions&),
                       unsigned days) {
    CLI::App* command = cert->add_subcommand(name, what);
    const auto options = std::make_shared<CertOptions>();
    options->days = days;
    command->add_option("--ca", options->authority, "The authority's directory")
        ->option_text("DIR")
        ->capture_default_str();
    if (days > 0)
      command->add_option("--days", options->days, "Days until it expires")
          ->check(CLI::Range(1U, 20 * year))
          ->capture_default_str();
    command->callback([options, run, &exit_code] { exit_code = run(*options); });
    return std::pair(command, options);
  };
  const auto [first, authority] =
      add("init", "Make an authority: its certificate, its key, and an empty list of revocations",
          init, 10 * year);
  first
      ->add_option("--cluster", authority->cluster,
                   "The cluster's name, the same as [cluster] name")
      ->required();
  const auto [issues, whom] =
      add("issue", "Issue a certificate and a key for a node or an observer", issue, year);
  issues->add_option("--node", whom->node, "The node's id")
      ->option_text("ID")
      ->check(CLI::Range(1U, std::numeric_limits<std::uint32_t>::max()));
  issues->add_flag("--observer", whom->observer, "For an observer, which may only read");
  issues
      ->add_option("--name", whom->name,
                   "For any other name, if the cluster sets its own template in [tls] name")
      ->option_text("URI");
  issues->add_option("--out", whom->directory, "Directory for ca.crt, tls.crt and tls.key")
      ->option_text("DIR")
      ->required();
  const auto [renews, where] =
      add("renew", "Replace a certificate and its key by new ones for the same name", renew, year);
  renews->add_option("DIR", where->directory, "Directory that issue wrote them to")->required();
  const auto [revokes, which] = add("revoke", "Revoke a certificate", revoke, year);
  revokes->add_option("WHICH", which->which, "Its serial number, or the certificate's file")
      ->required();
  add("crl", "Renew the list of revocations before it expires", renew_revocations, year);
  const auto [lists, all] = add("list", "List all certificates that were issued", list, 0);
  lists->add_flag("--json", all->json, "JSON Lines on standard output");
}

}  // namespace muster::apps

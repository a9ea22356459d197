#include "node/certificates.hpp"

#include "base/utc.hpp"

#include <muster/protocol/misfit.hpp>
#include <muster/values/address.hpp>
#include <muster/values/text.hpp>

#include <sys/stat.h>

#include <utility>

namespace muster::net {

using namespace std::chrono_literals;

namespace {

constexpr auto between_looks = 1s;
constexpr auto between_warnings = 60s;
constexpr auto before_the_end = 2 * between_looks;

std::string date(std::chrono::system_clock::time_point moment) {
  return utc(moment).substr(0, sizeof("2026-01-31") - 1);
}

// A stamp of the files, which changes when a file is replaced or written.
std::string stamps_of(const TlsOptions& options) {
  std::string stamps;
  for (const auto* file : {&options.ca, &options.certificate, &options.key, &options.crl}) {
    struct stat about {};
    if (file->empty() || ::stat(file->c_str(), &about) != 0) continue;
    for (const auto number : {static_cast<std::int64_t>(about.st_ino), about.st_size,
                              about.st_mtim.tv_sec, about.st_mtim.tv_nsec})
      stamps += std::to_string(number) + ' ';
  }
  return stamps;
}

bool is_open_to_others(const std::string& file) {
  struct stat about {};
  return ::stat(file.c_str(), &about) == 0 && (about.st_mode & (S_IRWXO | S_IWGRP)) != 0;
}

}  // namespace

Certificates::Certificates(const boost::asio::any_io_executor& strand, const NodeOptions& options,
                           std::shared_ptr<NodeLog> log, Handlers handlers)
    : options_(options), log_(std::move(log)), handlers_(std::move(handlers)), look_(strand) {}

Expected<> Certificates::begin() {
  if (!options_.network.tls) {
    tell_of_plain_text();
    return {};
  }
  Expected<> made = read();
  if (made) look();
  return made;
}

Expected<> Certificates::read() {
  in_use_ = seen_ = stamps_of(*options_.network.tls);
  auto credentials =
      Credentials::load(*options_.network.tls, options_.config.nodes, options_.config.self);
  if (!credentials) return credentials.error();
  if (is_open_to_others(options_.network.tls->key))
    log_->warn("key = \"" + options_.network.tls->key +
               "\" can be read or written by other users of this machine, which lets them act as "
               "this node: chmod 600");
  expires_ = (*credentials)->expires();
  tls_->renew(*std::move(credentials));
  told_of_end_ = 0;
  told_of_list_ = false;
  return {};
}

Expected<> Certificates::renew() {
  if (Expected<> made = read(); !made) {
    log_->warn(made.error().what +
               "; the certificates read before stay in use until these files change again");
    return made;
  }
  log_->tell(LogLevel::info, "tls",
             "node " + to_text(options_.config.self) +
                 " has reloaded its certificate and the authorities that it trusts");
  handlers_.renewed();
  return {};
}

// New files can arrive one after the other. The files are read when two checks in a row have seen
// the same files.
void Certificates::look() {
  tell_of_their_end();
  handlers_.looked();
  look_.after(between_looks, [this] {
    const std::string now = stamps_of(*options_.network.tls);
    const bool is_settled = std::exchange(seen_, now) == now;
    if (is_settled && now != in_use_) renew();
    look();
  });
}

void Certificates::tell_of_plain_text() {
  const auto own = parse_address(options_.network.listen);
  const bool beyond =
      (own && !own->is_loopback()) ||
      muster::misfit(options_.network.addresses, options_.config.nodes, false).has_value();
  if (!beyond) return;
  log_->warn("node " + to_text(options_.config.self) +
             " uses no encryption and cannot check which node a peer is (insecure): give the "
             "cluster certificates ([tls])");
  look_.after(between_warnings, [this] { tell_of_plain_text(); });
}

// Warns 30, 7 and 1 days before the certificate expires, and when it has expired.
void Certificates::tell_of_their_end() {
  const auto now = std::chrono::system_clock::now();
  const auto ends = tls_->credentials()->expires();
  const std::string whose = "the certificate of node " + to_text(options_.config.self) + ' ';
  int due = 0;
  for (const int days : {30, 7, 1, 0}) due += ends - now <= std::chrono::days(days) ? 1 : 0;
  if (due > 0 && due != std::exchange(told_of_end_, due))
    log_->warn(ends > now ? whose + "expires on " + date(ends) +
                                ": renew it; without a valid one no other node talks to this one"
                          : whose + "expired on " + date(ends) +
                                ": renew it; until then no other node talks to this one");
  const auto list = tls_->credentials()->list_expires();
  if (list && *list <= now && !std::exchange(told_of_list_, true))
    log_->warn(
        "the list of revocations (crl) was due for renewal on " + date(*list) +
        ": it still applies, but lacks later revocations; make a new list with 'muster cert crl'");
}

bool Certificates::is_revoked() const {
  const auto& own = tls_->credentials();
  return own && own->is_revoked();
}

std::optional<std::string> Certificates::why_unproven() const {
  const auto& own = tls_->credentials();
  if (!own) return std::nullopt;
  if (own->is_revoked()) return "was revoked";
  if (own->expires() - std::chrono::system_clock::now() <= before_the_end)
    return "has expired or is about to";
  return std::nullopt;
}

std::optional<Duration> Certificates::time_left() const {
  if (!options_.network.tls) return std::nullopt;
  return expires_.load() - std::chrono::system_clock::now();
}

}  // namespace muster::net

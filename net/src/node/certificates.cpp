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

// Another file has another one, and the same file when it was written to.
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
               "\" may be read or written by others on this machine, who can be this node then: "
               "chmod 600");
  expires_ = (*credentials)->expires();
  tls_->renew(*std::move(credentials));
  told_of_end_ = 0;
  told_of_list_ = false;
  return {};
}

Expected<> Certificates::renew() {
  if (Expected<> made = read(); !made) {
    log_->warn(made.error().what + "; what was read before stays, until these files change again");
    return made;
  }
  log_->tell(LogLevel::info, "tls",
             "node " + to_text(options_.config.self) +
                 " has taken its certificate and those that it believes anew");
  handlers_.renewed();
  return {};
}

// New files arrive one after the other. They are taken when they were the same in two looks.
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
             " speaks without encryption, and with whoever says that he is another node "
             "(insecure): give the cluster certificates ([tls])");
  look_.after(between_warnings, [this] { tell_of_plain_text(); });
}

// Said at 30, 7 and 1 days before it, and when it has come.
void Certificates::tell_of_their_end() {
  const auto now = std::chrono::system_clock::now();
  const auto ends = tls_->credentials()->expires();
  const std::string whose = "the certificate of node " + to_text(options_.config.self) + ' ';
  int due = 0;
  for (const int days : {30, 7, 1, 0}) due += ends - now <= std::chrono::days(days) ? 1 : 0;
  if (due > 0 && due != std::exchange(told_of_end_, due))
    log_->warn(ends > now ? whose + "ends on " + date(ends) +
                                ": renew it; with none no node speaks with this one"
                          : whose + "has ended on " + date(ends) +
                                ": renew it; no node speaks with this one until then");
  const auto list = tls_->credentials()->list_expires();
  if (list && *list <= now && !std::exchange(told_of_list_, true))
    log_->warn("the list of revocations (crl) was to be made anew by " + date(*list) +
               ": it still counts, and who was taken back since is not in it; 'muster cert crl' "
               "makes one");
}

bool Certificates::is_taken_back() const {
  const auto& own = tls_->credentials();
  return own && own->is_taken_back();
}

std::optional<std::string> Certificates::why_unproven() const {
  const auto& own = tls_->credentials();
  if (!own) return std::nullopt;
  if (own->is_taken_back()) return "was taken back";
  if (own->expires() - std::chrono::system_clock::now() <= before_the_end) return "is over";
  return std::nullopt;
}

std::optional<Duration> Certificates::time_left() const {
  if (!options_.network.tls) return std::nullopt;
  return expires_.load() - std::chrono::system_clock::now();
}

}  // namespace muster::net

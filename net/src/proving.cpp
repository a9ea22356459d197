// What a node proves of itself to others: read when it starts, and anew when the files change.

#include "node_impl.hpp"
#include "utc.hpp"

#include <muster/protocol/misfit.hpp>
#include <muster/values/address.hpp>

#include <boost/asio/post.hpp>

#include <sys/stat.h>

#include <utility>

namespace muster::net {

namespace asio = boost::asio;
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

Expected<> Node::Impl::begin_proving() {
  if (!options_.tls) {
    tell_of_plain_text();
    return {};
  }
  Expected<> made = renew_tls();
  if (made) look_at_credentials();
  return made;
}

Expected<> Node::Impl::renew_tls() {
  in_use_ = seen_ = stamps_of(*options_.tls);
  auto credentials = Credentials::load(*options_.tls, options_.config.nodes, options_.config.self);
  if (!credentials) return credentials.error();
  if (is_open_to_others(options_.tls->key))
    log_->warn("key = \"" + options_.tls->key +
               "\" may be read or written by others on this machine, who can be this node then: "
               "chmod 600");
  proves_until_ = (*credentials)->expires();
  tls_->renew(*std::move(credentials));
  told_of_end_ = 0;
  told_of_list_ = false;
  return {};
}

void Node::Impl::tell_of_plain_text() {
  const auto own = parse_address(options_.listen);
  const bool beyond = (own && !own->is_loopback()) ||
                      muster::misfit(options_.addresses, options_.config.nodes, false).has_value();
  if (!beyond) return;
  log_->warn("node " + std::to_string(options_.config.self.value) +
             " speaks without encryption, and with whoever says that he is another node "
             "(insecure): give the cluster certificates ([tls])");
  look_.expires_after(between_warnings);
  look_.async_wait([weak = weak_from_this()](auto error) {
    const auto self = weak.lock();
    if (!error && self) self->tell_of_plain_text();
  });
}

// Who puts new files into place writes them one after the other: they count when they have been the
// same for two looks.
void Node::Impl::look_at_credentials() {
  tell_of_their_end();
  leave_where_it_proves_nothing();
  if (const auto there = life()) there->break_unproven();
  look_.expires_after(between_looks);
  look_.async_wait([weak = weak_from_this()](auto error) {
    const auto self = weak.lock();
    if (error || !self) return;
    const std::string now = stamps_of(*self->options_.tls);
    if (std::exchange(self->seen_, now) == now && now != self->in_use_) self->take_credentials();
    self->look_at_credentials();
  });
}

Expected<> Node::Impl::take_credentials() {
  if (Expected<> made = renew_tls(); !made) {
    log_->warn(made.error().what + "; what was read before stays, until these files change again");
    return made;
  }
  log_->tell(LogLevel::info, "tls",
             "node " + std::to_string(options_.config.self.value) +
                 " has taken its certificate and those that it believes anew");
  if (const auto there = life()) there->break_connections();
  if (order_ && order_->why == Out::unproven) come_back();
  return {};
}

// The others find that one after the other, and would form groups with it and without it meanwhile.
void Node::Impl::leave_where_it_proves_nothing() {
  if (order_ || leaving_ || !life() || !proves_nothing()) return;
  be_out(Out::unproven, {});
  if (!order_) return;
  log_->warn("node " + std::to_string(options_.config.self.value) + " leaves, as its certificate " +
             (tls_->credentials()->is_taken_back() ? "was taken back" : "is over") +
             ": give it another one, and it comes back");
}

bool Node::Impl::proves_nothing() const {
  const auto& own = tls_->credentials();
  return own && (own->is_taken_back() ||
                 own->expires() - std::chrono::system_clock::now() <= before_the_end);
}

// Said at 30, 7 and 1 days before it, and when it has come.
void Node::Impl::tell_of_their_end() {
  const auto now = std::chrono::system_clock::now();
  const auto ends = tls_->credentials()->expires();
  const std::string whose =
      "the certificate of node " + std::to_string(options_.config.self.value) + ' ';
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

}  // namespace muster::net

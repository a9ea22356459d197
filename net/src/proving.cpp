// What a node proves of itself to others: read when it starts, and anew when the files change.

#include "node_impl.hpp"

#include <boost/asio/post.hpp>

#include <sys/stat.h>

#include <utility>

namespace muster::net {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto between_looks = 1s;

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

}  // namespace

Expected<> Node::Impl::begin_proving() {
  if (!options_.tls) return {};
  in_use_ = seen_ = stamps_of(*options_.tls);
  auto credentials = Credentials::load(*options_.tls, options_.config.nodes, options_.config.self);
  if (!credentials) return credentials.error();
  tls_->renew(*std::move(credentials));
  look_at_credentials();
  return {};
}

// Who puts new files into place writes them one after the other: they count when they have been the
// same for two looks.
void Node::Impl::look_at_credentials() {
  tell_of_their_end();
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
  in_use_ = seen_ = stamps_of(*options_.tls);
  auto credentials = Credentials::load(*options_.tls, options_.config.nodes, options_.config.self);
  if (!credentials) {
    log_->warn(credentials.error().what +
               "; what was read before stays, until these files change again");
    return credentials.error();
  }
  tls_->renew(*std::move(credentials));
  told_of_end_ = {};
  log_->tell(LogLevel::info, "tls",
             "node " + std::to_string(options_.config.self.value) +
                 " has taken its certificate and those that it believes anew");
  if (const auto there = life()) there->break_connections();
  return {};
}

// Said at 30, 7 and 1 days before it.
void Node::Impl::tell_of_their_end() {
  const auto left = std::chrono::ceil<std::chrono::days>(tls_->credentials()->expires() -
                                                         std::chrono::system_clock::now());
  std::chrono::days due{};
  for (const auto days : {std::chrono::days(30), std::chrono::days(7), std::chrono::days(1)})
    if (left <= days) due = days;
  if (due == std::chrono::days::zero() || due == told_of_end_) return;
  told_of_end_ = due;
  log_->warn("the certificate of node " + std::to_string(options_.config.self.value) +
             " ends within " + std::to_string(due.count()) +
             " days: renew it; with none no node speaks with this one");
}

void Node::Impl::renew_credentials() {
  if (!options_.tls) return;
  asio::post(strand_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->take_credentials();
  });
}

void Node::renew_credentials() {
  impl_->renew_credentials();
}

}  // namespace muster::net

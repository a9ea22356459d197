// What the owner of a node has written since it began.

#include "node_impl.hpp"

#include <boost/asio/post.hpp>

namespace muster::net {

// All of it or nothing: what can fail comes first.
Expected<> Node::Impl::heed(const Changes& changes) {
  if (http_ && changes.http)
    if (Expected<> moved = move_http(*changes.http); !moved) return moved;
  log_->heed(changes.log_level, changes.log_format);
  if (journal_) journal_->heed(changes.journal_limit, changes.journal_keep);
  return {};
}

// Gives the keys that count from the next start on.
Expected<std::string> Node::Impl::read_again() {
  std::string at_next_start;
  if (options_.read_again) {
    const Expected<Changes> changes = options_.read_again();
    Expected<> heeded = changes ? heed(*changes) : changes.error();
    if (!heeded) {
      log_->warn(heeded.error().what + "; what was read before stays");
      return heeded.error();
    }
    at_next_start = changes->at_next_start;
  }
  if (options_.tls)
    if (Expected<> made = take_credentials(); !made) return made.error();
  return at_next_start;
}

void Node::Impl::reload() {
  boost::asio::post(strand_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    const Expected<std::string> at_next_start = self->read_again();
    if (!at_next_start) return;
    std::string text = "node " + std::to_string(self->options_.config.self.value) +
                       " has read again what its owner has written";
    if (!at_next_start->empty()) text += "; from its next start on counts " + *at_next_start;
    self->log_->tell(LogLevel::info, "reload", text);
  });
}

void Node::reload() {
  impl_->reload();
}

}  // namespace muster::net

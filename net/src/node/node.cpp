#include "node/impl.hpp"
#include "node/status.hpp"

#include <muster/values/json.hpp>

#include <boost/asio/post.hpp>

#include <utility>

namespace muster::net {

namespace asio = boost::asio;

// --- The certificate and the status

// Leaves at once if the node's certificate is no longer valid. The other nodes notice an invalid
// certificate one after the other. Until all have noticed, they would form groups with this node
// and without it in turn.
void Node::Impl::look_at_proof() {
  const auto life = lives_->last();
  if (!life) return;
  const auto why = certificates_.why_unproven();
  if (why && !absence_.ordered() && !absence_.order(Out::unproven, {}))
    log_->warn(name() + " leaves because its certificate " + *why +
               ": give it a new one, and it comes back");
  life->break_unproven();
}

void Node::Impl::proof_is_renewed() {
  if (const auto life = lives_->last()) life->break_connections();
  if (absence_.ordered() == Out::unproven) absence_.end();
}

void Node::Impl::reload() {
  asio::post(strand_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->admin_) return;
    const Expected<std::string> at_next_start = self->admin_->read_again();
    if (!at_next_start) return;
    std::string text = self->name() + " has reloaded its configuration";
    if (!at_next_start->empty())
      text += "; these changes take effect only at its next start: " + *at_next_start;
    self->log_->tell(LogLevel::info, "reload", text);
  });
}

View Node::Impl::view() const {
  const auto life = lives_->last();
  return life ? life->seen().view : View{};
}

std::string Node::Impl::status_json() const {
  const auto life = lives_->last();
  return to_json(status_of(options_, life.get(), absence_.out(), chronicle_.because(),
                           certificates_.time_left()));
}

std::string Node::Impl::fresh_status_json() const {
  if (const auto life = lives_->last()) life->show_counters();
  return status_json();
}

std::string Node::Impl::history_json(const Page& page) const {
  return chronicle_.lines(page, lives_->last() && !absence_.out());
}

// --- Node

Node::Node(asio::io_context& context, NodeOptions options, std::unique_ptr<SafeStorage> storage,
           MakeApplication make_application, asio::any_io_executor hooks)
    : impl_(std::make_shared<Impl>(context, std::move(options), std::move(storage),
                                   std::move(make_application), std::move(hooks))) {}

Node::~Node() {
  impl_->close();
}

Expected<> Node::start(std::function<void()> listens) {
  return impl_->start(std::move(listens));
}

void Node::leave(std::function<void()> left) {
  impl_->leave(std::move(left));
}

void Node::reload() {
  impl_->reload();
}

std::string Node::status_json() const {
  return impl_->status_json();
}

View Node::view() const {
  return impl_->view();
}

}  // namespace muster::net

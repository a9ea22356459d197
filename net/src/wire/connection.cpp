#include "wire/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <array>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// turn_bytes: the most bytes that one connection reads before other connections get their turn.
// drain_bytes: the most bytes that one connection reads after a time bound has passed, before the
// peer counts as silent. Both are more than the default buffer of a socket.
constexpr std::size_t turn_bytes = 256 * 1024;
constexpr std::size_t drain_bytes = 8 * 1024 * 1024;
constexpr std::size_t encrypted_bytes = 16 * 1024;  // the most bytes of one read, encrypted

}  // namespace

Connection::Connection(Tcp::socket socket, WireVersions spoken, Duration frame_deadline,
                       Counters& counters, std::size_t most_at_first,
                       std::unique_ptr<Channel> channel)
    : socket_(std::move(socket)),
      frame_timer_(socket_.get_executor()),
      frame_deadline_(frame_deadline),
      counters_(counters),
      reader_(most_at_first, spoken),
      channel_(std::move(channel)) {}

std::optional<NodeId> Connection::proven() const {
  return channel_ ? channel_->proven() : std::nullopt;
}

bool Connection::outlasts_its_proof(std::chrono::system_clock::time_point now) const {
  return proven() && channel_->expires() <= now;
}

void Connection::start() {
  wait_to_read();
}

// Waits until the socket is readable, and then reads without waiting. So everything that has
// arrived can also be read at any other moment, in order.
void Connection::wait_to_read() {
  socket_.async_wait(Tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
    if (error || self->closed_) return;
    ConnectionOwner* const owner = self->owner_;
    self->read(turn_bytes, false);
    if (!self->closed_) self->wait_to_read();
    owner->turn_ended();
  });
}

void Connection::read_now() {
  read(drain_bytes, true);
}

void Connection::read(std::size_t most, bool to_the_end) {
  const auto self = shared_from_this();  // the owner can close and drop this connection
  std::array<char, encrypted_bytes> encrypted;
  for (std::size_t got = 0; !closed_ && got < most;) {
    const auto room = channel_ ? std::span<char>(encrypted) : reader_.room();
    error_code error;
    const std::size_t size = socket_.read_some(asio::buffer(room.data(), room.size()), error);
    if (error == asio::error::would_block || error == asio::error::try_again) break;
    if (error) return finish(error.message());
    got += size;
    counters_.bytes_in += size;
    if (channel_) {
      decrypt({encrypted.data(), size});
    } else if (!parting_) {
      reader_.filled(size);
      take_frames();
    }
    if (size < room.size() && !to_the_end) break;  // it has most likely read all
  }
  if (!closed_) watch_partial_frame();
}

// Sends the channel's own output at once: its part of a handshake, or an alert.
void Connection::decrypt(std::string_view encrypted) {
  if (parting_) return;
  channel_->on_bytes(encrypted);
  while (!closed_) {
    const auto room = reader_.room();
    const std::size_t size = channel_->read(room);
    if (size == 0) break;
    reader_.filled(size);
    take_frames();
  }
  if (closed_) return;
  if (!channel_->out().empty()) {
    flush();
    if (idle()) owner_->writable(*this);
  }
  const auto& end = channel_->end();
  if (!end) return;
  if (end->kind == ChannelEnd::Kind::plain) {
    append_frame(channel_->out(), Refusal{host::RefusalReason::stranger, "it speaks TLS alone"});
    flush();
  }
  part(*end);
}

// Ends the connection in such a way that the peer learns the reason. If unread bytes of the peer
// remained, the system would discard the last output and reset the connection. So the sending side
// is shut down, and further input is read and thrown away.
void Connection::part(const ChannelEnd& end) {
  parting_ = end;
  error_code ignored;
  socket_.shutdown(Tcp::socket::shutdown_send, ignored);
  frame_timer_.expires_after(frame_deadline_);
  watches_frame_ = true;
  frame_timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || self->closed_) return;
    ConnectionOwner* const owner = self->owner_;
    self->finish({});
    owner->turn_ended();
  });
}

void Connection::finish(const std::string& why) {
  if (!parting_) return end(ConnectionEnd::finished, why);
  const bool refused = parting_->kind == ChannelEnd::Kind::refused;
  end(refused ? ConnectionEnd::refused : ConnectionEnd::unproven, parting_->why);
}

void Connection::take_frames() {
  while (!closed_ && !parting_) {
    auto frame = reader_.next();
    if (!frame && !channel_ && reader_.is_tls()) {
      put(Refusal{host::RefusalReason::stranger, "it speaks without TLS"});
      flush();
      return part({ChannelEnd::Kind::unproven, "it uses TLS, but this node does not"});
    }
    if (!frame) return end(ConnectionEnd::garbage, frame.error().what);
    if (!*frame) return;
    ++frames_;
    owner_->on_frame(*this, **std::move(frame));
  }
}

void Connection::watch_partial_frame() {
  if (!reader_.partial() || watches_frame_) return;
  watches_frame_ = true;
  frame_timer_.expires_after(frame_deadline_);
  frame_timer_.async_wait([self = shared_from_this(), frames = frames_](error_code error) {
    if (error || self->closed_) return;
    ConnectionOwner* const owner = self->owner_;
    self->read_now();  // if this process was late, the rest can have arrived
    self->watches_frame_ = false;
    if (!self->closed_ && self->frames_ == frames)
      self->end(ConnectionEnd::late, "the rest of a frame did not arrive in time");
    else if (!self->closed_)
      self->watch_partial_frame();
    owner->turn_ended();
  });
}

std::string& Connection::wire() {
  return channel_ ? channel_->out() : out_;
}

bool Connection::idle() const {
  return out_.empty() && (!channel_ || channel_->idle());
}

std::size_t Connection::put(const Frame& frame) {
  const std::size_t before = out_.size();
  append_frame(out_, frame, reader_.version());
  return out_.size() - before;
}

void Connection::flush() {
  if (channel_) {
    channel_->write(out_);
    out_.clear();
  }
  if (closed_ || waits_to_write_ || write_failed_) return;
  std::string& bytes = wire();
  while (wire_begin_ < bytes.size()) {
    error_code error;
    const std::size_t size = socket_.write_some(
        asio::buffer(bytes.data() + wire_begin_, bytes.size() - wire_begin_), error);
    wire_begin_ += size;
    counters_.bytes_out += size;
    if (error == asio::error::would_block || error == asio::error::try_again) {
      wait_to_write();
      return;
    }
    if (error) {
      // The peer's last bytes are still to be read. The reading side will report the end.
      write_failed_ = true;
      return;
    }
  }
  bytes.clear();
  wire_begin_ = 0;
  if (bytes.capacity() > 2 * host::enough_bytes) bytes.shrink_to_fit();
}

void Connection::wait_to_write() {
  waits_to_write_ = true;
  socket_.async_wait(Tcp::socket::wait_write, [self = shared_from_this()](error_code error) {
    if (error || self->closed_) return;
    ConnectionOwner* const owner = self->owner_;
    self->waits_to_write_ = false;
    self->wire().erase(0, self->wire_begin_);
    self->wire_begin_ = 0;
    self->flush();
    if (!self->closed_ && self->idle()) owner->writable(*self);
    owner->turn_ended();
  });
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  error_code ignored;
  frame_timer_.cancel();
  socket_.close(ignored);
}

void Connection::end(ConnectionEnd end, const std::string& why) {
  close();
  owner_->on_connection_ended(*this, end, why);
}

}  // namespace muster::net

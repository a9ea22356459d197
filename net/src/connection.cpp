#include "connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <utility>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// What one connection may have read before others get their turn, and what is read when a bound has
// passed: more than a socket's buffer holds by default.
constexpr std::size_t turn_bytes = 256 * 1024;
constexpr std::size_t drain_bytes = 8 * 1024 * 1024;

}  // namespace

Connection::Connection(Tcp::socket socket, Duration frame_deadline, Counters& counters,
                       std::size_t most_at_first)
    : socket_(std::move(socket)),
      frame_timer_(socket_.get_executor()),
      frame_deadline_(frame_deadline),
      counters_(counters),
      reader_(most_at_first) {}

void Connection::start() {
  wait_to_read();
}

// Readiness is awaited, and then read without waiting: so everything that has come can also be read
// at any other moment, in order.
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
  const auto self = shared_from_this();  // owners let go of a connection that they close
  for (std::size_t got = 0; !closed_ && got < most;) {
    const auto room = reader_.room();
    error_code error;
    const std::size_t size = socket_.read_some(asio::buffer(room.data(), room.size()), error);
    if (error == asio::error::would_block || error == asio::error::try_again) break;
    if (error) return end(ConnectionEnd::finished, error.message());
    got += size;
    counters_.bytes_in += size;
    reader_.filled(size);
    take_frames();
    if (size < room.size() && !to_the_end) break;  // most likely there is nothing more
  }
  if (!closed_) watch_partial_frame();
}

void Connection::take_frames() {
  while (!closed_) {
    auto frame = reader_.next();
    if (!frame) return end(ConnectionEnd::garbage, frame.error().what);
    if (!*frame) return;
    ++frames_;
    owner_->came(*this, **std::move(frame));
  }
}

void Connection::watch_partial_frame() {
  if (!reader_.partial() || watches_frame_) return;
  watches_frame_ = true;
  frame_timer_.expires_after(frame_deadline_);
  frame_timer_.async_wait([self = shared_from_this(), frames = frames_](error_code error) {
    if (error || self->closed_) return;
    ConnectionOwner* const owner = self->owner_;
    self->read_now();  // it may be this process that was late
    self->watches_frame_ = false;
    if (!self->closed_ && self->frames_ == frames)
      self->end(ConnectionEnd::late, "the rest of a frame did not come in time");
    else if (!self->closed_)
      self->watch_partial_frame();
    owner->turn_ended();
  });
}

void Connection::flush() {
  if (closed_ || waits_to_write_ || write_failed_) return;
  while (out_begin_ < out_.size()) {
    error_code error;
    const std::size_t size =
        socket_.write_some(asio::buffer(out_.data() + out_begin_, out_.size() - out_begin_), error);
    out_begin_ += size;
    counters_.bytes_out += size;
    if (error == asio::error::would_block || error == asio::error::try_again) {
      wait_to_write();
      return;
    }
    if (error) {
      // What came before the end is still to be read: the reading side will see the end.
      write_failed_ = true;
      return;
    }
  }
  out_.clear();
  out_begin_ = 0;
  if (out_.capacity() > 2 * host::enough_bytes) out_.shrink_to_fit();
}

void Connection::wait_to_write() {
  waits_to_write_ = true;
  socket_.async_wait(Tcp::socket::wait_write, [self = shared_from_this()](error_code error) {
    if (error || self->closed_) return;
    ConnectionOwner* const owner = self->owner_;
    self->waits_to_write_ = false;
    self->out_.erase(0, self->out_begin_);
    self->out_begin_ = 0;
    self->flush();
    if (!self->closed_ && !self->waits_to_write_) owner->writable(*self);
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
  owner_->ended(*this, end, why);
}

}  // namespace muster::net

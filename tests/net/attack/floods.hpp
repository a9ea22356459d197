#pragma once

#include <muster/values/describe.hpp>
#include <muster/values/types.hpp>

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Floods that an unauthenticated peer can send. Each runs on one thread in a process of its own.

namespace muster::test {

enum class Flood {
  nothing,       ///< no flood, for comparison
  tiny_keys_40,  ///< Hellos with a text of 64 KiB of tiny keys, 40 a second
  tiny_keys,     ///< the same Hellos as fast as one thread can send them; so are all floods below
                 ///< without a rate
  connections_800,      ///< connections that send nothing, 800 a second
  namesakes,            ///< Hellos to a node in that node's own name
  questions_unread,     ///< status questions by one observer that reads no answers
  questions_unread_16,  ///< status questions by 16 observers that read no answers
  questions_read_16,    ///< status questions by 16 observers that read the answers
  bytes_64,             ///< Hellos that are sent byte by byte, on 64 connections
  /// First messages of TLS handshakes. A node with certificates must compute a signature for each
  /// answer.
  handshakes,
};
MUSTER_DESCRIBE_ENUM(Flood, nothing, tiny_keys_40, tiny_keys, connections_800, namesakes,
                     questions_unread, questions_unread_16, questions_read_16, bytes_64, handshakes)

using Ports = std::map<NodeId, std::uint16_t>;

/// A process that works until its handle is destroyed.
class Endless {
 public:
  template <class Work>
  explicit Endless(const Work& work) : pid_(begin()) {
    if (pid_ != 0) return;
    work();
    leave();
  }
  Endless(const Endless&) = delete;
  Endless& operator=(const Endless&) = delete;
  ~Endless();

 private:
  static pid_t begin();
  [[noreturn]] static void leave();
  pid_t pid_;
};

/// Counts the units that a flood has sent. Depending on the flood, a unit is a connection, a Hello,
/// 250 kB of questions, or a byte.
class Sent {
 public:
  Sent();
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;
  ~Sent();
  /// Shared with the process that sends.
  [[nodiscard]] volatile std::uint64_t& count() const { return *count_; }

 private:
  volatile std::uint64_t* count_;
};

/// Floods these ports in turn, for ever.
void flood(Flood how, const Ports& ports, const std::string& cluster, volatile std::uint64_t& sent);

/// Accepts connections at these ports, and reads and discards all bytes, for ever.
void discard(const Ports& ports);

}  // namespace muster::test

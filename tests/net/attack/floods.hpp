#pragma once

#include <muster/values/describe.hpp>
#include <muster/values/types.hpp>

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Floods of what a stranger can send, by one thread of a process of its own.

namespace muster::test {

enum class Flood {
  nothing,              ///< to compare with
  tiny_keys_40,         ///< Hellos with a text of 64 KiB of tiny keys, 40 a second
  tiny_keys,            ///< the same, as fast as one thread can; and so on with all that follow
  connections_800,      ///< connections that say nothing, 800 a second
  namesakes,            ///< Hellos in the name of whom they are said to
  questions_unread,     ///< status questions by one observer that reads nothing
  questions_unread_16,  ///< by 16
  questions_read_16,    ///< by 16 that read the answers
  bytes_64,             ///< Hellos byte by byte on 64 connections
  handshakes,           ///< beginnings of TLS, at nodes with certificates, which answer with proofs
};
MUSTER_DESCRIBE_ENUM(Flood, nothing, tiny_keys_40, tiny_keys, connections_800, namesakes,
                     questions_unread, questions_unread_16, questions_read_16, bytes_64, handshakes)

using Ports = std::map<NodeId, std::uint16_t>;

/// A process that does something until its handle ends.
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

/// How often the flood's unit was sent: a connection, a Hello, 250 kB of questions, a byte.
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

/// Floods those ports, in turn, for ever.
void flood(Flood how, const Ports& ports, const std::string& cluster, volatile std::uint64_t& sent);

/// Accepts at those ports, reads, and throws away, for ever.
void discard(const Ports& ports);

}  // namespace muster::test

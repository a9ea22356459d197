#pragma once

#include "tls/credentials.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// One end of a TLS connection, without a socket. Encrypted bytes from the peer go in, and
/// encrypted bytes for it come out, at any moment and in pieces of any size.

namespace muster::net {

enum class Side { dialled, accepted };

/// Why nothing more can be read.
struct ChannelEnd {
  enum class Kind {
    unproven,  ///< the peer's identity was not proven, or is not trusted
    refused,   ///< the peer has proven its identity, and refuses this end's certificate
    plain,     ///< the peer speaks without TLS
  };
  Kind kind{};
  std::string why;
};

class Channel {
 public:
  /// `wanted` is the node that was dialled. Without `wanted` the peer may be any node or observer
  /// of the cluster.
  Channel(std::shared_ptr<const Credentials> credentials, Side side,
          std::optional<NodeId> wanted = {});
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Takes encrypted bytes from the peer.
  void on_bytes(std::string_view bytes);
  /// Returns decrypted bytes, at most as many as fit into `room`. Returns 0 if there is nothing
  /// more at the moment, and always after the channel has ended.
  std::size_t read(std::span<char> room);
  [[nodiscard]] const std::optional<ChannelEnd>& end() const { return end_; }

  /// Sends bytes as soon as the peer's identity is proven.
  void write(std::string_view bytes);
  /// Encrypted bytes for the peer. After the channel has ended, they tell the peer why.
  std::string& out() { return out_; }
  [[nodiscard]] bool idle() const { return waiting_.empty() && out_.empty(); }

  /// OpenSSL's object.
  [[nodiscard]] SSL* tls() const { return tls_.get(); }
  /// The identity that the peer has proven; none before the handshake is complete.
  [[nodiscard]] std::optional<NodeId> proven() const { return proven_; }
  /// The earliest moment at which a certificate of this connection expires: one of either end, or
  /// of an authority above them.
  [[nodiscard]] std::chrono::system_clock::time_point expires() const;

 private:
  static int verify(int holds, X509_STORE_CTX* chain);
  bool shake_hands();
  void write_waiting();
  void take_out();
  void fail();

  std::shared_ptr<const Credentials> credentials_;
  std::unique_ptr<SSL, Free<SSL_free>> tls_;
  BIO* in_ = nullptr;  // both are owned by tls_
  BIO* out_bio_ = nullptr;
  const Side side_;
  std::optional<NodeId> wanted_;
  /// The name in the peer's certificate. Perhaps the peer has not proven yet that it has the key.
  std::optional<NodeId> judged_;
  std::string misfit_;  ///< the fault of the peer's certificate
  std::optional<NodeId> proven_;
  std::string waiting_;  ///< held back until the peer's identity is proven
  std::string out_;
  std::optional<ChannelEnd> end_;
  bool begun_ = false;
};

}  // namespace muster::net

#pragma once

#include "tls/credentials.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// One end of one connection's TLS, without a socket: bytes of the other side go in and bytes for
/// it come out, at any moment and as many as there are.

namespace muster::net {

enum class Side { dialled, accepted };

/// Why nothing more can be read.
struct ChannelEnd {
  enum class Kind {
    unproven,  ///< who the other side is was not proven, or is not believed
    refused,   ///< it has proven who it is, and does not believe this end's certificate
    plain,     ///< it speaks without TLS
  };
  Kind kind{};
  std::string why;
};

class Channel {
 public:
  /// `wanted` is who was dialled; anybody of the cluster may have where it was accepted.
  Channel(std::shared_ptr<const Credentials> credentials, Side side,
          std::optional<NodeId> wanted = {});
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Bytes of the other side.
  void came(std::string_view bytes);
  /// What they mean: at most so much as fits, none where there is nothing more for now. After an
  /// end nothing comes.
  std::size_t read(std::span<char> room);
  [[nodiscard]] const std::optional<ChannelEnd>& end() const { return end_; }

  /// Goes out as soon as it is known to whom.
  void write(std::string_view bytes);
  /// For the other side. After an end this is what tells it of that.
  std::string& out() { return out_; }
  [[nodiscard]] bool idle() const { return waiting_.empty() && out_.empty(); }

  /// What OpenSSL has of it.
  [[nodiscard]] SSL* tls() const { return tls_.get(); }
  /// Who the other side has proven to be.
  [[nodiscard]] std::optional<NodeId> proven() const { return proven_; }
  /// When the first of both ends' certificates ends, and of those by which they are believed.
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
  std::optional<NodeId> judged_;  ///< by its certificate, which it has not proven to own yet
  std::string misfit_;            ///< what is wrong with its certificate
  std::optional<NodeId> proven_;
  std::string waiting_;  ///< to be written when it is known to whom
  std::string out_;
  std::optional<ChannelEnd> end_;
  bool begun_ = false;
};

}  // namespace muster::net

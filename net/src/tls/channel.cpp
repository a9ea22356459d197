#include "tls/channel.hpp"

#include <openssl/err.h>

#include <algorithm>
#include <new>
#include <utility>

namespace muster::net {

namespace {

// True for the beginning of a handshake or an alert (RFC 8446, 5.1). The version bytes are the same
// in every version of TLS.
bool begins_as_tls(std::string_view bytes) {
  return (bytes[0] == 22 || bytes[0] == 21) && (bytes.size() < 2 || bytes[1] == 3);
}

std::string name_of(NodeId id) {
  return id == NodeId{} ? "an observer" : "node " + std::to_string(id.value);
}

// The alerts by which a peer refuses a certificate (RFC 8446, 6.2).
bool is_about_certificate(int alert) {
  switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

std::string text_of_alert(int alert) {
  // OpenSSL 3.0 has no name for this alert.
  return alert == SSL_AD_CERTIFICATE_REQUIRED ? "certificate required"
                                              : SSL_alert_desc_string_long(alert);
}

}  // namespace

Channel::Channel(std::shared_ptr<const Credentials> credentials, Side side,
                 std::optional<NodeId> wanted)
    : credentials_(std::move(credentials)),
      tls_(SSL_new(credentials_->context())),
      in_(BIO_new(BIO_s_mem())),
      out_bio_(BIO_new(BIO_s_mem())),
      side_(side),
      wanted_(wanted) {
  if (!tls_ || !in_ || !out_bio_) throw std::bad_alloc();
  SSL_set_bio(tls_.get(), in_, out_bio_);
  SSL_set_app_data(tls_.get(), this);
  SSL_set_verify(tls_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verify);
  if (side == Side::dialled)
    SSL_set_connect_state(tls_.get());
  else
    SSL_set_accept_state(tls_.get());
  shake_hands();
}

// Called by OpenSSL for each certificate of the peer's chain, after its own checks of that
// certificate; the peer's own certificate comes last.
//
// OpenSSL only checks that a trusted authority signed the chain, that it is valid now and that it
// is not revoked. These checks only prove that the peer belongs to some cluster of this authority.
// This function checks its identity: the certificate names a node or an observer of this cluster
// (`judge`), and the dialled peer is the node that was wanted. Without this check node 3 could
// answer in the place of node 2, and an observer in the place of a node. An accepted peer may be
// any node or observer of the cluster. The Hello of that peer then has to name the node that was
// proven here, unless the peer is an observer.
int Channel::verify(int holds, X509_STORE_CTX* chain) {
  if (holds != 1) return forgives(holds, chain);
  if (X509_STORE_CTX_get_error_depth(chain) != 0) return 1;
  auto* const tls =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& channel = *static_cast<Channel*>(SSL_get_app_data(tls));
  const Judged judged =
      judge(X509_STORE_CTX_get_current_cert(chain), channel.credentials_->names());
  channel.misfit_ = judged.wrong;
  if (channel.misfit_.empty() && channel.wanted_ && judged.node != *channel.wanted_)
    channel.misfit_ =
        "is for " + name_of(judged.node) + ", but " + name_of(*channel.wanted_) + " was dialled";
  else if (channel.misfit_.empty() && channel.side_ == Side::dialled && judged.node == NodeId{})
    channel.misfit_ = "is for an observer, which answers no calls";
  channel.judged_ = judged.node;
  if (channel.misfit_.empty()) return 1;
  X509_STORE_CTX_set_error(chain, X509_V_ERR_HOSTNAME_MISMATCH);
  return 0;
}

void Channel::on_bytes(std::string_view bytes) {
  if (end_ || bytes.empty()) return;
  if (!std::exchange(begun_, true) && !begins_as_tls(bytes)) {
    end_ = ChannelEnd{ChannelEnd::Kind::plain, "it does not use TLS, but this node does"};
    return;
  }
  if (BIO_write(in_, bytes.data(), static_cast<int>(bytes.size())) !=
      static_cast<int>(bytes.size()))
    throw std::bad_alloc();
}

std::size_t Channel::read(std::span<char> room) {
  if (end_ || !shake_hands()) return 0;
  ERR_clear_error();
  std::size_t size = 0;
  const int result = SSL_read_ex(tls_.get(), room.data(), room.size(), &size);
  if (result != 1) {
    size = 0;
    fail();
  }
  take_out();
  return size;
}

bool Channel::shake_hands() {
  if (proven_) return true;
  ERR_clear_error();
  const int result = SSL_do_handshake(tls_.get());
  if (result == 1) {
    proven_ = judged_;
    write_waiting();
  } else {
    fail();
  }
  take_out();
  return proven_.has_value() && !end_;
}

void Channel::write(std::string_view bytes) {
  if (end_) return;
  waiting_ += bytes;
  if (proven_) write_waiting();
  take_out();
}

void Channel::write_waiting() {
  if (waiting_.empty()) return;
  std::size_t written = 0;
  ERR_clear_error();
  if (SSL_write_ex(tls_.get(), waiting_.data(), waiting_.size(), &written) != 1) return fail();
  waiting_.erase(0, written);
  if (!waiting_.empty()) write_waiting();
}

void Channel::take_out() {
  char* data = nullptr;
  const long size = BIO_get_mem_data(out_bio_, &data);
  out_.append(data, static_cast<std::size_t>(size));
  (void)BIO_reset(out_bio_);
}

std::chrono::system_clock::time_point Channel::expires() const {
  return std::min(credentials_->expires(), end_of(SSL_get0_verified_chain(tls_.get())));
}

// Notes the end of the channel, if the last call to OpenSSL failed for good. It does nothing if
// OpenSSL only waits for more bytes. A peer can say that it will send no more (close_notify), but
// this function ignores it. Any machine on the path could cut the connection there, so only the end
// of the connection itself counts.
void Channel::fail() {
  const int why = SSL_get_error(tls_.get(), 0);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_ZERO_RETURN)
    return;
  using Kind = ChannelEnd::Kind;
  const unsigned long code = ERR_peek_error();
  const int alert = ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET;
  const long judgement = SSL_get_verify_result(tls_.get());
  if (ERR_GET_LIB(code) == ERR_LIB_SSL && alert > 0 && alert < 256) {
    const bool by_a_node = proven_ && *proven_ != NodeId{};
    if (by_a_node && alert == SSL_AD_CERTIFICATE_REVOKED) credentials_->note_revoked();
    end_ = ChannelEnd{proven_ && is_about_certificate(alert) ? Kind::refused : Kind::unproven,
                      "it says: " + text_of_alert(alert)};
  } else if (!misfit_.empty()) {
    end_ = ChannelEnd{Kind::unproven, "its certificate " + misfit_};
  } else if (judgement != X509_V_OK) {
    end_ = ChannelEnd{Kind::unproven, std::string("its certificate is not trusted: ") +
                                          X509_verify_cert_error_string(judgement)};
  } else {
    end_ = ChannelEnd{Kind::unproven, openssl_error()};
  }
  ERR_clear_error();
}

}  // namespace muster::net

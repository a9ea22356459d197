#include "tls/credentials.hpp"

#include <muster/values/text.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace muster::net {

namespace {

using GeneralNames = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;
using Wall = std::chrono::system_clock;

constexpr int most_between = 2;  // the most certificates between a node's and an authority
constexpr long largest_chain = 32 * 1024;  // the most bytes of the peer's certificates
constexpr const char* groups = "X25519:P-256";

std::string put_in(std::string text, std::string_view word, const std::string& value) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? text : text.replace(at, word.size(), value);
}

Wall::time_point moment_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return Wall::from_time_t(timegm(&parts));
}

Failure wrong(const std::string& what) {
  return {ExitCode::bad_configuration, "[tls] " + what};
}
Failure unreadable(const char* key, const std::string& file, const std::string& what) {
  return wrong(std::string(key) + " = \"" + file + "\" " + what + ": " + openssl_error());
}

// Keys with a passphrase are not supported: nobody could be asked for it.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

/// The URIs among the subject alternative names.
std::vector<std::string> uris_of(X509* certificate) {
  const GeneralNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> found;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    found.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                       static_cast<std::size_t>(ASN1_STRING_length(uri)));
  }
  return found;
}

}  // namespace

std::string certificate_name(const TlsOptions& options, NodeId node) {
  return put_in(put_in(options.name, "ID", std::to_string(node.value)), "CLUSTER", options.cluster);
}
std::string observer_name(const TlsOptions& options) {
  return put_in(options.observer, "CLUSTER", options.cluster);
}

Names names_of(const TlsOptions& options, const NodeSet& nodes) {
  Names names{{observer_name(options), NodeId{}}};
  for (NodeId node : nodes) names.emplace(certificate_name(options, node), node);
  return names;
}

std::string openssl_error() {
  const unsigned long code = ERR_peek_error();
  ERR_clear_error();
  if (code == 0) return "no reason is given";
  if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
  const char* const reason = ERR_reason_error_string(code);
  return reason ? reason : "error " + std::to_string(code);
}

Wall::time_point end_of(const STACK_OF(X509) * chain) {
  Wall::time_point first = Wall::time_point::max();
  for (int i = 0; i < sk_X509_num(chain); ++i)
    first = std::min(first, moment_of(X509_get0_notAfter(sk_X509_value(chain, i))));
  return first;
}

// OpenSSL accepts a certificate that states no purpose. Here the purposes have to be stated.
Judged judge(X509* certificate, const Names& names) {
  constexpr std::uint32_t both = XKU_SSL_SERVER | XKU_SSL_CLIENT;
  if ((X509_get_extension_flags(certificate) & EXFLAG_XKUSAGE) == 0 ||
      (X509_get_extended_key_usage(certificate) & both) != both)
    return {"is not for client and server use", {}};
  const std::vector<std::string> uris = uris_of(certificate);
  if (uris.size() != 1)
    return {"has " + std::to_string(uris.size()) +
                " URIs as alternative names, but has to have exactly one, which names its node",
            {}};
  const auto at = names.find(uris.front());
  if (at == names.end())
    return {"is for " + presentable(uris.front()) + ", which is not in this cluster", {}};
  return {"", at->second};
}

// Accepts two faults that OpenSSL reports. An outdated list still tells which certificates are
// revoked, and an authority without a list has revoked none.
int forgives(int holds, X509_STORE_CTX* chain) {
  const int error = X509_STORE_CTX_get_error(chain);
  if (error != X509_V_ERR_CRL_HAS_EXPIRED && error != X509_V_ERR_UNABLE_TO_GET_CRL) return holds;
  X509_STORE_CTX_set_error(chain, X509_V_OK);
  return 1;
}

Expected<std::shared_ptr<const Credentials>> Credentials::load(const TlsOptions& options,
                                                               const NodeSet& nodes,
                                                               std::optional<NodeId> own) {
  auto made = read(options, nodes);
  if (!made) return made.error();
  if (auto believed = (*made)->check_own(options, own); !believed) return believed.error();
  return std::shared_ptr<const Credentials>(*std::move(made));
}

Expected<> look_at(const TlsOptions& options, const NodeSet& nodes, NodeId own) {
  const auto credentials = Credentials::load(options, nodes, own);
  return credentials ? Expected<>() : credentials.error();
}

Expected<std::shared_ptr<Credentials>> Credentials::read(const TlsOptions& options,
                                                         const NodeSet& nodes) {
  std::shared_ptr<Credentials> made(new Credentials);
  made->names_ = names_of(options, nodes);
  ERR_clear_error();
  if (auto done = made->read_files(options); !done) return done.error();
  return made;
}

Expected<> Credentials::read_files(const TlsOptions& options) {
  context_.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* const context = context_.get();
  if (!context) return wrong("cannot be set up: " + openssl_error());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify_depth(context, most_between);
  SSL_CTX_set_max_cert_list(context, largest_chain);
  SSL_CTX_set1_groups_list(context, groups);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  if (SSL_CTX_load_verify_file(context, options.ca.c_str()) != 1)
    return unreadable("ca", options.ca, "has no certificates in PEM");
  if (options.certificate.empty()) return {};  // this process proves nothing
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate.c_str()) != 1)
    return unreadable("cert", options.certificate, "has no certificate in PEM");
  if (SSL_CTX_use_PrivateKey_file(context, options.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return wrong("key = \"" + options.key +
                 "\": expected the private key of cert, in PEM and without a passphrase, but "
                 "OpenSSL says: " +
                 openssl_error());
  X509_STORE_set_verify_cb(SSL_CTX_get_cert_store(context), forgives);
  if (!options.crl.empty())
    if (auto done = read_revocations(options.crl); !done) return done.error();
  return {};
}

Expected<> Credentials::read_revocations(const std::string& file) {
  X509_STORE* const store = SSL_CTX_get_cert_store(context_.get());
  const std::unique_ptr<BIO, Free<BIO_free_all>> in(BIO_new_file(file.c_str(), "r"));
  if (!in) return unreadable("crl", file, "cannot be read");
  while (X509_CRL* const read = PEM_read_bio_X509_CRL(in.get(), nullptr, nullptr, nullptr)) {
    const std::unique_ptr<X509_CRL, Free<X509_CRL_free>> list(read);
    if (X509_STORE_add_crl(store, list.get()) != 1)
      return unreadable("crl", file, "cannot be used");
    if (const ASN1_TIME* next = X509_CRL_get0_nextUpdate(list.get()))
      list_expires_ = std::min(list_expires_.value_or(Wall::time_point::max()), moment_of(next));
  }
  if (!list_expires_) return unreadable("crl", file, "has no list of revocations in PEM");
  ERR_clear_error();
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  return {};
}

// Finds at the start the faults for which other nodes would refuse this node later.
Expected<> Credentials::check_own(const TlsOptions& options, std::optional<NodeId> own) {
  X509* const certificate = SSL_CTX_get0_certificate(context_.get());
  const std::string file = "cert = \"" + options.certificate + "\" ";
  Judged judged = judge(certificate, names_);
  if (judged.wrong.empty() && own && judged.node != *own)
    judged.wrong =
        "is not for this node: expected the certificate of " + certificate_name(options, *own);
  if (!judged.wrong.empty()) return wrong(file + judged.wrong);
  STACK_OF(X509)* between = nullptr;
  SSL_CTX_get0_chain_certs(context_.get(), &between);
  const std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>> chain(X509_STORE_CTX_new());
  if (!chain || X509_STORE_CTX_init(chain.get(), SSL_CTX_get_cert_store(context_.get()),
                                    certificate, between) != 1)
    return wrong(file + "cannot be checked: " + openssl_error());
  X509_STORE_CTX_set_depth(chain.get(), most_between);
  if (X509_verify_cert(chain.get()) != 1) {
    const int why = X509_STORE_CTX_get_error(chain.get());
    Failure failure = wrong(file + "is not trusted by ca = \"" + options.ca +
                            "\": " + X509_verify_cert_error_string(why));
    // Such a fault can be gone at the next start, if the clock has been set or the certificate
    // renewed.
    if (why == X509_V_ERR_CERT_NOT_YET_VALID || why == X509_V_ERR_CERT_HAS_EXPIRED)
      failure.code = ExitCode::temporary;
    return failure;
  }
  expires_ = end_of(X509_STORE_CTX_get0_chain(chain.get()));
  return {};
}

}  // namespace muster::net

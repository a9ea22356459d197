#include "authority.hpp"

#include "files.hpp"
#include "openssl.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <tuple>
#include <utility>

namespace muster::certificates {

namespace fs = std::filesystem;

std::string last_error() {
  const unsigned long code = ERR_peek_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(code);
  return reason ? reason : "no reason is given";
}

namespace {

using Names = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;

// In seconds. The clock of the machine that checks a certificate can be behind this one.
constexpr long early = -3600;
constexpr int serial_bits = 127;

const fs::path issued = "issued";
constexpr std::string_view scheme = "muster://";

// --- To and from PEM

Buffer buffer_of(const std::string& bytes) {
  return Buffer(given(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size()))));
}

std::string bytes_of(const Buffer& buffer) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(buffer.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

template <class Write>
std::string pem(const Write& write) {
  const Buffer out(given(BIO_new(BIO_s_mem())));
  done(write(out.get()));
  return bytes_of(out);
}
std::string pem_of(X509* certificate) {
  return pem([&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}
std::string pem_of(EVP_PKEY* key) {
  return pem([&](BIO* out) {
    return PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}
std::string pem_of(X509_CRL* revocations) {
  return pem([&](BIO* out) { return PEM_write_bio_X509_CRL(out, revocations); });
}

// Refuses keys with a passphrase, instead of asking for it.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

Failure is_no(const char* what, const fs::path& file) {
  return {ExitCode::bad_configuration,
          file.string() + " is not a " + what + " (" + last_error() + "): name another file"};
}

Expected<Certificate> read_certificate(const fs::path& file) {
  const auto bytes = read_file(file);
  if (!bytes) return bytes.error();
  Certificate found(PEM_read_bio_X509(buffer_of(*bytes).get(), nullptr, no_passphrase, nullptr));
  if (!found) return is_no("certificate in PEM", file);
  return found;
}

Expected<Key> read_key(const fs::path& file) {
  const auto bytes = read_file(file);
  if (!bytes) return bytes.error();
  Key found(PEM_read_bio_PrivateKey(buffer_of(*bytes).get(), nullptr, no_passphrase, nullptr));
  if (!found) return is_no("private key in PEM, or it has a passphrase", file);
  return found;
}

Expected<Revocations> read_revocations(const fs::path& file) {
  const auto bytes = read_file(file);
  if (!bytes) return bytes.error();
  Revocations found(
      PEM_read_bio_X509_CRL(buffer_of(*bytes).get(), nullptr, no_passphrase, nullptr));
  if (!found) return is_no("list of revoked certificates in PEM", file);
  return found;
}

// --- Reading a certificate

Clock::time_point moment_of(const ASN1_TIME* time) {
  std::tm parts{};
  done(ASN1_TIME_to_tm(time, &parts));
  return Clock::from_time_t(timegm(&parts));
}

std::string hexadecimal(const ASN1_INTEGER* serial) {
  std::string digits;
  for (int i = 0; i < serial->length; ++i) {
    constexpr std::string_view hex = "0123456789abcdef";
    digits += {hex[serial->data[i] >> 4U], hex[serial->data[i] & 15U]};
  }
  return digits;
}

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

Names names_of(X509* certificate) {
  return Names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
}

std::string uri_of(X509* certificate) {
  const Names names = names_of(certificate);
  std::string found;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    if (!found.empty()) return {};
    found = text_of(name->d.uniformResourceIdentifier);
  }
  return found;
}

std::vector<std::string> hosts_of(X509* certificate) {
  const Names names = names_of(certificate);
  std::vector<std::string> hosts;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) hosts.push_back(text_of(name->d.dNSName));
    if (name->type != GEN_IPADD) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const ASN1_OCTET_STRING* const bytes = name->d.iPAddress;
    const int family = ASN1_STRING_length(bytes) == sizeof(in_addr) ? AF_INET : AF_INET6;
    if (inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size()) != nullptr)
      hosts.emplace_back(text.data());
  }
  return hosts;
}

std::string common_name_of(X509* certificate) {
  const X509_NAME* const name = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  return at < 0 ? "" : text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
}

Entry described(X509* certificate) {
  return {hexadecimal(X509_get0_serialNumber(certificate)), uri_of(certificate),
          moment_of(X509_get0_notAfter(certificate)), false};
}

// --- Making a certificate

void draw_serial(X509* certificate) {
  const std::unique_ptr<BIGNUM, Free<BN_free>> number(given(BN_new()));
  done(BN_rand(number.get(), serial_bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY));
  given(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)));
}

void say_common_name(X509_NAME* name, const std::string& text) {
  constexpr std::size_t longest = 64;  // the longest name in RFC 5280; this name is only for people
  done(X509_NAME_add_entry_by_txt(
      name, "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(text.substr(0, longest).c_str()), -1, -1, 0));
}

void push(GENERAL_NAMES* names, int kind, const std::string& text) {
  GENERAL_NAME* const name = given(GENERAL_NAME_new());
  ASN1_IA5STRING* const string = given(ASN1_IA5STRING_new());
  done(ASN1_STRING_set(string, text.data(), static_cast<int>(text.size())));
  GENERAL_NAME_set0_value(name, kind, string);
  done(sk_GENERAL_NAME_push(names, name));
}

void say_names(X509* certificate, const std::string& uri,
               const std::vector<std::string>& hosts = {}) {
  const Names names(given(GENERAL_NAMES_new()));
  push(names.get(), GEN_URI, uri);
  for (const std::string& host : hosts) {
    if (ASN1_OCTET_STRING* const address = a2i_IPADDRESS(host.c_str())) {
      GENERAL_NAME* const name = given(GENERAL_NAME_new());
      GENERAL_NAME_set0_value(name, GEN_IPADD, address);
      done(sk_GENERAL_NAME_push(names.get(), name));
    } else {
      ERR_clear_error();
      push(names.get(), GEN_DNS, host);
    }
  }
  done(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT));
}

void extend(X509* certificate, X509* issuer,
            std::initializer_list<std::pair<int, const char*>> extensions) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const auto& [kind, value] : extensions) {
    const Extension extension(given(X509V3_EXT_conf_nid(nullptr, &context, kind, value)));
    done(X509_add_ext(certificate, extension.get(), -1));
  }
}

struct Pair {
  Certificate certificate;
  Key key;
};

/// A certificate with a new key, not signed yet. It expires at `latest` at the latest.
Pair begin_certificate(const std::string& common_name, std::chrono::seconds lifetime,
                       const ASN1_TIME* latest) {
  Pair made{Certificate(given(X509_new())), Key(given(EVP_EC_gen("P-256")))};
  X509* const certificate = made.certificate.get();
  done(X509_set_version(certificate, X509_VERSION_3));
  draw_serial(certificate);
  say_common_name(X509_get_subject_name(certificate), common_name);
  given(X509_gmtime_adj(X509_getm_notBefore(certificate), early));
  given(X509_time_adj_ex(X509_getm_notAfter(certificate), 0, lifetime.count(), nullptr));
  if (latest && ASN1_TIME_compare(X509_get0_notAfter(certificate), latest) > 0)
    done(X509_set1_notAfter(certificate, latest));
  done(X509_set_pubkey(certificate, made.key.get()));
  return made;
}

// --- Revocations

Moment moment_in(std::chrono::seconds time) {
  return Moment(given(X509_time_adj_ex(nullptr, 0, time.count(), nullptr)));
}

/// Writes a revocation list that contains all revocations of the list `before`, and also `revoked`.
Expected<> sign_revocations(const fs::path& file, const Pair& by, X509_CRL* before,
                            const ASN1_INTEGER* revoked, std::chrono::seconds lifetime) {
  const Revocations made(given(X509_CRL_new()));
  done(X509_CRL_set_version(made.get(), X509_CRL_VERSION_2));
  done(X509_CRL_set_issuer_name(made.get(), X509_get_subject_name(by.certificate.get())));
  done(X509_CRL_set1_lastUpdate(made.get(), moment_in({}).get()));
  done(X509_CRL_set1_nextUpdate(made.get(), moment_in(lifetime).get()));
  STACK_OF(X509_REVOKED)* const old = before ? X509_CRL_get_REVOKED(before) : nullptr;
  for (int i = 0; i < sk_X509_REVOKED_num(old); ++i)
    done(X509_CRL_add0_revoked(made.get(), given(X509_REVOKED_dup(sk_X509_REVOKED_value(old, i)))));
  if (revoked) {
    X509_REVOKED* const one = given(X509_REVOKED_new());
    done(X509_REVOKED_set_serialNumber(one, const_cast<ASN1_INTEGER*>(revoked)));
    done(X509_REVOKED_set_revocationDate(one, moment_in({}).get()));
    done(X509_CRL_add0_revoked(made.get(), one));
  }
  done(X509_CRL_sort(made.get()));
  done(X509_CRL_sign(made.get(), by.key.get(), EVP_sha256()));
  return write_public(file, pem_of(made.get()), true);
}

Expected<Pair> own_pair(const fs::path& directory) {
  auto certificate = read_certificate(directory / "ca.crt");
  if (!certificate) return certificate.error();
  auto key = read_key(directory / "ca.key");
  if (!key) return key.error();
  if (X509_check_private_key(certificate->get(), key->get()) != 1) {
    ERR_clear_error();
    return Failure{ExitCode::bad_configuration, (directory / "ca.key").string() +
                                                    " is not the key of the certificate beside "
                                                    "it: restore the directory"};
  }
  return Pair{*std::move(certificate), *std::move(key)};
}

}  // namespace

Expected<Authority> Authority::create(const fs::path& directory, const std::string& cluster,
                                      std::chrono::seconds lifetime) {
  if (auto made = make_private_directory(directory); !made) return made.error();
  if (auto made = make_private_directory(directory / issued); !made) return made.error();
  const Pair own = begin_certificate("Muster authority of " + cluster, lifetime, nullptr);
  X509* const certificate = own.certificate.get();
  done(X509_set_issuer_name(certificate, X509_get_subject_name(certificate)));
  say_names(certificate, std::string(scheme) + cluster);
  extend(certificate, certificate,
         {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
          {NID_key_usage, "critical,keyCertSign,cRLSign"},
          {NID_subject_key_identifier, "hash"}});
  done(X509_sign(certificate, own.key.get(), EVP_sha256()));
  Authority authority(directory);
  if (auto written = write_private(directory / "ca.key", pem_of(own.key.get())); !written)
    return written.error();
  if (auto written = write_public(authority.certificate(), pem_of(certificate)); !written)
    return written.error();
  if (auto begun = sign_revocations(authority.revocations(), own, nullptr, nullptr, lifetime);
      !begun)
    return begun.error();
  return authority;
}

Expected<Authority> Authority::open(const fs::path& directory) {
  if (auto own = own_pair(directory); !own) return own.error();
  return Authority(directory);
}

Expected<Issued> Authority::issue(const Subject& subject, std::chrono::seconds lifetime) const {
  auto own = own_pair(directory_);
  if (!own) return own.error();
  X509* const issuer = own->certificate.get();
  const std::string& common_name = subject.common_name.empty() ? subject.name : subject.common_name;
  const Pair made = begin_certificate(common_name, lifetime, X509_get0_notAfter(issuer));
  X509* const certificate = made.certificate.get();
  done(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)));
  say_names(certificate, subject.name, subject.hosts);
  const char* usage = "serverAuth,clientAuth";
  if (!subject.dials)
    usage = "serverAuth";
  else if (!subject.serves)
    usage = "clientAuth";
  extend(certificate, issuer,
         {{NID_basic_constraints, "critical,CA:FALSE"},
          {NID_key_usage, "critical,digitalSignature"},
          {NID_ext_key_usage, usage},
          {NID_subject_key_identifier, "hash"},
          {NID_authority_key_identifier, "keyid"}});
  done(X509_sign(certificate, own->key.get(), EVP_sha256()));
  Issued given_out{pem_of(certificate), pem_of(made.key.get()), described(certificate)};
  const fs::path kept = directory_ / issued / (given_out.entry.serial + ".crt");
  if (auto written = write_public(kept, given_out.certificate); !written) return written.error();
  return given_out;
}

Expected<Entry> Authority::revoke(const std::string& serial, std::chrono::seconds lifetime) const {
  auto own = own_pair(directory_);
  if (!own) return own.error();
  const fs::path kept = directory_ / issued / (serial + ".crt");
  if (std::error_code none; !fs::exists(kept, none))
    return Failure{
        ExitCode::bad_configuration,
        directory_.string() + " has issued no certificate " + serial + ": see muster cert list"};
  auto certificate = read_certificate(kept);
  if (!certificate) return certificate.error();
  auto before = read_revocations(revocations());
  if (!before) return before.error();
  Entry entry = described(certificate->get());
  entry.revoked = true;
  X509_REVOKED* known = nullptr;
  if (X509_CRL_get0_by_cert(before->get(), &known, certificate->get()) == 1) return entry;
  if (auto renewed = sign_revocations(revocations(), *own, before->get(),
                                      X509_get0_serialNumber(certificate->get()), lifetime);
      !renewed)
    return renewed.error();
  return entry;
}

Expected<> Authority::renew_revocations(std::chrono::seconds lifetime) const {
  auto own = own_pair(directory_);
  if (!own) return own.error();
  auto before = read_revocations(revocations());
  if (!before) return before.error();
  return sign_revocations(revocations(), *own, before->get(), nullptr, lifetime);
}

Expected<std::vector<Entry>> Authority::list() const {
  auto revoked = read_revocations(revocations());
  if (!revoked) return revoked.error();
  std::vector<Entry> entries;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(directory_ / issued, error)) {
    if (file.path().extension() != ".crt") continue;
    auto certificate = read_certificate(file.path());
    if (!certificate) return certificate.error();
    entries.push_back(described(certificate->get()));
    X509_REVOKED* known = nullptr;
    entries.back().revoked = X509_CRL_get0_by_cert(revoked->get(), &known, certificate->get()) == 1;
  }
  if (error) return cannot("read", directory_ / issued, error.message());
  std::sort(entries.begin(), entries.end(), [](const Entry& one, const Entry& other) {
    return std::tie(one.name, other.expires, one.serial) <
           std::tie(other.name, one.expires, other.serial);
  });
  return entries;
}

Expected<std::string> Authority::cluster() const {
  auto own = read_certificate(certificate());
  if (!own) return own.error();
  const std::string uri = uri_of(own->get());
  if (!uri.starts_with(scheme))
    return Failure{ExitCode::bad_configuration,
                   certificate().string() +
                       " does not name its cluster: give names with --name, or make an authority "
                       "with muster cert init"};
  return uri.substr(scheme.size());
}

Expected<Entry> entry_of(const fs::path& file) {
  auto certificate = read_certificate(file);
  if (!certificate) return certificate.error();
  return described(certificate->get());
}

Expected<bool> is_among(const fs::path& one, const fs::path& others) {
  const auto certificate = read_certificate(one);
  if (!certificate) return certificate.error();
  const auto bytes = read_file(others);
  if (!bytes) return bytes.error();
  const Buffer all = buffer_of(*bytes);
  while (const Certificate other{PEM_read_bio_X509(all.get(), nullptr, no_passphrase, nullptr)})
    if (X509_cmp(certificate->get(), other.get()) == 0) return true;
  ERR_clear_error();  // OpenSSL reports the end of the file as an error
  return false;
}

Expected<bool> is_for_host(const fs::path& file, const std::string& host) {
  const auto certificate = read_certificate(file);
  if (!certificate) return certificate.error();
  X509* const its = certificate->get();
  const bool is = X509_check_ip_asc(its, host.c_str(), 0) == 1 ||
                  X509_check_host(its, host.c_str(), host.size(), 0, nullptr) == 1;
  ERR_clear_error();  // OpenSSL keeps an error if the host is no address
  return is;
}

Expected<Subject> subject_of(const fs::path& file) {
  auto certificate = read_certificate(file);
  if (!certificate) return certificate.error();
  X509* const its = certificate->get();
  const auto usage = X509_get_extended_key_usage(its);
  return Subject{uri_of(its), common_name_of(its), hosts_of(its), (usage & XKU_SSL_SERVER) != 0,
                 (usage & XKU_SSL_CLIENT) != 0};
}

}  // namespace muster::certificates

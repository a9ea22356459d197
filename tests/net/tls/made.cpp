#include "made.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>

namespace muster::test {

namespace {

long last_serial = 1;

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

}  // namespace

Made made(const Wish& wish, const Made* by) {
  Made one{decltype(Made::certificate)(X509_new()), decltype(Made::key)(EVP_EC_gen("P-256"))};
  X509* const certificate = one.certificate.get();
  X509* const issuer = by ? by->certificate.get() : certificate;
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++last_serial);
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(std::to_string(last_serial).c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  X509_time_adj_ex(X509_getm_notBefore(certificate), 0, wish.from.count(), nullptr);
  X509_time_adj_ex(X509_getm_notAfter(certificate), 0, wish.to.count(), nullptr);
  X509_set_pubkey(certificate, one.key.get());
  extend(certificate, issuer, NID_basic_constraints,
         wish.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!wish.usage.empty() && !wish.authority)
    extend(certificate, issuer, NID_ext_key_usage, wish.usage);
  if (!wish.alternative_names.empty())
    extend(certificate, issuer, NID_subject_alt_name, joined(wish.alternative_names));
  X509_sign(certificate, by ? by->key.get() : one.key.get(), EVP_sha256());
  return one;
}

std::string Files::write(const std::string& name, const std::vector<const Made*>& made) const {
  const File file(std::fopen(at(name).c_str(), "w"));
  for (const Made* one : made) PEM_write_X509(file.get(), one->certificate.get());
  return at(name);
}

std::string Files::write_key(const std::string& name, const Made& made) const {
  const File file(std::fopen(at(name).c_str(), "w"));
  PEM_write_PrivateKey(file.get(), made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return at(name);
}

std::string Files::write_list(const std::string& name, const Made& by,
                              const std::vector<const Made*>& revoked, Days to) const {
  const std::unique_ptr<X509_CRL, net::Free<X509_CRL_free>> list(X509_CRL_new());
  X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(by.certificate.get()));
  ASN1_TIME* const time = X509_time_adj_ex(nullptr, -20, 0, nullptr);
  X509_CRL_set1_lastUpdate(list.get(), time);
  for (const Made* one : revoked) {
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(one->certificate.get()));
    X509_REVOKED_set_revocationDate(entry, time);
    X509_CRL_add0_revoked(list.get(), entry);
  }
  X509_time_adj_ex(time, static_cast<int>(to.count()), 0, nullptr);
  X509_CRL_set1_nextUpdate(list.get(), time);
  ASN1_TIME_free(time);
  X509_CRL_sign(list.get(), by.key.get(), EVP_sha256());
  const File file(std::fopen(at(name).c_str(), "w"));
  PEM_write_X509_CRL(file.get(), list.get());
  return at(name);
}

}  // namespace muster::test

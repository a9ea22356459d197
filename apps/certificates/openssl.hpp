#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

/// OpenSSL's values, owned; and what it says of its last error.

namespace muster::certificates {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* value) const {
    free(value);
  }
};

using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Revocations = std::unique_ptr<X509_CRL, Free<X509_CRL_free>>;
using Number = std::unique_ptr<ASN1_INTEGER, Free<ASN1_INTEGER_free>>;
using Moment = std::unique_ptr<ASN1_TIME, Free<ASN1_TIME_free>>;
using Buffer = std::unique_ptr<BIO, Free<BIO_free_all>>;

/// The reason of the first error that OpenSSL remembers, which it then forgets with all others.
std::string last_error();

/// Throws what OpenSSL says where it gives nothing: out of memory, or an argument of ours that is
/// wrong. What files and people do wrong is looked at before.
template <class T>
T* given(T* value) {
  if (value == nullptr) throw std::runtime_error("OpenSSL: " + last_error());
  return value;
}
inline void done(int result) {
  if (result <= 0) throw std::runtime_error("OpenSSL: " + last_error());
}

}  // namespace muster::certificates

#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

/// Owning pointers to OpenSSL's values, and the text of its last error.

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

/// The reason of the first error in OpenSSL's queue. Clears the queue.
std::string last_error();

/// Throws OpenSSL's error if an OpenSSL function returned null: memory ran out, or our code passed
/// a wrong argument. Wrong files and wrong input of users are refused before such a call.
template <class T>
T* given(T* value) {
  if (value == nullptr) throw std::runtime_error("OpenSSL: " + last_error());
  return value;
}
inline void done(int result) {
  if (result <= 0) throw std::runtime_error("OpenSSL: " + last_error());
}

}  // namespace muster::certificates

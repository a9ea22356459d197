#include "apps/postgres/server/marker_keys.hpp"

#include "apps/postgres/server/credentials.hpp"
#include "apps/postgres/server/durable.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

namespace muster::postgres {
namespace {

constexpr std::size_t digits_of_key = 64;
constexpr std::string_view each_digit = "0123456789abcdef";

std::string in_digits(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += each_digit[byte >> 4U];
    text += each_digit[byte & 15U];
  }
  return text;
}

std::string mac_by(const std::string& key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  if (::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(),
             &size) == nullptr)
    throw std::runtime_error("OpenSSL makes no message authentication code");
  return in_digits({reinterpret_cast<const char*>(mac.data()), size});
}

std::string name_of(const std::string& key) {
  constexpr std::size_t length = 16;
  return mac_by(key, "name").substr(0, length);
}

bool is_key(std::string_view line) {
  return line.size() == digits_of_key &&
         line.find_first_not_of(each_digit) == std::string_view::npos;
}

}  // namespace

Expected<MarkerKeys> MarkerKeys::read(const std::filesystem::path& file) {
  MarkerKeys keys;
  const auto text = read_text(file);
  if (!text) return text.error();
  if (!*text) return keys;
  if (const auto right = look_at_key(file, ::geteuid()); !right) return right.error();
  std::istringstream lines(**text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (!is_key(line))
      return Failure{
          ExitCode::bad_configuration,
          file.string() +
              ": a line is no marker key, which has 64 of the digits 0 to 9 and a to f: copy the "
              "file from another node again"};
    keys.keys_.push_back(line);
  }
  return keys;
}

std::vector<std::string> MarkerKeys::names() const {
  std::vector<std::string> names;
  names.reserve(keys_.size());
  for (const std::string& key : keys_) names.push_back(name_of(key));
  return names;
}

std::string MarkerKeys::shown() const {
  std::string text;
  for (const std::string& name : names()) text += (text.empty() ? "" : " ") + name;
  return text;
}

bool MarkerKeys::have_one_of(const std::string& shown) const {
  const auto all = names();
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& name) { return shows_key(shown, name); });
}

bool shows_key(const std::string& shown, const std::string& name) {
  return shown.find(name) != std::string::npos;
}

std::string MarkerKeys::mac_of(std::string_view text, const std::string& name) const {
  const auto of_name = std::find_if(keys_.begin(), keys_.end(),
                                    [&](const std::string& key) { return name_of(key) == name; });
  return mac_by(of_name == keys_.end() ? keys_.back() : *of_name, text);
}

bool MarkerKeys::have_signed(std::string_view text, std::string_view mac) const {
  return std::any_of(keys_.begin(), keys_.end(), [&](const std::string& key) {
    const std::string right = mac_by(key, text);
    return mac.size() == right.size() &&
           ::CRYPTO_memcmp(mac.data(), right.data(), right.size()) == 0;
  });
}

std::string digest_of(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (::EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, ::EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL makes no digest");
  return in_digits({reinterpret_cast<const char*>(digest.data()), size});
}

std::string new_marker_key() {
  std::array<unsigned char, digits_of_key / 2> bytes{};
  if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw std::runtime_error("OpenSSL makes no random numbers");
  return in_digits({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) + "\n";
}

}  // namespace muster::postgres

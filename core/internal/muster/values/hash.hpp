#pragma once

#include <muster/detail/values/kinds.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

/// Digests of bytes and hashes of values. Digests are stored and sent; hashes never leave the
/// process.

namespace MUSTER_EXPORT muster {

/// XXH64 of `bytes` with seed 0, as the xxHash specification 0.1.1 defines it. The digest is the
/// same on every machine and in every release. It is not cryptographic: it detects accidents, not
/// attacks.
Digest digest(std::string_view bytes);

/// Computes one 64-bit number from values, field by field. Equal values give equal numbers.
class Hasher {
 public:
  template <class T>
  void add(const T& value);

  [[nodiscard]] std::uint64_t finish() const {
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 33)) * 0xC2B2AE3D27D4EB4F;
    mixed = (mixed ^ (mixed >> 29)) * 0x165667B19E3779F9;
    return mixed ^ (mixed >> 32);
  }

 private:
  // The step of XXH64 for eight bytes, with its constants.
  void mix(std::uint64_t word) {
    state_ ^= std::rotl(word * 0xC2B2AE3D27D4EB4F, 31) * 0x9E3779B185EBCA87;
    state_ = std::rotl(state_, 27) * 0x9E3779B185EBCA87 + 0x85EBCA77C2B2AE63;
  }
  template <class Range>
  void add_each(const Range& range) {
    mix(range.size());
    for (const auto& element : range) add(element);
  }
  std::uint64_t state_ = 0x27D4EB2F165667C5;
};

/// The hash of a described value, or of a container, optional or variant of such values; see
/// Hasher.
template <class T>
std::uint64_t hash(const T& value) {
  Hasher hasher;
  hasher.add(value);
  return hasher.finish();
}

template <class T>
void Hasher::add(const T& value) {
  if constexpr (std::integral<T> || std::is_enum_v<T>) {
    mix(static_cast<std::uint64_t>(value));
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    const std::string_view bytes = value;
    mix(bytes.size());
    if (!bytes.empty()) mix(digest(bytes).value);
  } else if constexpr (std::same_as<T, Bytes>) {
    add(value.data);
  } else if constexpr (AnyStrong<T>) {
    add(value.value);
  } else if constexpr (std::same_as<T, Duration>) {
    add(value.count());
  } else if constexpr (AnyOptional<T>) {
    mix(value.has_value());
    if (value) add(*value);
  } else if constexpr (AnyVariant<T>) {
    mix(value.index());
    std::visit([this](const auto& alternative) { this->add(alternative); }, value);
  } else if constexpr (AnyVector<T> || AnyMap<T> || std::same_as<T, NodeSet>) {
    add_each(value);
  } else if constexpr (detail::is_made_from<T, std::pair>) {
    add(value.first);
    add(value.second);
  } else if constexpr (Described<T>) {
    for_each_field(value, [this](const char*, const auto& field) { this->add(field); });
  } else {
    static_assert(detail::unknown_kind<T>, "describe the type with MUSTER_DESCRIBE");
  }
}

}  // namespace muster

#pragma once

#include <muster/detail/values/archive_sizes.hpp>
#include <muster/detail/values/compiled_once.hpp>
#include <muster/detail/values/kinds.hpp>
#include <muster/values/failure.hpp>

#include <boost/archive/detail/interface_iarchive.hpp>
#include <boost/archive/detail/interface_oarchive.hpp>
#include <boost/serialization/array_wrapper.hpp>
#include <boost/serialization/collection_size_type.hpp>
#include <boost/serialization/item_version_type.hpp>
#include <boost/serialization/library_version_type.hpp>
#include <boost/serialization/nvp.hpp>
#include <boost/serialization/serialization.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// The bounded archive: values to and from bytes, for disk and wire alike.
///
/// Described values are archived by their descriptions, other classes by their ordinary
/// Boost.Serialization members, with version 0. Numbers are little-endian and of fixed width. An
/// enumeration is one byte, a count 32 bits. An optional has a byte 0 or 1 before its value, a
/// variant the index of its alternative. An archive has no header, no pointer and no tracking: the
/// code that frames the bytes records their version.
///
/// Reading trusts nothing. A count is checked against the bytes that are left before memory is
/// allocated for it. Sets and maps must ascend, enumerators must exist, and all bytes must belong
/// to the value. So two values have the same bytes if and only if they are equal. This need not be
/// true of types with serialize() members of their own.

namespace MUSTER_EXPORT muster {

/// The CRC-32 of `bytes` (ISO 3309, as in zlib). This checksum detects accidental damage on a disk
/// or a wire, not attacks.
std::uint32_t checksum(std::string_view bytes);

/// How many bytes `encode` makes of a described value, computed without encoding it.
template <class T>
std::size_t size_of_encoded(const T& value) {
  return detail::archived_size(value);
}

/// The most that `decode` accepts.
struct Limits {
  std::size_t bytes = std::size_t{1} << 24;     ///< of the whole input
  std::size_t elements = std::size_t{1} << 16;  ///< in all containers together
  std::size_t depth = 16;                       ///< of nested values
  bool foreign = true;  ///< true for bytes from another node: incarnations and counters above
                        ///< `highest_number` are refused
};

namespace detail {

struct ArchiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace detail

/// Appends values to a string. The string must outlive the archive.
class OutputArchive : public boost::archive::detail::interface_oarchive<OutputArchive> {
 public:
  explicit OutputArchive(std::string& out) : out_(out) {}

  /// The function that Boost.Serialization calls for `<<` and `&`.
  template <class T>
  void save_override(const T& value) {
    detail::save_value(*this, value);
  }

  /// For classes that know their size, such as arrays.
  void save_binary(const void* bytes, std::size_t size) {
    out_.append(static_cast<const char*>(bytes), size);
  }
  [[nodiscard]] boost::serialization::library_version_type get_library_version() const {
    return boost::serialization::library_version_type(19);
  }

 private:
  template <class T>
  friend void detail::save_value(OutputArchive& archive, const T& value);

  template <class T>
  void save_here(const T& value);
  template <detail::ArchivedNumber T>
  void put(T number) {
    const auto bits = std::bit_cast<detail::UnsignedOf<sizeof(T)>>(number);
    char bytes[sizeof bits];
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(bytes, &bits, sizeof bits);
    } else {
      for (std::size_t i = 0; i < sizeof bits; ++i) bytes[i] = static_cast<char>(bits >> (8 * i));
    }
    out_.append(bytes, sizeof bytes);
  }
  void put_count(std::size_t count) {
    if (count > std::numeric_limits<std::uint32_t>::max())
      throw detail::ArchiveError("more than 2^32 - 1 elements or bytes in one value");
    put(static_cast<std::uint32_t>(count));
  }
  template <class Range>
  void put_each(const Range& range) {
    put_count(range.size());
    for (const auto& element : range) save_override(element);
  }

  std::string& out_;
};

/// Reads values from bytes that anyone may have written. The bytes must outlive the archive.
///
/// @par Exceptions
/// Throws an exception derived from std::exception for bytes that are not a value.
class InputArchive : public boost::archive::detail::interface_iarchive<InputArchive> {
 public:
  explicit InputArchive(std::string_view bytes, Limits limits = {})
      : left_(bytes), size_(bytes.size()), limits_(limits) {
    if (bytes.size() > limits.bytes) fail("more bytes than the limit");
  }

  /// The function that Boost.Serialization calls for `>>` and `&`.
  template <class T>
  void load_override(T& value) {
    detail::load_value(*this, value);
  }

  /// For classes that know their size, such as arrays.
  void load_binary(void* to, std::size_t size) {
    const std::string_view bytes = take(size);
    if (size > 0) std::memcpy(to, bytes.data(), size);
  }
  [[nodiscard]] boost::serialization::library_version_type get_library_version() const {
    return boost::serialization::library_version_type(19);
  }
  void reset_object_address(const void*, const void*) {}

  /// Throws unless every byte was read.
  void finish() const {
    if (!left_.empty()) fail("surplus bytes at the end");
  }

 private:
  template <class T>
  friend void detail::load_value(InputArchive& archive, T& value);

  template <class T>
  void load_here(T& value);
  [[noreturn]] void fail(const std::string& what) const {
    throw detail::ArchiveError("byte " + std::to_string(size_ - left_.size()) + " of " +
                               std::to_string(size_) + ": " + what);
  }
  std::string_view take(std::size_t size) {
    if (size > left_.size()) fail("the bytes end too early");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  template <detail::ArchivedNumber T>
  T take_number() {
    detail::UnsignedOf<sizeof(T)> bits{};
    const std::string_view bytes = take(sizeof bits);
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&bits, bytes.data(), sizeof bits);
    } else {
      for (std::size_t i = sizeof bits; i-- > 0;)
        bits = static_cast<decltype(bits)>(bits << 8 | static_cast<unsigned char>(bytes[i]));
    }
    return std::bit_cast<T>(bits);
  }
  std::uint8_t take_below(std::size_t end, const char* what) {
    const auto number = take_number<std::uint8_t>();
    if (number >= end) fail(what);
    return number;
  }
  void hold_below(std::uint64_t number, std::uint64_t greatest) const {
    if (limits_.foreign && number > greatest) fail("a number beyond " + std::to_string(greatest));
  }
  // A count of elements, each of which takes at least `least` bytes.
  std::size_t take_count(std::size_t least) {
    const std::size_t count = take_number<std::uint32_t>();
    if (count > limits_.elements - elements_) fail("more elements than the limit");
    if (least > 0 && count > left_.size() / least)
      fail("a count too large for the bytes that are left");
    elements_ += count;
    return count;
  }
  void take_string(std::string& to) { to = take(take_number<std::uint32_t>()); }
  template <class T>
  void take_vector(T& to);
  template <class T>
  void take_map(T& to);
  void take_set(NodeSet& to);
  template <class... Alternatives>
  void take_variant(std::variant<Alternatives...>& to);
  template <class E>
  E take_enumerator();

  std::string_view left_;
  std::size_t size_;
  Limits limits_;
  std::size_t elements_ = 0;
  std::size_t depth_ = 0;
};

template <class T>
void OutputArchive::save_here(const T& value) {
  namespace serialization = boost::serialization;
  if constexpr (std::same_as<T, bool>) {
    put(static_cast<std::uint8_t>(value));
  } else if constexpr (detail::ArchivedNumber<T>) {
    put(value);
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(DescribedEnum<T> && detail::enumerators_fit_one_byte<T>());
    put(static_cast<std::uint8_t>(value));
  } else if constexpr (std::same_as<T, std::string>) {
    put_count(value.size());
    out_ += value;
  } else if constexpr (std::same_as<T, Bytes>) {
    save_override(value.data);
  } else if constexpr (AnyStrong<T>) {
    put(value.value);
  } else if constexpr (std::same_as<T, Duration>) {
    put(std::int64_t{value.count()});
  } else if constexpr (AnyOptional<T>) {
    save_override(value.has_value());
    if (value) save_override(*value);
  } else if constexpr (AnyVariant<T>) {
    static_assert(std::variant_size_v<T> <= 256);
    put(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& alternative) { this->save_override(alternative); }, value);
  } else if constexpr (AnyVector<T> || AnyMap<T> || std::same_as<T, NodeSet>) {
    put_each(value);
  } else if constexpr (detail::is_made_from<T, std::pair>) {
    save_override(value.first);
    save_override(value.second);
  } else if constexpr (Described<T>) {
    for_each_field(value, [this](const char*, const auto& field) { this->save_override(field); });
  } else if constexpr (std::same_as<T, serialization::collection_size_type>) {
    put_count(value);
  } else if constexpr (std::same_as<T, serialization::item_version_type>) {
    // The code that frames the bytes records versions.
  } else if constexpr (detail::is_made_from<T, serialization::nvp>) {
    save_override(value.const_value());
  } else if constexpr (detail::is_made_from<T, serialization::array_wrapper>) {
    for (std::size_t i = 0; i < value.count(); ++i) save_override(value.address()[i]);
  } else if constexpr (std::is_array_v<T>) {
    for (const auto& element : value) save_override(element);
  } else {
    static_assert(std::is_class_v<T>, "the archive carries values, not pointers");
    serialization::serialize_adl(*this, const_cast<T&>(value), 0u);
  }
}

template <class T>
void InputArchive::take_vector(T& to) {
  using Element = typename T::value_type;
  const std::size_t count = take_count(detail::least_bytes<Element>());
  to.clear();
  // Reserves no more memory than the remaining bytes could fill; the vector grows as elements are
  // read.
  to.reserve(std::min(count, left_.size() / sizeof(Element) + 1));
  for (std::size_t i = 0; i < count; ++i) load_override(to.emplace_back());
}

template <class T>
void InputArchive::take_map(T& to) {
  using Pair = std::pair<typename T::key_type, typename T::mapped_type>;
  const std::size_t count = take_count(detail::least_bytes<Pair>());
  to.clear();
  for (std::size_t i = 0; i < count; ++i) {
    Pair pair;
    load_override(pair);
    if (!to.empty() && !(to.rbegin()->first < pair.first)) fail("a map whose keys do not ascend");
    to.emplace_hint(to.end(), std::move(pair));
  }
}

inline void InputArchive::take_set(NodeSet& to) {
  const std::size_t count = take_count(detail::least_bytes<NodeId>());
  to = {};
  NodeId last;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId node{take_number<std::uint32_t>()};
    if (i > 0 && node <= last) fail("a set whose ids do not ascend");
    to.insert(node);
    last = node;
  }
}

template <class... Alternatives>
void InputArchive::take_variant(std::variant<Alternatives...>& to) {
  const std::size_t chosen =
      take_below(sizeof...(Alternatives), "an alternative that does not exist");
  boost::mp11::mp_with_index<sizeof...(Alternatives)>(
      chosen, [&](auto index) { this->load_override(to.template emplace<index>()); });
}

template <class E>
E InputArchive::take_enumerator() {
  static_assert(DescribedEnum<E> && detail::enumerators_fit_one_byte<E>());
  const E value = static_cast<E>(take_number<std::uint8_t>());
  if (enumerator_name(value).empty()) fail("a value that has no name");
  return value;
}

template <class T>
void InputArchive::load_here(T& value) {
  namespace serialization = boost::serialization;
  if constexpr (std::same_as<T, bool>) {
    value = take_below(2, "neither true nor false") == 1;
  } else if constexpr (detail::ArchivedNumber<T>) {
    value = take_number<T>();
  } else if constexpr (std::is_enum_v<T>) {
    value = take_enumerator<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    take_string(value);
  } else if constexpr (std::same_as<T, Bytes>) {
    take_string(value.data);
  } else if constexpr (AnyStrong<T>) {
    value.value = take_number<decltype(value.value)>();
    hold_below(value.value, greatest_of<T>);
  } else if constexpr (std::same_as<T, Duration>) {
    value = Duration(take_number<std::int64_t>());
  } else if constexpr (std::same_as<T, NodeSet>) {
    take_set(value);
  } else if constexpr (std::same_as<T, serialization::collection_size_type>) {
    value = T(take_count(1));
  } else if constexpr (std::same_as<T, serialization::item_version_type>) {
    value = T(0);
  } else {
    if (++depth_ > limits_.depth) fail("values nested more deeply than the limit");
    if constexpr (AnyOptional<T>) {
      value.reset();
      if (take_below(2, "an optional value that is neither present nor absent") == 1)
        load_override(value.emplace());
    } else if constexpr (AnyVariant<T>) {
      take_variant(value);
    } else if constexpr (AnyVector<T>) {
      take_vector(value);
    } else if constexpr (AnyMap<T>) {
      take_map(value);
    } else if constexpr (detail::is_made_from<T, std::pair>) {
      load_override(value.first);
      load_override(value.second);
    } else if constexpr (Described<T>) {
      boost::mp11::mp_for_each<FieldsOf<T>>([&]<class Field>(Field) {
        auto& field = value.*Field::pointer;
        this->load_override(field);
        if constexpr (std::same_as<FieldType<T, Field>, std::uint64_t>)
          hold_below(field, greatest_in<Field::pointer>);
      });
    } else if constexpr (detail::is_made_from<std::remove_const_t<T>, serialization::nvp>) {
      load_override(value.value());
    } else if constexpr (detail::is_made_from<std::remove_const_t<T>,
                                              serialization::array_wrapper>) {
      for (std::size_t i = 0; i < value.count(); ++i) load_override(value.address()[i]);
    } else if constexpr (std::is_array_v<T>) {
      for (auto& element : value) load_override(element);
    } else {
      static_assert(std::is_class_v<T>, "the archive carries values, not pointers");
      serialization::serialize_adl(*this, const_cast<std::remove_const_t<T>&>(value), 0u);
    }
    --depth_;
  }
}

/// @cond
template <class T>
void detail::save_value(OutputArchive& archive, const T& value) {
  archive.save_here(value);
}

template <class T>
void detail::load_value(InputArchive& archive, T& value) {
  archive.load_here(value);
}
/// @endcond

/// Appends the bytes of `value` to `out`.
template <class T>
void encode_to(std::string& out, const T& value) {
  OutputArchive archive(out);
  archive << value;
}

/// The bytes of `value`.
template <class T>
std::string encode(const T& value) {
  std::string out;
  out.reserve(128);
  encode_to(out, value);
  return out;
}

/// Decodes a value; all of `bytes` must belong to it. Never throws: a failure names the byte at
/// which decoding stopped, with the exit code of a damaged store. If there is no memory, the
/// process ends.
template <class T>
Expected<T> decode(std::string_view bytes, Limits limits = {}) noexcept {
  try {
    T value{};
    InputArchive archive(bytes, limits);
    archive >> value;
    archive.finish();
    return value;
  } catch (const std::bad_alloc&) {
    std::terminate();
  } catch (const std::exception& error) {
    return Failure{ExitCode::storage_refused, error.what()};
  }
}

}  // namespace muster

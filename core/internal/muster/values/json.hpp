#pragma once

#include <muster/detail/values/compiled_once.hpp>
#include <muster/detail/values/kinds.hpp>
#include <muster/values/failure.hpp>

#include <boost/json/value.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Values to and from JSON, by their descriptions.
///
/// - Ids are numbers; numbers have up to 64 bits.
/// - GroupNumber and ElectionId are arrays of their numbers.
/// - A Digest is 16 hexadecimal digits, Bytes are base64.
/// - An enumeration is the name of its enumerator.
/// - An optional is null or its value.
/// - A Duration is nanoseconds, under a key with the suffix "_ns".
/// - A map is an array of pairs, in the order of the keys.
/// - A variant is an object that names its alternative under a tag.

namespace MUSTER_EXPORT muster {

/// True for described values that are written as an array of their fields.
template <class T>
inline constexpr bool json_array = std::same_as<T, GroupNumber> || std::same_as<T, ElectionId>;

namespace detail {

// The text `"name":` of a field, made at compile time. The key of a Duration names its unit.
template <class T, class Field>
struct JsonKey {
  static constexpr std::string_view name = Field::name;
  static constexpr std::string_view suffix =
      std::same_as<FieldType<T, Field>, Duration> ? "_ns\":" : "\":";
  static constexpr auto characters = [] {
    std::array<char, 1 + name.size() + suffix.size()> made{'"'};
    std::copy(suffix.begin(), suffix.end(), std::copy(name.begin(), name.end(), made.begin() + 1));
    return made;
  }();
  static constexpr std::string_view quoted{characters.data(), characters.size()};
  static constexpr std::string_view key = quoted.substr(1, quoted.size() - 3);
};

void write_json_number(std::string& out, std::uint64_t number);
void write_json_number(std::string& out, std::int64_t number);
void write_json_digest(std::string& out, Digest digest);
void write_json_bytes(std::string& out, std::string_view bytes);
void write_json_string(std::string& out, std::string_view text);

// The fields of a value, each followed by a comma.
template <Described T>
void write_json_fields(std::string& out, const T& value);

// The tag of a variant and the fields of its alternative, each followed by a comma.
template <AnyVariant T>
void write_json_tagged(std::string& out, const T& value) {
  out.append(1, '"').append(json_tag<T>).append("\":\"").append(alternative_name(value));
  out += "\",";
  std::visit([&out](const auto& alternative) { write_json_fields(out, alternative); }, value);
}

template <Described T>
void write_json_fields(std::string& out, const T& value) {
  boost::mp11::mp_for_each<FieldsOf<T>>([&]<class Field>(Field) {
    using Type = FieldType<T, Field>;
    const Type& field = value.*Field::pointer;
    if constexpr (json_among_fields<Type>) {
      if constexpr (AnyVariant<Type>) {
        write_json_tagged(out, field);
      } else {
        write_json_fields(out, field);
      }
    } else if (!(left_out_by_default<Type> || left_out_in<Field::pointer>) || !(field == Type{})) {
      out += JsonKey<T, Field>::quoted;
      write_json_value(out, field);
      out += ',';
    }
  });
}

// Ends an object or an array. The last element of the object or array may have left a comma.
inline void close_json(std::string& out, char close) {
  if (out.back() == ',') {
    out.back() = close;
  } else {
    out += close;
  }
}

template <class Range>
void write_json_array(std::string& out, const Range& range) {
  out += '[';
  for (const auto& element : range) {
    write_json_value(out, element);
    out += ',';
  }
  close_json(out, ']');
}

template <class T>
void write_json_value(std::string& out, const T& value) {
  if constexpr (std::same_as<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::signed_integral<T>) {
    write_json_number(out, std::int64_t{value});
  } else if constexpr (std::integral<T>) {
    write_json_number(out, std::uint64_t{value});
  } else if constexpr (DescribedEnum<T>) {
    write_json_string(out, enumerator_name(value));
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    write_json_string(out, value);
  } else if constexpr (std::same_as<T, Bytes>) {
    write_json_bytes(out, value.data);
  } else if constexpr (std::same_as<T, Digest>) {
    write_json_digest(out, value);
  } else if constexpr (AnyStrong<T>) {
    write_json_value(out, value.value);
  } else if constexpr (std::same_as<T, Duration>) {
    write_json_number(out, std::int64_t{value.count()});
  } else if constexpr (AnyOptional<T>) {
    if (value) {
      write_json_value(out, *value);
    } else {
      out += "null";
    }
  } else if constexpr (AnyVariant<T>) {
    out += '{';
    write_json_tagged(out, value);
    close_json(out, '}');
  } else if constexpr (AnyVector<T> || AnyMap<T> || std::same_as<T, NodeSet>) {
    write_json_array(out, value);
  } else if constexpr (is_made_from<T, std::pair>) {
    out += '[';
    write_json_value(out, value.first);
    out += ',';
    write_json_value(out, value.second);
    out += ']';
  } else if constexpr (json_array<T>) {
    out += '[';
    for_each_field(value, [&out](const char*, const auto& field) {
      write_json_value(out, field);
      out += ',';
    });
    close_json(out, ']');
  } else if constexpr (Described<T>) {
    out += '{';
    write_json_fields(out, value);
    close_json(out, '}');
  } else {
    static_assert(unknown_kind<T>, "describe the type with MUSTER_DESCRIBE");
  }
}

// Reads values from parsed JSON. A function that fails returns false, after it has recorded the
// place and the reason.
class JsonReader {
 public:
  // If `of_any_version` is true, unknown keys are ignored, and a missing key leaves its field
  // unchanged.
  explicit JsonReader(bool of_any_version = false) : of_any_version_(of_any_version) {}

  template <class T>
  bool read(const boost::json::value& from, T& to) {
    return read_json_value(*this, from, to);
  }

  [[nodiscard]] Failure failure() const;

 private:
  template <class T>
  friend bool read_json_value(JsonReader& reader, const boost::json::value& from, T& to);

  // An object; the reader must ask for each of the keys.
  struct Keys {
    const boost::json::object& object;
    std::vector<std::string_view> asked;
    const boost::json::value* find(std::string_view key) {
      asked.push_back(key);
      return object.if_contains(key);
    }
  };

  bool expected(std::string_view what, const boost::json::value& found);
  bool missing(std::string_view key);
  bool inside(std::string_view key);
  bool inside(std::size_t index);
  bool all_asked(const Keys& keys);
  bool read_natural(const boost::json::value& from, std::uint64_t& to, std::uint64_t greatest);
  bool read_integer(const boost::json::value& from, std::int64_t& to, std::int64_t least,
                    std::int64_t greatest);
  bool read_string(const boost::json::value& from, std::string& to);
  bool read_bytes(const boost::json::value& from, std::string& to);
  bool read_digest(const boost::json::value& from, Digest& to);
  bool array_of(std::size_t size, const boost::json::value& from);

  template <class T>
  bool read_here(const boost::json::value& from, T& to);
  template <class T>
  bool read_number(const boost::json::value& from, T& to);
  template <class T>
  bool read_vector(const boost::json::value& from, T& to);
  template <class T>
  bool read_map(const boost::json::value& from, T& to);
  bool read_set(const boost::json::value& from, NodeSet& to);
  template <class T>
  bool read_array(const boost::json::value& from, T& to);
  template <class T>
  bool read_object(const boost::json::value& from, T& to);
  template <class T>
  bool read_fields(Keys& keys, T& to);
  template <class T, class Field>
  bool read_field(Keys& keys, T& to);
  template <class T>
  bool read_tagged(Keys& keys, T& to);
  template <class T>
  static bool has_keys(const boost::json::object& object);

  const bool of_any_version_;
  std::string path_;
  std::string what_;
};

template <class T>
bool JsonReader::read_number(const boost::json::value& from, T& to) {
  constexpr auto greatest = std::numeric_limits<T>::max();
  if constexpr (std::signed_integral<T>) {
    std::int64_t number{};
    if (!read_integer(from, number, std::numeric_limits<T>::min(), greatest)) return false;
    to = static_cast<T>(number);
  } else {
    std::uint64_t number{};
    if (!read_natural(from, number, greatest)) return false;
    to = static_cast<T>(number);
  }
  return true;
}

template <class T>
bool JsonReader::read_vector(const boost::json::value& from, T& to) {
  if (!from.is_array()) return expected("an array", from);
  to.clear();
  for (const boost::json::value& element : from.get_array())
    if (!read(element, to.emplace_back())) return inside(to.size() - 1);
  return true;
}

template <class T>
bool JsonReader::read_map(const boost::json::value& from, T& to) {
  if (!from.is_array()) return expected("an array of pairs", from);
  to.clear();
  std::size_t index = 0;
  for (const boost::json::value& pair : from.get_array()) {
    typename T::key_type key{};
    typename T::mapped_type value{};
    if (!array_of(2, pair)) return inside(index);
    if (!read(pair.get_array()[0], key)) return inside(std::size_t{0}), inside(index);
    if (!read(pair.get_array()[1], value)) return inside(std::size_t{1}), inside(index);
    if (!to.empty() && !(to.rbegin()->first < key))
      return expected("a key above the one before", pair), inside(index);
    to.emplace_hint(to.end(), std::move(key), std::move(value));
    ++index;
  }
  return true;
}

template <class T>
bool JsonReader::read_array(const boost::json::value& from, T& to) {
  if (!array_of(boost::mp11::mp_size<FieldsOf<T>>::value, from)) return false;
  std::size_t index = 0;
  bool well = true;
  for_each_field(to, [&](const char*, auto& field) {
    if (!well) return;
    well = read(from.get_array()[index], field) || inside(index);
    ++index;
  });
  return well;
}

template <class T, class Field>
bool JsonReader::read_field(Keys& keys, T& to) {
  using Type = FieldType<T, Field>;
  Type& field = to.*Field::pointer;
  if constexpr (json_among_fields<Type> && AnyVariant<Type>) {
    return read_tagged(keys, field);
  } else if constexpr (json_among_fields<Type>) {
    return read_fields(keys, field);
  } else {
    constexpr std::string_view key = JsonKey<T, Field>::key;
    const boost::json::value* value = keys.find(key);
    constexpr bool left_out = left_out_by_default<Type> || left_out_in<Field::pointer>;
    if (!value && left_out) return field = Type{}, true;
    if (!value) return of_any_version_ || missing(key);
    return read(*value, field) || inside(key);
  }
}

template <class T>
bool JsonReader::read_fields(Keys& keys, T& to) {
  bool well = true;
  boost::mp11::mp_for_each<FieldsOf<T>>(
      [&]<class Field>(Field) { well = well && read_field<T, Field>(keys, to); });
  return well;
}

template <class T>
bool JsonReader::read_tagged(Keys& keys, T& to) {
  constexpr std::string_view tag = json_tag<T>;
  const boost::json::value* name = keys.find(tag);
  if (!name) return missing(tag);
  if (!name->is_string()) return expected("a name", *name), inside(tag);
  // Two procedures of the paper have the same name in both algorithms. A reader tells the two apart
  // by their fields.
  std::optional<std::size_t> named;
  std::size_t fields = 0;
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<std::variant_size_v<T>>>([&](auto index) {
    using Alternative = std::variant_alternative_t<index, T>;
    constexpr std::size_t size = boost::mp11::mp_size<FieldsOf<Alternative>>::value;
    if (type_name<Alternative>() != std::string_view(name->get_string())) return;
    if (named && (size <= fields || !has_keys<Alternative>(keys.object))) return;
    fields = has_keys<Alternative>(keys.object) ? size : 0;
    named = index;
  });
  if (!named) return expected("the name of a known alternative", *name), inside(tag);
  return boost::mp11::mp_with_index<std::variant_size_v<T>>(
      *named, [&](auto index) { return read_fields(keys, to.template emplace<index>()); });
}

template <class T>
bool JsonReader::has_keys(const boost::json::object& object) {
  bool all = true;
  boost::mp11::mp_for_each<FieldsOf<T>>([&]<class Field>(Field) {
    if constexpr (!json_among_fields<FieldType<T, Field>>)
      all = all && object.contains(JsonKey<T, Field>::key);
  });
  return all;
}

template <class T>
bool JsonReader::read_object(const boost::json::value& from, T& to) {
  if (!from.is_object()) return expected("an object", from);
  Keys keys{from.get_object(), {}};
  if constexpr (AnyVariant<T>) {
    return read_tagged(keys, to) && all_asked(keys);
  } else {
    return read_fields(keys, to) && all_asked(keys);
  }
}

template <class T>
bool JsonReader::read_here(const boost::json::value& from, T& to) {
  if constexpr (std::same_as<T, bool>) {
    if (!from.is_bool()) return expected("true or false", from);
    to = from.get_bool();
    return true;
  } else if constexpr (std::integral<T>) {
    return read_number(from, to);
  } else if constexpr (DescribedEnum<T>) {
    const auto value = from.is_string() ? enumerator_named<T>(from.get_string()) : std::nullopt;
    if (!value) return expected("the name of one of its values", from);
    to = *value;
    return true;
  } else if constexpr (std::same_as<T, std::string>) {
    return read_string(from, to);
  } else if constexpr (std::same_as<T, Bytes>) {
    return read_bytes(from, to.data);
  } else if constexpr (std::same_as<T, Digest>) {
    return read_digest(from, to);
  } else if constexpr (AnyStrong<T>) {
    return read_number(from, to.value);
  } else if constexpr (std::same_as<T, Duration>) {
    std::int64_t nanoseconds{};
    if (!read_number(from, nanoseconds)) return false;
    to = Duration(nanoseconds);
    return true;
  } else if constexpr (AnyOptional<T>) {
    if (!from.is_null()) return read(from, to.emplace());
    to.reset();
    return true;
  } else if constexpr (AnyVector<T>) {
    return read_vector(from, to);
  } else if constexpr (AnyMap<T>) {
    return read_map(from, to);
  } else if constexpr (std::same_as<T, NodeSet>) {
    return read_set(from, to);
  } else if constexpr (json_array<T>) {
    return read_array(from, to);
  } else if constexpr (AnyVariant<T> || Described<T>) {
    return read_object(from, to);
  } else {
    static_assert(unknown_kind<T>, "describe the type with MUSTER_DESCRIBE");
  }
}

template <class T>
bool read_json_value(JsonReader& reader, const boost::json::value& from, T& to) {
  return reader.read_here(from, to);
}

}  // namespace detail

/// Appends `value` as JSON to `out`. A byte that is not part of valid UTF-8 is written as U+FFFD
/// followed by its two hexadecimal digits. The bytes of U+FFFD itself are written in this way too.
/// So every string can be read back.
template <class T>
void write_json(std::string& out, const T& value) {
  detail::write_json_value(out, value);
}

/// `value` as JSON.
template <class T>
std::string to_json(const T& value) {
  std::string out;
  write_json(out, value);
  return out;
}

/// Reads the output of `write_json`. Every field must be there and nothing else. The failure names
/// the path of the field, the expected value and the value found.
template <class T>
Expected<T> read_json(const boost::json::value& value) {
  T read{};
  detail::JsonReader reader;
  if (reader.read(value, read)) return read;
  return reader.failure();
}

/// Reads the output of `write_json` of an earlier or later version. An unknown key is ignored, and
/// a missing key leaves its field at its default.
template <class T>
Expected<T> read_json_of_any_version(const boost::json::value& value) {
  T read{};
  detail::JsonReader reader(true);
  if (reader.read(value, read)) return read;
  return reader.failure();
}

}  // namespace muster

#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <boost/describe/enum_to_string.hpp>
#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

/// One description for each value type: the list of its fields. Equality, hash, text, JSON and
/// archive are all made from it. So each field of the type is part of all five, or the program does
/// not compile.

namespace MUSTER_EXPORT muster {

namespace detail {

struct ConvertsToAnything {
  template <class T>
  operator T() const;  // never defined: only used to ask whether a field can be made from it
};

template <class T, std::size_t... I>
constexpr bool constructible_from(std::index_sequence<I...>) {
  return requires {
    T{(static_cast<void>(I), ConvertsToAnything{})...};
  };
}

template <class T, std::size_t N = 0>
constexpr std::size_t count_fields() {
  if constexpr (!constructible_from<T>(std::make_index_sequence<N + 1>{}))
    return N;
  else
    return count_fields<T, N + 1>();
}

}  // namespace detail

/// The fields of `T` as Boost.Describe descriptors, in the order of the description.
template <class T>
using FieldsOf = boost::describe::describe_members<T, boost::describe::mod_public>;

/// A struct with a description.
template <class T>
concept Described = std::is_class_v<T> && boost::describe::has_describe_members<T>::value;

/// An enumeration with a description.
template <class T>
concept DescribedEnum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

/// True if JSON omits a field of this type while it has its default value. Specialize this variable
/// for types that were added later than the first journals.
template <class T>
inline constexpr bool left_out_by_default = false;
/// The same for one field, by the pointer to it.
template <auto Field>
inline constexpr bool left_out_in = false;

/// The key under which a JSON object names the alternative of the variant that it was made from.
template <class T>
inline constexpr std::string_view json_tag = "type";

/// True if JSON writes the fields of a value of this type among the fields of its owner, instead of
/// in an object of its own.
template <class T>
inline constexpr bool json_among_fields = false;

/// The greatest number that the archive accepts for a value of this type.
template <class T>
inline constexpr std::uint64_t greatest_of = std::numeric_limits<std::uint64_t>::max();
/// The same for one field, by the pointer to it.
template <auto Field>
inline constexpr std::uint64_t greatest_in = std::numeric_limits<std::uint64_t>::max();

/// True when the description names every field of the aggregate `T`.
template <Described T>
constexpr bool description_is_complete() {
  std::size_t fields = detail::count_fields<T>();
  if constexpr (requires { typename T::Base; })
    fields += detail::count_fields<typename T::Base>() - 1;  // the base counts as one field
  return fields == boost::mp11::mp_size<FieldsOf<T>>::value;
}

/// Calls `visit(name, value)` for each field of `object`, in the order of its description.
template <class T, class Visit>
requires Described<std::remove_const_t<T>>
constexpr void for_each_field(T& object, Visit&& visit) {
  boost::mp11::mp_for_each<FieldsOf<std::remove_const_t<T>>>(
      [&](auto field) { visit(field.name, object.*field.pointer); });
}

/// Two described values are equal when all their fields are.
template <Described T>
constexpr bool operator==(const T& left, const T& right) {
  bool equal = true;
  boost::mp11::mp_for_each<FieldsOf<T>>(
      [&](auto field) { equal = equal && left.*field.pointer == right.*field.pointer; });
  return equal;
}

}  // namespace muster

/// Describes the aggregate `Type` by all its fields, in order. If it has a `Type::Base`, the fields
/// of that base are included. Write it in the namespace of `Type`.
#define MUSTER_DESCRIBE(Type, ...)                         \
  BOOST_DESCRIBE_STRUCT(Type, (), (__VA_ARGS__))           \
  static_assert(::muster::description_is_complete<Type>(), \
                #Type ": the description forgets a field")

/// Describes the enumeration `Type` by all its enumerators.
#define MUSTER_DESCRIBE_ENUM(Type, ...) BOOST_DESCRIBE_ENUM(Type, __VA_ARGS__)

#pragma once

#include <muster/values/describe.hpp>

#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>

#include <optional>
#include <string_view>
#include <variant>

/// The names of types, of alternatives and of enumerators.

namespace MUSTER_EXPORT muster {

namespace detail {

template <class T>
constexpr std::string_view own_signature() {
  return __PRETTY_FUNCTION__;  // "... [with T = muster::Halt; ...]" or "... [T = muster::Halt]"
}

}  // namespace detail

/// The name of `T` without its namespaces, such as "Halt". Computed at compile time.
template <class T>
constexpr std::string_view type_name() {
  std::string_view name = detail::own_signature<T>();
  name.remove_prefix(name.find("T = ") + 4);
  name = name.substr(0, name.find_first_of(";]"));
  return name.substr(name.rfind(':') + 1);  // npos + 1 is 0: no namespace
}

/// The name of the alternative that `variant` holds, such as "Halt" for a Message that holds a
/// Halt.
template <class... Alternatives>
constexpr std::string_view alternative_name(const std::variant<Alternatives...>& variant) {
  constexpr std::string_view names[] = {type_name<Alternatives>()...};
  return names[variant.index()];
}

/// The name of an enumerator; empty if the description does not name the value.
template <DescribedEnum E>
constexpr std::string_view enumerator_name(E value) {
  std::string_view name;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto enumerator) {
    if (enumerator.value == value) name = enumerator.name;
  });
  return name;
}

/// The enumerator with this name; none if there is no such enumerator.
template <DescribedEnum E>
constexpr std::optional<E> enumerator_named(std::string_view name) {
  std::optional<E> found;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto enumerator) {
    if (name == enumerator.name) found = enumerator.value;
  });
  return found;
}

}  // namespace muster

#pragma once

#include <muster/values/names.hpp>
#include <muster/values/types.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

/// The kinds of values that the hash, text, JSON and archive functions distinguish.

namespace MUSTER_EXPORT muster {

namespace detail {

template <class T, template <class...> class Template>
inline constexpr bool is_made_from = false;
template <template <class...> class Template, class... Arguments>
inline constexpr bool is_made_from<Template<Arguments...>, Template> = true;

template <class>
inline constexpr bool unknown_kind = false;

}  // namespace detail

template <class T>
concept AnyOptional = detail::is_made_from<T, std::optional>;
template <class T>
concept AnyVariant = detail::is_made_from<T, std::variant>;
template <class T>
concept AnyVector = detail::is_made_from<T, std::vector>;
template <class T>
concept AnyMap = detail::is_made_from<T, std::map>;
template <class T>
concept AnyStrong = detail::is_made_from<T, Strong>;

/// The type of the field that the descriptor `Field` names in `T`.
template <class T, class Field>
using FieldType = std::remove_cvref_t<decltype(std::declval<T&>().*Field::pointer)>;

}  // namespace muster

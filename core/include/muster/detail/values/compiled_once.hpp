#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/json/fwd.hpp>

#include <string>

/// Text, JSON and archive of the large value types, compiled once. A type that is listed with these
/// macros is compiled in one source file of core or net instead of in every file that uses it.

namespace MUSTER_EXPORT muster {

class OutputArchive;
class InputArchive;

namespace detail {

class JsonReader;

// The functions that text.hpp, json.hpp and archive.hpp make from a description.
template <class T>
void append_text(std::string& out, const T& value);
template <class T>
void write_json_value(std::string& out, const T& value);
template <class T>
bool read_json_value(JsonReader& reader, const boost::json::value& from, T& to);
template <class T>
void save_value(OutputArchive& archive, const T& value);
template <class T>
void load_value(InputArchive& archive, T& value);

}  // namespace detail
}  // namespace muster

#define MUSTER_FORMS_OF(WHERE, ...)                                                         \
  WHERE template void ::muster::detail::append_text(std::string&, const __VA_ARGS__&);      \
  WHERE template void ::muster::detail::write_json_value(std::string&, const __VA_ARGS__&); \
  WHERE template bool ::muster::detail::read_json_value(::muster::detail::JsonReader&,      \
                                                        const ::boost::json::value&, __VA_ARGS__&)
#define MUSTER_ARCHIVE_OF(WHERE, ...)                                                             \
  WHERE template void ::muster::detail::save_value(::muster::OutputArchive&, const __VA_ARGS__&); \
  WHERE template void ::muster::detail::load_value(::muster::InputArchive&, __VA_ARGS__&)

/// Declares that the text and JSON of a type are compiled elsewhere. Write it after the type,
/// outside of namespaces.
#define MUSTER_COMPILED_ONCE(...) MUSTER_FORMS_OF(extern, __VA_ARGS__)
/// Compiles the text and JSON of a type here. The file must include text.hpp and json.hpp.
#define MUSTER_COMPILE(...) MUSTER_FORMS_OF(, __VA_ARGS__)

/// Two macros for the archive of a type (archive.hpp): the first declares that it is compiled
/// elsewhere, the second compiles it.
#define MUSTER_ARCHIVED_ONCE(...) MUSTER_ARCHIVE_OF(extern, __VA_ARGS__)
#define MUSTER_COMPILE_ARCHIVE(...) MUSTER_ARCHIVE_OF(, __VA_ARGS__)

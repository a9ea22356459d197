#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/json/fwd.hpp>

#include <string>

/// Text, JSON and archive of the large values, as ordinary functions: whoever writes a type down
/// here has them made in one file of core or net, and in no file that uses them.

namespace MUSTER_EXPORT muster {

class OutputArchive;
class InputArchive;

namespace detail {

class JsonReader;

// What text.hpp, json.hpp and archive.hpp make of a description.
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

/// Text and JSON of that type are compiled elsewhere. Stands outside of namespaces, after the type.
#define MUSTER_COMPILED_ONCE(...) MUSTER_FORMS_OF(extern, __VA_ARGS__)
/// They are compiled here, where text.hpp and json.hpp are included.
#define MUSTER_COMPILE(...) MUSTER_FORMS_OF(, __VA_ARGS__)

/// The same of its archive, archive.hpp.
#define MUSTER_ARCHIVED_ONCE(...) MUSTER_ARCHIVE_OF(extern, __VA_ARGS__)
#define MUSTER_COMPILE_ARCHIVE(...) MUSTER_ARCHIVE_OF(, __VA_ARGS__)

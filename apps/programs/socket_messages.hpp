#pragma once

#include <muster/application.hpp>

#include <boost/json/object.hpp>

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

/// The lines between a node and the program at its application socket: docs/socket.md.

namespace muster::apps {

/// The version of these messages; a program names its own when it registers. In the oldest one a
/// reorganize has `last_assigned` under its old name `freshest` too.
inline constexpr std::uint64_t socket_version = 2;
inline constexpr std::uint64_t oldest_socket_version = 1;
/// What the log says of a program that registers with the oldest one.
inline constexpr const char* old_name_warning =
    "its program registered with version 1 of the messages, so `reorganize` names `last_assigned` "
    "by its old name `freshest` too: a node that was alone comes first there, whatever it missed. "
    "Let the program choose by a version in the reports, and register with version 2";
/// Bytes of a line from a program.
inline constexpr std::size_t longest_socket_line = 256 * 1024;
/// Bytes of a reason, the program's own or ours for what is wrong with what it said.
inline constexpr std::size_t longest_reason = 1000;

/// What a program says, or gives; else what is wrong with it, in words.
template <class T>
using Said = boost::system::result<T, std::string>;

/// Bytes as they stand in a message: a string where they are text, else {"base64":"..."}.
boost::json::value json_of(const Bytes& bytes);
Said<Bytes> bytes_of(const boost::json::value& value);

/// The bytes under that key; none where it is absent.
Said<Bytes> bytes_under(const boost::json::object& object, std::string_view key);
/// The parts of a definition, by member.
Said<std::map<NodeId, Bytes>> parts_of(const boost::json::object& object);
/// What is wrong where there is any other key.
std::optional<std::string> stranger(const boost::json::object& object,
                                    std::initializer_list<std::string_view> known);
/// A ticket or another number from 0 on.
std::optional<std::uint64_t> natural_of(const boost::json::value& value);

/// What a program wants of its node, or tells it: the line that has the key "elect",
/// "step_down_ns", "broken" or "note".
Said<std::function<void(Services&)>> wish_of(std::string_view key, const boost::json::object& said);
/// What it says that it is: the line that has "show".
Said<Shown> shown_of(const boost::json::object& said);

/// What a program is told of a hook, but for the ticket.
boost::json::object tell(NodeId self, const StopContext& context);
boost::json::object tell(NodeId self, const Reorganization& context);
boost::json::object tell(NodeId self, const Assignment& context);
boost::json::object tell(NodeId self, const Question& question);

/// One line of a program; without its end.
Said<boost::json::object> parse_line(std::string_view line);

}  // namespace muster::apps

#pragma once

#include <muster/application.hpp>

#include <boost/json/object.hpp>

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

/// The lines that a node and the program at its application socket exchange:
/// docs/reference/socket.md.

namespace muster::apps {

/// The version of these messages. A program names its own version when it registers. In the oldest
/// one, a reorganize also contains `last_assigned` under its old name `freshest`.
inline constexpr std::uint64_t socket_version = 2;
inline constexpr std::uint64_t oldest_socket_version = 1;
/// The log line about a program that registers with the oldest version.
inline constexpr const char* old_name_warning =
    "its program registered with version 1 of the messages, so `reorganize` names `last_assigned` "
    "by its old name `freshest` too: a node that was alone comes first there, whatever it missed. "
    "Let the program choose by a version in the reports, and register with version 2";
/// Most bytes of a line from a program.
inline constexpr std::size_t longest_socket_line = 256 * 1024;
/// Most bytes of a reason, from the program or from us.
inline constexpr std::size_t longest_reason = 1000;

/// A value from a program, or a sentence that says what is wrong with its message.
template <class T>
using Said = boost::system::result<T, std::string>;

/// Bytes in a message: a string if they are text, else {"base64":"..."}.
boost::json::value json_of(const Bytes& bytes);
Said<Bytes> bytes_of(const boost::json::value& value);

/// The bytes under that key; empty if the key is absent.
Said<Bytes> bytes_under(const boost::json::object& object, std::string_view key);
/// The parts of a definition, by member.
Said<std::map<NodeId, Bytes>> parts_of(const boost::json::object& object);
/// The first key that is not known, in words; none if all are known.
std::optional<std::string> unknown_key(const boost::json::object& object,
                                       std::initializer_list<std::string_view> known);
/// A natural number, such as a ticket.
std::optional<std::uint64_t> natural_of(const boost::json::value& value);

/// A request to the node, or a statement to it: the message with the key "elect", "step_down_ns",
/// "broken" or "note".
Said<std::function<void(Services&)>> request_of(std::string_view key,
                                                const boost::json::object& said);
/// The program's state for observers: the message with the key "show".
Said<Shown> shown_of(const boost::json::object& said);

/// The message of a hook, without the ticket.
boost::json::object tell(NodeId self, const StopContext& context);
boost::json::object tell(NodeId self, const Reorganization& context);
boost::json::object tell(NodeId self, const Assignment& context);
boost::json::object tell(NodeId self, const Question& question);

/// Parses one line of a program, without its line end.
Said<boost::json::object> parse_line(std::string_view line);

}  // namespace muster::apps

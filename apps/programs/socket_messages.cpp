#include "apps/programs/socket_messages.hpp"

#include "apps/base/text.hpp"
#include "apps/programs/inputs.hpp"

#include <muster/values/json.hpp>
#include <muster/values/one_line.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace muster::apps {
namespace {

namespace json = boost::json;

/// The JSON writer puts this in the place of a byte that is not UTF-8.
constexpr std::string_view mark = "\\ufffd";

template <class Input>
json::object object_of(const Input& input) {
  return json::parse(to_json(input)).as_object();
}

void put_previous(json::object& told, const HookContext& context) {
  if (context.previous)
    told["previous"].as_object()["definition"] = json_of(context.previous->task.definition);
}

}  // namespace

json::value json_of(const Bytes& bytes) {
  if (to_json(bytes.data).find(mark) == std::string::npos) return json::string(bytes.data);
  return json::object{{"base64", json::parse(to_json(bytes))}};
}

Said<Bytes> bytes_of(const json::value& value) {
  if (value.is_string()) return Bytes{std::string(value.get_string())};
  if (const auto* object = value.if_object(); object && object->size() == 1) {
    const json::value* digits = object->if_contains("base64");
    const auto bytes = read_json<Bytes>(digits ? *digits : json::value());
    if (bytes) return *bytes;
  }
  return {boost::system::in_place_error,
          "expected text, or {\"base64\":\"...\"}, not " + json::serialize(value).substr(0, 80)};
}

Said<Bytes> bytes_under(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (!value) return Bytes{};
  auto bytes = bytes_of(*value);
  if (!bytes) return {boost::system::in_place_error, std::string(key) + ": " + bytes.error()};
  return bytes;
}

Said<std::map<NodeId, Bytes>> parts_of(const json::object& object) {
  std::map<NodeId, Bytes> parts;
  const json::value* given = object.if_contains("parts");
  if (!given) return parts;
  const auto wrong = [](std::string why) {
    return Said<std::map<NodeId, Bytes>>(boost::system::in_place_error, "parts: " + why);
  };
  if (!given->is_object()) return wrong("expected an object with a key for each member");
  for (const auto& [member, value] : given->get_object()) {
    const auto id = parse_number(member);
    if (!id || *id > std::numeric_limits<std::uint32_t>::max())
      return wrong("\"" + std::string(member) + "\" is not the number of a node");
    const auto part = bytes_of(value);
    if (!part) return wrong(std::string(member) + ": " + part.error());
    parts[NodeId{static_cast<std::uint32_t>(*id)}] = *part;
  }
  return parts;
}

std::optional<std::string> unknown_key(const json::object& object,
                                       std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object) {
    const std::string_view name(key.data(), key.size());
    if (std::find(known.begin(), known.end(), name) == known.end())
      return "unknown key \"" + std::string(name) + "\"";
  }
  return std::nullopt;
}

std::optional<std::uint64_t> natural_of(const json::value& value) {
  if (const auto number = read_json<std::uint64_t>(value)) return *number;
  return std::nullopt;
}

Said<std::function<void(Services&)>> request_of(std::string_view key, const json::object& said) {
  if (const auto wrong = unknown_key(said, {key})) return {boost::system::in_place_error, *wrong};
  const json::value& wish = said.at(key);
  if (key == "elect") {
    const auto why = bytes_of(wish);
    if (!why) return why.error();
    return [why = one_line(why->data, longest_reason)](Services& node) { node.elect(why); };
  }
  if (key == "broken" || key == "note") {
    const auto text = bytes_of(wish);
    if (!text) return text.error();
    return [text = text->data, is_broken = key == "broken"](Services& node) {
      if (is_broken)
        node.broken(text);
      else
        node.note(text);
    };
  }
  const auto time = natural_of(wish);
  if (!time)
    return {boost::system::in_place_error,
            std::string(key) + ": expected a number of nanoseconds, not " + json::serialize(wish)};
  const Duration back_after(std::min<std::uint64_t>(*time, Duration::max().count()));
  return [back_after](Services& node) { node.step_down(back_after); };
}

Said<Shown> shown_of(const json::object& said) {
  if (const auto wrong = unknown_key(said, {"show", "text"}))
    return {boost::system::in_place_error, *wrong};
  const auto text = bytes_under(said, "text");
  if (!text) return {boost::system::in_place_error, text.error()};
  Shown shown{{}, text->data};
  constexpr const char* expected = "show: expected roles, such as {\"primary\":true}";
  const json::object* const roles = said.at("show").if_object();
  if (!roles) return {boost::system::in_place_error, expected};
  for (const auto& [role, has] : *roles) {
    if (!has.is_bool()) return {boost::system::in_place_error, expected};
    shown.roles[std::string(role)] = has.get_bool();
  }
  if (const auto wrong = shown.wrong())
    return {boost::system::in_place_error, "it shows " + *wrong};
  return shown;
}

json::object tell(NodeId self, const StopContext& context) {
  return object_of(input_of(self, context));
}

json::object tell(NodeId self, const Reorganization& context) {
  json::object told = object_of(input_of(self, context));
  auto member = told["members"].as_array().begin();
  for (const Member& of : context.members)
    (member++)->as_object()["report"] = json_of(of.holdings.report);
  const Member* last = context.last_assigned();
  told["last_assigned"] = last ? json::value(last->node.value) : json::value();
  put_previous(told, context);
  return told;
}

json::object tell(NodeId self, const Assignment& context) {
  json::object told = object_of(input_of(self, context));
  told["definition"] = json_of(context.definition);
  told["part"] = json_of(context.part());
  put_previous(told, context);
  return told;
}

json::object tell(NodeId self, const Question& question) {
  return {{"hook", "answer"},
          {"node", self.value},
          {"from", question.from.value},
          {"group", {question.group.counter, question.group.coordinator.value}},
          {"working", question.working},
          {"question", json_of(question.bytes)},
          {"deadline_ns", question.deadline.count()}};
}

Said<json::object> parse_line(std::string_view line) {
  json::error_code error;
  const json::value value = json::parse({line.data(), line.size()}, error);
  if (!error && value.is_object()) return value.get_object();
  return {boost::system::in_place_error,
          "not a JSON object in one line: " + to_json(std::string(line.substr(0, 80)))};
}

}  // namespace muster::apps

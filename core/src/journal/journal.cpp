#include <muster/journal/journal.hpp>
#include <muster/protocol/misfit.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>

namespace muster::journal {

namespace {

constexpr std::string_view power_cut = "power-cut";

void append_number(std::string& out, std::string_view key, std::uint64_t number) {
  out += key;
  write_json(out, number);
}

void append_stamp(std::string& out, const Stamp& stamp) {
  out += "{\"t_ns\":";
  write_json(out, stamp.t.count());
  append_number(out, ",\"node\":", stamp.node.value);
  append_number(out, ",\"incarnation\":", stamp.incarnation.value);
  append_number(out, ",\"seq\":", stamp.seq);
}

template <class T>
void append_field(std::string& out, std::string_view key, const T& value) {
  out += key;
  write_json(out, value);
}

void append_hook(std::string& out, const HookEdge& line) {
  append_stamp(out, line.stamp);
  append_field(out, ",\"hook\":", line.hook);
  append_field(out, ",\"edge\":", line.edge);
  append_field(out, ",\"group\":", line.group);
  append_field(out, ",\"ticket\":", line.ticket);
  if (line.members) append_field(out, ",\"members\":", *line.members);
  out += "}\n";
}

}  // namespace

HookEdge hook_edge(const Stamp& stamp, Hook hook, Edge edge,
                   const std::optional<GroupNumber>& group, Ticket ticket, const Members* members) {
  HookEdge line{stamp, hook, edge, group, ticket, {}};
  if (!members) return line;
  line.members.emplace();
  for (const Member& j : *members)
    line.members->push_back({j.node, j.incarnation, digest(j.holdings.report.data),
                             j.holdings.group, j.holdings.empty});
  return line;
}

void header_line(std::string& out, const Header& header) {
  out += "{\"journal\":\"muster\",\"version\":1";
  append_field(out, ",\"node\":", header.node);
  append_field(out, ",\"incarnation\":", header.incarnation);
  append_field(out, ",\"clock\":", header.clock);
  append_field(out, ",\"t_ns\":", header.t);
  append_field(out, ",\"protocol\":", header.config.protocol);
  append_field(out, ",\"literal\":", header.config.literal());
  append_field(out, ",\"nodes\":", header.config.nodes);
  append_field(out, ",\"config\":", header.config);
  if (header.gap > 0) append_field(out, ",\"gap\":", header.gap);
  if (header.state) (out += ",\"state\":") += state_json(*header.state);
  out += "}\n";
}

void step_line(std::string& out, const Stamp& stamp, const Event& event, const Actions& actions,
               const View& view, Moment at) {
  append_stamp(out, stamp);
  if (at != Moment{}) append_field(out, ",\"at_ns\":", at);
  append_field(out, ",\"event\":", event);
  append_field(out, ",\"actions\":", actions);
  append_field(out, ",\"state\":", view);
  out += "}\n";
}

void performed_line(std::string& out, const Stamp& stamp) {
  append_stamp(out, stamp);
  out += ",\"performed\":\"Save\"}\n";
}

void hook_line(std::string& out, const Stamp& stamp, Hook hook, Edge edge,
               const std::optional<GroupNumber>& group, Ticket ticket, const Members* members) {
  append_hook(out, hook_edge(stamp, hook, edge, group, ticket, members));
}

void permits_line(std::string& out, const Stamp& stamp, PermitsEdge edge,
                  const GroupNumber& group) {
  append_stamp(out, stamp);
  append_field(out, ",\"permits\":", edge);
  append_field(out, ",\"group\":", group);
  out += "}\n";
}

void gap_line(std::string& out, const Stamp& stamp, std::uint64_t lines, const Protocol& state) {
  append_stamp(out, stamp);
  append_field(out, ",\"gap\":", lines);
  (out += ",\"state\":") += state_json(state);
  out += "}\n";
}

void ended_line(std::string& out, const Stamp& stamp, int code, std::string_view why) {
  append_stamp(out, stamp);
  append_field(out, ",\"ended\":", code);
  append_field(out, ",\"why\":", why);
  out += "}\n";
}

void fault_line(std::string& out, const Fault& fault) {
  append_field(out, "{\"t_ns\":", fault.t);
  if (fault.kind == FaultKind::power_cut)
    append_field(out, ",\"fault\":", power_cut);
  else
    append_field(out, ",\"fault\":", fault.kind);
  if (fault.node) append_field(out, ",\"node\":", *fault.node);
  if (fault.from) append_field(out, ",\"from\":", *fault.from);
  out += "}\n";
}

void remark_line(std::string& out, const Stamp& stamp, RemarkKind kind, std::string_view text) {
  append_stamp(out, stamp);
  append_field(out, kind == RemarkKind::broken ? ",\"broken\":" : ",\"note\":", text);
  out += "}\n";
}

void finding_line(std::string& out, const Finding& finding) {
  append_field(out, "{\"t_ns\":", finding.t);
  append_field(out, ",\"broken\":", finding.broken);
  out += "}\n";
}

namespace {

struct AppendLine {
  std::string& out;
  void operator()(const Header& line) const { header_line(out, line); }
  void operator()(const Step& line) const {
    step_line(out, line.stamp, line.event, line.actions, line.view, line.at);
  }
  void operator()(const Performed& line) const { performed_line(out, line.stamp); }
  void operator()(const HookEdge& line) const { append_hook(out, line); }
  void operator()(const Permits& line) const {
    permits_line(out, line.stamp, line.edge, line.group);
  }
  void operator()(const Gap& line) const { gap_line(out, line.stamp, line.lines, line.state); }
  void operator()(const Ended& line) const { ended_line(out, line.stamp, line.code, line.why); }
  void operator()(const Fault& line) const { fault_line(out, line); }
  void operator()(const Remark& line) const { remark_line(out, line.stamp, line.kind, line.text); }
  void operator()(const Finding& line) const { finding_line(out, line); }
};

/// The fields of one line. The first field that is missing or wrong is kept as the failure.
class Fields {
 public:
  explicit Fields(const boost::json::object& object) : object_(object) {}

  [[nodiscard]] bool has(std::string_view key) const { return object_.contains(key); }

  template <class T>
  void read(std::string_view key, T& to) {
    const boost::json::value* value = object_.if_contains(key);
    if (!value) return fail(std::string(key) + " is missing");
    auto result = read_json<T>(*value);
    if (!result) return fail(std::string(key) + ": " + result.error().what);
    to = std::move(*result);
  }

  /// Journals that are older than the second protocol lack these keys.
  void read_config(Config& to) {
    static const boost::json::value defaults = boost::json::parse(to_json(Config{}));
    const boost::json::value* value = object_.if_contains("config");
    if (!value || !value->is_object()) return read("config", to);
    boost::json::object config = value->get_object();
    for (const char* key : {"protocol", "invitation_repairs", "importance", "struck"})
      config.emplace(key, defaults.at(key));
    auto result = read_json<Config>(config);
    if (!result) return fail("config: " + result.error().what);
    to = std::move(*result);
  }

  template <class T>
  void read_if_there(std::string_view key, std::optional<T>& to) {
    if (has(key)) read(key, to.emplace());
  }

  /// The line does not name its protocol. The name is not needed: no two states have the same
  /// fields.
  void read_state(std::string_view key, Protocol& to) {
    const boost::json::value* value = object_.if_contains(key);
    if (!value) return fail(std::string(key) + " is missing");
    bool found = false;
    boost::mp11::mp_for_each<Protocol>([&](const auto& empty) {
      using State = std::decay_t<decltype(empty)>;
      if (found) return;
      auto result = read_json<State>(*value);
      found = result.has_value();
      if (found) to = std::move(*result);
    });
    if (!found) fail(std::string(key) + " is not the state of a known protocol");
  }

  void read(Stamp& stamp) {
    read("t_ns", stamp.t);
    read("node", stamp.node);
    read("incarnation", stamp.incarnation);
    read("seq", stamp.seq);
  }

  void demand(std::string_view key, const boost::json::value& expected) {
    const boost::json::value* value = object_.if_contains(key);
    if (!value || *value != expected)
      fail(std::string(key) + " has a value that this version of Muster does not know");
  }

  void fail(std::string why) {
    if (!failure_) failure_ = std::move(why);
  }

  template <class T>
  Expected<Line> finish(T line) {
    if (failure_) return Failure{ExitCode::does_not_hold, *std::move(failure_)};
    return Line(std::move(line));
  }

 private:
  const boost::json::object& object_;
  std::optional<std::string> failure_;
};

Expected<Line> parse_header(Fields fields) {
  Header line;
  fields.demand("journal", "muster");
  fields.demand("version", 1);
  fields.read("node", line.node);
  fields.read("incarnation", line.incarnation);
  fields.read("clock", line.clock);
  fields.read("t_ns", line.t);
  ProtocolName protocol{};
  fields.read("protocol", protocol);
  fields.read_config(line.config);
  if (line.config.nodes.size() > most_nodes)
    fields.fail("a cluster of " + std::to_string(line.config.nodes.size()) +
                " nodes: a cluster has at most " + std::to_string(most_nodes));
  if (fields.has("gap")) fields.read("gap", line.gap);
  if (line.config.protocol != protocol) fields.fail("config.protocol differs from protocol");
  if (line.config.self != line.node) fields.fail("config.self differs from node");
  if (fields.has("state")) {
    line.state = begin(line.config);
    std::visit([&](auto& state) { fields.read("state", state); }, *line.state);
  }
  return fields.finish(std::move(line));
}

Expected<Line> parse_step(Fields fields) {
  Step line;
  fields.read(line.stamp);
  if (fields.has("at_ns")) fields.read("at_ns", line.at);
  fields.read("event", line.event);
  fields.read("actions", line.actions);
  fields.read("state", line.view);
  return fields.finish(std::move(line));
}

Expected<Line> parse_performed(Fields fields) {
  Performed line;
  fields.read(line.stamp);
  fields.demand("performed", "Save");
  return fields.finish(line);
}

Expected<Line> parse_hook(Fields fields) {
  HookEdge line;
  fields.read(line.stamp);
  fields.read("hook", line.hook);
  fields.read("edge", line.edge);
  fields.read("group", line.group);
  fields.read("ticket", line.ticket);
  fields.read_if_there("members", line.members);
  return fields.finish(std::move(line));
}

Expected<Line> parse_permits(Fields fields) {
  Permits line;
  fields.read(line.stamp);
  fields.read("permits", line.edge);
  fields.read("group", line.group);
  return fields.finish(line);
}

Expected<Line> parse_gap(Fields fields) {
  Gap line;
  fields.read(line.stamp);
  fields.read("gap", line.lines);
  fields.read_state("state", line.state);
  return fields.finish(std::move(line));
}

Expected<Line> parse_ended(Fields fields) {
  Ended line;
  fields.read(line.stamp);
  fields.read("ended", line.code);
  fields.read("why", line.why);
  return fields.finish(std::move(line));
}

Expected<Line> parse_fault(Fields fields) {
  Fault line;
  std::string kind;
  fields.read("t_ns", line.t);
  fields.read("fault", kind);
  if (kind == power_cut)
    line.kind = FaultKind::power_cut;
  else if (const auto named = enumerator_named<FaultKind>(kind);
           named && *named != FaultKind::power_cut)
    line.kind = *named;
  else
    fields.fail("fault: there is no fault " + kind);
  fields.read_if_there("node", line.node);
  fields.read_if_there("from", line.from);
  return fields.finish(std::move(line));
}

Expected<Line> parse_note(Fields fields) {
  Remark line;
  fields.read(line.stamp);
  fields.read("note", line.text);
  return fields.finish(std::move(line));
}

// A line about one node, or about the cluster as a whole.
Expected<Line> parse_broken(Fields fields) {
  if (!fields.has("node")) {
    Finding line;
    fields.read("t_ns", line.t);
    fields.read("broken", line.broken);
    return fields.finish(std::move(line));
  }
  Remark line{{}, RemarkKind::broken, {}};
  fields.read(line.stamp);
  fields.read("broken", line.text);
  return fields.finish(std::move(line));
}

}  // namespace

void append_line(std::string& out, const Line& line) {
  std::visit(AppendLine{out}, line);
}

Expected<Line> parse_line(std::string_view text) {
  unsigned char buffer[8192];  // enough memory for most lines
  boost::json::monotonic_resource memory(buffer, sizeof buffer);
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(text, error, &memory);
  if (error) return Failure{ExitCode::does_not_hold, "not JSON: " + error.message()};
  if (!value.is_object()) return Failure{ExitCode::does_not_hold, "not a JSON object"};
  constexpr struct {
    std::string_view key;
    Expected<Line> (*parse)(Fields);
  } kinds[] = {{"event", parse_step},     {"performed", parse_performed},
               {"hook", parse_hook},      {"permits", parse_permits},
               {"journal", parse_header}, {"ended", parse_ended},
               {"fault", parse_fault},    {"gap", parse_gap},
               {"note", parse_note},      {"broken", parse_broken}};
  const Fields fields(value.get_object());
  for (const auto& kind : kinds)
    if (fields.has(kind.key)) return kind.parse(fields);
  return Failure{ExitCode::does_not_hold, "not a line of a journal"};
}

Duration time_of(const Line& line) {
  return std::visit(
      [](const auto& kind) {
        if constexpr (requires { kind.stamp; })
          return kind.stamp.t;
        else
          return kind.t;
      },
      line);
}

}  // namespace muster::journal

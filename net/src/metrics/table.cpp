#include "metrics/metrics.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/describe.hpp>

#include <charconv>
#include <type_traits>
#include <utility>

/// The table of all metrics. Each row has a description and reads the values.

namespace muster::net {

namespace {

enum class Type { gauge, counter, histogram };
MUSTER_DESCRIBE_ENUM(Type, gauge, counter, histogram)

class Samples;

struct Family {
  std::string_view name;  ///< includes the unit, but no suffix of a format
  Type type{};
  std::string_view unit;
  std::string_view labels;
  std::string_view help;
  void (*samples)(const Scrape& scrape, Samples& to);
};

/// Writes the samples of one family after another.
class Samples {
 public:
  explicit Samples(TextFormat format) : format_(format) { text.reserve(32 * 1024); }

  void begin(const Family& family) {
    family_ = &family;
    const bool is_open = format_ == TextFormat::open_metrics;
    const std::string name = is_open ? std::string(family.name) : name_of_samples();
    if (!is_open) comment("HELP", name, family.help);
    comment("TYPE", name, enumerator_name(family.type));
    if (is_open && !family.unit.empty()) comment("UNIT", name, family.unit);
    if (is_open) comment("HELP", name, family.help);
  }

  /// Writes one sample. `labels` is the text between the braces.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void put(Number value, std::string_view labels = {}) { line(name_of_samples(), labels, value); }
  void put(Duration time, std::string_view labels = {}) {
    put(std::chrono::duration<double>(time).count(), labels);
  }
  void put(const Histogram& histogram, const std::string& labels = {}) {
    const std::string name(family_->name);
    const std::string before = labels.empty() ? "" : labels + ',';
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
      const std::string_view bound =
          i < Histogram::bounds.size() ? Histogram::bounds[i].seconds : "+Inf";
      sum += histogram.counts[i];
      line(name + "_bucket", before + "le=\"" + std::string(bound) + '"', sum);
    }
    line(name + "_count", labels, sum);
    line(name + "_sum", labels, std::chrono::duration<double>(histogram.sum).count());
  }
  /// Writes one sample for each enumerator.
  template <class E, class Array>
  void put_each(const char* label, const Array& values) {
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto each) {
      put(values[static_cast<std::size_t>(each.value)],
          std::string(label) + "=\"" + each.name + '"');
    });
  }
  /// Writes 1 for the present state and 0 for each other one.
  template <class E>
  void put_state(const char* label, const std::optional<E>& state) {
    std::array<int, how_many<E>> values{};
    if (state) values.at(static_cast<std::size_t>(*state)) = 1;
    put_each<E>(label, values);
  }

  std::string text;

 private:
  [[nodiscard]] std::string name_of_samples() const {
    return std::string(family_->name) + (family_->type == Type::counter ? "_total" : "");
  }
  void comment(const char* what, const std::string& name, std::string_view said) {
    ((text += "# ") += what) += ' ';
    ((text += name) += ' ') += said;
    text += '\n';
  }
  template <class Number>
  void line(const std::string& name, std::string_view labels, Number value) {
    text += name;
    if (!labels.empty()) ((text += '{') += labels) += '}';
    std::array<char, 32> number{};
    const auto end = std::to_chars(number.data(), number.data() + number.size(), value);
    (text += ' ').append(number.data(), end.ptr);
    text += '\n';
  }

  TextFormat format_;
  const Family* family_ = nullptr;
};

std::string both(std::string_view direction, const char* label, std::string_view value) {
  std::string text = "direction=\"";
  ((text += direction) += "\",") += label;
  ((text += "=\"") += value) += '"';
  return text;
}

/// Writes only the kinds that occurred, because one protocol uses few kinds.
template <class Value>
void put_kinds(const Traffic& traffic, Samples& to, Value Traffic::Kind::*value) {
  for (const auto& [direction, way] : {std::pair("in", &traffic.in), {"out", &traffic.out}})
    for (std::size_t kind = 0; kind < Traffic::kinds; ++kind)
      if (way->by_kind[kind].frames > 0)
        to.put(way->by_kind[kind].*value, both(direction, "kind", Traffic::name_of(kind)));
}

void put_refusals(const Traffic& traffic, Samples& to) {
  const auto put = [&to](std::string_view direction, const Traffic::Way& way) {
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<host::RefusalReason>>(
        [&](auto each) {
          to.put(way.refusals[static_cast<std::size_t>(each.value)],
                 both(direction, "reason", each.name));
        });
  };
  put("in", traffic.in);
  put("out", traffic.out);
}

void put_phases(const Metrics& metrics, Samples& to) {
  const auto* at = metrics.phases.data();
  const history::Phases names;
  for_each_field(names, [&](const char* name, Duration) {
    to.put(*at++, std::string("phase=\"") + name + '"');
  });
}

using Of = const Scrape&;
using To = Samples&;

constexpr Family families[] = {
    {"muster_node_info", Type::gauge, "", "node, protocol",
     "Always 1: the labels name the node and its protocol.",
     [](Of of, To to) {
       to.put(1, "node=\"" + std::to_string(of.node.value) + "\",protocol=\"" +
                     std::string(enumerator_name(of.protocol)) + '"');
     }},
    {"muster_incarnation", Type::gauge, "", "",
     "The incarnation number of the node's current life.",
     [](Of of, To to) { to.put(of.incarnation.value); }},
    {"muster_status", Type::gauge, "", "status",
     "1 for the node's current status, 0 for all others.",
     [](Of of, To to) { to.put_state("status", std::optional(of.view.status)); }},
    {"muster_out", Type::gauge, "", "why",
     "1 for the reason why the node takes no part although its process runs; else 0.",
     [](Of of, To to) { to.put_state("why", of.out); }},
    {"muster_may_work", Type::gauge, "", "",
     "1 while the application may work (the node gives permits), else 0.",
     [](Of of, To to) { to.put(of.may_work ? 1 : 0); }},
    {"muster_is_coordinator", Type::gauge, "", "",
     "1 if the node is the coordinator of its group, else 0.",
     [](Of of, To to) { to.put(of.view.coordinator == of.node ? 1 : 0); }},
    {"muster_members", Type::gauge, "", "",
     "Members of the group, including the coordinator. Other nodes than the coordinator show 0.",
     [](Of of, To to) {
       to.put(of.view.up ? of.view.up->size() + 1 - (of.view.up->contains(of.node) ? 1 : 0)
                         : std::size_t{0});
     }},
    {"muster_group_number", Type::gauge, "", "",
     "The counter of the group number, its first part; 0 if the node is in no group.",
     [](Of of, To to) { to.put(of.view.group ? of.view.group->counter : 0); }},
    {"muster_elections", Type::counter, "", "cause", "Elections that the node began, by cause.",
     [](Of of, To to) { to.put_each<Trigger>("cause", of.metrics.elections); }},
    {"muster_reorganizations", Type::counter, "", "cause",
     "Reorganizations that brought the node into another group, by cause.",
     [](Of of, To to) { to.put_each<Trigger>("cause", of.metrics.reorganizations); }},
    {"muster_reorganization_seconds", Type::histogram, "seconds", "",
     "How long a reorganization took, until the node was Normal.",
     [](Of of, To to) { to.put(of.metrics.whole); }},
    {"muster_reorganization_phase_seconds", Type::histogram, "seconds", "phase",
     "How long each phase of a reorganization took on this node (see muster history).",
     [](Of of, To to) { put_phases(of.metrics, to); }},
    {"muster_work_gap_seconds", Type::histogram, "seconds", "",
     "How long each period without the right to work lasted, once it is over.",
     [](Of of, To to) { to.put(of.metrics.gaps); }},
    {"muster_without_work_seconds", Type::gauge, "seconds", "",
     "How long the node has been without the right to work; 0 while it has that right.",
     [](Of of, To to) { to.put(of.without_work); }},
    {"muster_pauses", Type::counter, "", "",
     "Pauses of the process longer than T/2; by assumption 9 each is a failure.",
     [](Of of, To to) { to.put(of.metrics.pauses); }},
    {"muster_refused_calls", Type::counter, "", "", "Calls of this node that another node refused.",
     [](Of of, To to) { to.put(of.metrics.refused_calls); }},
    {"muster_refusals", Type::counter, "", "direction, reason",
     "Refused Hellos: in counts Hellos of this node that others refused, out counts Hellos that "
     "this node refused.",
     [](Of of, To to) { put_refusals(of.traffic, to); }},
    {"muster_coordinator_heard_seconds", Type::gauge, "seconds", "",
     "Time since the last letter from the node's coordinator; absent if it has no coordinator.",
     [](Of of, To to) {
       if (of.heard) to.put(*of.heard);
     }},
    {"muster_held_nodes", Type::gauge, "", "",
     "Nodes that this coordinator does not admit yet (calm).",
     [](Of of, To to) { to.put(of.view.held.by_node.size()); }},
    {"muster_halted_in_turn", Type::gauge, "", "",
     "1 while two coordinators that do not hear each other halt the node in turn, else 0.",
     [](Of of, To to) { to.put(of.halted_in_turn ? 1 : 0); }},
    {"muster_differing_nodes", Type::gauge, "", "",
     "Nodes that cannot have a session with this one because their configuration differs.",
     [](Of of, To to) { to.put(of.differing); }},
    {"muster_commit_seconds", Type::histogram, "seconds", "",
     "How long the protocol waited for each commit to safe storage.",
     [](Of of, To to) { to.put(of.metrics.commits); }},
    {"muster_loop_lateness_seconds", Type::histogram, "seconds", "",
     "How late the node's thread was for a timer that it sets each second.",
     [](Of of, To to) { to.put(of.metrics.lateness); }},
    {"muster_hook_seconds", Type::histogram, "seconds", "hook",
     "How long the application's hooks took, including failed ones.",
     [](Of of, To to) { to.put_each<Hook>("hook", of.metrics.hooks); }},
    {"muster_hook_failures", Type::counter, "", "hook",
     "Hooks that failed or overran their deadline.",
     [](Of of, To to) { to.put_each<Hook>("hook", of.metrics.failures); }},
    {"muster_application_broken", Type::counter, "", "",
     "How often the application reported that one of its own invariants does not hold.",
     [](Of of, To to) { to.put(of.metrics.broken); }},
    {"muster_sessions", Type::gauge, "", "",
     "Lives of other nodes with which this node has a session.",
     [](Of of, To to) { to.put(of.sessions); }},
    {"muster_sessions_begun", Type::counter, "", "", "Sessions that were begun.",
     [](Of of, To to) { to.put(of.counters.sessions); }},
    {"muster_connections", Type::counter, "", "direction",
     "Connections with other nodes: out counts those it dialled, in those it accepted.",
     [](Of of, To to) {
       to.put(of.counters.accepted, "direction=\"in\"");
       to.put(of.counters.dialled, "direction=\"out\"");
     }},
    {"muster_connections_broken", Type::counter, "", "",
     "Connections that ended although this node did not close them.",
     [](Of of, To to) { to.put(of.counters.broken); }},
    {"muster_connections_turned_away", Type::counter, "", "why",
     "Connections that this node closed: for invalid or missing input, or to make room.",
     [](Of of, To to) {
       to.put(of.counters.garbage, "why=\"garbage\"");
       to.put(of.counters.crowded, "why=\"crowded\"");
     }},
    {"muster_network_bytes", Type::counter, "bytes", "direction",
     "Bytes sent to and received from other nodes, as counted on the wire.",
     [](Of of, To to) {
       to.put(of.counters.bytes_in, "direction=\"in\"");
       to.put(of.counters.bytes_out, "direction=\"out\"");
     }},
    {"muster_frames", Type::counter, "", "direction, kind",
     "Frames by kind: the message's name for a letter, else Hello, Refusal and so on.",
     [](Of of, To to) { put_kinds(of.traffic, to, &Traffic::Kind::frames); }},
    {"muster_frame_bytes", Type::counter, "bytes", "direction, kind",
     "Bytes of frames by kind, before encryption.",
     [](Of of, To to) { put_kinds(of.traffic, to, &Traffic::Kind::bytes); }},
    {"muster_letters_resent", Type::counter, "", "",
     "Letters that were sent again over another connection.",
     [](Of of, To to) { to.put(of.counters.resent); }},
    {"muster_letters_dropped", Type::counter, "", "",
     "Letters that were dropped because the queue to their node was full.",
     [](Of of, To to) { to.put(of.counters.dropped); }},
    {"muster_certificate_expiry_timestamp_seconds", Type::gauge, "seconds", "",
     "When the node's certificate expires, in Unix time; absent without [tls].",
     [](Of of, To to) {
       if (of.expires) to.put(Duration(of.expires->time_since_epoch()));
     }},
    {"muster_journal_written_bytes", Type::counter, "bytes", "",
     "Bytes written to the journal; absent if there is no journal.",
     [](Of of, To to) {
       if (of.journal_bytes) to.put(*of.journal_bytes);
     }},
    {"muster_journal_dropped_lines", Type::counter, "", "",
     "Lines of the journal that could not be written.",
     [](Of of, To to) { to.put(of.journal_dropped); }},
};

}  // namespace

std::string text_of(const Scrape& scrape, TextFormat format) {
  Samples samples(format);
  for (const Family& family : families) {
    samples.begin(family);
    family.samples(scrape, samples);
  }
  if (format == TextFormat::open_metrics) samples.text += "# EOF\n";
  return std::move(samples.text);
}

std::string table_of_metrics() {
  std::string out = "| metric | type | labels | |\n|---|---|---|---|\n";
  for (const Family& family : families) {
    const char* const suffix = family.type == Type::counter ? "_total" : "";
    out += "| `" + std::string(family.name) + suffix + "` | " +
           std::string(enumerator_name(family.type)) + " | " + std::string(family.labels) + " | " +
           std::string(family.help) + " |\n";
  }
  return out;
}

}  // namespace muster::net

#pragma once

#include "wire/traffic.hpp"

#include <muster/journal/history.hpp>
#include <muster/journal/journal.hpp>
#include <muster/net/sessions.hpp>
#include <muster/net/status.hpp>
#include <muster/protocol/view.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The counters of a running node, for monitoring systems (docs/reference/metrics.md).

namespace muster::net {

/// The number of enumerators.
template <class E>
inline constexpr std::size_t how_many =
    boost::mp11::mp_size<boost::describe::describe_enumerators<E>>::value;

/// A histogram of times: for each bound, how many operations took at most that long.
struct Histogram {
  struct Bound {
    Duration most;
    std::string_view seconds;
  };
  static constexpr std::array bounds{
      Bound{std::chrono::microseconds(100), "0.0001"},
      Bound{std::chrono::microseconds(500), "0.0005"},
      Bound{std::chrono::milliseconds(1), "0.001"},
      Bound{std::chrono::microseconds(2500), "0.0025"},
      Bound{std::chrono::milliseconds(5), "0.005"},
      Bound{std::chrono::milliseconds(10), "0.01"},
      Bound{std::chrono::milliseconds(25), "0.025"},
      Bound{std::chrono::milliseconds(50), "0.05"},
      Bound{std::chrono::milliseconds(100), "0.1"},
      Bound{std::chrono::milliseconds(250), "0.25"},
      Bound{std::chrono::milliseconds(500), "0.5"},
      Bound{std::chrono::seconds(1), "1.0"},
      Bound{std::chrono::milliseconds(2500), "2.5"},
      Bound{std::chrono::seconds(5), "5.0"},
      Bound{std::chrono::seconds(10), "10.0"},
      Bound{std::chrono::seconds(30), "30.0"},
      Bound{std::chrono::seconds(60), "60.0"},
      Bound{std::chrono::seconds(600), "600.0"},
  };

  void add(Duration time);

  /// For each bound: how many times were within this bound, but above the next smaller one. The
  /// last number counts the times above all bounds.
  std::array<std::uint64_t, bounds.size() + 1> counts{};
  Duration sum{};
};

/// Adds the counters of one life to those of others.
void add(Counters& to, const Counters& more);

/// The counters of all lives of a process, counted as events happen. Used on the protocol's strand.
class Metrics {
 public:
  explicit Metrics(Duration now) : idle_since_(now) {}

  void elected(Trigger cause) { ++elections[static_cast<std::size_t>(cause)]; }
  void reorganized(const history::Entry& entry);
  void stepped(const Event& event);
  void saved(Duration took) { commits.add(took); }
  /// A hook begins or ends at `t`. When a start begins, `may_work` tells whether the application
  /// has a right to work.
  void hook(Duration t, Hook hook, journal::Edge edge, bool may_work);
  /// The application has no right to work any more.
  void ceased(Duration t);
  void late(Duration by) { lateness.add(by); }
  void life_over(const Counters& of_life, const Traffic& its_traffic);

  /// The time for which the node has had no right to work; zero while it has one.
  [[nodiscard]] Duration without_work(Duration now) const {
    return idle_since_ ? now - *idle_since_ : Duration::zero();
  }

  std::array<std::uint64_t, how_many<Trigger>> elections{};
  std::array<std::uint64_t, how_many<Trigger>> reorganizations{};
  Histogram whole;  ///< of whole reorganizations
  std::array<Histogram, 7> phases;
  Histogram gaps;  ///< lengths of past times without a right to work
  std::uint64_t refused_calls = 0;
  std::uint64_t pauses = 0;
  Histogram commits;
  Histogram lateness;
  std::array<Histogram, how_many<Hook>> hooks;
  std::array<std::uint64_t, how_many<Hook>> failures{};
  std::uint64_t broken = 0;  ///< how often the application reported a fault
  Counters counters;         ///< of past lives
  Traffic traffic;           ///< of past lives

 private:
  std::optional<Duration> idle_since_;
  Duration hook_began_{};
};

/// The state of a node at one moment, with all counters.
struct Scrape {
  const Metrics& metrics;
  NodeId node;
  ProtocolName protocol{};
  Incarnation incarnation{};
  View view{};
  std::optional<Out> out{};
  bool may_work = false;
  Duration without_work{};
  std::optional<Duration> heard{};  ///< time since the node last heard its coordinator
  Counters counters{};
  Traffic traffic{};
  std::size_t sessions = 0;
  bool halted_in_turn = false;  ///< two coordinators halt this node in turn
  std::size_t differing = 0;
  std::optional<std::chrono::system_clock::time_point> expires{};
  std::optional<std::uint64_t> journal_bytes{};
  std::uint64_t journal_dropped = 0;
};

enum class TextFormat { open_metrics, classic };
inline constexpr std::string_view open_metrics_type =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";
inline constexpr std::string_view classic_type = "text/plain; version=0.0.4; charset=utf-8";

/// All metrics in that format.
std::string text_of(const Scrape& scrape, TextFormat format);

/// The table of all metrics, as in docs/reference/metrics.md.
std::string table_of_metrics();

}  // namespace muster::net

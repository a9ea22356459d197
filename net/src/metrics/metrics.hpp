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

/// What is counted of a node while it runs, for whoever watches many of them: docs/metrics.md.

namespace muster::net {

/// How many of an enumeration there are.
template <class E>
inline constexpr std::size_t how_many =
    boost::mp11::mp_size<boost::describe::describe_enumerators<E>>::value;

/// How long things took: how many took at most so long.
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

  std::array<std::uint64_t, bounds.size() + 1> counts{};  ///< of each bound alone, and beyond
  Duration sum{};
};

/// One life's are added to those of others.
void add(Counters& to, const Counters& more);

/// What is counted as it happens, in all lives of a process. To be used on the protocol's strand.
class Metrics {
 public:
  explicit Metrics(Duration now) : idle_since_(now) {}

  void elected(Trigger cause) { ++elections[static_cast<std::size_t>(cause)]; }
  void reorganized(const history::Entry& entry);
  void stepped(const Event& event);
  void saved(Duration took) { commits.add(took); }
  /// A hook begins or ends at `t`; where it is a start, the application may work or may not.
  void hook(Duration t, Hook hook, journal::Edge edge, bool may_work);
  /// The application may not work any more.
  void ceased(Duration t);
  void late(Duration by) { lateness.add(by); }
  void life_over(const Counters& of_life, const Traffic& its_traffic);

  /// For how long there has been no work now; zero where there is.
  [[nodiscard]] Duration without_work(Duration now) const {
    return idle_since_ ? now - *idle_since_ : Duration::zero();
  }

  std::array<std::uint64_t, how_many<Trigger>> elections{};
  std::array<std::uint64_t, how_many<Trigger>> reorganizations{};
  Histogram whole;  ///< of a reorganization
  std::array<Histogram, 7> phases;
  Histogram gaps;  ///< times without work that are over
  std::uint64_t refused_calls = 0;
  std::uint64_t pauses = 0;
  Histogram commits;
  Histogram lateness;
  std::array<Histogram, how_many<Hook>> hooks;
  std::array<std::uint64_t, how_many<Hook>> failures{};
  std::uint64_t broken = 0;  ///< how often the application said so
  Counters counters;         ///< of lives that are over
  Traffic traffic;           ///< of those

 private:
  std::optional<Duration> idle_since_;
  Duration hook_began_{};
};

/// What a node is at one moment, with all that was counted until then.
struct Scrape {
  const Metrics& metrics;
  NodeId node;
  ProtocolName protocol{};
  Incarnation incarnation{};
  View view{};
  std::optional<Out> out{};
  bool may_work = false;
  Duration without_work{};
  std::optional<Duration> heard{};  ///< how long ago its coordinator was
  Counters counters{};
  Traffic traffic{};
  std::size_t sessions = 0;
  bool halted_in_turn = false;  ///< by two coordinators
  std::size_t differing = 0;
  std::optional<std::chrono::system_clock::time_point> expires{};
  std::optional<std::uint64_t> journal_bytes{};
  std::uint64_t journal_dropped = 0;
};

enum class TextFormat { open_metrics, classic };
inline constexpr std::string_view open_metrics_type =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";
inline constexpr std::string_view classic_type = "text/plain; version=0.0.4; charset=utf-8";

/// Everything, as that format has it.
std::string text_of(const Scrape& scrape, TextFormat format);

/// The table of all that is told, as docs/metrics.md has it.
std::string table_of_metrics();

}  // namespace muster::net

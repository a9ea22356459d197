#pragma once

#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/session.hpp"

#include <chrono>
#include <map>

/// The work of a primary on the markers of its log (marker.hpp).

namespace muster::postgres {

/// Repeats the marker of the primary's term, so that the log that PostgreSQL keeps always has one.
/// Ends the time in which rows of muster.term count, once all nodes of the list read markers. From
/// then on that table is a view for people, which this class keeps equal to what the node knows.
class Marking {
 public:
  /// `tell` is called with sentences for the log of the node. `is_silent` is called with a sentence
  /// if no marker has been flushed for `options.longest_silence`, and again after each such time.
  Marking(const Executor& executor, InstanceOptions options,
          std::function<void(const std::string&)> tell,
          std::function<void(const std::string&)> is_silent);

  void begin();
  /// Whether the primary is open. Before that, its newest commits may be in a log that has only
  /// rows.
  void set_open(bool is_open) { is_open_ = is_open; }
  /// Stops at once. No callback comes afterwards.
  void stop();

 private:
  using Then = std::function<void(const std::vector<Row>&)>;

  void listen();
  void look();
  void see(std::uint64_t system, Lsn at, std::uint32_t timeline);
  void read_own_log(Lsn at, std::uint32_t timeline);
  void mark(const Marker& marker, Lsn at);
  [[nodiscard]] bool wants_keys_of_others() const;
  void ask_others(NodeSet left);
  void hear_of_keys();
  void look_at_view();
  void compare_view();
  void restore_view();
  void insert_into_view();
  void put(std::vector<std::string> statements, std::function<void()> then);
  void rest();

  void ask(const std::string& statement, std::vector<std::string> parameters, Then then);
  void fail(const std::string& why);

  const Executor executor_;
  const InstanceOptions options_;
  std::function<void(const std::string&)> tell_;
  std::function<void(const std::string&)> is_silent_;
  Pause pause_, silence_;
  std::optional<Session> session_, other_;
  KnownTerms known_;
  std::map<NodeId, std::string> keys_;  ///< the names of the keys that each other node has shown
  std::chrono::steady_clock::time_point next_others_, next_view_;
  bool is_open_ = false;
  bool at_view_ = false;      ///< a question about the table is open
  bool has_written_ = false;  ///< a record came before the marker
  std::string told_;          ///< the last failure that the log has
  bool told_of_view_ = false;
};

}  // namespace muster::postgres

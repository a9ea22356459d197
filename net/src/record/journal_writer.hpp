#pragma once

#include <muster/net/node.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace muster::net {

/// Has lines written to a journal by a thread of its own, because a disk may be slow, or hang. To
/// be used by one thread, which waits for it, but never for longer than its patience. It outlasts
/// the lives of a node, so that they do not write at once.
class JournalWriter {
 public:
  /// `tell` is given sentences for people: a trouble, and its end.
  JournalWriter(JournalOptions options, Duration patience,
                std::function<void(const std::string&)> tell);
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  /// What was put is written, if that does not take longer than the patience.
  ~JournalWriter();

  /// Lines that are written with one write(2), or lost together.
  struct Lines {
    std::string text;
    std::uint64_t count = 0;    ///< that are missing where they are lost
    std::uint64_t dropped = 0;  ///< of these, that are counted as dropped then
    bool fresh = false;         ///< they begin a segment
  };

  /// A step begins: what is waited for it from here on is at most the patience.
  void begin_step();
  /// True when the present segment is full: what is put next may begin a new one.
  [[nodiscard]] bool is_full() const;
  /// Nothing is waited for. They are lost where lines before them were, and where too many wait.
  void put(Lines lines);
  /// Waits until all that was put is written, or lost; not where the disk was too slow before, and
  /// has not come back since.
  void await();

  /// Bytes of a segment, and of all together, from now on.
  void heed(std::uint64_t limit, std::uint64_t keep);

  /// True once lines were lost: nothing is written before `begin_anew`.
  [[nodiscard]] bool has_lost() const;
  /// True when it is time to see whether the journal can be written again.
  [[nodiscard]] bool may_try_again();
  /// Goes on, and gives how many lines are missing.
  std::uint64_t begin_anew();
  /// Those that are missing are of a life that is over.
  void forget_lost();

  /// Lines that were dropped, in all lives.
  [[nodiscard]] std::uint64_t dropped() const;
  /// Bytes that were written.
  [[nodiscard]] std::uint64_t written() const;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  void tell_of_troubles();
  void run_thread_here();

  const JournalOptions options_;
  const Duration patience_;
  const std::function<void(const std::string&)> tell_;
  const std::shared_ptr<Shared> shared_;  ///< with the thread, which may hang for ever
  std::thread thread_;
  int processor_ = -1;  ///< on which the thread runs
  Duration waited_{};   ///< in this step
  bool is_late_ = false;
  std::string told_;                  ///< the trouble that was told last; empty where there is none
  std::uint64_t dropped_before_ = 0;  ///< the trouble
  std::chrono::steady_clock::time_point tried_{};
};

}  // namespace muster::net

#pragma once

#include <muster/net/node.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace muster::net {

/// Writes the lines of a journal in a thread of its own, because a disk may be slow or hang. Only
/// one thread may use the writer; this thread waits for it, but never for longer than `patience`.
/// The writer outlives the lives of a node, so that two lives never write at once.
class JournalWriter {
 public:
  /// `tell` receives sentences for people: one about each trouble, and one when the trouble has
  /// ended.
  JournalWriter(JournalOptions options, Duration patience,
                std::function<void(const std::string&)> tell);
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  /// Writes the waiting lines, unless that takes longer than `patience`.
  ~JournalWriter();

  /// Lines that are written with one write(2), or lost together.
  struct Lines {
    std::string text;
    std::uint64_t count = 0;    ///< how many lines to count as missing if they are lost
    std::uint64_t dropped = 0;  ///< how many of these to count as dropped too
    bool fresh = false;         ///< the lines begin a new segment
  };

  /// Begins a step. All waiting during the step takes at most `patience`.
  void begin_step();
  /// True if the present segment is full, so that the next lines should begin a new one.
  [[nodiscard]] bool is_full() const;
  /// Hands lines over without waiting. They are lost if earlier lines were lost, or if too many
  /// wait.
  void put(Lines lines);
  /// Waits until all lines are written or lost. Does not wait if the disk was too slow before and
  /// has not recovered since.
  void await();

  /// Sets the bytes of one segment and of all segments together, from now on.
  void heed(std::uint64_t limit, std::uint64_t keep);

  /// True after lines were lost. Nothing is written then until `restart`.
  [[nodiscard]] bool has_lost() const;
  /// True when it is time to try the journal again.
  [[nodiscard]] bool may_try_again();
  /// Writes lines again from now on. Returns the number of lines that were lost.
  std::uint64_t restart();
  /// The lost lines belong to a life that is over, so `restart` will not report them.
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
  const std::shared_ptr<Shared> shared_;  ///< shared with the thread, which may hang for ever
  std::thread thread_;
  int processor_ = -1;  ///< the processor on which the thread runs
  Duration waited_{};   ///< time spent waiting in this step
  bool is_late_ = false;
  std::string told_;                  ///< the last trouble that was reported; empty: none
  std::uint64_t dropped_before_ = 0;  ///< the trouble
  std::chrono::steady_clock::time_point tried_{};
};

}  // namespace muster::net

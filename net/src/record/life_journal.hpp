#pragma once

#include "record/journal_writer.hpp"

#include <muster/journal/detail.hpp>
#include <muster/journal/journal.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace muster::net {

/// The journal of one life. This object writes the lines in order. If lines were left out or lost,
/// a line that says so comes before the next step. Used on the protocol's strand.
class LifeJournal {
 public:
  /// Returns the stamp of the next line.
  using NextStamp = std::function<journal::Stamp(Duration t)>;

  LifeJournal(std::shared_ptr<JournalWriter> writer, journal::Detail detail, journal::Header first,
              NextStamp next_stamp);

  /// Writes the first line of the life.
  void begin();

  /// A step begins in this state. The following lines are held back until `release`.
  void about_to_step(const Protocol& state);
  void stepped(Duration t, const Event& event, Moment at, const Actions& actions,
               const View& before, const View& after);
  /// Writes any other line, at `t`. Outside a step, `waits` tells whether to wait until the line is
  /// written.
  void line(Duration t, const std::function<void(std::string&, const journal::Stamp&)>& append,
            bool waits = true);

  /// Holds back the following lines until `release`.
  void hold() { holds_ = true; }
  /// Hands the held lines to the writer. If `waits` is true, waits until all are written, as long
  /// as the writer's patience lasts. Waiting is needed for every step of which other nodes could
  /// see something.
  void release(bool waits = true);

  /// Writes the last line. `state` is null if actions of the last step are not performed yet.
  void end(Duration t, const Protocol* state, int code, const std::string& why);

 private:
  bool tell_of_gap(Duration t, const Protocol& state);
  void hand_over();

  std::shared_ptr<JournalWriter> writer_;
  const journal::Detail detail_;
  journal::Header first_;
  const NextStamp next_stamp_;
  JournalWriter::Lines held_;
  bool holds_ = false;
  bool begun_ = false;          ///< the first line was handed over
  bool is_full_ = false;        ///< the segment was full when the present step began
  std::uint64_t left_out_ = 0;  ///< lines left out since the last line
  std::optional<Protocol>
      before_;  ///< the state before the present step; set if a header or a gap line is needed
};

}  // namespace muster::net

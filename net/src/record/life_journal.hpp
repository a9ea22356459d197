#pragma once

#include "record/journal_writer.hpp"

#include <muster/journal/detail.hpp>
#include <muster/journal/journal.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace muster::net {

/// The journal of one life: its lines in order, and where some are left out or lost, the line that
/// tells so, before the next step that is told. To be used on the protocol's strand.
class LifeJournal {
 public:
  /// Gives the number of the next line.
  using NextStamp = std::function<journal::Stamp(Duration t)>;

  LifeJournal(std::shared_ptr<JournalWriter> writer, journal::Detail detail, journal::Header first,
              NextStamp next_stamp);

  /// The first line of the life.
  void begin();

  /// A step comes, and the node is in this state. Lines wait from here on until `release`.
  void about_to_step(const Protocol& state);
  void stepped(Duration t, const Event& event, Moment at, const Actions& actions,
               const View& before, const View& after);
  /// Any other line, at `t`; outside of a step it is waited for where it `waits`.
  void line(Duration t, const std::function<void(std::string&, const journal::Stamp&)>& append,
            bool waits = true);

  /// What comes from now on is written by `release`.
  void hold() { holds_ = true; }
  /// Where it `waits`, until all lines are written, as long as the writer has patience: for
  /// whatever others could see of the step.
  void release(bool waits = true);

  /// The last line. `state` is null where actions of the last step are not performed.
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
  bool is_full_ = false;        ///< the segment, when the present step came
  std::uint64_t left_out_ = 0;  ///< since the last line
  std::optional<Protocol>
      before_;  ///< the present step, where the journal does not go on as it was
};

}  // namespace muster::net

#include "apps/journals/verify.hpp"

#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/journals/journals.hpp"

#include <muster/claims/verify.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>

namespace muster::apps {
namespace {

/// The most reasons that are shown. Others are only counted.
constexpr std::size_t shown_reasons = 20;

const char* meaning(const std::string& assertion) {
  static const std::map<std::string, const char*> meanings{
      {"1a", "nodes in Reorganization or Normal have one coordinator"},
      {"1b", "nodes in Normal have one definition"},
      {"2", "after the last fault, all become Normal with one coordinator"},
      {"3a", "nodes of one group in Reorganization or Normal have one coordinator"},
      {"3b", "nodes of one group in Normal have one definition"},
      {"4", "after the last fault, all that can communicate become Normal in one group"},
      {"works-apart", "no two nodes work at once for different groups"},
      {"left-behind", "no node works on for long in a group that has gone on without it"},
      {"group-grows", "no node accepts a smaller group number"},
      {"durable", "what was durable is still there in the next life"},
      {"hook-grammar", "hooks, permits, Saves and letters come in order"},
      {"quorum", "a reorganization has more than half of all nodes"},
      {"application", "no application reports that its own invariant is broken"},
      {"sound-state", "no life ended because it reached an impossible state"}};
  const auto found = meanings.find(assertion);
  return found == meanings.end() ? "" : found->second;
}

/// The result of a quick look at a line, for the first reading. That reading parses only the first
/// and last lines of lives, faults, `Paused` and `Failed`.
struct Glance {
  std::optional<journal::Stamp> stamp;                  ///< set if the line need not be parsed
  bool step = false;                                    ///< the line is a step
  std::optional<std::pair<NodeId, Incarnation>> heard;  ///< the sender, if a letter was received
};

/// Skips the beginning of a line, whose keys come in a known order.
class Glancer {
 public:
  explicit Glancer(std::string_view text) : text_(text) {}

  bool skip(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::uint64_t> number() {
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    const auto value = parse_number(text_.substr(0, digits));
    if (value) text_.remove_prefix(digits);
    return value;
  }

 private:
  std::string_view text_;
};

Glance glance(std::string_view text) {
  Glancer rest(text);
  const auto number_after = [&rest](std::string_view key) {
    return rest.skip(key) ? rest.number() : std::nullopt;
  };
  const auto t = number_after("{\"t_ns\":");
  const auto node = number_after(",\"node\":");
  const auto incarnation = number_after(",\"incarnation\":");
  const auto seq = number_after(",\"seq\":");
  if (!t || !node || !incarnation || !seq) return {};
  const journal::Stamp stamp{
      Duration(*t), {static_cast<std::uint32_t>(*node)}, {*incarnation}, *seq};
  if (!rest.skip(",")) return {};
  if (rest.skip("\"event\":{\"type\":\"")) {
    if (rest.skip("Paused\"") || rest.skip("Failed\"")) return {};
    if (!rest.skip("Received\"")) return {stamp, true, {}};
    const auto from = number_after(",\"from\":");
    const auto life = number_after(",\"incarnation\":");
    if (!from || !life) return {};
    return {stamp, true, std::pair(NodeId{static_cast<std::uint32_t>(*from)}, Incarnation{*life})};
  }
  if (rest.skip("\"performed\":") || rest.skip("\"hook\":") || rest.skip("\"permits\":") ||
      rest.skip("\"note\":") || rest.skip("\"broken\":"))
    return {stamp, false, {}};
  return {};
}

/// One run of the command.
class Verification {
 public:
  Verification(const VerifyOptions& options, std::ostream& out) : options_(options), out_(out) {}

  Expected<verify::Outcome> run() {
    auto found = find_journals(options_.journals);
    if (!found) return found.error();
    journals_ = std::move(*found);
    auto foresight = look_ahead();
    if (!foresight) return foresight.error();
    return judge(std::move(*foresight));
  }

  void show(const verify::Outcome& outcome) {
    if (options_.json) {
      for (const verify::Verdict& verdict : outcome.verdicts) show_json(verdict);
      return;
    }
    out_ << counted(outcome.lines, "line") << " of " << counted(outcome.lives, "life", "lives")
         << " in " << counted(journals_.size(), "journal") << ", " << format_seconds(last_ - first_)
         << " s\n";
    unclaimed_ = unclaimed_times_.times();
    for (const verify::Verdict& verdict : outcome.verdicts) {
      std::visit([this](const auto& kind) { show_text(kind); }, verdict);
    }
    if (torn_ > 0)
      out_ << "lines that end halfway, as after a kill or on a full disk: " << torn_ << '\n';
    if (outcome.missing_lines > 0)
      out_ << "lines that are missing in journals: " << outcome.missing_lines << '\n';
    show_not_claimed();
  }

  /// Advice on how more could be judged; empty if nothing is missing.
  [[nodiscard]] std::string hint() const {
    if (faults_known_ || silent_lives_ == 0) return {};
    return "hint: " + counted(silent_lives_, "life", "lives") +
           " ended without a reason in any journal: if they were killed, also give the journal of "
           "faults of the program that killed them (docs/reference/journal.md)";
  }

 private:
  // Parses a line. A torn line is counted, and returns none.
  Expected<std::optional<journal::Line>> parse(const RawLine& raw) {
    auto line = journal::parse_line(raw.text);
    if (line) return std::move(*line);
    if (raw.is_torn) {
      ++torn_;
      return std::nullopt;
    }
    return Failure{line.error().code, raw.place() + ": " + line.error().what};
  }

  Expected<verify::Foresight> look_ahead() {
    verify::Foreseer foreseer;
    MergedJournals lines(journals_);
    RawLine raw;
    for (;;) {
      const auto more = lines.next(raw);
      if (!more) return more.error();
      if (!*more) break;
      // An event whose line is torn is treated as if it had not happened, since its content is
      // unknown.
      if (const Glance seen = raw.is_torn ? Glance() : glance(raw.text); seen.stamp) {
        foreseer.line(*seen.stamp);
        if (seen.step) foreseer.step(seen.stamp->node, raw.t, nullptr);
        if (seen.heard) foreseer.heard(seen.heard->first, seen.heard->second, raw.t);
        continue;
      }
      const auto line = parse(raw);
      if (!line) return line.error();
      if (*line) foreseer.take(**line);
    }
    torn_ = 0;  // the second reading counts them
    auto foresight = foreseer.finish();
    silent_lives_ = foresight.last_seq.size();
    return foresight;
  }

  Expected<verify::Outcome> judge(verify::Foresight foresight) {
    verify::Verifier verifier(std::move(foresight), [this](const verify::NotClaimed& time) {
      if (options_.json)
        show_json(time);
      else
        count(time);
    });
    verifier.ask(options_.assertions);
    MergedJournals lines(journals_);
    RawLine raw;
    verify::Place place;
    const std::filesystem::path* file = nullptr;
    bool first = true;
    std::set<std::size_t> with_lines;  // indices of the journals
    for (;;) {
      const auto more = lines.next(raw);
      if (!more) return more.error();
      if (!*more) break;
      const auto line = parse(raw);
      if (!line) return line.error();
      if (!*line) continue;
      if (raw.file != file) place.journal = raw.file->string();
      file = raw.file;
      place.line = raw.number;
      with_lines.insert(lines.journal());
      if (std::exchange(first, false)) first_ = raw.t;
      last_ = raw.t;
      faults_known_ = faults_known_ || std::holds_alternative<journal::Fault>(**line);
      if (const auto taken = verifier.take(**line, place); !taken)
        return Failure{taken.error().code, raw.place() + ": " + taken.error().what};
    }
    torn_ += lines.torn_lines();
    verify::Outcome outcome = verifier.finish();
    for (std::size_t i = 0; i < journals_.size(); ++i)
      if (outcome.undecided.empty() && !with_lines.contains(i))
        outcome.undecided = "there is no line in " + journals_[i].back().path.string();
    return outcome;
  }

  void show_json(const verify::Verdict& verdict) {
    text_.clear();
    verify::verdict_line(text_, verdict);
    out_ << text_;
  }

  std::ostream& row(const std::string& assertion, const char* verdict) {
    return out_ << std::left << std::setw(13) << assertion << std::setw(16) << verdict
                << std::right;
  }

  void show_text(const verify::Holds& verdict) {
    const std::string unclaimed = in_words(unclaimed_[verdict.assertion], last_ - first_);
    row(verdict.assertion, "holds") << (unclaimed.empty() ? "" : "where it is claimed: ");
    out_ << meaning(verdict.assertion) << " (checked " << counted(verdict.checked, "time");
    if (verdict.bound)
      out_ << ", after a time without faults of " << format_seconds(*verdict.bound) << " s";
    out_ << (unclaimed.empty() ? "" : "; " + unclaimed) << ")\n";
  }

  void show_text(const verify::Violated& verdict) {
    row(verdict.assertion, "DOES NOT HOLD")
        << verdict.disagreement.why << " (at " << format_seconds(verdict.t - first_) << " s, "
        << verdict.place.journal << ':' << verdict.place.line << "; "
        << counted(verdict.violations, "time") << ", checked " << counted(verdict.checked, "time")
        << ")\n";
  }

  void show_text(const verify::NotClaimed& verdict) {
    row(verdict.assertion, "not checked") << verdict.why << '\n';
  }

  /// The times in which assertions are not claimed for one reason.
  struct Times {
    std::uint64_t count{};
    Duration total{};
    std::string assertions;
  };

  void count(const verify::NotClaimed& time) {
    unclaimed_times_.add(time);
    const bool known = not_claimed_.contains(time.why);
    if (!known && not_claimed_.size() == shown_reasons) {
      ++other_reasons_;
      return;
    }
    Times& times = not_claimed_[time.why];
    const std::string name = time.assertion + (time.cause.starts_with("P4") ? " (P4)" : "");
    if (times.assertions.empty() || times.assertions.starts_with(name + ',') ||
        times.assertions == name) {
      ++times.count;
      times.total += time.to - time.from;
    }
    if ((", " + times.assertions + ',').find(", " + name + ',') == std::string::npos)
      times.assertions += (times.assertions.empty() ? "" : ", ") + name;
  }

  void show_not_claimed() {
    for (const auto& [why, times] : not_claimed_)
      out_ << "not claimed: " << times.assertions << " (" << counted(times.count, "time") << ", "
           << format_seconds(times.total) << " s in all): " << why << '\n';
    if (other_reasons_ > 0)
      out_ << "not claimed for other reasons: " << other_reasons_ << " times (see --json)\n";
  }

  const VerifyOptions& options_;
  std::ostream& out_;
  std::vector<Segments> journals_;
  std::string text_;
  std::uint64_t torn_ = 0;
  std::uint64_t silent_lives_ = 0;  ///< lives that ended without a line that says why
  bool faults_known_ = false;       ///< a journal contains faults, so faults were recorded
  Duration first_{};
  Duration last_{};
  std::map<std::string, Times> not_claimed_;
  std::uint64_t other_reasons_ = 0;
  verify::Unclaimed unclaimed_times_;
  std::map<std::string, verify::Unclaimed::Times> unclaimed_;
};

// Long times are given in whole seconds.
std::string seconds(Duration time) {
  using namespace std::chrono_literals;
  return time >= 100s ? std::to_string((time + 500ms) / 1s) : format_seconds(time);
}

constexpr const char* verify_command = "muster verify";

}  // namespace

int verify(const VerifyOptions& options, std::ostream& out, std::ostream& err) {
  Verification verification(options, out);
  const auto outcome = verification.run();
  if (!outcome) return failed(outcome.error(), err, verify_command);
  verification.show(*outcome);
  if (const std::string hint = verification.hint(); !hint.empty())
    (options.json ? err : out) << hint << '\n';
  for (const verify::Verdict& verdict : outcome->verdicts)
    if (const auto* violated = std::get_if<verify::Violated>(&verdict))
      return failed(
          {ExitCode::does_not_hold,
           violated->assertion + " does not hold: " + violated->disagreement.why + ": see " +
               violated->place.journal + ':' + std::to_string(violated->place.line)},
          err, verify_command);
  if (!outcome->undecided.empty())
    return failed({not_decided, outcome->undecided}, err, verify_command);
  return 0;
}

std::string in_words(const verify::Unclaimed::Times& times, Duration whole) {
  std::string text;
  if (times.of_all > Duration::zero()) text = "not claimed for " + seconds(times.of_all) + " s";
  if (times.of_some > Duration::zero())
    text += (text.empty() ? "not claimed of some nodes for " : ", and of some nodes for ") +
            seconds(times.of_some) + " s";
  if (text.empty()) return text;
  std::vector<std::string> causes;
  for (const auto& [cause, time] : times.causes)
    causes.push_back(times.causes.size() == 1 ? cause : cause + ", " + seconds(time) + " s");
  std::string all;
  for (const std::string& cause : causes) all += (all.empty() ? "" : "; ") + cause;
  return text + " of " + seconds(whole) + " s (" + all + ')';
}

}  // namespace muster::apps

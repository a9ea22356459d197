#include "apps/lab/replay.hpp"

#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/command_line/part_commands.hpp"
#include "apps/journals/journals.hpp"
#include "apps/lab/commands.hpp"

#include <CLI/CLI.hpp>
#include <muster/journal/replay.hpp>
#include <muster/values/json.hpp>

#include <unistd.h>

#include <iostream>
#include <map>
#include <numeric>

namespace muster::apps {
namespace {

using replay::Difference;
using replay::Replayer;

constexpr const char* replay_command = "muster replay";

/// All fields of the state, with several on a line if they are short.
std::string fields_of(const Protocol& state) {
  constexpr std::size_t width = 100;
  std::string text;
  std::string line;
  const auto add = [&](const char* name, const auto& value) {
    const std::string field = name + (": " + to_text(value));
    if (!line.empty() && line.size() + field.size() > width) text += std::exchange(line, {}) + '\n';
    line += (line.empty() ? "  " : ", ") + field;
  };
  std::visit([&](const auto& fields) { for_each_field(fields, add); }, state);
  return text + line + '\n';
}

/// One run of the command over all journals.
class Replaying {
 public:
  Replaying(const ReplayOptions& options, std::ostream& out) : options_(options), out_(out) {}

  Expected<> run() {
    const auto journals = find_journals(options_.journals);
    if (!journals) return journals.error();
    replayers_ = std::vector<Replayer>(journals->size());
    MergedJournals lines(*journals);
    RawLine raw;
    while (!finished()) {
      const auto more = lines.next(raw);
      if (!more) return more.error();
      if (!*more) break;
      if (!began_) began_ = raw.t;
      if (options_.until_time && raw.t - *began_ > *options_.until_time) break;
      if (const auto taken = take(raw, lines.journal()); !taken) return taken.error();
    }
    const bool reaches = options_.until || options_.until_time;
    if (options_.state)
      show_states();
    else if (reaches && last_)
      show_state(*last_, reached_.at(*last_));
    torn_ += lines.torn_lines();
    return {};
  }

  void summarize() {
    const std::uint64_t passed_over = sum(&Replayer::passed_over);
    const std::uint64_t lives = sum(&Replayer::lives);
    if (options_.json) {
      text_ = "{\"holds\":" + json_of_verdict(differences_ == 0, exact() > 0) +
              ",\"exact\":" + to_json(exact()) + ",\"passed_over\":" + to_json(passed_over) +
              ",\"lives\":" + to_json(lives) + ",\"torn\":" + to_json(torn_) +
              ",\"differences\":" + to_json(differences_) + "}\n";
      out_ << text_;
      return;
    }
    out_ << counted(exact(), "step") << " of " << counted(lives, "life", "lives")
         << " replayed exactly";
    if (differences_ == 0 && passed_over > 0)
      out_ << ", " << counted(passed_over, "step")
           << " skipped, because lines before them are missing";
    else if (passed_over > 0)
      out_ << ", " << counted(passed_over, "step") << " not replayed";
    if (torn_ > 0) out_ << ", torn lines: " << torn_;
    out_ << '\n';
  }

  [[nodiscard]] std::uint64_t exact() const { return sum(&Replayer::exact_steps); }
  /// The first difference, as "FILE:LINE: ..."; empty if there is none.
  [[nodiscard]] const std::string& first_difference() const { return first_difference_; }

 private:
  struct Reached {
    std::uint64_t seq = 0;
    std::size_t journal = 0;
  };

  [[nodiscard]] bool finished() const {
    return stopped_ || (options_.until && steps_ >= *options_.until);
  }

  Expected<> take(const RawLine& raw, std::size_t journal) {
    Replayer& replayer = replayers_[journal];
    const auto line = journal::parse_line(raw.text);
    if (!line && raw.is_torn) {
      ++torn_;
      return {};
    }
    if (!line) return Failure{line.error().code, raw.place() + ": " + line.error().what};
    const auto difference = replayer.take(*line);
    if (!difference)
      return Failure{difference.error().code, raw.place() + ": " + difference.error().what};
    if (const auto* step = std::get_if<journal::Step>(&*line)) show(raw, *step, journal);
    if (*difference) show(raw, **difference);
    return {};
  }

  [[nodiscard]] std::uint64_t sum(std::uint64_t (Replayer::*figure)() const) const {
    return std::accumulate(
        replayers_.begin(), replayers_.end(), std::uint64_t{0},
        [&](std::uint64_t sum, const Replayer& each) { return sum + (each.*figure)(); });
  }

  void show_states() {
    for (const auto& [node, reached] : reached_) show_state(node, reached);
  }

  void show_state(NodeId node, const Reached& reached) {
    const Protocol* state = replayers_[reached.journal].state_of(node);
    if (!state) return;
    if (options_.json)
      out_ << "{\"node\":" << to_json(node) << ",\"seq\":" << to_json(reached.seq)
           << ",\"state\":" << state_json(*state) << "}\n";
    else
      out_ << "node " << node << " after seq " << reached.seq << '\n' << fields_of(*state);
  }

  void show(const RawLine& raw, const journal::Step& line, std::size_t journal) {
    ++steps_;
    reached_[line.stamp.node] = {line.stamp.seq, journal};
    last_ = line.stamp.node;
    if (options_.step && options_.json) out_ << raw.text << '\n';
    if (options_.step && !options_.json) {
      out_ << format_seconds(line.stamp.t) << " s node " << line.stamp.node << " seq "
           << line.stamp.seq << ": " << to_text(line.event) << '\n';
      for (const Action& action : line.actions) out_ << "    " << to_text(action) << '\n';
      out_ << "  = " << to_text(line.view) << '\n';
      if (options_.walk && !finished()) ask();
    }
  }

  void ask() {
    if (going_ > 0) {
      --going_;
      return;
    }
    for (std::string answer;;) {
      out_ << "step " << steps_
           << ": [Enter] next, NUMBER of steps, s states, q quit: " << std::flush;
      if (!std::getline(*options_.walk, answer) || answer == "q") {
        stopped_ = true;
        return;
      }
      if (answer.empty()) return;
      if (const auto number = parse_number(answer); number && *number > 0) {
        going_ = *number - 1;
        return;
      }
      if (answer == "s") show_states();
    }
  }

  void show(const RawLine& raw, const Difference& difference) {
    if (differences_++ == 0) {
      const bool many = difference.of == "actions";
      first_difference_ = raw.place() + ": the " + difference.of + (many ? " differ" : " differs");
    }
    if (options_.json) {
      text_ = "{\"journal\":";
      write_json(text_, raw.file->string());
      text_ += ",\"line\":" + to_json(raw.number) + ",\"differs\":" + to_json(difference.of) +
               ",\"recorded\":" + difference.recorded + ",\"replayed\":" + difference.replayed +
               "}\n";
      out_ << text_;
    } else if (differences_ == 1) {
      out_ << first_difference_ << "\n  recorded: " << difference.recorded
           << "\n  replayed: " << difference.replayed << '\n';
    }
  }

  const ReplayOptions& options_;
  std::ostream& out_;
  std::string text_;
  std::vector<Replayer> replayers_;    ///< one for each journal
  std::map<NodeId, Reached> reached_;  ///< the last step of each node
  std::optional<NodeId> last_;         ///< the node of the last step of all
  std::optional<Duration> began_;
  std::uint64_t steps_ = 0;
  std::uint64_t going_ = 0;  ///< steps to take before the user is asked again
  bool stopped_ = false;
  std::uint64_t torn_ = 0;
  std::uint64_t differences_ = 0;
  std::string first_difference_;
};

}  // namespace

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
  Replaying replaying(options, out);
  if (const auto run = replaying.run(); !run) return failed(run.error(), err, replay_command);
  replaying.summarize();
  if (!replaying.first_difference().empty())
    return failed(
        {ExitCode::does_not_hold, replaying.first_difference() +
                                      ": the journal was written by another version, with "
                                      "another configuration, or by a node with a defect"},
        err, replay_command);
  if (replaying.exact() == 0)
    return failed(
        {not_decided, options.until_time
                          ? "there is no step before --until: give a later time"
                          : "there is no step in these journals: give the journals of nodes"},
        err, replay_command);
  return 0;
}

void add_replay_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand(part_commands::replay.name, part_commands::replay.what);
  command->add_option("journals", options->journals, "Journals of nodes; segments are found")
      ->required();
  command
      ->add_option_function<std::string>(
          "--until",
          [options](const std::string& text) {
            options->until = parse_number(text);
            options->until_time = parse_duration(text);
            if ((!options->until && !options->until_time) || options->until == 0U)
              throw CLI::ValidationError(
                  "--until " + text,
                  "expected a number of steps, at least 1, or a time such as 1500ms");
          },
          "Stop after this many steps, or this time after the first line, and show the state")
      ->type_name("STEP|TIME");
  command->add_flag("--state", options->state, "Show all states after the last step replayed");
  command->add_flag("--step", options->step,
                    "Show each step (--json: its line); on a terminal, wait after each");
  command->add_flag("--json", options->json, "Print one JSON object a line");
  command->callback([options, &exit_code] {
    if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) options->walk = &std::cin;
    exit_code = replay(*options, std::cout, std::cerr);
  });
}

}  // namespace muster::apps

#include "apps/muster/replay.hpp"

#include "apps/muster/commands.hpp"
#include "apps/muster/journals.hpp"
#include "apps/muster/text.hpp"

#include <CLI/CLI.hpp>
#include <muster/json.hpp>
#include <muster/replay.hpp>

#include <iostream>
#include <map>

namespace muster::apps {
namespace {

using replay::Difference;
using replay::Replayer;

int say(std::ostream& err, ExitCode code, const std::string& what) {
  err << "muster replay: " << what << " (exit code " << static_cast<int>(code) << ")\n";
  return static_cast<int>(code);
}

/// One run of the command over all journals.
class Replaying {
 public:
  Replaying(const ReplayOptions& options, std::ostream& out) : options_(options), out_(out) {}

  Expected<> run() {
    const auto journals = find_journals(options_.journals);
    if (!journals) return journals.error();
    for (const Segments& segments : *journals) {
      const auto replayed = run(segments);
      if (!replayed) return replayed.error();
      if (finished()) break;
    }
    return {};
  }

  void summarize() {
    if (options_.json) {
      text_ = "{\"exact\":" + to_json(exact_) + ",\"passed_over\":" + to_json(passed_over_) +
              ",\"lives\":" + to_json(lives_) + ",\"torn\":" + to_json(torn_) +
              ",\"differences\":" + to_json(differences_) + "}\n";
      out_ << text_;
      return;
    }
    out_ << counted(exact_, "step") << " of " << counted(lives_, "life", "lives")
         << " replayed exactly";
    if (passed_over_ > 0) out_ << ", " << counted(passed_over_, "step") << " not";
    if (torn_ > 0) out_ << ", torn lines: " << torn_;
    out_ << '\n';
  }

  [[nodiscard]] std::uint64_t exact() const { return exact_; }
  /// "FILE:LINE: ..." of the first difference; empty where there is none.
  [[nodiscard]] const std::string& first_difference() const { return first_difference_; }

 private:
  [[nodiscard]] bool finished() const { return options_.until && steps_ >= *options_.until; }

  Expected<> run(const Segments& segments) {
    Replayer replayer;
    JournalReader reader(segments);
    RawLine raw;
    while (!finished()) {
      const auto more = reader.next(raw);
      if (!more) return more.error();
      if (!*more) break;
      if (!began_) began_ = raw.t;
      if (options_.until_time && raw.t - *began_ > *options_.until_time) break;
      const auto line = journal::parse_line(raw.text);
      if (!line && raw.may_be_torn) {
        ++torn_;
        continue;
      }
      if (!line) return Failure{line.error().code, raw.place() + ": " + line.error().what};
      const auto difference = replayer.take(*line);
      if (!difference)
        return Failure{difference.error().code, raw.place() + ": " + difference.error().what};
      if (const auto* step = std::get_if<journal::Step>(&*line)) show(*step, replayer);
      if (*difference) show(raw, **difference);
    }
    if (options_.state) show_states(replayer);
    torn_ += reader.torn_lines();
    exact_ += replayer.exact_steps();
    passed_over_ += replayer.passed_over();
    lives_ += replayer.lives();
    return {};
  }

  void show_states(const Replayer& replayer) {
    for (const auto& [node, seq] : last_) {
      if (options_.until && !options_.until_time && steps_ == *options_.until && node == latest_)
        continue;  // shown when it was reached
      show_state(node, seq, replayer);
    }
    last_.clear();
  }

  void show_state(NodeId node, std::uint64_t seq, const Replayer& replayer) {
    const Protocol* state = replayer.state_of(node);
    if (!state) return;
    if (options_.json)
      out_ << "{\"node\":" << to_json(node) << ",\"seq\":" << to_json(seq)
           << ",\"state\":" << state_json(*state) << "}\n";
    else
      out_ << "node " << node << " after seq " << seq << ": " << to_text(*state) << '\n';
  }

  void show(const journal::Step& line, const Replayer& replayer) {
    ++steps_;
    latest_ = line.stamp.node;
    last_[line.stamp.node] = line.stamp.seq;
    if (options_.step && !options_.json) {
      out_ << format_seconds(line.stamp.t) << " s node " << line.stamp.node << " seq "
           << line.stamp.seq << ": " << to_text(line.event) << '\n';
      for (const Action& action : line.actions) out_ << "    " << to_text(action) << '\n';
      out_ << "  = " << to_text(line.view) << '\n';
    }
    if (finished()) show_state(line.stamp.node, line.stamp.seq, replayer);
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
  std::map<NodeId, std::uint64_t> last_;  ///< the last step of each node, by its seq
  NodeId latest_;
  std::optional<Duration> began_;
  std::uint64_t steps_ = 0;
  std::uint64_t exact_ = 0;
  std::uint64_t passed_over_ = 0;
  std::uint64_t lives_ = 0;
  std::uint64_t torn_ = 0;
  std::uint64_t differences_ = 0;
  std::string first_difference_;
};

}  // namespace

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
  Replaying replaying(options, out);
  if (const auto run = replaying.run(); !run) return say(err, run.error().code, run.error().what);
  replaying.summarize();
  if (!replaying.first_difference().empty())
    return say(err, ExitCode::does_not_hold,
               replaying.first_difference() +
                   ": the journal was written by another version or another configuration, or by a "
                   "node that is broken");
  if (replaying.exact() == 0)
    return say(err, ExitCode::does_not_hold,
               "there is no step in these journals: give the journals of nodes");
  return 0;
}

void add_replay_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReplayOptions>();
  CLI::App* command =
      app.add_subcommand("replay", "Run `step` again on each recorded event and compare");
  command->add_option("journals", options->journals, "Journals of nodes; segments are found")
      ->required();
  command
      ->add_option_function<std::string>(
          "--until",
          [options](const std::string& text) {
            options->until = parse_number(text);
            options->until_time = parse_duration(text);
            if (!options->until && !options->until_time)
              throw CLI::ValidationError("--until " + text,
                                         "a number of steps is expected, or a time as 1500ms");
          },
          "Stop after so many steps and show the state, or after a time since the first line")
      ->type_name("STEP|TIME");
  command->add_flag("--state", options->state, "Show all states after the last step replayed");
  command->add_flag("--step", options->step, "Show each step");
  command->add_flag("--json", options->json, "One JSON object a line");
  command->callback([options, &exit_code] { exit_code = replay(*options, std::cout, std::cerr); });
}

}  // namespace muster::apps

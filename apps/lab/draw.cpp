#include "apps/lab/draw.hpp"
#include "apps/base/failed.hpp"

#include "apps/base/text.hpp"
#include "apps/base/write_file.hpp"
#include "apps/command_line/part_commands.hpp"
#include "apps/draw/html.hpp"
#include "apps/draw/svg.hpp"
#include "apps/draw/texts.hpp"
#include "apps/journals/journals.hpp"
#include "apps/lab/assertion_option.hpp"
#include "apps/lab/commands.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace muster::apps {
namespace {

struct Format {
  const char* name;
  const char* ending;
  std::string (*write)(const drawing::Chart&);
};

constexpr Format formats[] = {{"svg", ".svg", drawing::svg},
                              {"html", ".html", drawing::html},
                              {"mermaid", ".mmd", drawing::mermaid},
                              {"shiviz", ".shiviz", drawing::shiviz}};

constexpr const char* draw_command = "muster draw";

Failure usage(const std::string& what) {
  return {ExitCode::usage, what};
}

Expected<const Format*> format_of(const DrawOptions& options) {
  const std::string ending = std::filesystem::path(options.output).extension().string();
  for (const Format& format : formats)
    if (options.format.empty() ? ending == format.ending : options.format == format.name)
      return &format;
  if (!options.format.empty())
    return usage("--format " + options.format + ": expected svg, html, mermaid or shiviz");
  return usage(
      options.output +
      ": expected a name that ends in .svg, .html, .mmd or .shiviz, or a format with --format");
}

Expected<std::optional<Duration>> time_of(const char* option, const std::string& text) {
  if (text.empty()) return std::optional<Duration>();
  const auto time = parse_duration(text);
  if (!time)
    return usage(std::string(option) + ' ' + text +
                 ": expected a time since the first line, such as 1500ms or 2s");
  return time;
}

Expected<drawing::Window> window_of(const DrawOptions& options) {
  drawing::Window window;
  const auto from = time_of("--from", options.from);
  if (!from) return from.error();
  const auto until = time_of("--until", options.until);
  if (!until) return until.error();
  if (*from && *until && **until < **from)
    return usage("--until " + options.until + " comes before --from " + options.from);
  window.from = *from;
  window.until = *until;
  window.nodes = options.nodes;
  window.assertions = options.assertions;
  return window;
}

// Refuses to write over one of the journals.
Expected<> spare_journals(const DrawOptions& options) {
  const auto journals = find_journals(options.journals);
  if (!journals) return journals.error();
  for (const Segments& segments : *journals)
    for (const Segment& segment : segments) {
      std::error_code error;
      if (std::filesystem::equivalent(segment.path, options.output, error))
        return usage("--out " + options.output + " is one of the journals; choose another");
    }
  return {};
}

void say_what(std::ostream& err, const DrawOptions& options, const drawing::Chart& chart) {
  const auto lost = std::count_if(chart.arrows.begin(), chart.arrows.end(),
                                  [](const drawing::Arrow& arrow) { return !arrow.received; });
  err << (options.output == "-" ? "standard output" : options.output) << ": "
      << counted(chart.nodes.size(), "node") << ", " << counted(chart.arrows.size(), "letter")
      << " (" << lost << " never received)";
  if (chart.not_judged.empty()) err << ", " << counted(chart.violations.size(), "violation");
  err << '\n';
  if (chart.violations_outside > 0)
    err << "violations outside the drawing: " << chart.violations_outside << '\n';
  if (!chart.undecided.empty()) err << "not everything was judged: " << chart.undecided << '\n';
  if (!chart.not_judged.empty()) err << "no violations can be shown: " << chart.not_judged << '\n';
}

}  // namespace

int draw(const DrawOptions& options, std::ostream& out, std::ostream& err) {
  const auto format = format_of(options);
  if (!format) return failed(format.error(), err, draw_command);
  const auto window = window_of(options);
  if (!window) return failed(window.error(), err, draw_command);
  if (const auto spared = spare_journals(options); !spared)
    return failed(spared.error(), err, draw_command);
  const auto chart = drawing::read_chart(options.journals, *window);
  if (!chart) return failed(chart.error(), err, draw_command);
  if (chart->moments.empty())
    return failed({ExitCode::does_not_hold,
                   window->is_all() ? "there is nothing to draw: these journals have no lines"
                                    : "there is nothing to draw: these journals have no line of "
                                      "the given nodes in the given time"},
                  err, draw_command);
  const std::string text = (*format)->write(*chart);
  if (options.output == "-") {
    out << text;
  } else {
    if (const auto written = write_file(options.output, text); !written)
      return failed(written.error(), err, draw_command);
  }
  say_what(err, options, *chart);
  return 0;
}

void add_draw_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<DrawOptions>();
  CLI::App* command = app.add_subcommand(part_commands::draw.name, part_commands::draw.what);
  command
      ->add_option("journals", options->journals,
                   "Journals of nodes, and journals of faults; segments are found")
      ->required();
  command
      ->add_option("-o,--out", options->output,
                   "Output file: .svg, .html, .mmd or .shiviz; - is standard output")
      ->required();
  command->add_option("--format", options->format, "svg, html, mermaid or shiviz");
  command->add_option("--from", options->from,
                      "Draw from this time since the first line, such as 2s");
  command->add_option("--until", options->until, "Draw until this time since the first line");
  command->add_option("--nodes", options->nodes, "Draw only these nodes, such as 1,2,5")
      ->delimiter(',');
  add_assertions(*command, options->assertions,
                 "Show violations of this assertion too; repeatable");
  command->callback([options, &exit_code] { exit_code = draw(*options, std::cout, std::cerr); });
}

}  // namespace muster::apps

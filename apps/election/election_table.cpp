#include "apps/base/failed.hpp"
#include "apps/base/write_file.hpp"
#include "apps/election/election.hpp"

#include <muster/values/failure.hpp>

#include <iomanip>
#include <ostream>
#include <set>

/// The table and the command.

namespace muster::apps::election {
namespace {

// The numbers 1, 2, 5, 10, 20, 50 and so on, and both ends.
std::set<std::uint32_t> sizes(std::uint32_t least, std::uint32_t most) {
  std::set<std::uint32_t> sizes{least, most};
  for (std::uint64_t ten = 1; ten <= most; ten *= 10)
    for (const std::uint64_t size : {ten, 2 * ten, 5 * ten})
      if (least <= size && size <= most) sizes.insert(static_cast<std::uint32_t>(size));
  return sizes;
}

std::string table_name(Kind kind) {
  return kind == Kind::shipped ? "as it ships" : to_text(kind);
}

void line_json(std::ostream& out, const Row& row, std::uint32_t down) {
  out << "{\"nodes\":" << row.nodes << ",\"down\":" << down << ",\"protocol\":\"" << row.kind
      << "\",\"case\":\"" << row.which << "\",\"messages\":" << row.measured.messages
      << ",\"messages_expected\":" << row.expected.messages << ",\"checks\":" << row.measured.checks
      << ",\"T\":" << row.measured.timeouts << ",\"RTT\":" << row.measured.half_trips / 2
      << (row.measured.half_trips % 2 == 1 ? ".5" : "")
      << ",\"as_expected\":" << (row.measured == row.expected ? "true" : "false") << "}\n";
}

void head(std::ostream& out, std::uint32_t down) {
  out << "One election after the " << (down == 1 ? "coordinator" : "highest nodes")
      << " stopped silently (" << down
      << " down): messages, and the time from noticing to Normal.\n"
         "C: one period of Check; T: the bound of a call; RTT: one round trip.\n\n"
      << std::left << std::setw(7) << "nodes" << std::setw(13) << "protocol" << std::right
      << std::setw(10) << "messages" << std::setw(12) << ""
      << "  " << std::left << std::setw(22) << "time"
      << "\n"
      << std::setw(20) << "" << std::right << std::setw(10) << "best" << std::setw(12) << "worst"
      << "  " << std::left << std::setw(22) << "best"
      << "worst\n";
}

void line_text(std::ostream& out, const Row& best, const Row& worst) {
  const bool first = best.kind == kinds[0];
  out << std::left << std::setw(7) << (first ? std::to_string(best.nodes) : "") << std::setw(13)
      << table_name(best.kind) << std::right << std::setw(10) << best.measured.messages
      << std::setw(12) << worst.measured.messages << "  " << std::left << std::setw(22)
      << time_text(best.measured) << time_text(worst.measured) << '\n'
      << std::flush;
}

std::string cost_text(const Cost& cost) {
  return std::to_string(cost.messages) + " messages and " + time_text(cost);
}

}  // namespace

int bench(const Options& options, std::ostream& out, std::ostream& err) {
  // Tests first whether the file can be written: the elections can take minutes.
  if (options.svg)
    if (const auto writable = ensure_writable(*options.svg); !writable)
      return failed(writable.error(), err);
  std::vector<Row> rows;
  std::optional<Failure> wrong;
  if (!options.json) head(out, options.down);
  for (const std::uint32_t nodes : sizes(options.least_nodes, options.most_nodes)) {
    for (Kind kind : kinds) {
      for (Case which : {Case::best, Case::worst}) {
        const Row& row =
            rows.emplace_back(Row{nodes, kind, which, measure(kind, which, nodes, options.down),
                                  expected(kind, which, nodes, options.down)});
        if (options.json) line_json(out, row, options.down);
        if (row.measured != row.expected && !wrong)
          wrong = Failure{ExitCode::does_not_hold,
                          table_name(kind) + ", " + to_text(which) + " of " +
                              std::to_string(nodes) + " nodes: " + cost_text(row.measured) +
                              "; docs/figures.md says " + cost_text(row.expected)};
      }
      if (!options.json) line_text(out, rows[rows.size() - 2], rows.back());
    }
  }
  if (!wrong && !options.json)
    out << "\nAll figures agree with the closed forms of docs/figures.md.\n";
  out << std::flush;
  if (options.svg)
    if (const auto written = write_file(*options.svg, plot(rows, options.down)); !written)
      return failed(written.error(), err);
  return wrong ? failed(*wrong, err) : 0;
}

}  // namespace muster::apps::election

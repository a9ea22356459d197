#include "apps/postgres/lab/lab.hpp"

#include <muster/values/text.hpp>

#include <boost/mp11/algorithm.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

/// Runs the model of a PostgreSQL cluster under keepers. `bench_postgres_model [seeds N FIRST]`
/// runs seeds of these clusters: three nodes, five nodes, two nodes with a witness, and clusters
/// whose list of nodes changes. This command also tries a death of a process at every point.
/// `search N` searches N worlds in each of several sets of bounds. `strikes N` removes one line of
/// the design at a time, tries that many seeds, and prints a Markdown table. Exit code 1 if a
/// promise is broken although nothing was removed.

using namespace muster;
namespace model = muster::postgres::lab;
using postgres::Line;

namespace {

model::Options of(unsigned nodes) {
  model::Options options;
  options.nodes = nodes;
  options.copies_of_commit = nodes / 2 + 1;
  return options;
}

struct Cluster {
  std::string name;
  model::Options options;
};

Cluster with_witness() {
  model::Options options = of(3);
  options.witness = true;
  return {"two nodes and a witness", options};
}

std::vector<Cluster> clusters() {
  return {{"3 nodes", of(3)}, {"5 nodes", of(5)}, with_witness()};
}

/// Clusters whose list of nodes is replaced.
std::vector<Cluster> changes() {
  const auto then = [](model::Options options, std::uint32_t last, bool without_third) {
    postgres::Copies next{{}, 0, {}, 2};
    for (std::uint32_t id = 1; id <= last; ++id)
      if (!without_third || id != 3) next.nodes.insert(NodeId{id});
    next.of_commit = static_cast<unsigned>(next.nodes.size() / 2 + 1);
    options.next = next;
    return options;
  };
  std::vector<Cluster> all{{"3 nodes, then 4", then(of(3), 4, false)},
                           {"3 nodes, then 5", then(of(3), 5, false)},
                           {"3 nodes, then 3 with another", then(of(3), 4, true)},
                           {"4 nodes, then 3", then(of(4), 3, false)},
                           {"5 nodes, then 3", then(of(5), 3, false)}};
  for (std::size_t at = 0; at < 5; ++at) {
    Cluster hasty = all[at];
    hasty.name += ", in haste";
    hasty.options.hasty = true;
    hasty.options.troubles.restores = hasty.options.troubles.rejoins = model::any_number;
    all.push_back(hasty);
  }
  return all;
}

template <class Report>
bool holds(const Report& report) {
  if (!report.finding) return true;
  std::cout << report.finding->violated << '\n';
  for (const std::string& line : report.finding->story) std::cout << "  " << line << '\n';
  return false;
}

void tell(const std::string& what, const model::Report& report) {
  std::cout << what;
  if (report.seed) std::cout << ", seed " << *report.seed;
  std::cout << ": " << to_text(report.counts) << std::endl;
}

model::Options with_restores(model::Options options) {
  options.troubles.restores = options.troubles.rejoins = model::any_number;
  return options;
}

model::Options with_early_ends(model::Options options) {
  options.troubles.early_ends = options.troubles.refusals = model::any_number;
  return options;
}

/// All that somebody can do to the markers of the logs, and to the table of terms.
model::Options with_markers(model::Options options) {
  model::Troubles& troubles = options.troubles;
  troubles.repeats = troubles.recycled = troubles.forged = troubles.replayed =
      troubles.replayed_elsewhere = troubles.rewritten = model::any_number;
  return options;
}

model::Options upgraded(model::Options options) {
  options.upgrade = true;
  options.troubles.repeats = options.troubles.recycled = options.troubles.forged =
      model::any_number;
  return options;
}

bool run_seeds(std::uint64_t count, std::uint64_t first) {
  bool all_hold = true;
  for (const Cluster& cluster : clusters())
    for (const model::Options& options :
         {cluster.options, with_restores(cluster.options), with_early_ends(cluster.options),
          with_markers(cluster.options), with_restores(with_markers(cluster.options)),
          upgraded(cluster.options), with_restores(upgraded(cluster.options))}) {
      const model::Report report = model::run_seeds(options, first, count);
      std::string name = cluster.name;
      if (options.upgrade) name += ", upgraded";
      if (options.troubles.replayed > 0) name += ", with markers that are removed and forged";
      tell(name, report);
      all_hold = holds(report) && all_hold;
    }
  for (const Cluster& cluster : changes())
    for (const bool markers : {false, true}) {
      const model::Options options = markers ? with_markers(cluster.options) : cluster.options;
      const model::Report report = model::run_seeds(options, first, count);
      tell(cluster.name + (markers ? ", with markers that are removed and forged" : ""), report);
      all_hold = holds(report) && all_hold;
    }
  for (const Cluster& cluster : {clusters().front(), with_witness()}) {
    const model::Report deaths = model::crash_everywhere(cluster.options);
    tell("a death at every point, " + cluster.name, deaths);
    all_hold = holds(deaths) && all_hold;
  }
  return all_hold;
}

bool search_all(const model::Options& of_cluster, std::uint64_t states) {
  bool all_hold = true;
  const model::Troubles leaves{1, 1, 0, 0, 0, 0, 0, 0, 1, 0};
  const model::Troubles hands_over{1, 1, 0, 0, 0, 0, 0, 0, 0, 1};
  for (const model::Troubles& troubles : {model::Troubles{1, 0, 0, 1, 0, 0, 0, 0, 0, 0},
                                          model::Troubles{1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, leaves,
                                          hands_over, model::Troubles{2, 1, 1, 0, 0, 0, 0, 0, 0, 0},
                                          model::Troubles{1, 2, 0, 0, 1, 1, 0, 0, 0, 0}}) {
    model::Options options = of_cluster;
    options.troubles = troubles;
    options.prompt = troubles.elections > 0;
    const model::SearchReport report = model::search(options, states);
    std::cout << to_text(troubles) << ": " << report.states << " worlds, " << report.transitions
              << " transitions, depth " << report.depth
              << (report.ended ? ", all states were seen" : ", not all states were seen")
              << std::endl;
    all_hold = holds(report) && all_hold;
  }
  return all_hold;
}

void strike(std::uint64_t count) {
  std::cout << "| struck | found | by seed | moves |\n|---|---|---|---|\n";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Line>>([&](auto line) {
    std::vector<Cluster> all = clusters();
    if (line.value == Line::list_before_counts) all = changes();
    for (const auto& [name, of_cluster] : all) {
      model::Options options = of_cluster;
      if (line.value == Line::restored_does_not_count) options = with_restores(options);
      if (line.value == Line::gone_log_is_cloned) options.troubles.recycled = model::any_number;
      if (line.value == Line::files_are_evidence) options.troubles.refusals = model::any_number;
      if (line.value == Line::names_are_fixed) options.troubles.settings = model::any_number;
      if (line.value >= Line::markers_repeat && line.value <= Line::counted_is_recorded) {
        options = with_markers(options);
        options.upgrade = line.value == Line::rows_count_until_all_know;
      }
      options.struck = {line.value};
      const model::Report report = model::run_seeds(options, 1, count);
      std::cout << "| " << line.name << ", " << name << " | ";
      if (report.finding)
        std::cout << report.finding->violated << " | " << *report.seed << " | "
                  << report.finding->moves.size() << " |" << std::endl;
      else
        std::cout << "nothing | | |" << std::endl;
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "seeds";
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  if (what == "strikes") return strike(number(2, 10'000)), 0;
  if (what == "search") {
    bool all_hold = true;
    for (const Cluster& cluster : {clusters().front(), with_witness()}) {
      std::cout << cluster.name << ":\n";
      all_hold = search_all(cluster.options, number(2, 1'000'000)) && all_hold;
    }
    return all_hold ? 0 : 1;
  }
  if (what == "seeds") return run_seeds(number(2, 10'000), number(3, 1)) ? 0 : 1;
  std::cerr << "postgres_model: expected seeds, strikes or search, not " << what << '\n';
  return 2;
}

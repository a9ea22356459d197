#include "apps/lab/strike_option.hpp"

#include "apps/lab/check_texts.hpp"
#include "apps/lab/repair_option.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/text.hpp>

#include <map>
#include <vector>

namespace muster::apps {
namespace {

// Finds our name for a name that has '-' or the paper's capitals, such as
// status-test-of-NewCoordinator.
std::string words_of(const std::string& name) {
  std::string words;
  for (const char letter : name) {
    const bool capital = letter >= 'A' && letter <= 'Z';
    if (capital && !words.empty() && words.back() != '_') words += '_';
    if (letter == '-')
      words += '_';
    else
      words += capital ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return words;
}

}  // namespace

Expected<> read_strike(std::string name, lab::Bounds& bounds) {
  static const std::map<std::string, std::vector<Line>> instead = {
      {"halts_descending=ascending", {Line::halts_descending}},
      {"halts_descending=parallel", {Line::halts_one_by_one}},
      {"halts_descending=rounds", {Line::halts_one_by_one, Line::halts_once}},
      {"halts_descending=rounds_with_incarnations",
       {Line::halts_one_by_one, Line::halts_once, Line::rounds_by_node}},
      {"halts_descending=two_rounds",
       {Line::halts_one_by_one, Line::halts_once, Line::rounds_until_alike}}};
  const std::string asked = name;
  name = words_of(name);
  if (const auto found = instead.find(name);
      found != instead.end() && bounds.protocol == ProtocolName::bully) {
    bounds.struck.insert(bounds.struck.end(), found->second.begin(), found->second.end());
    return {};
  }
  if (name == "reorganization_before_accept") name = "reorganization_first";
  if (read_repair(name + "=off", bounds)) return {};
  const auto line = enumerator_named<Line>(name);
  const bool is_of_the_bully = line || instead.contains(name) || meaning(ProtocolName::bully, name);
  if (is_of_the_bully && bounds.protocol != ProtocolName::bully)
    return misread("--strike " + asked + " belongs to the Bully, but --protocol is " +
                   to_text(bounds.protocol));
  if (line) {
    bounds.struck.push_back(*line);
    return {};
  }
  if (bounds.protocol != ProtocolName::invitation && meaning(ProtocolName::invitation, name))
    return misread("--strike " + asked + " belongs to the Invitation: add --protocol invitation");
  return misread("--strike: there is no line '" + asked +
                 "'; muster check --lines lists all lines");
}

}  // namespace muster::apps

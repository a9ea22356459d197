#include "apps/postgres/decide/values.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace muster::postgres {

namespace {

void append_hexadecimal(std::string& out, std::uint64_t number) {
  char digits[16];
  char* end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
  for (const char* at = digits; at != end; ++at)
    out += *at >= 'a' ? static_cast<char>(*at - 'a' + 'A') : *at;
}

// Parses one to eight hexadecimal digits, and nothing else.
std::optional<std::uint32_t> parse_half(std::string_view text) {
  std::uint32_t number{};
  const char* end = text.data() + text.size();
  if (text.empty() || text.size() > 8) return std::nullopt;
  const auto [at, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

}  // namespace

std::string named(NodeId node) {
  return "node " + std::to_string(node.value);
}

std::string named(const NodeSet& nodes) {
  std::string text;
  for (NodeId node : nodes) text += (text.empty() ? "" : ", ") + named(node);
  return text;
}

std::string to_words(const Copies& copies) {
  std::string nodes;
  for (NodeId node : copies.nodes)
    nodes += (nodes.empty() ? "" : ", ") + std::to_string(node.value);
  return "generation " + std::to_string(copies.generation) + ", nodes " + nodes +
         " with copies = " + std::to_string(copies.of_commit);
}

bool learn(KnownTerms& known, const KnownTerms& other) {
  // A log keeps its last terms for far fewer groups.
  constexpr std::size_t most = 4096;
  bool news = other.rows_ended && !known.rows_ended;
  known.rows_ended = known.rows_ended || other.rows_ended;
  if (!other.signs.empty() && known.signs != other.signs) {
    known.signs = other.signs;
    news = true;
  }
  const auto by_group = [](const Marker& one, const Marker& two) {
    return one.term.group < two.term.group;
  };
  auto& markers = known.markers;
  for (const Marker& marker : other.markers) {
    const auto at = std::lower_bound(markers.begin(), markers.end(), marker, by_group);
    if (at != markers.end() && at->term.group == marker.term.group) continue;
    markers.insert(at, marker);
    news = true;
  }
  if (markers.size() > most)
    markers.erase(markers.begin(), markers.end() - static_cast<std::ptrdiff_t>(most));
  return news;
}

std::vector<Term> terms_until(const KnownTerms& known, const GroupNumber& group) {
  std::vector<Term> terms;
  GroupNumber next = group;
  for (auto at = known.markers.rbegin(); at != known.markers.rend(); ++at) {
    if (at->term.group != next) continue;
    terms.insert(terms.begin(), at->term);
    next = at->before;
  }
  return terms;
}

std::string to_text(Lsn lsn) {
  std::string out;
  append_hexadecimal(out, lsn.value >> 32);
  out += '/';
  append_hexadecimal(out, lsn.value & std::numeric_limits<std::uint32_t>::max());
  return out;
}

std::optional<Lsn> parse_lsn(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto high = parse_half(text.substr(0, slash));
  const auto low = parse_half(text.substr(slash + 1));
  if (!high || !low) return std::nullopt;
  return Lsn{std::uint64_t{*high} << 32 | *low};
}

}  // namespace muster::postgres

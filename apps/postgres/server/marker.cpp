#include "apps/postgres/server/marker.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/wal.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <functional>

namespace muster::postgres {
namespace {

/// How much of the log before a marker its digest covers, if its file has so much. After a
/// promotion, pages of 8 kB that are the same in other logs may come before the marker. The record
/// of the promotion comes before them, and has the time.
constexpr std::uint64_t digested = 64U << 10;

/// A marker and its place.
struct PlacedMarker {
  Marker marker;
  LogPlace place;
};
MUSTER_DESCRIBE(PlacedMarker, marker, place);

std::string signed_text(const MarkedDatabase& database, std::string_view json) {
  return database.cluster + '\n' + std::to_string(database.system) + '\n' + std::string(json);
}

/// The marker in a message, if a node has signed it for this database, and it names a position and
/// a timeline that the message can have.
std::optional<PlacedMarker> marker_in(const LogMessage& message, const MarkerKeys& keys,
                                      const MarkedDatabase& database) {
  const std::string_view text = message.text;
  const auto line = text.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view json = text.substr(line + 1);
  if (!keys.have_signed(signed_text(database, json), text.substr(0, line))) return std::nullopt;
  boost::json::error_code error;
  const auto value = boost::json::parse(json, error);
  if (error) return std::nullopt;
  const auto placed = read_json_of_any_version<PlacedMarker>(value);
  if (!placed || message.at < placed->place.at ||
      message.at.value - placed->place.at.value > longest_way_to_marker ||
      message.timeline != placed->marker.term.timeline)
    return std::nullopt;
  return *placed;
}

/// Looks for the greatest marker in a log, from its end backwards. To test a digest takes longer
/// than to test a signature, so it is tested only for a marker that would be the greatest.
class Search {
 public:
  Search(const std::filesystem::path& pg_wal, const MarkerKeys& keys,
         const MarkedDatabase& database, std::uint32_t timeline, Lsn end)
      : pg_wal_(pg_wal), keys_(keys), database_(database), timeline_(timeline), end_(end) {}

  Expected<std::optional<Marker>> greatest() {
    Expected<> tested;
    const auto read = read_messages(pg_wal_, timeline_, end_, [&](const LogPart& part) {
      tested = take(part);
      return tested && goes_on(part.begin);
    });
    if (!tested) return tested.error();
    if (!read) return read.error();
    return greatest_;
  }

 private:
  Expected<> take(const LogPart& part) {
    for (auto message = part.messages.rbegin(); message != part.messages.rend(); ++message) {
      const auto placed = marker_in(*message, keys_, database_);
      if (!placed || !would_count(placed->marker)) continue;
      const auto here = is_here(placed->place);
      if (!here) return here.error();
      if (!*here) continue;
      if (!greatest_ || greatest_->term.group < placed->marker.term.group)
        greatest_ = placed->marker;
      greatest_->rows_ended |= placed->marker.rows_ended && greatest_->term == placed->marker.term;
      last_ = std::max(last_.value_or(message->at), message->at);
    }
    return {};
  }

  [[nodiscard]] bool would_count(const Marker& marker) const {
    if (!greatest_ || greatest_->term.group < marker.term.group) return true;
    return greatest_->term == marker.term && marker.rows_ended && !greatest_->rows_ended;
  }

  [[nodiscard]] Expected<bool> is_here(const LogPlace& place) const {
    const auto bytes = bytes_of_log(pg_wal_, timeline_, end_, place.from, place.at);
    if (!bytes) return bytes.error();
    return *bytes && digest_of(**bytes) == place.digest;
  }

  // A role can write a valid marker of an older term again, a little behind its place. If a part
  // ends between the marker of the newest term and that copy, the copy is found first. So the log
  // is read back as far as a copy can be from its place.
  [[nodiscard]] bool goes_on(Lsn begin) const {
    return !last_ || begin.value + longest_way_to_marker > last_->value;
  }

  const std::filesystem::path& pg_wal_;
  const MarkerKeys& keys_;
  const MarkedDatabase& database_;
  const std::uint32_t timeline_;
  const Lsn end_;
  std::optional<Marker> greatest_;
  std::optional<Lsn> last_;  ///< where the last marker is that was found
};

}  // namespace

Expected<LogPlace> place_at(const std::filesystem::path& pg_wal, std::uint32_t timeline, Lsn at) {
  const auto file = begin_of_file_before(pg_wal, at);
  const Lsn from{std::max(file.value_or(at).value, at.value - std::min(at.value, digested))};
  const auto bytes = bytes_of_log(pg_wal, timeline, at, from, at);
  if (!bytes) return bytes.error();
  if (*bytes) return LogPlace{at, from, digest_of(**bytes)};
  return Failure{ExitCode::storage_refused, "the log before " + to_text(at) + " cannot be read"};
}

bool is_early_in_its_file(const LogPlace& place) {
  return place.at.value - place.from.value < digested;
}

std::string text_of_marker(const MarkerKeys& keys, const MarkedDatabase& database,
                           const Marker& marker, const LogPlace& place, const std::string& key) {
  const std::string json = to_json(PlacedMarker{marker, place});
  return keys.mac_of(signed_text(database, json), key) + '\n' + json;
}

Expected<std::optional<Marker>> greatest_marker(const std::filesystem::path& pg_wal,
                                                const MarkerKeys& keys,
                                                const MarkedDatabase& database,
                                                std::uint32_t timeline, Lsn end) {
  if (keys.empty()) return std::optional<Marker>();
  return Search(pg_wal, keys, database, timeline, end).greatest();
}

Expected<KnownTerms> known_terms_in(const std::string& text) {
  boost::json::error_code error;
  const auto value = boost::json::parse(text, error);
  if (error) return Failure{ExitCode::storage_refused, error.message()};
  return read_json_of_any_version<KnownTerms>(value);
}

Expected<KnownTerms> read_known_terms(const InstanceOptions& options, std::uint64_t system) {
  const auto path = known_terms_path(options);
  const auto text = read_text(path);
  if (!text) return text.error();
  KnownTerms none;
  none.system = system;
  if (!*text) return none;
  auto known = known_terms_in(**text);
  if (!known)
    return Failure{ExitCode::storage_refused,
                   path.string() +
                       ", in which this node keeps the terms of its cluster, cannot be read: " +
                       known.error().what + "; copy the file from another node"};
  return known->system == system ? *known : none;
}

Expected<KnownTerms> learn_terms(const InstanceOptions& options, const KnownTerms& news) {
  auto known = read_known_terms(options, news.system);
  if (!known || !learn(*known, news)) return known;
  if (const auto written = write_known_terms(options, *known); !written) return written.error();
  return known;
}

Expected<> write_known_terms(const InstanceOptions& options, const KnownTerms& known) {
  return write_durably(known_terms_path(options), to_json(known) + "\n");
}

}  // namespace muster::postgres

#pragma once

#include "apps/postgres/decide/values.hpp"
#include "apps/postgres/server/options.hpp"

#include <optional>
#include <string>

/// Markers in the log: who signs them, and which one counts.
///
/// Any role of the database may write a message to the log. So a marker has a message
/// authentication code (MAC) that only the nodes can make. The MAC covers the names of the cluster
/// and of its database, the contents of the marker, and its place: the position at which it was
/// written, and a digest of the log before that position. So a marker of another cluster does not
/// count, and neither does one that was copied from elsewhere in the log, or from the log of a node
/// that was promoted at the same position. A role that can read the file of the key, such as a
/// superuser, can make any marker.

namespace muster::postgres {

/// The cluster and the database to which markers belong.
struct MarkedDatabase {
  std::string cluster;
  std::uint64_t system{};
};

/// How far the log may have grown between the position that a marker names and the marker itself.
inline constexpr std::uint64_t longest_way_to_marker = 1U << 20;

/// A place in a log: a position, and a digest of the log from `from` to that position.
struct LogPlace {
  Lsn at;
  Lsn from;
  std::string digest;  ///< SHA-256 in hexadecimal digits
};
MUSTER_DESCRIBE(LogPlace, at, from, digest);

/// The place at a position up to which the log of `timeline` has been flushed. The digest covers
/// only the file of that position: a clone does not have the files before.
Expected<LogPlace> place_at(const std::filesystem::path& pg_wal, std::uint32_t timeline, Lsn at);

/// True if so little of the file is before the place that another log could have the same. Then
/// `write_a_record` has to come first. Its transaction has the time, so no other log has the same.
bool is_early_in_its_file(const LogPlace& place);

/// The text of a marker that is written at that place or a little later.
std::string text_of_marker(const MarkerKeys& keys, const MarkedDatabase& database,
                           const Marker& marker, const LogPlace& place,
                           const std::string& key = {});

/// The greatest marker in the log of `timeline` before `end`. Reads the log backwards from there.
/// None: the log that is kept has none.
Expected<std::optional<Marker>> greatest_marker(const std::filesystem::path& pg_wal,
                                                const MarkerKeys& keys,
                                                const MarkedDatabase& database,
                                                std::uint32_t timeline, Lsn end);

/// Read and write what this node knows of the terms of its cluster (muster.terms). What is known of
/// another database is not read.
Expected<KnownTerms> read_known_terms(const InstanceOptions& options, std::uint64_t system);
/// Adds news to the file, and returns all that is known. A node has one thread that does this, so
/// nothing that another part of it learns meanwhile is lost.
Expected<KnownTerms> learn_terms(const InstanceOptions& options, const KnownTerms& news);
Expected<> write_known_terms(const InstanceOptions& options, const KnownTerms& known);
/// The text of such a file, as another node sends it.
Expected<KnownTerms> known_terms_in(const std::string& text);

}  // namespace muster::postgres

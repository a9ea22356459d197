#pragma once

#include "apps/postgres/decide/values.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads the records in the bytes of a log of PostgreSQL.
///
/// The format is that of PostgreSQL 15 on little-endian machines: pages of 8 kB, each with a
/// header, and records, each with a checksum, that go on over the ends of pages.

namespace muster::postgres {

/// The prefix of the messages of Muster.
inline constexpr std::string_view prefix_of_messages = "muster";

/// CRC-32C, as PostgreSQL computes it.
std::uint32_t checksum_of(std::string_view bytes);

/// The beginning of a file of the log.
struct FirstPage {
  Lsn begin;               ///< where the file begins in the log
  std::uint64_t system{};  ///< the system identifier of the database
  std::uint64_t size{};    ///< the size of each file of this log
  bool follows_none{};     ///< the first record here follows no other
};
/// The number of bytes that `first_page_in` needs.
inline constexpr std::size_t enough_of_first_page = 64;
/// None: these bytes are not the beginning of a file of a log.
std::optional<FirstPage> first_page_in(std::string_view bytes);

/// How far the log in one file is good, or in several files that follow each other.
struct GoodLog {
  /// The end of the last whole record whose checksum is right. If a record goes on in the next
  /// file, the end of these files. Their begin if they have no log.
  Lsn end;
  /// The end of what the first file begins with, if that is the rest of a record of the file
  /// before. Its checksum cannot be tested here. Otherwise the begin of the first file.
  Lsn rest;
  Lsn whole;  ///< the end of the last record that ends in these files
};

/// Reads the contents of files, the first of which begins at `begin`. Reads on from the record at
/// `from`, if that is behind `begin`.
GoodLog good_log(std::string_view files, Lsn begin, Lsn from = {});

/// A message that was written to the log by pg_logical_emit_message with the prefix "muster". Any
/// role can write one.
struct LogMessage {
  Lsn at;                    ///< where its record begins
  std::uint32_t timeline{};  ///< the timeline of the log there
  std::string text;
};

/// Reads the messages that begin in the first `size` bytes of a log that begins at `begin`. Leaves
/// their timelines empty.
std::vector<LogMessage> messages_in(std::string_view log, Lsn begin, std::size_t size);

}  // namespace muster::postgres

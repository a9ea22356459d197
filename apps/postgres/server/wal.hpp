#pragma once

#include "apps/postgres/decide/values.hpp"
#include "apps/postgres/server/durable.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads the files of a log of PostgreSQL as they are on disk, without a server.
///
/// The format is that of PostgreSQL 15 on little-endian machines: pages of 8 kB, each with a
/// header, and records, each with a checksum, that go on over the ends of pages.

namespace muster::postgres {

/// The timelines before a timeline and the position at which each ended, from the text of its
/// history file.
std::map<std::uint32_t, Lsn> ends_in(const std::string& history);

/// The timeline in the name of a file of the log, or in its first eight digits. None: the text does
/// not begin with eight hexadecimal digits.
std::optional<std::uint32_t> timeline_in(std::string_view name);

/// The name of the history file of a timeline, such as "00000002.history".
std::string history_file(std::uint32_t timeline);

/// CRC-32C, as PostgreSQL computes it.
std::uint32_t checksum_of(std::string_view bytes);

/// How far the log in one file is good.
struct GoodLog {
  /// The end of the last whole record whose checksum is right. If a record goes on in the next
  /// file, the end of this file. Its begin if the file has no log.
  Lsn end;
  /// The end of what the file begins with, if that is the rest of a record of the file before. Its
  /// checksum cannot be tested here. Otherwise the begin of the file.
  Lsn rest;
};

/// Reads the contents of the file that begins at `begin`.
GoodLog good_log(std::string_view file, Lsn begin);

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

/// A part of a log of at most 1 MB, and the messages that begin in it, in ascending order.
struct LogPart {
  Lsn begin;
  std::vector<LogMessage> messages;
};

/// Reads the messages of the log of `timeline` before `end`. The log before `timeline` began is
/// read too. Calls `see` for each part, the last one first, until `see` returns false or there is
/// no earlier part. The server may run.
Expected<> read_messages(const std::filesystem::path& pg_wal, std::uint32_t timeline, Lsn end,
                         const std::function<bool(const LogPart&)>& see);

/// True if the log in these files was reset, as by pg_resetwal: its oldest record follows no other.
/// The log of a new database is like that, too.
bool was_reset(const std::filesystem::path& pg_wal);

/// The position at which the file of the log begins that has the byte before `at`. None: there is
/// no file of a log.
std::optional<Lsn> begin_of_file_before(const std::filesystem::path& pg_wal, Lsn at);

/// The bytes of the log of `timeline` from one position to another, as they are in its files. The
/// log has to be flushed up to `end`. None: the files that are kept do not have all of them.
Expected<std::optional<std::string>> bytes_of_log(const std::filesystem::path& pg_wal,
                                                  std::uint32_t timeline, Lsn end, Lsn from,
                                                  Lsn to);

/// The prefix of those messages.
inline constexpr std::string_view prefix_of_messages = "muster";

/// Moves aside each file of a newer timeline that ends before its timeline begins, if the file of
/// the timeline before has more of the log. Returns their names. No server may run.
///
/// A standby that moves to a new timeline fetches the file in which that timeline begins again,
/// from its first byte. If it is killed meanwhile, PostgreSQL 15 prefers the part that has come to
/// the whole file of the timeline before. The standby then lacks commits that it had flushed, or
/// does not start.
Expected<std::vector<std::string>> move_short_files_aside(const std::filesystem::path& pg_wal);

}  // namespace muster::postgres

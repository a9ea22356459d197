#pragma once

#include "apps/postgres/decide/values.hpp"
#include "apps/postgres/server/durable.hpp"
#include "apps/postgres/server/wal_records.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads the files of a log of PostgreSQL as they are on disk, without a server.

namespace muster::postgres {

/// The timelines before a timeline and the position at which each ended, from the text of its
/// history file.
std::map<std::uint32_t, Lsn> ends_in(const std::string& history);

/// The timeline in the name of a file of the log, or in its first eight digits. None: the text does
/// not begin with eight hexadecimal digits.
std::optional<std::uint32_t> timeline_in(std::string_view name);

/// The name of the history file of a timeline, such as "00000002.history".
std::string history_file(std::uint32_t timeline);

/// The name of a file of a log whose files have this size. The files are numbered from the log's
/// beginning.
std::string name_of_file(std::uint32_t timeline, std::uint64_t number, std::uint64_t size);

/// The beginning of a file of the log. None: the file is no such file, or does not have the size
/// that stands there. Other people may put files into the directory, and PostgreSQL makes files
/// that are still empty.
Expected<std::optional<FirstPage>> first_page_of(const std::filesystem::path& file);

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

/// True if `file`, in which a timeline begins at `begins`, has less of the log before that position
/// than `before`, the same file of the timeline before.
bool is_short(std::string_view file, std::string_view before, Lsn begin, Lsn begins);

/// Moves aside each file of a newer timeline that ends before its timeline begins, if the file of
/// the timeline before has more of the log. Returns their names. No server may run.
///
/// A standby that moves to a new timeline fetches the file in which that timeline begins again,
/// from its first byte. If it is killed meanwhile, PostgreSQL 15 prefers the part that has come to
/// the whole file of the timeline before. The standby then lacks commits that it had flushed, or
/// does not start.
Expected<std::vector<std::string>> move_short_files_aside(const std::filesystem::path& pg_wal);

}  // namespace muster::postgres

#include "apps/postgres/server/control_file.hpp"

#include "apps/postgres/server/durable.hpp"
#include "apps/postgres/server/little_endian.hpp"
#include "apps/postgres/server/wal_records.hpp"

#include <string_view>

namespace muster::postgres {
namespace {

/// The offsets of ControlFileData in PostgreSQL 15.
namespace at {
constexpr std::size_t version = 8, state = 16, checkpoint = 32, redo = 40, timeline = 48,
                      consistent_at = 136, consistent_on = 144, backup_begin = 152,
                      backup_end = 160, needs_backup_end = 168, max_connections = 180,
                      max_worker_processes = 184, max_wal_senders = 188,
                      max_prepared_transactions = 192, max_locks_per_transaction = 196,
                      size_of_log_file = 228, checksum = 288, end = 292;
}  // namespace at
constexpr std::uint32_t version_of_15 = 1300, state_shut_down = 1;

Failure unreadable_control_file(const std::filesystem::path& path, const std::string& why) {
  return {ExitCode::storage_refused, path.string() + " cannot be read: " + why};
}

ControlFile read_fields(std::string_view bytes) {
  const auto number = [bytes](std::size_t at) { return number_at<std::uint32_t>(bytes, at); };
  const auto position = [bytes](std::size_t at) {
    return Lsn{number_at<std::uint64_t>(bytes, at)};
  };
  ControlFile file;
  file.system = number_at<std::uint64_t>(bytes, 0);
  file.is_shut_down_primary = number(at::state) == state_shut_down;
  file.checkpoint = position(at::checkpoint);
  file.redo = position(at::redo);
  file.timeline = number(at::timeline);
  file.consistent_at = position(at::consistent_at);
  file.consistent_on = number(at::consistent_on);
  file.is_backup = position(at::backup_begin) != Lsn{} || position(at::backup_end) != Lsn{} ||
                   bytes[at::needs_backup_end] != 0;
  file.size_of_log_file = number(at::size_of_log_file);
  file.of_primary = {{"max_connections", number(at::max_connections)},
                     {"max_worker_processes", number(at::max_worker_processes)},
                     {"max_wal_senders", number(at::max_wal_senders)},
                     {"max_prepared_transactions", number(at::max_prepared_transactions)},
                     {"max_locks_per_transaction", number(at::max_locks_per_transaction)}};
  return file;
}

}  // namespace

Expected<ControlFile> read_control_file(const std::filesystem::path& data) {
  const auto path = data / "global/pg_control";
  // The server may write the file meanwhile.
  for (int tries_left = 10;; --tries_left) {
    const auto text = read_text(path);
    if (!text) return text.error();
    if (!*text) return unreadable_control_file(path, "there is no such file");
    const std::string_view bytes = **text;
    if (bytes.size() < at::end) return unreadable_control_file(path, "it is too short");
    if (number_at<std::uint32_t>(bytes, at::version) != version_of_15)
      return unreadable_control_file(path, "it is not a file of PostgreSQL 15");
    if (number_at<std::uint32_t>(bytes, at::checksum) == checksum_of(bytes.substr(0, at::checksum)))
      return read_fields(bytes);
    if (tries_left == 0) return unreadable_control_file(path, "its checksum is wrong");
  }
}

}  // namespace muster::postgres

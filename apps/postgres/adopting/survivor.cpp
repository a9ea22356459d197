#include "apps/postgres/adopting/survivor.hpp"

#include "apps/postgres/perform/instance.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/tools.hpp"
#include "apps/postgres/server/wal.hpp"

#include <boost/asio/io_context.hpp>

#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Recovering {
 public:
  explicit Recovering(const InstanceOptions& options)
      : options_(options),
        pause_(context_.get_executor()),
        instance_(std::in_place, context_.get_executor(), options, [](const KeeperEvent&) {}) {}

  Expected<Holding> holding() {
    for (const What& what :
         {What(Begin{}), What(Look{}), What(Promote{}), What(End{Shutdown::fast})})
      instance_->perform({{}, what}, [this](const KeeperEvent& event) { hear(event.what); });
    watch();
    context_.run();
    instance_.reset();
    if (!why_not_.empty())
      return Failure{ExitCode::hook_failed, "PostgreSQL cannot recover the database: " + why_not_};
    return *holding_;
  }

 private:
  void hear(const AnyEvent& what) {
    if (const auto* seen = std::get_if<Seen>(&what)) holding_ = seen->holding;
    if (const auto* failed = std::get_if<Failed>(&what)) return end(failed->why);
    if (std::holds_alternative<Began>(what)) pause_.stop();
    if (std::holds_alternative<Ended>(what)) end("");
  }

  // A database whose rewind or clone was interrupted is consistent only after it has replayed more
  // log of its source. Without the source, the database would wait for that log for ever.
  void watch() {
    pause_.wait(between_looks, [this] {
      std::string progress = progress_of_recovery(options_.data);
      const bool goes_on = !progress.empty() && progress != progress_;
      stalled_for_ = goes_on ? Duration{} : stalled_for_ + between_looks;
      progress_ = std::move(progress);
      if (stalled_for_ > patience)
        return end("it waits for WAL that only another node has, and is not consistent without it");
      watch();
    });
  }

  void end(const std::string& why_not) {
    why_not_ = why_not;
    context_.stop();
  }

  static constexpr Duration between_looks = 1s;
  /// Before a server that was killed reads its log, it syncs all of its files, which may take long.
  static constexpr Duration patience = 60s;

  const InstanceOptions options_;
  boost::asio::io_context context_{1};
  Pause pause_;
  std::optional<Instance> instance_;
  std::optional<Holding> holding_;
  std::string why_not_;
  std::string progress_;
  Duration stalled_for_{};
};

/// The position of the checksum in the control file, which depends on the version of PostgreSQL.
/// The checksum covers all bytes before it. None: no number in the file is such a checksum.
std::optional<std::size_t> place_of_checksum(const std::string& control_file) {
  constexpr std::size_t least = 128, most = 512;
  for (std::size_t at = least; at < most && at + 4 <= control_file.size(); at += 4) {
    std::uint32_t stands = 0;
    std::memcpy(&stands, control_file.data() + at, sizeof stands);
    if (stands == checksum_of(std::string_view(control_file).substr(0, at))) return at;
  }
  return std::nullopt;
}

/// Makes a system identifier as initdb does, from the time and the process id.
std::uint64_t new_system_identifier() {
  timeval now{};
  ::gettimeofday(&now, nullptr);
  return (static_cast<std::uint64_t>(now.tv_sec) << 32) |
         (static_cast<std::uint64_t>(now.tv_usec) << 12) |
         (static_cast<std::uint64_t>(::getpid()) & 0xFFF);
}

Expected<> write_identifier(const InstanceOptions& options) {
  const fs::path path = options.data / "global/pg_control";
  const auto read = read_text(path);
  if (!read) return read.error();
  std::string bytes = read->value_or("");
  const auto at = place_of_checksum(bytes);
  if (!at)
    return Failure{ExitCode::storage_refused,
                   path.string() +
                       ": no valid checksum was found in this file, so it is damaged, or of a "
                       "version of PostgreSQL that Muster does not know; the file was not changed"};
  // The control file begins with the identifier.
  const std::uint64_t identifier = new_system_identifier();
  std::memcpy(bytes.data(), &identifier, sizeof identifier);
  const std::uint32_t checksum = checksum_of(std::string_view(bytes).substr(0, *at));
  std::memcpy(bytes.data() + *at, &checksum, sizeof checksum);
  return write_durably(path, bytes);
}

fs::path identity_mark(const InstanceOptions& options) {
  return options.data.string() + ".identity";
}

}  // namespace

Expected<Remembered> remembered_beside(const InstanceOptions& options, const fs::path& data) {
  InstanceOptions there = options;
  there.data = data;
  const auto note = read_note(there);
  if (!note) return note.error();
  const auto held = read_held(there);
  if (!held) return held.error();
  return Remembered{*note, *held};
}

Expected<Holding> recover_alone(const InstanceOptions& options) {
  return Recovering(options).holding();
}

// After the first step the control file has the new identifier and the log still has the old
// identifier, so PostgreSQL would not start. The mark file shows that the second step is missing.
Expected<> take_new_identity(const InstanceOptions& options) {
  if (auto begun = write_durably(identity_mark(options), ""); !begun) return begun;
  if (auto written = write_identifier(options); !written) return written;
  const auto reset = output_of(options, "pg_resetwal", {"--pgdata", options.data.string()});
  if (!reset) return reset.error();
  return remove_durably(identity_mark(options));
}

bool takes_new_identity(const InstanceOptions& options) {
  std::error_code error;
  return fs::exists(identity_mark(options), error);
}

}  // namespace muster::postgres

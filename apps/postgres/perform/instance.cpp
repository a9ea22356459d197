#include "apps/postgres/perform/instance.hpp"

#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/tools.hpp"
#include "apps/postgres/watch/disk_space.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace muster::postgres {
namespace {

std::vector<std::string> initdb_arguments(const InstanceOptions& options) {
  // If the configuration names a pg_hba.conf, PostgreSQL does not use the one in the data
  // directory. An administrator may start PostgreSQL without Muster, so the one in the data
  // directory admits no client without authentication.
  const bool plain = options.hba.empty();
  return {"--pgdata",         options.data.string(),
          "--username",       options.role,
          "--auth-local",     plain ? "trust" : "peer",
          "--auth-host",      plain ? "trust" : "reject",
          "--encoding",       "UTF8",
          "--locale",         "C",
          "--wal-segsize",    std::to_string(options.segment_megabytes),
          "--data-checksums", "--no-instructions"};
}

// Limits for the size of the log. initdb derives both limits from the segment size. With small
// segments PostgreSQL would make a checkpoint for every 30 MB of log. So these are the limits for
// segments of 16 MB. The limits are in postgresql.conf, where an administrator can change them.
std::string log_sizes(const InstanceOptions& options) {
  // PostgreSQL wants room for at least two segments.
  const unsigned least = std::max(80U, 2 * options.segment_megabytes);
  return "max_wal_size = 1GB\nmin_wal_size = " + std::to_string(least) + "MB\n";
}

Expected<> add_settings(const InstanceOptions& options) {
  const auto path = options.data / "postgresql.conf";
  const auto text = read_text(path);
  if (!text) return text.error();
  return write_durably(path, text->value_or("") + "\n" + log_sizes(options) + include_line + "\n");
}

constexpr Duration between_tries = std::chrono::milliseconds(250);
constexpr Duration after_first_clone = std::chrono::seconds(1),
                   after_many = std::chrono::minutes(1);

}  // namespace

Instance::Instance(Executor executor, InstanceOptions options, Hear died,
                   std::function<void(const std::string&)> log)
    : core_{.executor = std::move(executor), .options = std::move(options), .log = std::move(log)},
      died_(std::move(died)),
      until_it_may_(core_.executor) {
  core_.server_ended = [this](const Failed& how) { see_end(how); };
}

Instance::~Instance() {
  task_.reset();
}

void Instance::perform(Order order, Hear hear) {
  if (std::holds_alternative<Abandon>(order.what)) {
    ++abandoned_;
    waiting_.clear();
    task_.reset();
    until_it_may_.stop();
    return;
  }
  waiting_.push_back({std::move(order), std::move(hear)});
  if (waiting_.size() == 1) begin_next();
}

void Instance::begin_next() {
  boost::asio::post(core_.executor, [this, lives = std::weak_ptr(lives_), of = abandoned_] {
    if (lives.expired() || of != abandoned_ || waiting_.empty()) return;
    if (!may_begin(waiting_.front().order.what))
      return until_it_may_.wait(between_tries, [this] { begin_next(); });
    // An order may end inside its begin(). Posting the end lets begin() return before the order is
    // destroyed.
    const auto end = [this, lives, of](AnyEvent what) {
      boost::asio::post(core_.executor, [this, lives, of, what = std::move(what)] {
        if (!lives.expired() && of == abandoned_) end_order(what);
      });
    };
    task_ = task_for(waiting_.front().order.what, core_, end);
    if (!task_) return end(Failed{"a defect in muster: PostgreSQL cannot perform this order"});
    task_->begin();
  });
}

// True if the order must not run on a full disk. If the order failed for lack of space, the keeper
// would take the database for broken and replace it by a clone.
bool Instance::wants_room(const What& what) const {
  if (std::holds_alternative<Configure>(what)) return !core_.postmaster;
  return std::holds_alternative<Begin>(what) || std::holds_alternative<Rewind>(what) ||
         std::holds_alternative<Clone>(what);
}

bool Instance::may_begin(const What& what) const {
  if (std::holds_alternative<Clone>(what) && std::chrono::steady_clock::now() < next_clone_)
    return false;
  return !wants_room(what) || !full_disk(core_.options);
}

// Each clone copies a whole database, so each clone doubles the pause before the next clone. A
// clone that streams resets the pause.
void Instance::look_at_clones(const What& order, bool failed) {
  if (std::holds_alternative<AwaitStreaming>(order) && !failed) after_clone_ = {};
  if (!std::holds_alternative<Clone>(order)) return;
  after_clone_ = std::clamp(2 * after_clone_, after_first_clone, after_many);
  next_clone_ = std::chrono::steady_clock::now() + after_clone_;
}

void Instance::end_order(AnyEvent what) {
  task_.reset();
  const Waiting over = std::move(waiting_.front());
  waiting_.pop_front();
  const bool failed = std::holds_alternative<Failed>(what);
  look_at_clones(over.order.what, failed);
  if (failed) {
    const auto is_behind = [&over](const Waiting& each) {
      return each.order.round == over.order.round;
    };
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_behind), waiting_.end());
  }
  if (!waiting_.empty()) begin_next();
  over.hear({over.order.round, std::move(what)});
}

void Instance::see_end(const Failed& how) {
  const bool ordered = std::exchange(core_.ending, false);
  core_.kept.reset();
  core_.acknowledger.reset();
  core_.postmaster.reset();
  core_.refused_because.clear();
  const bool expected = task_ && task_->is_about_end();
  if (task_) task_->server_ended(how);
  if (ordered || expected) return;
  boost::asio::post(core_.executor, [this, lives = std::weak_ptr(lives_), why = how.why] {
    if (!lives.expired()) died_({{}, Died{why}});
  });
}

Expected<Loaded> Instance::load() const {
  const auto note = read_note(core_.options);
  if (!note) return note.error();
  const auto held = read_held(core_.options);
  if (!held) return held.error();
  return Loaded{*note, *held};
}

std::optional<pid_t> Instance::pid() const {
  return core_.postmaster ? std::optional(core_.postmaster->pid()) : std::nullopt;
}

Creation::Creation(Executor executor, InstanceOptions options,
                   std::function<void(Expected<>)> created)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      created_(std::move(created)),
      initdb_(executor_, program_of(options_, "initdb", initdb_arguments(options_)),
              [this](const Expected<>& outcome) {
                const Expected<> set = outcome ? add_settings(options_) : outcome;
                if (!set) return created_(set);
                write_first_row();
              }) {}

// Runs PostgreSQL in single-user mode. In this mode, PostgreSQL ends at the end of its input.
void Creation::write_first_row() {
  const Marker first = first_marker(options_, 1);
  const auto system = system_identifier_in(options_.data);
  const auto known = write_known_terms(options_, {system.value_or(0), first.rows_ended, {first}});
  if (!known) return created_(known);
  const auto input = as_input(statements_of_first_row(first));
  if (!input) return created_(input.error());
  auto program = program_of(
      options_, "postgres",
      {"--single", "-D", options_.data.string(), "-c", "exit_on_error=on", options_.database});
  program.standard[0] = input->fd();
  server_.emplace(executor_, std::move(program), created_);
}

}  // namespace muster::postgres

#include "apps/postgres/perform/order_task.hpp"
#include "apps/postgres/server/marker.hpp"

#include <algorithm>

/// Orders about the server's process, and about files.

namespace muster::postgres {
namespace {

class EndTask : public OrderTask {
 public:
  EndTask(const End& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), how_(order.how) {}

  void begin() override {
    if (!core().postmaster) return await_remains();
    core().ending = true;
    if (how_ == Shutdown::fast)
      core().postmaster->shut_down_fast();
    else
      core().postmaster->shut_down_immediately();
  }
  void server_ended(const Failed&) override { done(Ended{}); }
  [[nodiscard]] bool is_about_end() const override { return true; }

 private:
  // Waits for the processes that a killed life of this node has left.
  void await_remains() {
    remains_.emplace(core().executor, options().data, [this](const Expected<>& gone) {
      if (holds(gone)) done(Ended{});
    });
  }

  Shutdown how_;
  std::optional<Remains> remains_;
};

class ConfigureTask : public OrderTask {
 public:
  ConfigureTask(const Configure& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), conf_(order.conf) {}

  void begin() override {
    if (conf_.follows && !options().nodes.contains(*conf_.follows))
      return fail("there is no node " + std::to_string(conf_.follows->value) + " to follow");
    if (holds(write_conf(conf_))) reload();
  }

 private:
  void reload() {
    if (core().postmaster && !core().postmaster->reload()) return again([this] { reload(); });
    done(Configured{});
  }

  Conf conf_;
};

class WriteNoteTask : public OrderTask {
 public:
  WriteNoteTask(const WriteNote& order, Core& core, Tell tell)
      : OrderTask(core, std::move(tell)), note_(order.note) {}

  void begin() override {
    if (note_ || !core().conf || !core().conf->follows) return write();
    look_at_own_log([this](const OwnLog& log) { record(log); });
  }

 private:
  // Without its note, this node counts. If its log has no marker yet, as after a rewind, it would
  // report less than the note did. So it records the term of its primary first.
  void record(const OwnLog& log) {
    const auto known = read_known_terms(options(), log.system);
    if (!known) return fail(known.error().what);
    const auto term = std::find_if(
        known->markers.begin(), known->markers.end(),
        [this](const Marker& marker) { return marker.term.group == core().conf->group; });
    if (term == known->markers.end()) return write();  // its primary is of an older version
    if (log.flushed < term->term.lsn) return again([this] { begin(); });
    if (holds(record_term(known->system, *term))) write();
  }

  void write() {
    if (holds(write_note(options(), note_))) done(Noted{});
  }

  std::optional<Note> note_;
};

}  // namespace

std::unique_ptr<OrderTask> make_task(const End& order, Core& core, Tell tell) {
  return std::make_unique<EndTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const Configure& order, Core& core, Tell tell) {
  return std::make_unique<ConfigureTask>(order, core, std::move(tell));
}
std::unique_ptr<OrderTask> make_task(const WriteNote& order, Core& core, Tell tell) {
  return std::make_unique<WriteNoteTask>(order, core, std::move(tell));
}

}  // namespace muster::postgres

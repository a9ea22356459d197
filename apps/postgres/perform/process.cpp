#include "apps/postgres/perform/clone.hpp"
#include "apps/postgres/perform/replay.hpp"
#include "apps/postgres/server/processes.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

/// Orders about the server's process, and about files.

namespace muster::postgres {
namespace {

class BeginErrand : public ErrandOfReplay {
 public:
  using ErrandOfReplay::ErrandOfReplay;

  void begin() override {
    if (!core().postmaster) return await_remains();
    if (core().ending) return;
    launched_ = true;  // by an order before this one
    await_answer();
  }

  // Of the life before, that was still going down.
  void server_ended(const Failed& how) override {
    if (!not_let_in_.empty()) return done(Failed{not_let_in_, true});
    if (launched_) return done(how);
    await_remains();
  }
  [[nodiscard]] bool is_about_end() const override { return true; }

 private:
  void await_remains() {
    remains_.emplace(core().executor, options().data, [this](const Expected<>& gone) {
      if (holds(gone)) launch();
    });
  }

  void launch() {
    if (!holds(finish_clone(options()))) return;
    if (!std::filesystem::exists(options().data / "PG_VERSION"))
      return fail("there is no database in " + options().data.string() +
                  ": create it there, or clone it from another node");
    if (!holds(write_conf()) || !holds(write_durably(options().data / "standby.signal", "")))
      return;
    auto launched = Postmaster::launch(core().executor, options(), core().server_ended);
    if (!launched) return fail(launched.error().what);
    launched_ = true;
    core().postmaster = std::move(*launched);
    await_answer();
  }

  // What was configured in this life stands, unless it is a primary's. A conf of a life before may
  // name whom it followed then.
  Expected<> write_conf() {
    if (core().conf && core().conf->names == Names::sealed) return {};
    const Conf sealed;
    auto written = write_durably(conf_path(options()), conf_text(options(), sealed));
    if (written) core().conf = sealed;
    return written;
  }

  void await_answer() {
    if (!takes_connections(options().data, core().postmaster->pid())) {
      if (core().conf->follows && stands_still())
        return fail("it waits in vain for the log of node " +
                    std::to_string(core().conf->follows->value) +
                    ", without which it is not whole");
      return again([this] { await_answer(); });
    }
    const auto answers = [this](const Answer&) {
      if (core().conf->follows) return done(Began{});
      finish_replay([this] { done(Began{}); });
    };
    ask_anew("SELECT 1", {}, answers, [this](const SqlError& error) {
      if (lets_nobody_in(error)) return give_up(error);
      again([this] { await_answer(); });
    });
  }

  static bool lets_nobody_in(const SqlError& error) {
    constexpr std::string_view said[] = {"pg_hba.conf", "authentication failed", "does not exist",
                                         "is not permitted to log in"};
    return std::any_of(std::begin(said), std::end(said), [&](std::string_view each) {
      return error.what.find(each) != std::string::npos;
    });
  }

  // A node that may not ask it can neither lead with it nor report.
  void give_up(const SqlError& error) {
    not_let_in_ = "PostgreSQL does not let its own node in: " + error.what;
    core().ending = true;
    core().postmaster->shut_down_immediately();
  }

  // What was rewound is whole only with more of its source's log, which may be served in another
  // group by now, or by nobody.
  bool stands_still() {
    const auto now = std::chrono::steady_clock::now();
    if (now < looks_) return false;
    looks_ = now + between_looks;
    if (std::string progress = progress_of_recovery(options().data);
        progress.empty() || progress != progress_) {
      progress_ = std::move(progress);
      since_ = now;
    }
    return now - since_ > options().longest_standstill;
  }

  static constexpr auto between_looks = std::chrono::seconds(1);

  std::optional<Remains> remains_;
  bool launched_ = false;
  std::string not_let_in_;
  std::string progress_;
  std::chrono::steady_clock::time_point looks_, since_ = std::chrono::steady_clock::now();
};

class EndErrand : public Errand {
 public:
  EndErrand(const End& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), how_(order.how) {}

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
  // What a life of this node that was killed has left.
  void await_remains() {
    remains_.emplace(core().executor, options().data, [this](const Expected<>& gone) {
      if (holds(gone)) done(Ended{});
    });
  }

  Shutdown how_;
  std::optional<Remains> remains_;
};

class ConfigureErrand : public Errand {
 public:
  ConfigureErrand(const Configure& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), conf_(order.conf) {}

  void begin() override {
    if (conf_.follows && !options().nodes.contains(*conf_.follows))
      return fail("there is no node " + std::to_string(conf_.follows->value) + " to follow");
    if (!holds(write_durably(conf_path(options()), conf_text(options(), conf_)))) return;
    core().conf = conf_;
    reload();
  }

 private:
  void reload() {
    if (core().postmaster && !core().postmaster->reload()) return again([this] { reload(); });
    done(Configured{});
  }

  Conf conf_;
};

class WriteNoteErrand : public Errand {
 public:
  WriteNoteErrand(const WriteNote& order, Core& core, Tell tell)
      : Errand(core, std::move(tell)), note_(order.note) {}

  void begin() override {
    if (holds(write_note(options(), note_))) done(Noted{});
  }

 private:
  std::optional<Note> note_;
};

}  // namespace

std::unique_ptr<Errand> make_errand(const Begin&, Core& core, Tell tell) {
  return std::make_unique<BeginErrand>(core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const End& order, Core& core, Tell tell) {
  return std::make_unique<EndErrand>(order, core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const Configure& order, Core& core, Tell tell) {
  return std::make_unique<ConfigureErrand>(order, core, std::move(tell));
}
std::unique_ptr<Errand> make_errand(const WriteNote& order, Core& core, Tell tell) {
  return std::make_unique<WriteNoteErrand>(order, core, std::move(tell));
}

}  // namespace muster::postgres

#include "apps/postgres/perform/database.hpp"

#include "apps/postgres/decide/keeper.hpp"
#include "apps/postgres/perform/group.hpp"
#include "apps/postgres/perform/wanted.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/watch/disk_space.hpp"
#include "apps/postgres/watch/hand_over_listener.hpp"
#include "apps/postgres/watch/last_held.hpp"
#include "apps/postgres/watch/marking.hpp"
#include "apps/postgres/watch/watch.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/net/admin.hpp>
#include <muster/values/json.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <future>
#include <thread>

namespace muster::postgres {

namespace asio = boost::asio;

namespace {

constexpr Duration between_attempts = std::chrono::milliseconds(250);
/// Pause between two starts of PostgreSQL. Each failed start adds a few lines to postgres.log.
constexpr Duration between_beginnings = std::chrono::seconds(2);
constexpr Duration between_the_same = std::chrono::minutes(1);
/// How long a coordinator that was told to elect can take to begin its election.
constexpr Duration patience_with_coordinator = std::chrono::seconds(1);
/// A keeper's step that takes longer than this is mentioned in the log.
constexpr Duration usual_step = std::chrono::seconds(15);

/// How long an orderly shutdown can be without progress, as when a standby does not answer, before
/// PostgreSQL is shut down at once. No client can write during this time.
constexpr Duration longest_standstill = std::chrono::seconds(1);
/// How long an orderly shutdown that makes progress can take in all: sessions may end slowly, and
/// there may be much to flush.
constexpr Duration longest_hand_over = std::chrono::seconds(10);

/// The answer to a refused request of an operator.
struct Refusal {
  std::string refused;
};
MUSTER_DESCRIBE(Refusal, refused);

/// How long a stop can take to seal PostgreSQL. If the seal takes longer, PostgreSQL is shut down
/// at once. The rest of the deadline is reserved for that shutdown.
Duration until_overdue(Duration deadline) {
  return deadline / 2;
}

}  // namespace

class Database::Impl : public std::enable_shared_from_this<Database::Impl> {
 public:
  Impl(InstanceOptions options, std::function<void(const std::string&)> tell)
      : settings_{options.node, options.copies(), {}},
        tell_(std::move(tell)),
        overdue_(context_),
        again_(context_),
        slow_(context_),
        insist_(context_),
        work_(context_.get_executor()),
        watch_(std::in_place, context_.get_executor(), options, tell_),
        last_held_(std::in_place, context_.get_executor(), options, tell_),
        marking_(std::in_place, context_.get_executor(), options, tell_,
                 [this](const std::string& why) { want_election(why); }),
        disk_space_(std::in_place, context_.get_executor(), options, tell_,
                    [this](NodeId heir) { hand_over("the primary's disk is full", heir); }),
        hand_over_listener_(
            std::in_place, context_.get_executor(), options, tell_,
            [this](NodeId heir) { hand_over("a switch-over was requested", heir); }),
        instance_(
            std::in_place, context_.get_executor(), std::move(options),
            [this](const KeeperEvent& died) { take(died.what); },
            [this](const std::string& sentence) {
              tell_(sentence);
              show(shown_);  // it may tell that the server admits no session, or does again
            }) {}

  void run() {
    thread_ = std::thread([this] { context_.run(); });
  }
  /// Must be called on another thread than this object's own.
  void end() {
    asio::post(context_, [this] {
      services_ = nullptr;
      stop_done_.reset();
      start_done_.reset();
      overdue_.cancel();
      again_.cancel();
      slow_.cancel();
      insist_.cancel();
      watch_.reset();
      last_held_.reset();
      marking_.reset();
      disk_space_.reset();
      hand_over_listener_.reset();
      if (admin_) admin_->close();
      admin_.reset();
      instance_.reset();
      work_.reset();
    });
    if (thread_.joinable()) thread_.join();
  }

  Expected<> load() {
    const auto loaded = instance_->load();
    if (!loaded) return loaded.error();
    if (loaded->note && !loaded->note->held)
      tell_(
          "the data of this node is ignored until its database has been cloned from the primary of "
          "its group");
    disk_space_->begin();
    take(*loaded);
    return {};
  }

  void await_beginning(Duration bound) const { beginning_.wait_for(bound); }

  Expected<> listen_to_admin() {
    const std::string socket = admin_socket(instance_->options()).string();
    net::Admin::Words words;
    words["rejoin"] = [this](std::string_view) { return be_asked_to_rejoin(); };
    admin_ = std::make_unique<net::Admin>(context_.get_executor(), socket, std::move(words));
    return admin_->listen();
  }

  // --- Calls of the node, on any thread

  void present(Services* services) {
    std::promise<void> heard;
    asio::post(context_, [&] {
      services_ = services;
      if (services == nullptr) {
        stop_done_.reset();
        start_done_.reset();
      } else {
        show(shown_);
      }
      heard.set_value();
    });
    heard.get_future().wait();
  }

  void stop(const StopContext& context, Done<Evidence> done) {
    const bool leaving = context.cause.reason == StopReason::leaving;
    asio::post(context_, [self = shared_from_this(), deadline = context.deadline, leaving,
                          done = std::make_shared<Done<Evidence>>(std::move(done))] {
      self->insist_.cancel();
      self->take_failure();
      self->stop_done_ = done;
      self->is_overdue_after(until_overdue(deadline));
      self->take(StopCalled{leaving});
    });
  }

  void all_have_it(const GroupNumber& group) {
    asio::post(context_, [self = shared_from_this(), group] { self->take(AllHaveIt{group}); });
  }

  void stand_by(const std::stop_token& cancelled, Done<Bytes> done) {
    asio::post(context_, [self = shared_from_this(), cancelled,
                          done = std::make_shared<Done<Bytes>>(std::move(done))] {
      self->wanted_.stand_by(cancelled, std::move(*done));
    });
  }

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const InstanceOptions& options() const { return instance_->options(); }

  void start(const GroupNumber& group, Choice choice, Done<> done) {
    asio::post(context_, [self = shared_from_this(), group, choice = std::move(choice),
                          done = std::make_shared<Done<>>(std::move(done))] {
      self->start_done_ = done;
      self->tell_of_copies(choice);
      self->take(StartCalled{group, choice});
    });
  }

 private:
  // --- EventTypes, and their consequences

  void when_overdue(Duration time, std::function<void(Impl&)> then) {
    overdue_.expires_after(time);
    overdue_.async_wait([weak = weak_from_this(), then = std::move(then)](auto error) {
      const auto self = weak.lock();
      if (!error && self) then(*self);
    });
  }
  void is_overdue_after(Duration time) {
    when_overdue(time, [](Impl& self) { self.take(Overdue{}); });
  }
  void is_overdue_at_a_standstill(std::chrono::steady_clock::time_point latest) {
    const auto& data = options().data;
    when_overdue(longest_standstill, [latest, before = progress_of_shutdown(data)](Impl& self) {
      const bool gets_on = progress_of_shutdown(self.options().data) != before;
      if (!gets_on || std::chrono::steady_clock::now() > latest) return self.take(Overdue{});
      self.is_overdue_at_a_standstill(latest);
    });
  }

  void take(AnyEvent what) { take(KeeperEvent{keeper_.round, std::move(what)}); }

  void take(const KeeperEvent& event) {
    if (const auto* failed = std::get_if<Failed>(&event.what)) tell_once(failed->why);
    if (const auto* died = std::get_if<Died>(&event.what)) tell_(died->why);
    const bool did_not_begin = keeper_.begins_not.has_value();
    for (Order& order : step(settings_, keeper_, event))
      std::visit([&](auto& what) { obey(order.round, what); }, order.what);
    if (did_not_begin && keeper_.runs != Runs::nothing) tell_("PostgreSQL has started now");
    if (!has_begun_ && !begins(keeper_)) {
      has_begun_ = true;
      begun_.set_value();
    }
  }

  template <class What>
  void obey(Round round, What& what) {
    instance_->perform({round, std::move(what)}, [this](const KeeperEvent& event) { hear(event); });
  }

  // A repeated attempt fails for the same reason each time, so the log mentions this reason once a
  // minute.
  void tell_once(const std::string& why) {
    const auto now = std::chrono::steady_clock::now();
    if (why == told_ && now - told_at_ < between_the_same) return;
    told_ = why;
    told_at_ = now;
    tell_(why);
  }

  // After a failure the keeper may give the same order again at once. To avoid a busy loop, the
  // keeper hears of the failure only after a pause, unless a stop waits for the result.
  void hear(const KeeperEvent& event) {
    if (stop_done_ || !std::holds_alternative<Failed>(event.what)) return take(event);
    failed_ = event;
    const bool before_data = std::get<Failed>(event.what).before_data;
    again_.expires_after(before_data ? between_beginnings : between_attempts);
    again_.async_wait([this](auto error) {
      if (!error) take_failure();
    });
  }
  void take_failure() {
    again_.cancel();
    if (const auto failed = std::exchange(failed_, {})) take(*failed);
  }
  void obey(Round, GiveReport& report) {
    overdue_.cancel();
    if (const auto done = std::exchange(stop_done_, nullptr)) (*done)(report.evidence);
  }
  void obey(Round, EndStart& end) {
    const auto done = std::exchange(start_done_, nullptr);
    if (!done) return;
    if (end.failed_because.empty())
      (*done)();
    else
      done->fail(end.failed_because);
  }
  void obey(Round, WantElection& wish) { want_election(wish.why); }
  void want_election(const std::string& why) {
    if (!wanted_.tell(why)) return elect(why);
    insist_.expires_after(patience_with_coordinator);
    insist_.async_wait([this, why](auto error) {
      if (!error) elect(why);
    });
  }
  void elect(const std::string& why) {
    if (services_ != nullptr) services_->elect(why);
  }
  void obey(Round round, WriteNote& write) {
    if (write.note && !write.note->held)
      tell_(
          "the database of this node has less data than it once had, as after a restored backup: "
          "its data is ignored until it has been cloned from the primary of its group");
    obey<WriteNote>(round, write);
  }
  void obey(Round round, Rewind& rewind) {
    tell_("the database of this node is rewound to node " + to_text(rewind.from));
    obey<Rewind>(round, rewind);
  }
  void obey(Round round, Clone& clone) {
    tell_("the database of this node is cloned from node " + to_text(clone.from));
    obey<Clone>(round, clone);
  }
  void hand_over(const std::string& because, NodeId heir) {
    take(HandOverAsked{heir});
    if (refused_because_.empty())
      is_overdue_at_a_standstill(std::chrono::steady_clock::now() + longest_hand_over);
    tell_(because + ": " +
          (refused_because_.empty() ? "this node hands over to node " + to_text(heir)
                                    : refused_because_));
  }
  std::string be_asked_to_rejoin() {
    take(RejoinAsked{});
    return refused_because_.empty() ? "{}" : to_json(Refusal{refused_because_});
  }
  void obey(Round, AnswerOwner& answer) { refused_because_ = answer.refused_because; }
  void obey(Round, Show& show) { this->show(show); }

  // When a primary begins to write alone, its check (check.hpp) reports that. So only the end of
  // writing alone is reported here.
  void tell_of_copies(const Choice& choice) {
    const bool writes = choice.primary == settings_.self;
    if (alone_ && writes && !choice.is_alone())
      tell_("another node has each commit again: commits wait for its copy from now on");
    alone_ = writes && choice.is_alone();
  }

  void watch_step(const Show& show) {
    slow_.cancel();
    if (works(show) || show.doing.empty()) return;
    slow_.expires_after(usual_step);
    slow_.async_wait([this, doing = show.doing](auto error) {
      if (!error) tell_("this step has taken " + muster::to_text(usual_step) + " so far: " + doing);
    });
  }

  static bool is_open(const Show& show) { return show.primary && show.open; }
  static bool works(const Show& show) { return is_open(show) || show.replica; }

  void show(Show show) {
    const Show before = std::exchange(shown_, show);
    if (show.doing != before.doing) watch_step(show);
    disk_space_->set_primary(is_open(show));
    marking_->set_open(is_open(show));
    if (is_open(show) && !is_open(before)) hand_over_listener_->begin();
    if (!is_open(show) && is_open(before)) hand_over_listener_->stop();
    if (show.primary && !before.primary) marking_->begin();
    if (!show.primary && before.primary) marking_->stop();
    if (works(show) && !works(before)) {
      watch_->begin();
      last_held_->begin();
    } else if (!works(show) && works(before)) {
      watch_->stop();
      last_held_->stop();
    }
    if (services_ == nullptr) return;
    const std::string& refused = instance_->refused_because();
    services_->show(
        {{{"primary", is_open(show)}, {"replica", show.replica}},
         show.doing + (refused.empty() ? "" : "; PostgreSQL admits no session here: " + refused)});
  }

  const Settings settings_;
  const std::function<void(const std::string&)> tell_;
  asio::io_context context_{1};
  asio::steady_timer overdue_;
  asio::steady_timer again_;
  asio::steady_timer slow_;
  asio::steady_timer insist_;
  Wanted wanted_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::optional<Watch> watch_;
  std::optional<LastHeld> last_held_;
  std::optional<Marking> marking_;
  std::optional<DiskSpace> disk_space_;
  std::optional<HandOverListener> hand_over_listener_;
  std::optional<Instance> instance_;
  std::unique_ptr<net::Admin> admin_;
  bool has_begun_ = false;
  std::promise<void> begun_;
  const std::future<void> beginning_ = begun_.get_future();
  std::string told_;  ///< the last failure that the log mentioned, and when
  std::chrono::steady_clock::time_point told_at_;
  std::optional<KeeperEvent> failed_;  ///< a failure of which the keeper hears after a pause
  std::string refused_because_;        ///< the answer to the operator's last request
  Keeper keeper_;
  bool alone_ = false;  ///< this node is primary, and its commits wait for no copy (witness)
  Services* services_ = nullptr;  ///< services of the present life
  std::shared_ptr<Done<Evidence>> stop_done_;
  std::shared_ptr<Done<>> start_done_;
  Show shown_;
  std::thread thread_;
};

/// The application of one life of the node.
class Database::OfLife final : public OfGroup {
 public:
  OfLife(std::shared_ptr<Impl> database, Services& services)
      : OfGroup(services, database->settings().copies, database->options().forgotten),
        database_(std::move(database)) {
    database_->present(&services);
  }
  ~OfLife() override { database_->present(nullptr); }

 private:
  void seal(const StopContext& context, Done<Evidence> done) override {
    database_->stop(context, std::move(done));
  }
  void begin(const GroupNumber& group, const Choice& choice, Done<> done) override {
    database_->start(group, choice, std::move(done));
  }
  void all_have_it(const GroupNumber& group) override { database_->all_have_it(group); }
  void stand_by(const std::stop_token& cancelled, Done<Bytes> done) override {
    database_->stand_by(cancelled, std::move(done));
  }

  std::shared_ptr<Impl> database_;
};

Database::Database(InstanceOptions options, std::function<void(const std::string&)> tell)
    : impl_(std::make_shared<Impl>(std::move(options), std::move(tell))) {}

Database::~Database() {
  impl_->end();
}

Expected<> Database::begin() {
  if (Expected<> loaded = impl_->load(); !loaded) return loaded;
  if (Expected<> listens = impl_->listen_to_admin(); !listens) return listens;
  impl_->run();
  return {};
}

void Database::await_beginning(Duration bound) const {
  impl_->await_beginning(bound);
}

MakeApplication Database::application() {
  return [impl = impl_](Services& services) { return std::make_unique<OfLife>(impl, services); };
}

}  // namespace muster::postgres

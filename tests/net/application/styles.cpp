#include "styles.hpp"

#include <muster/adapters.hpp>
#include <muster/net/coroutines.hpp>
#include <muster/typed.hpp>

#include <boost/system/system_error.hpp>

#include <future>
#include <stdexcept>
#include <stop_token>

namespace muster::test {

namespace {

using namespace std::chrono_literals;

/// How hooks that have a Done end.
class Ending {
 public:
  Ending(Script& script, Services& services) : player(script, services) {}

  template <class Value>
  void end(Act act, const std::stop_token& cancelled, Done<Value> done, Value value) {
    if (act == Act::waits) return end_late(cancelled, std::move(done), std::move(value));
    player.ends();
    if (act == Act::throws) throw std::runtime_error(thrown);
    if (act != Act::drops) done(std::move(value));
  }

  Player player;

 private:
  template <class Value>
  void end_late(const std::stop_token& cancelled, Done<Value> done, Value value) {
    const auto kept = std::make_shared<Done<Value>>(std::move(done));
    waiting_.emplace(cancelled, [this, kept, value] {
      player.services().post([this, kept, value] {
        player.ends();
        (*kept)(value);
      });
    });
  }
  std::optional<std::stop_callback<std::function<void()>>> waiting_;
};

class HandWritten final : public Application {
 public:
  HandWritten(Script& script, Services& services) : ending_(script, services) {}

  void stop(StopContext context, Done<Report> done) override {
    const Act act = ending_.player.stop(context);
    ending_.end(act, {}, std::move(done), Bytes{ending_.player.report(act)});
  }
  void reorganize(Reorganization all, Done<Definition> done) override {
    const Act act = ending_.player.reorganize(all);
    ending_.end(act, all.cancelled, std::move(done), Bytes{Player::definition(act, all.group)});
  }
  void start(Assignment assignment, Done<> done) override {
    const Act act = ending_.player.start(assignment);
    ending_.end(act, assignment.cancelled, std::move(done), std::monostate());
  }

 private:
  Ending ending_;
};

void wait_until(const std::stop_token& cancelled) {
  std::promise<void> promise;
  const std::stop_callback tells(cancelled, [&] { promise.set_value(); });
  promise.get_future().wait();
}

std::unique_ptr<Application> functions(Script& script, Services& services) {
  const auto player = std::make_shared<Player>(script, services);
  const auto end = [player](Act act, const std::stop_token& cancelled) {
    if (act == Act::waits) wait_until(cancelled);
    player->ends();
    if (act == Act::throws) throw std::runtime_error(thrown);
  };
  return make_application(Functions{.stop =
                                        [player, end](const StopContext& context) {
                                          const Act act = player->stop(context);
                                          end(act, {});
                                          return Report{player->report(act)};
                                        },
                                    .reorganize =
                                        [player, end](const Reorganization& all) {
                                          const Act act = player->reorganize(all);
                                          end(act, all.cancelled);
                                          return Definition{Player::definition(act, all.group)};
                                        },
                                    .start =
                                        [player, end](const Assignment& assignment) {
                                          end(player->start(assignment), assignment.cancelled);
                                        }});
}

std::unique_ptr<Application> asynchronous_functions(Script& script, Services& services) {
  const auto ending = std::make_shared<Ending>(script, services);
  return make_application(AsynchronousFunctions{
      .stop =
          [ending](const StopContext& context, Done<Report> done) {
            const Act act = ending->player.stop(context);
            ending->end(act, {}, std::move(done), Bytes{ending->player.report(act)});
          },
      .reorganize =
          [ending](const Reorganization& all, Done<Definition> done) {
            const Act act = ending->player.reorganize(all);
            ending->end(act, all.cancelled, std::move(done),
                        Bytes{Player::definition(act, all.group)});
          },
      .start =
          [ending](const Assignment& assignment, Done<> done) {
            const Act act = ending->player.start(assignment);
            ending->end(act, assignment.cancelled, std::move(done), std::monostate());
          }});
}

class OfCoroutines final : public net::Coroutines {
 public:
  OfCoroutines(Script& script, Services& services)
      : Coroutines(services), player_(script, services) {}

  awaitable<Report> stop(StopContext context) override {
    const Act act = player_.stop(context);
    co_await end(act);
    Report report{player_.report(act)};
    co_return report;
  }
  awaitable<Definition> reorganize(Reorganization all) override {
    const Act act = player_.reorganize(all);
    co_await end(act);
    Definition definition{Player::definition(act, all.group)};
    co_return definition;
  }
  awaitable<> start(Assignment assignment) override {
    const Act act = player_.start(assignment);
    co_await end(act);
  }

 private:
  awaitable<> end(Act act) {
    const Ends ends{player_};  // each act makes this, because any hook can be cancelled
    if (act == Act::waits)
      co_await until_cancelled();
    else
      co_await wait_for(1us);
    if (act == Act::throws) throw std::runtime_error(thrown);
  }
  // Waits in short steps: the executor would wait for the timer of a single long wait, even after a
  // cancellation.
  awaitable<> until_cancelled() {
    try {
      while (true) co_await wait_for(5ms);
    } catch (const boost::system::system_error&) {  // cancelled
    }
  }
  Player player_;
};

std::unique_ptr<Application> of_coroutines(Script& script, Services& services) {
  return net::make_application(std::make_unique<OfCoroutines>(script, services));
}

struct Text {
  std::string bytes;
};
MUSTER_DESCRIBE(Text, bytes);

class OfValues final : public Typed<Text, Text> {
 public:
  OfValues(Script& script, Services& services) : ending_(script, services) {}

  void cease(StopContext context, Done<Text> done) override {
    const Act act = ending_.player.stop(context);
    ending_.end(act, {}, std::move(done), Text{ending_.player.report(act)});
  }
  void define(Reorganization all, std::map<NodeId, Text> reports, Done<Text> done) override {
    for (Member& member : all.members) member.holdings.report.data = reports.at(member.node).bytes;
    const Act act = ending_.player.reorganize(all);
    ending_.end(act, all.cancelled, std::move(done), Text{Player::definition(act, all.group)});
  }
  void install(Assignment assignment, Text definition, Done<> done) override {
    assignment.definition.data = std::move(definition.bytes);
    const Act act = ending_.player.start(assignment);
    ending_.end(act, assignment.cancelled, std::move(done), std::monostate());
  }

 private:
  Ending ending_;
};

template <class Written>
std::unique_ptr<Application> make(Script& script, Services& services) {
  return std::make_unique<Written>(script, services);
}

}  // namespace

const std::array<Style, 6> styles{{
    {"hand-written", make<HandWritten>},
    {"functions", functions, false, false},
    {"asynchronous functions", asynchronous_functions},
    {"coroutines", of_coroutines, false},
    {"typed", make<OfValues>},
    {"program at a socket", programmed, false, false, false},
}};

}  // namespace muster::test

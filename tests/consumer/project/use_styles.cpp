// One application in each style, all in the lab. Also a store that refuses writes of older groups.
#include <muster/muster.hpp>

#include <cstdio>
#include <filesystem>

using namespace muster;

struct Load {
  std::uint32_t percent{};
};
MUSTER_DESCRIBE(Load, percent);

struct Values final : Typed<Load, Load> {
  void cease(StopContext, Done<Load> done) override { done({40}); }
  void define(Reorganization, std::map<NodeId, Load> loads, Done<Load> done) override {
    done(loads.begin()->second);
  }
  void install(Assignment, Load load, Done<> done) override {
    if (load.percent == 40) done();
  }
};

struct Coroutines final : net::Coroutines {
  using net::Coroutines::Coroutines;
  awaitable<Report> stop(StopContext) override { co_return Report(); }
  awaitable<Definition> reorganize(Reorganization) override { co_return Definition(); }
  awaitable<> start(Assignment) override { co_await wait_for(std::chrono::milliseconds(1)); }
};

int main() {
  const MakeApplication styles[] = {
      [](Services&) { return make_application(Functions{}); },
      [](Services&) { return std::make_unique<Values>(); },
      [](Services& node) { return net::make_application(std::make_unique<Coroutines>(node)); }};
  for (const MakeApplication& style : styles) {
    lab::World world(2, 1, style);
    if (!world.run_until_normal() || !world.verify().holds()) return 1;
  }
  std::filesystem::remove_all("fenced");
  std::filesystem::create_directory("fenced");
  const auto store = net::value_or_exit(storage::FencedStore::open("fenced/store"));
  net::value_or_exit(store->write({2, {1}}, "key", {"new"}));
  const auto old = store->write({1, {2}}, "key", {"old"});
  std::printf("%s\n", old ? "" : old.error().what.c_str());
  return !old && storage::is_fenced_off(old.error()) ? 0 : 1;
}

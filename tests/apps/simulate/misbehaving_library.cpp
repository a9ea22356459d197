#include <muster/lab/trial_library.hpp>

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

// An application that ends or crashes the process of the campaign. The environment variable
// MISBEHAVES selects what it does in `start`.

namespace {

using namespace muster;

volatile int zero = 0;

std::size_t without_end(std::string_view name, std::size_t depth) {
  if (depth == std::size_t(-1)) return 0;
  char room[4096];
  room[0] = static_cast<char>(depth);
  return without_end(name, depth + 1) + static_cast<std::size_t>(room[name.size() % 2]);
}

void misbehave(std::string_view how, Services& services) {
  if (how == "aborts") std::abort();
  if (how == "uses-null") *reinterpret_cast<volatile int*>(static_cast<std::intptr_t>(zero)) = 1;
  if (how == "divides") zero = 1 / zero;
  if (how == "traps") __builtin_trap();
  if (how == "recurses") without_end(how, 0);
  if (how == "exits") std::exit(0);
  if (how == "loops")
    while (zero == 0) {
    }
  if (how == "posts-for-ever") {
    const auto again = std::make_shared<std::function<void()>>();
    *again = [again, &services] { services.post(*again); };
    (*again)();
  }
  if (how == "aborts-on-a-thread") std::thread([] { std::abort(); }).join();
  if (how == "terminates") std::thread([] { throw std::runtime_error("of a thread"); }).join();
  if (how == "throws") throw std::runtime_error("no task");
  if (how == "says-broken") services.broken("invoice 1-1 twice");
}

class Misbehaving final : public Application {
 public:
  Misbehaving(Services& services, std::string how) : services_(services), how_(std::move(how)) {}
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization, Done<Definition> done) override { done({"task"}); }
  void start(Assignment, Done<> done) override {
    misbehave(how_, services_);
    done();
  }

 private:
  Services& services_;
  const std::string how_;
};

lab::Trial make_trial() {
  const char* how = std::getenv("MISBEHAVES");
  const std::string named = how ? how : "";
  lab::Trial trial;
  trial.make_application = [named](Services& services) -> std::unique_ptr<Application> {
    if (named == "is-not-made") return nullptr;
    return std::make_unique<Misbehaving>(services, named);
  };
  trial.check = [named](const lab::WorldSeen& world) -> std::optional<std::string> {
    if (named == "is-found" || (named.empty() && !world.is_normal()))
      return "the check is not content";
    return std::nullopt;
  };
  return trial;
}

}  // namespace

MUSTER_TRIAL_LIBRARY(make_trial);

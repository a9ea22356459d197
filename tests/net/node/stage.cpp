#include "stage.hpp"

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace muster::test {

class Puppet final : public Application {
 public:
  Puppet(Stage& stage, NodeId node, Services& services) : stage_(stage), node_(node) {
    const std::lock_guard lock(stage_.mutex_);
    Stage::Actor& actor = stage_.actors_[node_];
    number_ = ++actor.made;
    ++actor.there;
    actor.services = &services;
  }
  ~Puppet() override {
    {
      const std::lock_guard lock(stage_.mutex_);
      --stage_.actors_[node_].there;
    }
    stage_.bell_.ring();
  }

  void stop(StopContext context, Done<Report> done) override {
    Called called = call(Hook::stop);
    called.group = context.group;
    called.cause = context.cause;
    stage_.called(std::move(called), {}, std::move(done));
  }
  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    Called called = call(Hook::reorganize);
    called.group = reorganization.group;
    called.members = reorganization.members;
    called.lost = reorganization.lost();
    called.came_back = reorganization.came_back();
    stage_.called(std::move(called), reorganization.cancelled, std::move(done));
  }
  void start(Assignment assignment, Done<> done) override {
    Called called = call(Hook::start);
    called.group = assignment.group;
    called.definition = assignment.definition;
    called.digest = assignment.digest;
    called.lost = assignment.lost();
    called.came_back = assignment.came_back();
    stage_.called(std::move(called), assignment.cancelled, std::move(done));
  }

 private:
  [[nodiscard]] Called call(Hook hook) const {
    Called called;
    called.node = node_;
    called.application = number_;
    called.hook = hook;
    called.thread = std::this_thread::get_id();
    return called;
  }

  Stage& stage_;
  NodeId node_;
  unsigned number_;
};

Report usual_report(NodeId node) {
  return {"report of node " + to_text(node)};
}

void Cue::complete() {
  if (about.hook == Hook::stop) return complete(usual_report(about.node));
  std::string names;
  for (const Member& member : about.members) names += ' ' + to_text(member.node);
  complete(Bytes{"group " + to_text(about.group) + " of" + names});
}

// First records the end of the hook. Only then the node learns of that end.
void Cue::complete(Bytes result) {
  end();
  if (auto* giving = std::get_if<Done<Bytes>>(&done_))
    (*giving)(std::move(result));
  else
    std::get<Done<>>(done_)();
}

void Cue::fail(const std::string& why) {
  end();
  std::visit([&](auto& done) { done.fail(why); }, done_);
}

void Stage::play(NodeId node, Hook hook, Play play) {
  const std::lock_guard lock(mutex_);
  actors_[node].plays[hook] = std::move(play);
}

void Stage::hold(NodeId node, Hook hook) {
  play(node, hook, [this](Cue cue) { keep(std::move(cue)); });
}

void Stage::keep(Cue cue) {
  {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(cue));
  }
  bell_.ring();
}

Cue Stage::take(NodeId node, Hook hook) {
  std::optional<Cue> taken;
  const bool held = bell_.wait_until([&] {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(held_.begin(), held_.end(), [&](const Cue& cue) {
      return cue.about.node == node && cue.about.hook == hook;
    });
    if (at == held_.end()) return false;
    taken.emplace(std::move(*at));
    held_.erase(at);
    return true;
  });
  BOOST_TEST_REQUIRE(held, "node " << node << " was to call " << hook);
  return std::move(*taken);
}

std::vector<Called> Stage::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::vector<Called> Stage::calls(NodeId node) const {
  std::vector<Called> of_node = calls();
  std::erase_if(of_node, [&](const Called& called) { return called.node != node; });
  return of_node;
}

std::size_t Stage::count(NodeId node, Hook hook) const {
  const auto all = calls(node);
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const Called& called) { return called.hook == hook; }));
}

int Stage::applications(NodeId node) const {
  const std::lock_guard lock(mutex_);
  const auto found = actors_.find(node);
  return found == actors_.end() ? 0 : found->second.there;
}

Services& Stage::services(NodeId node) const {
  const std::lock_guard lock(mutex_);
  return *actors_.at(node).services;
}

MakeApplication Stage::make(NodeId node) {
  return [this, node](Services& services) -> std::unique_ptr<Application> {
    return std::make_unique<Puppet>(*this, node, services);
  };
}

void Stage::called(Called about, std::stop_token cancelled, Cue::AnyDone done) {
  Play play;
  const NodeId node = about.node;
  {
    const std::lock_guard lock(mutex_);
    Actor& actor = actors_[node];
    about.beside_another = actor.running[about.application]++ > 0;
    calls_.push_back(about);
    if (const auto found = actor.plays.find(about.hook); found != actor.plays.end())
      play = found->second;
  }
  bell_.ring();
  const auto over = [this, node, application = about.application] {
    const std::lock_guard lock(mutex_);
    --actors_[node].running[application];
  };
  Cue cue(std::move(about), std::move(cancelled), std::move(done), over);
  if (play)
    play(std::move(cue));
  else
    cue.complete();
}

}  // namespace muster::test

#pragma once

#include "disk.hpp"
#include "services.hpp"
#include "session_driver.hpp"
#include "simulated_hooks.hpp"

#include <muster/host/host.hpp>

#include <map>
#include <memory>
#include <utility>

namespace muster::lab::simulated {

/// Drives the host of one life over the simulated network, disk and clock. It contains no rules.
class SimulatedLife final : public host::Driver {
 public:
  struct Handlers {
    std::function<void(LeaveCause)> left;
    std::function<void(const host::LifeClaims&)> outlived;
    std::function<void(Failure)> fatal;
    std::function<void(std::string why)> failed_by_itself;  ///< the application is at fault
    std::function<void(const char* what)> point;            ///< the life may end here
    std::function<void(const View&)> seen;                  ///< after each step
    std::function<Duration()> commit_time;
    std::function<HookFate(Hook)> fate;
  };

  SimulatedLife(std::shared_ptr<Process> process, Network& network, const Config& config,
                const std::string& cluster, const MakeApplication& make_application,
                SafeStorage& storage, SafeState safe, Handlers handlers);

  /// Listens, and gives the first event.
  void begin();
  /// The owner asks the node to leave; the wishes of the application do not matter.
  void leave() {
    wanted_out_ = true;
    on_event(Leaving{});
  }
  void pause();
  void resume();
  void forge(NodeId to, Message message) { sessions_.forge(to, std::move(message)); }
  /// Ends the process at once, without an announcement. The argument says whether the commit under
  /// way becomes durable.
  void end(bool commit_in_the_store);
  /// Writes the last line of the life's journal.
  void note_end(const Failure& why);

  [[nodiscard]] const Protocol& protocol() const { return host_.protocol(); }
  [[nodiscard]] const SafeState& safe() const { return host_.safe(); }
  [[nodiscard]] Process& process() const { return *process_; }
  [[nodiscard]] Application* application() const { return hooks_.application(); }
  [[nodiscard]] bool was_normal() const { return host_.was_normal(); }
  /// The time after which the next life begins, if the application has asked the node to step down.
  [[nodiscard]] std::optional<Duration> back_after() const {
    return wanted_out_ ? std::nullopt : back_after_;
  }
  [[nodiscard]] Shown shown() const { return services_.shown(); }

 private:
  [[nodiscard]] Duration now() override { return process_->now_by_its_clock(); }
  Duration paused_for() override { return std::exchange(paused_for_, {}); }
  void send(const Letter& letter, std::optional<Duration> bound) override {
    sessions_.send(letter, bound);
  }
  void keep_only(const std::function<bool(CallNumber)>& awaited) override {
    sessions_.keep_only(awaited);
  }
  void arm(Timer timer, Duration period, Inbox::Arming arming) override;
  void save(const SafeState& safe) override;
  void permit_work(Duration, std::optional<Moment> right) override {
    permits_.stalled(std::nullopt);
    permits_.until(right);
  }
  void left(LeaveCause cause) override;
  void stepped(const Event& event, const Actions& actions, const View& after) override;
  void save_performed() override { record(journal::Performed{next_stamp()}); }
  void action_performed() override { handlers_.point("an action"); }

  void on_event(Event event);
  void give_up_questions();
  journal::Stamp next_stamp() { return host_.next_stamp(process_->now()); }
  void record(journal::Line line) { process_->world.write(std::move(line)); }
  SessionDriver::Handlers session_handlers();
  NodeServices::Handlers service_handlers();
  SimulatedHooks::Handlers hook_handlers();
  Disk::Handlers disk_handlers();

  std::shared_ptr<Process> process_;
  Network& network_;
  const Config& config_;
  Handlers handlers_;
  LifePermits permits_;
  Disk disk_;
  NodeServices services_;
  SimulatedHooks hooks_;
  SessionDriver sessions_;
  std::map<NodeId, std::shared_ptr<Asked>> questions_;  ///< the last question to each node
  host::Host host_;
  bool wanted_out_ = false;
  std::optional<Duration> back_after_;
  Duration paused_at_{};
  Duration paused_for_{};  ///< the length of the last pause; cleared when the host was told
};

}  // namespace muster::lab::simulated

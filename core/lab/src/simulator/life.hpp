#pragma once

#include "disk.hpp"
#include "hooks.hpp"
#include "services.hpp"
#include "session_driver.hpp"

#include <muster/host/inbox.hpp>
#include <muster/protocol/protocol.hpp>

#include <map>
#include <memory>

namespace muster::lab::simulated {

/// One life of a node: gives events to `step`, one after the other, and performs the actions of
/// each in order before the next. As muster::net has it; it decides nothing.
class Life {
 public:
  struct Handlers {
    std::function<void(LeaveCause)> left;
    std::function<void(const host::Voices&)> outlived;
    std::function<void(Failure)> fatal;
    std::function<void(const char* what)> point;  ///< the life may end here
    std::function<void(const View&)> seen;        ///< after each step
    std::function<Duration()> commit_time;
    std::function<HookFate(Hook)> fate;
  };

  Life(std::shared_ptr<Process> process, Network& network, const Config& config,
       const MakeApplication& make_application, SafeStorage& storage, SafeState safe,
       Handlers handlers);

  /// Listens, and gives the first event.
  void begin();
  void leave() { put(Leaving{}); }
  void pause();
  void resume();
  /// Ends at once, without a word. A commit that is being made is in the store afterwards, or not.
  void end(bool commit_in_the_store);
  /// The journal's last line.
  void note_end(const Failure& why);

  [[nodiscard]] const Protocol& protocol() const { return protocol_; }
  [[nodiscard]] const SafeState& safe() const { return recovered_ ? safe_state(protocol_) : safe_; }
  [[nodiscard]] Process& process() const { return *process_; }
  [[nodiscard]] Application* application() const { return hooks_.application(); }
  [[nodiscard]] bool was_normal() const { return was_normal_; }

 private:
  void put(Event event);
  void turn();
  void give(const Event& event);
  void perform_rest();
  void perform_send(const Send& send);
  bool perform(const Action& action);  // false: goes on when the Save is durable
  void arm(Timer timer, unsigned level);
  [[nodiscard]] Duration longest_wait() const {
    return process_->by_its_clock(config_.timings.T / 2);
  }
  [[nodiscard]] std::uint64_t asked(Inquiry inquiry, Answered answered);
  void give_up_questions();
  journal::Stamp next_stamp();
  void record(journal::Line line) { process_->world.write(std::move(line)); }
  SessionDriver::Handlers session_handlers();
  Hooks::Handlers hook_handlers();
  Disk::Handlers disk_handlers();

  std::shared_ptr<Process> process_;
  Network& network_;
  const Config& config_;
  const SafeState safe_;  ///< with which it began
  Handlers handlers_;
  LifePermits permits_;
  Disk disk_;
  NodeServices services_;
  Hooks hooks_;
  SessionDriver sessions_;
  std::map<NodeId, std::shared_ptr<Asked>> questions_;  ///< the last to each

  Protocol protocol_;
  Inbox inbox_;
  Actions actions_;
  std::size_t performed_ = 0;
  bool turning_ = false;
  bool saving_ = false;
  bool recovered_ = false;
  bool was_normal_ = false;
  Duration paused_at_{};
  std::uint64_t seq_ = 0;
};

}  // namespace muster::lab::simulated

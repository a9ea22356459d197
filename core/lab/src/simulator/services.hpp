#pragma once

#include "disk.hpp"
#include "permits.hpp"

#include <muster/host/services.hpp>
#include <muster/host/user_call.hpp>
#include <muster/services.hpp>

namespace muster::lab::simulated {

/// The services of one life's application. Its executor is the world's agenda: hooks and posted
/// work run one after the other, and never inside a call of the application.
class NodeServices final : public Services {
 public:
  struct Handlers {
    std::function<void(const std::string& why)> fatal;
    std::function<void(std::string why)> elect;
    std::function<void(Duration back_after)> step_down;
    std::function<void(journal::RemarkKind, std::string text)> remark;
  };

  NodeServices(NodeId self, const NodeSet& nodes, std::shared_ptr<Process> process,
               LifePermits& permits, Disk& disk, Handlers handlers)
      : self_(self),
        nodes_(nodes),
        process_(std::move(process)),
        permits_(permits),
        disk_(disk),
        handlers_(std::move(handlers)) {}

  NodeId self() const override { return self_; }
  const NodeSet& nodes() const override { return nodes_; }
  const Permits& permits() const override { return permits_.door(); }
  void write(CellBatch batch, std::function<void()> durable) override {
    if (process_->over()) return;
    // The disk begins after the application has returned, because a life may end at the beginning
    // of a commit.
    process_->soon([this, batch = std::move(batch), durable = std::move(durable)]() mutable {
      disk_.write(std::move(batch), durable ? guarded(std::move(durable)) : nullptr);
    });
  }
  void scan(std::string prefix,
            std::function<void(std::vector<std::pair<std::string, Bytes>>)> done) override {
    if (process_->over()) return;
    process_->soon([this, prefix = std::move(prefix), done = std::move(done)]() mutable {
      disk_.scan(std::move(prefix), [this, done = std::move(done)](const auto& found) {
        guarded([&] { done(found); })();
      });
    });
  }
  void post(std::function<void()> work) override { post_after(Duration{}, std::move(work)); }
  void post_after(Duration delay, std::function<void()> work) override {
    if (!process_->over()) process_->after(delay, guarded(std::move(work)));
  }
  void elect(std::string why) override {
    post([this, why = std::move(why)] { handlers_.elect(why); });
  }
  void step_down(Duration back_after) override {
    post([this, time = time_out(back_after)] { handlers_.step_down(time); });
  }
  void show(Shown shown) override {
    if (const auto wrong = showing_.show(std::move(shown), permits_.present_grant()))
      post([this, wrong] { handlers_.fatal(*wrong); });
  }

  void broken(std::string what) override { remark(journal::RemarkKind::broken, what); }
  void note(std::string what) override { remark(journal::RemarkKind::note, what); }

  /// The state that was shown last, with the roles that are valid now.
  [[nodiscard]] Shown shown() const {
    return showing_.now(permits_.present_grant(), permits_.may_work());
  }

 private:
  /// The line is written at once, because the life may end in the application's next action.
  void remark(journal::RemarkKind kind, const std::string& what) {
    if (!process_->over()) handlers_.remark(kind, remark_of(what));
  }
  std::function<void()> guarded(std::function<void()> work) {
    return [this, work = std::move(work)] { call_user(work, handlers_.fatal); };
  }

  NodeId self_;
  const NodeSet& nodes_;
  std::shared_ptr<Process> process_;
  LifePermits& permits_;
  Disk& disk_;
  Handlers handlers_;
  Showing showing_;
};

}  // namespace muster::lab::simulated

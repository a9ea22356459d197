#pragma once

#include "process.hpp"

#include <muster/services.hpp>

namespace muster::lab::simulated {

/// The permits of one life.
class Permits {
 public:
  explicit Permits(std::shared_ptr<Process> process, Duration longest_gap)
      : liveness_(std::make_shared<Liveness>(Liveness{std::move(process), longest_gap, {}})) {}

  /// From now on permits of this group are given.
  void grant(GroupNumber group) { epoch_ = std::make_shared<Epoch>(Epoch{group, false, 0, {}}); }

  /// No permit is valid from now on. `returned` is called once, at once or when the last is back.
  /// Gives the group, or none where nothing was permitted: then `returned` is not called.
  std::optional<GroupNumber> revoke(std::function<void()> returned) {
    const auto epoch = std::exchange(epoch_, nullptr);
    if (!epoch) return std::nullopt;
    epoch->revoked = true;
    epoch->returned = std::move(returned);
    if (epoch->out == 0) epoch->all_returned();
    return epoch->group;
  }

  std::optional<Permit> acquire() {
    if (!epoch_ || !liveness_->alive()) return std::nullopt;
    return Permit(epoch_->group, std::make_shared<Held>(epoch_, liveness_));
  }

  /// The protocol's loop stands still since then, or has turned: nothing is permitted after the
  /// longest gap (assumption 9).
  void stalled(std::optional<Duration> since) { liveness_->stalled = since; }

 private:
  struct Liveness {
    std::shared_ptr<Process> process;
    Duration longest_gap;
    std::optional<Duration> stalled;
    [[nodiscard]] bool alive() const {
      return !process->over() && (!stalled || process->now() - *stalled <= longest_gap);
    }
  };
  struct Epoch {
    GroupNumber group;
    bool revoked;
    std::size_t out;
    std::function<void()> returned;
    void all_returned() {
      if (const auto tell = std::exchange(returned, nullptr)) tell();
    }
  };
  class Held final : public Permit::Grant {
   public:
    Held(std::shared_ptr<Epoch> epoch, std::shared_ptr<Liveness> liveness)
        : epoch_(std::move(epoch)), liveness_(std::move(liveness)) {
      ++epoch_->out;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() override {
      if (--epoch_->out == 0 && epoch_->revoked) epoch_->all_returned();
    }
    bool valid() const override { return !epoch_->revoked && liveness_->alive(); }

   private:
    std::shared_ptr<Epoch> epoch_;
    std::shared_ptr<Liveness> liveness_;
  };

  std::shared_ptr<Liveness> liveness_;
  std::shared_ptr<Epoch> epoch_;
};

}  // namespace muster::lab::simulated

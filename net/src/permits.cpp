#include "permits.hpp"

#include "clock.hpp"

namespace muster::net {

/// The permits of one group: how many are out, and whether they are revoked, in one word, so that
/// none can be given after the revocation was counted.
struct Permits::Epoch {
  static constexpr std::uint64_t revoked = std::uint64_t{1} << 63;

  explicit Epoch(GroupNumber number) : group(number) {}

  bool take() {
    if ((word.fetch_add(1) & revoked) == 0) return true;
    give_back();
    return false;
  }
  void give_back() {
    if (word.fetch_sub(1) == (revoked | 1)) all_returned();
  }
  void all_returned() {
    if (!told.test_and_set() && returned) returned();
  }

  const GroupNumber group;
  std::atomic<std::uint64_t> word{0};
  std::atomic_flag told;
  std::function<void()> returned;  // set before `revoked` is
};

class Permits::Held final : public Permit::Grant {
 public:
  Held(std::shared_ptr<Epoch> epoch, std::shared_ptr<Liveness> liveness)
      : epoch_(std::move(epoch)), liveness_(std::move(liveness)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() override { epoch_->give_back(); }

  bool valid() const override {
    return (epoch_->word.load() & Epoch::revoked) == 0 && liveness_->alive();
  }

 private:
  std::shared_ptr<Epoch> epoch_;
  std::shared_ptr<Liveness> liveness_;
};

bool Permits::Liveness::alive() const {
  return boottime_now() - Duration(last_turn.load()) <= longest_gap;
}

Permits::Permits(Duration longest_gap) : liveness_(std::make_shared<Liveness>()) {
  liveness_->longest_gap = longest_gap;
  turned(boottime_now());
}

void Permits::grant(GroupNumber group) {
  const std::lock_guard lock(mutex_);
  epoch_ = std::make_shared<Epoch>(group);
}

std::optional<GroupNumber> Permits::revoke(std::function<void()> returned) {
  std::shared_ptr<Epoch> epoch;
  {
    const std::lock_guard lock(mutex_);
    epoch = std::exchange(epoch_, nullptr);
  }
  if (!epoch) return std::nullopt;
  epoch->returned = std::move(returned);
  if (epoch->word.fetch_or(Epoch::revoked) == 0) epoch->all_returned();
  return epoch->group;
}

std::optional<Permit> Permits::acquire() {
  std::shared_ptr<Epoch> epoch;
  {
    const std::lock_guard lock(mutex_);
    epoch = epoch_;
  }
  if (!epoch || !liveness_->alive() || !epoch->take()) return std::nullopt;
  return Permit(epoch->group, std::make_shared<Held>(epoch, liveness_));
}

}  // namespace muster::net

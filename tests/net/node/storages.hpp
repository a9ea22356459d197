#pragma once

#include "bell.hpp"

#include <muster/safe_storage.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace muster::test {

/// Functions of a test. Each function is called before an operation of the storage, on the same
/// thread, and can block that operation.
struct Before {
  std::function<Expected<>(const SafeState&)> save{};  ///< if it fails, the save fails
  std::function<void(const CellBatch&)> write{};
};

/// Safe storage that calls these functions, and then passes each operation on to another storage.
class Watched final : public SafeStorage {
 public:
  Watched(std::unique_ptr<SafeStorage> inner, Before before)
      : inner_(std::move(inner)), before_(std::move(before)) {}

  Expected<SafeState> load() override { return inner_->load(); }
  Expected<> save(const SafeState& safe) override {
    const Expected<> well = before_.save ? before_.save(safe) : Expected<>();
    return well ? inner_->save(safe) : well;
  }
  Expected<> write(const CellBatch& batch) override {
    if (before_.write) before_.write(batch);
    return inner_->write(batch);
  }
  Expected<std::optional<Bytes>> read(std::string_view key) override { return inner_->read(key); }
  Expected<> scan(std::string_view prefix,
                  const std::function<void(std::string_view, const Bytes&)>& visit) override {
    return inner_->scan(prefix, visit);
  }

 private:
  std::unique_ptr<SafeStorage> inner_;
  Before before_;
};

/// For ClusterOptions::between.
inline auto watched(Before before) {
  return [before = std::move(before)](NodeId, std::unique_ptr<SafeStorage> inner) {
    return std::make_unique<Watched>(std::move(inner), before);
  };
}

/// A door at which a save waits until the test opens the door.
class Door {
 public:
  void shut() { set(false); }
  void open() { set(true); }
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

 private:
  void set(bool open) {
    {
      const std::lock_guard lock(mutex_);
      open_ = open;
    }
    opened_.notify_all();
  }
  std::mutex mutex_;  // guards open_
  std::condition_variable opened_;
  bool open_ = true;
};

/// Makes saves of one node wait at a door: those for which `which` is true.
struct HeldSaves {
  NodeId node;
  std::function<bool(const SafeState&)> which;
  Door door;
  Bell arrived;
  std::atomic<bool> waits = false;

  HeldSaves(NodeId of, std::function<bool(const SafeState&)> these)
      : node(of), which(std::move(these)) {
    door.shut();
  }
  /// For ClusterOptions::between.
  auto between() {
    const auto hold = [this](const SafeState& safe) {
      if (which(safe)) {
        waits = true;
        arrived.ring();
        door.pass();
      }
      return Expected<>();
    };
    return [of = node, hold](NodeId id, std::unique_ptr<SafeStorage> inner) {
      if (id == of) inner = std::make_unique<Watched>(std::move(inner), Before{hold});
      return inner;
    };
  }
  /// Blocks the test until a save waits at the door.
  [[nodiscard]] bool await() {
    return arrived.wait_until([this] { return waits.load(); });
  }
};

}  // namespace muster::test

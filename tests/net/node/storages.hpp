#pragma once

#include "bell.hpp"

#include <muster/storage/memory_storage.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace muster::test {

/// Safe storage over another one.
class StorageOver : public SafeStorage {
 public:
  explicit StorageOver(std::unique_ptr<SafeStorage> inner) : inner_(std::move(inner)) {}

  Expected<SafeState> load() override { return inner_->load(); }
  Expected<> save(const SafeState& safe) override { return inner_->save(safe); }
  Expected<> write(const CellBatch& batch) override { return inner_->write(batch); }
  Expected<std::optional<Bytes>> read(std::string_view key) override { return inner_->read(key); }
  Expected<> scan(std::string_view prefix,
                  const std::function<void(std::string_view, const Bytes&)>& visit) override {
    return inner_->scan(prefix, visit);
  }

 private:
  std::unique_ptr<SafeStorage> inner_;
};

/// A test sees every save before it is made, and may make it wait or fail.
class WatchedSaves final : public StorageOver {
 public:
  /// Called before each save, on the thread that saves; a failure is the save's.
  using Before = std::function<Expected<>(const SafeState&)>;

  WatchedSaves(std::unique_ptr<SafeStorage> inner, Before before)
      : StorageOver(std::move(inner)), before_(std::move(before)) {}

  Expected<> save(const SafeState& safe) override {
    if (Expected<> well = before_(safe); !well) return well;
    return StorageOver::save(safe);
  }

 private:
  Before before_;
};

/// ... and every batch of cells, which it may make wait.
class WatchedWrites final : public StorageOver {
 public:
  using Before = std::function<void(const CellBatch&)>;

  WatchedWrites(std::unique_ptr<SafeStorage> inner, Before before)
      : StorageOver(std::move(inner)), before_(std::move(before)) {}

  Expected<> write(const CellBatch& batch) override {
    before_(batch);
    return StorageOver::write(batch);
  }

 private:
  Before before_;
};

/// A door that a save waits at until the test opens it.
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

/// The saves of one node, which wait at a door when `which` is true for them.
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
  /// See ClusterOptions::between.
  auto between() {
    return [this](NodeId id, std::unique_ptr<SafeStorage> inner) -> std::unique_ptr<SafeStorage> {
      if (id != node) return inner;
      return std::make_unique<WatchedSaves>(std::move(inner), [this](const SafeState& safe) {
        if (which(safe)) {
          waits = true;
          arrived.ring();
          door.pass();
        }
        return Expected<>();
      });
    };
  }
  /// Until one waits.
  [[nodiscard]] bool await() {
    return arrived.wait_until([this] { return waits.load(); });
  }
};

}  // namespace muster::test

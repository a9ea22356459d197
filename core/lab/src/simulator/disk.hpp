#pragma once

#include "process.hpp"

#include <muster/safe_storage.hpp>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>

namespace muster::lab::simulated {

/// Safe storage in memory. A disk outlives the lives of its node.
class Cells final : public SafeStorage {
 public:
  /// A copy that shares nothing with this one.
  [[nodiscard]] std::unique_ptr<Cells> copy() const;
  Expected<SafeState> load() override { return safe_; }
  Expected<> save(const SafeState& safe) override;
  Expected<> write(const CellBatch& batch) override;
  Expected<std::optional<Bytes>> read(std::string_view key) override;
  Expected<> scan(std::string_view prefix,
                  const std::function<void(std::string_view, const Bytes&)>& visit) override;

 private:
  SafeState safe_;
  std::map<std::string, Bytes, std::less<>> cells_;
};

/// The use that one life makes of its node's safe storage: one commit after the other, each of
/// which takes time. Saves come before the application's cells.
class Disk {
 public:
  using Found = std::vector<std::pair<std::string, Bytes>>;
  struct Handlers {
    std::function<Duration()> commit_time;  ///< the length of the next commit
    /// Called before and after each commit, because a life may end there.
    std::function<void(const char* what)> point;
    std::function<void(const Failure&)> fatal;
  };
  Disk(std::shared_ptr<Process> process, SafeStorage& storage, Handlers handlers)
      : process_(std::move(process)), storage_(storage), handlers_(std::move(handlers)) {}

  void save(const SafeState& safe, Work durable);
  /// Writes cells of the application. A cell of the node's own ends the process.
  void write(CellBatch batch, Work durable);
  /// Reads cells of the application.
  void scan(std::string prefix, std::function<void(Found)> done);

  /// The life is over. `in_the_store` says whether the commit under way becomes durable.
  void end(bool in_the_store);

 private:
  struct Scan {
    std::string prefix;
    std::function<void(Found)> done;
  };
  struct Commit {
    std::variant<SafeState, CellBatch, Scan> what;
    Work durable;
  };
  void begin_next();
  void finish();
  Expected<> perform(Commit& commit);

  std::shared_ptr<Process> process_;
  SafeStorage& storage_;
  Handlers handlers_;
  std::deque<Commit> saves_;
  std::deque<Commit> cells_;
  std::optional<Commit> present_;
};

}  // namespace muster::lab::simulated

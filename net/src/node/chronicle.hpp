#pragma once

#include "admin/parse.hpp"
#include "record/history_store.hpp"
#include "record/node_log.hpp"

#include <muster/journal/history.hpp>
#include <muster/journal/news.hpp>
#include <muster/protocol/view.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace muster::net {

/// Reports the steps of a node, over all its lives, in its log and in its history. Used on the
/// protocol's strand.
class Chronicle {
 public:
  Chronicle(NodeId self, std::shared_ptr<NodeLog> log) : self_(self), log_(std::move(log)) {}

  /// Reads the history from `storage`, which only `thread` uses from now on. Calls `fatal` if the
  /// history cannot be written later.
  Expected<> load(const boost::asio::any_io_executor& strand, SafeStorage& storage,
                  StorageThread& thread, std::function<void(const Failure&)> fatal);

  void begin_life(Incarnation incarnation);

  /// The result of one step.
  struct Told {
    std::optional<history::Entry> reorganized;  ///< set if this step ended a reorganization
    std::vector<News> news;                     ///< already written to the log
    Trigger cause{};                            ///< the cause of this life's last election
  };
  Told take(Duration t, const Event& event, const View& after);
  /// Makes the history durable soon.
  void flush() {
    if (history_) history_->flush();
  }

  /// Lines of the history as JSON, the oldest first. If the page has no bound and `goes_on` is
  /// true, the last line is the present reorganization.
  [[nodiscard]] std::string lines(const Page& page, bool goes_on) const;
  /// The last hook that failed in this life, and why.
  [[nodiscard]] const std::string& last_failure() const { return news_->last_failure(); }
  /// The cause of the present reorganization; empty if there is none. From any thread.
  [[nodiscard]] std::string because() const;

 private:
  const NodeId self_;
  const std::shared_ptr<NodeLog> log_;
  std::shared_ptr<HistoryStore> history_;
  std::optional<history::Recorder> recorder_;  ///< of this life
  std::optional<Newsreel> news_;               ///< of this life
  mutable std::mutex mutex_;                   // guards because_
  std::string because_;
};

}  // namespace muster::net

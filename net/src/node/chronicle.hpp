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

/// Tells people of the steps of a node, over all its lives: in its log, and in its history. Used on
/// the protocol's strand.
class Chronicle {
 public:
  Chronicle(NodeId self, std::shared_ptr<NodeLog> log) : self_(self), log_(std::move(log)) {}

  /// Reads the history from `storage`. `thread` uses that storage from now on. `fatal` is called if
  /// the history cannot be written later.
  Expected<> load(const boost::asio::any_io_executor& strand, SafeStorage& storage,
                  StorageThread& thread, std::function<void(const Failure&)> fatal);

  void begin_life(Incarnation incarnation);

  /// The result of one step.
  struct Told {
    std::optional<history::Entry> reorganized;  ///< that is over
    std::vector<News> news;                     ///< they are in the log
    Trigger cause{};                            ///< of the last election of this life
  };
  Told take(Duration t, const Event& event, const View& after);
  /// Has the history durable soon.
  void flush() {
    if (history_) history_->flush();
  }

  /// Lines of the history as JSON, the oldest first. If the page has no bound and `goes_on` is
  /// true, the reorganization that goes on is the last line.
  [[nodiscard]] std::string lines(const Page& page, bool goes_on) const;
  /// The hook that failed last in this life, and why.
  [[nodiscard]] const std::string& last_failure() const { return news_->last_failure(); }
  /// The cause of the reorganization that goes on; empty: none does. From any thread.
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

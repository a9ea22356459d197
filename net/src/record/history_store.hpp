#pragma once

#include "base/alarm.hpp"

#include <muster/journal/history.hpp>
#include <muster/net/storage_thread.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace muster::net {

/// The reorganizations of a node, kept in cells of its safe storage: the last ten thousand. Lives
/// on the protocol's strand.
class HistoryStore : public std::enable_shared_from_this<HistoryStore> {
 public:
  static constexpr std::size_t most = 10'000;

  struct Handlers {
    /// Not while others may wait for this node: a commit would delay the next one.
    std::function<bool()> may_write;
    std::function<void(const Failure&)> fatal;
  };

  /// Reads what `storage`, which `thread` uses from now on, has kept.
  static Expected<std::shared_ptr<HistoryStore>> load(boost::asio::any_io_executor strand,
                                                      SafeStorage& storage, StorageThread& thread,
                                                      Handlers handlers);
  HistoryStore(boost::asio::any_io_executor strand, StorageThread& thread, Handlers handlers);

  /// Numbers it and says when it was; durable in about a second.
  void add(history::Entry entry);
  /// Asks at once for what is not durable yet.
  void flush();

  /// The last `count` of those with a number below `before`, as JSON, an object a line, the oldest
  /// first.
  [[nodiscard]] std::string lines(std::size_t count, std::uint64_t before) const;

 private:
  struct Kept {
    std::uint64_t number{};
    std::string json;
  };
  void write_later();
  void write();

  boost::asio::any_io_executor strand_;
  StorageThread& thread_;
  Handlers handlers_;
  Alarm timer_;
  std::deque<Kept> entries_;   ///< the oldest first
  std::size_t unwritten_ = 0;  ///< the last ones
};

}  // namespace muster::net

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

/// The last ten thousand reorganizations of a node, kept in cells of its safe storage. Used on the
/// protocol's strand.
class HistoryStore : public std::enable_shared_from_this<HistoryStore> {
 public:
  static constexpr std::size_t most = 10'000;

  struct Handlers {
    /// Returns false while other nodes perhaps wait for this one: a commit here would delay the
    /// protocol's next commit.
    std::function<bool()> may_write;
    std::function<void(const Failure&)> fatal;
  };

  /// Reads the entries in `storage`, which only `thread` uses from now on.
  static Expected<std::shared_ptr<HistoryStore>> load(boost::asio::any_io_executor strand,
                                                      SafeStorage& storage, StorageThread& thread,
                                                      Handlers handlers);
  HistoryStore(boost::asio::any_io_executor strand, StorageThread& thread, Handlers handlers);

  /// Adds an entry, with its number and its time. The entry is durable after about a second.
  void add(history::Entry entry);
  /// Writes at once the entries that are not durable yet.
  void flush();

  /// The last `count` entries with a number below `before`, as JSON, one object a line, the oldest
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
  std::size_t unwritten_ = 0;  ///< the last ones in `entries_`
};

}  // namespace muster::net

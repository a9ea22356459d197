#include "record/history_store.hpp"

#include "base/on_strand.hpp"
#include "base/utc.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

constexpr auto write_after = 1s;

// All numbers in keys have the same length, so that the order of the keys is that of the numbers.
std::string key_of(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(history::cells) + std::string(20 - digits.size(), '0') + digits;
}

}  // namespace

HistoryStore::HistoryStore(asio::any_io_executor strand, StorageThread& thread, Handlers handlers)
    : strand_(std::move(strand)),
      thread_(thread),
      handlers_(std::move(handlers)),
      timer_(strand_) {}

Expected<std::shared_ptr<HistoryStore>> HistoryStore::load(asio::any_io_executor strand,
                                                           SafeStorage& storage,
                                                           StorageThread& thread,
                                                           Handlers handlers) {
  auto history = std::make_shared<HistoryStore>(std::move(strand), thread, std::move(handlers));
  const auto scanned = storage.scan(history::cells, [&](std::string_view, const Bytes& value) {
    boost::json::error_code error;
    const auto json = boost::json::parse(value.data, error);
    if (error) return;
    // Entries of another version that cannot be read are skipped. The history only informs people,
    // and nothing depends on it.
    if (const auto entry = read_json<history::Entry>(json))
      history->entries_.push_back({entry->number, value.data});
  });
  if (!scanned) return scanned.error();
  return history;
}

void HistoryStore::add(history::Entry entry) {
  entry.number = entries_.empty() ? 1 : entries_.back().number + 1;
  entry.at = utc_now();
  entries_.push_back({entry.number, to_json(entry)});
  if (entries_.size() > most) entries_.pop_front();
  if (unwritten_++ == 0) write_later();
  unwritten_ = std::min(unwritten_, entries_.size());
}

void HistoryStore::write_later() {
  timer_.after(write_after, [this] {
    if (handlers_.may_write())
      write();
    else
      write_later();
  });
}

void HistoryStore::write() {
  CellBatch batch;
  for (std::size_t i = entries_.size() - unwritten_; i < entries_.size(); ++i) {
    const Kept& entry = entries_[i];
    batch.write(key_of(entry.number), entry.json);
    if (entry.number > most) batch.erase(key_of(entry.number - most));
  }
  unwritten_ = 0;
  thread_.write_own(std::move(batch), on_strand(strand_, weak_from_this(),
                                                [](HistoryStore& self, const Expected<>& written) {
                                                  if (!written)
                                                    self.handlers_.fatal(written.error());
                                                }));
}

std::string HistoryStore::lines(std::size_t count, std::uint64_t before) const {
  const auto end = std::partition_point(entries_.begin(), entries_.end(),
                                        [&](const Kept& kept) { return kept.number < before; });
  const auto there = static_cast<std::size_t>(end - entries_.begin());
  std::string out;
  for (auto at = end - static_cast<std::ptrdiff_t>(std::min(count, there)); at != end; ++at)
    (out += out.empty() ? "" : "\n") += at->json;
  return out;
}

void HistoryStore::flush() {
  timer_.cancel();
  if (unwritten_ > 0) write();
}

}  // namespace muster::net

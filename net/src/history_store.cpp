#include "history_store.hpp"

#include <muster/values/json.hpp>

#include <boost/asio/post.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

constexpr auto write_after = 1s;

// Numbers in keys have one length, so that their order is that of the keys.
std::string key_of(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(history::cells) + std::string(20 - digits.size(), '0') + digits;
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
      now - std::chrono::system_clock::from_time_t(seconds));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(ms.count()));
  return text.data();
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
    // What another version kept is passed over: it tells of the past, and nothing rests on it.
    if (auto entry = read_json<history::Entry>(json))
      history->entries_.push_back(*std::move(entry));
  });
  if (!scanned) return scanned.error();
  return history;
}

void HistoryStore::add(history::Entry entry) {
  entry.number = entries_.empty() ? 1 : entries_.back().number + 1;
  entry.at = utc_now();
  entries_.push_back(std::move(entry));
  if (entries_.size() > most) entries_.pop_front();
  if (unwritten_++ == 0) write_later();
  unwritten_ = std::min(unwritten_, entries_.size());
}

void HistoryStore::write_later() {
  timer_.expires_after(write_after);
  timer_.async_wait([weak = weak_from_this()](auto error) {
    const auto self = weak.lock();
    if (error || !self) return;
    if (self->handlers_.may_write())
      self->write();
    else
      self->write_later();
  });
}

void HistoryStore::write() {
  CellBatch batch;
  for (std::size_t i = entries_.size() - unwritten_; i < entries_.size(); ++i) {
    const history::Entry& entry = entries_[i];
    std::string value;
    write_json(value, entry);
    batch.write(key_of(entry.number), std::move(value));
    if (entry.number > most) batch.erase(key_of(entry.number - most));
  }
  unwritten_ = 0;
  thread_.write_own(std::move(batch),
                    [weak = weak_from_this(), strand = strand_](Expected<> written) {
                      if (written) return;
                      asio::post(strand, [weak, failure = written.error()] {
                        if (const auto self = weak.lock()) self->handlers_.fatal(failure);
                      });
                    });
}

void HistoryStore::flush() {
  timer_.cancel();
  if (unwritten_ > 0) write();
}

}  // namespace muster::net

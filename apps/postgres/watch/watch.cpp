#include "apps/postgres/watch/watch.hpp"

#include <algorithm>
#include <chrono>

namespace muster::postgres {
namespace {

constexpr Duration after_begin = std::chrono::seconds(1);

}  // namespace

Watch::Watch(const Executor& executor, InstanceOptions options,
             std::function<void(const std::string&)> tell)
    : executor_(executor), options_(std::move(options)), tell_(std::move(tell)), pause_(executor) {}

void Watch::begin() {
  pause_.wait(std::min(after_begin, options_.between_checks), [this] { look(); });
}

void Watch::stop() {
  pause_.stop();
  read_.reset();
}

void Watch::look() {
  read_.emplace(executor_, options_, [this](const Expected<Facts>& facts) {
    hear(facts);
    read_.reset();
    pause_.wait(options_.between_checks, [this] { look(); });
  });
}

void Watch::hear(const Expected<Facts>& facts) {
  std::set<std::string> now;
  if (facts) {
    for (const Finding& finding : check(*facts)) now.insert(finding.sentence);
  } else {
    now = said_;  // of those nothing is known
    now.insert(facts.error().what);
  }
  for (const std::string& sentence : now)
    if (!said_.contains(sentence)) tell_(sentence);
  said_ = std::move(now);
}

}  // namespace muster::postgres

#include "apps/postgres/watch/watch.hpp"

#include "apps/postgres/server/standbys.hpp"

#include <algorithm>
#include <chrono>

namespace muster::postgres {
namespace {

constexpr Duration after_begin = std::chrono::seconds(1);
constexpr Duration between_looks_for_impostors = std::chrono::milliseconds(500);
constexpr Duration patience_with_own_primary = std::chrono::seconds(2);

}  // namespace

Watch::Watch(const Executor& executor, InstanceOptions options,
             std::function<void(const std::string&)> tell)
    : executor_(executor),
      options_(std::move(options)),
      tell_(std::move(tell)),
      pause_(executor),
      short_pause_(executor) {}

void Watch::begin() {
  pause_.wait(std::min(after_begin, options_.between_checks), [this] { look(); });
  look_for_impostors();
}

void Watch::stop() {
  pause_.stop();
  read_.reset();
  short_pause_.stop();
  interview_.reset();
}

// A client that bears the name of a node acknowledges commits at once. So nobody can wait for the
// next check of the settings.
void Watch::look_for_impostors() {
  impostors_.clear();
  interview_.emplace(executor_, session_parameters(options_, options_.node),
                     patience_with_own_primary);
  ask_for_impostors(*interview_, options_.copies(), impostors_);
  interview_->begin([this](const SqlExpected<>& heard) {
    if (heard) hear_of_impostors();
    interview_.reset();
    short_pause_.wait(between_looks_for_impostors, [this] { look_for_impostors(); });
  });
}

void Watch::hear_of_impostors() {
  std::set<std::string> now;
  for (const Impostor& impostor : impostors_) now.insert(in_words(impostor));
  for (const std::string& sentence : now)
    if (!impostors_said_.contains(sentence) && !said_.contains(sentence)) tell_(sentence);
  impostors_said_ = std::move(now);
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
    now = said_;  // the earlier findings stay, as they cannot be checked now
    now.insert(facts.error().what);
  }
  for (const std::string& sentence : now)
    if (!said_.contains(sentence) && !impostors_said_.contains(sentence)) tell_(sentence);
  said_ = std::move(now);
}

}  // namespace muster::postgres

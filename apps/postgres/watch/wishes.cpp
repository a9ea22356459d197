#include "apps/postgres/watch/wishes.hpp"

#include "apps/base/text.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

#include <muster/values/text.hpp>

#include <limits>

namespace muster::postgres {
namespace {

constexpr Duration patience_with_answers = std::chrono::seconds(2);
constexpr Duration until_next_attempt = std::chrono::seconds(1);
/// Of who asks without end the first are heard.
constexpr std::size_t most_wishes = 64;

}  // namespace

Wishes::Wishes(const Executor& executor, InstanceOptions options,
               std::function<void(const std::string&)> tell, std::function<void(NodeId)> hand_over)
    : executor_(executor),
      options_(std::move(options)),
      tell_(std::move(tell)),
      hand_over_(std::move(hand_over)),
      pause_(executor) {}

void Wishes::begin() {
  Session::Parameters parameters = session_parameters(options_, options_.node);
  parameters.emplace_back("application_name", listener_name);
  session_.emplace(executor_, std::move(parameters));
  session_->connect(patience_with_answers, [this](const auto& connected) {
    if (connected) return listen();
    cannot_hear(connected.error());
    pause_.wait(until_next_attempt, [this] { begin(); });
  });
}

void Wishes::stop() {
  pause_.stop();
  session_.reset();
  interview_.reset();
  heir_.reset();
  wishes_.clear();
  told_of_.clear();
}

void Wishes::listen() {
  const auto heard = [this](const SqlExpected<Notification>& wish) {
    if (wish) return hear(*wish);
    pause_.wait(until_next_attempt, [this] { begin(); });
  };
  session_->ask(std::string("LISTEN ") + hand_over_channel, {}, patience_with_answers,
                [this, heard](const auto& answer) {
                  if (!answer) return heard(answer.error());
                  session_->hear(heard);
                });
}

void Wishes::hear(const Notification& wish) {
  if (wishes_.size() >= most_wishes) return;
  wishes_.push_back(wish);
  if (!interview_) look_who_asks();
}

// The number of a process is the server's word, and the text is anybody's.
void Wishes::look_who_asks() {
  const Notification wish = wishes_.front();
  interview_.emplace(executor_, session_parameters(options_, options_.node), patience_with_answers);
  interview_->add(
      "SELECT r.rolsuper, r.rolname FROM pg_stat_activity a JOIN pg_roles r ON r.oid = a.usesysid"
      " WHERE a.pid = $1",
      {std::to_string(wish.process)},
      [this, wish](const std::vector<Row>& asks) { judge(wish, asks); });
  interview_->begin([this](const auto& outcome) {
    if (!outcome) cannot_hear(outcome.error());
    interview_.reset();
    wishes_.pop_front();
    obey();
    if (!interview_ && !wishes_.empty()) look_who_asks();
  });
}

void Wishes::judge(const Notification& wish, const std::vector<Row>& asks) {
  if (asks.empty()) return;  // it is gone
  const std::string role = text_in(asks[0], 1);
  if (!is_true(asks[0], 0)) {
    if (told_of_.insert(role).second)
      tell_("the role " + role + " asks for another primary, which superusers alone may");
    return;
  }
  const auto number = apps::parse_number(wish.text);
  if (number && *number <= std::numeric_limits<std::uint32_t>::max())
    heir_ = NodeId{static_cast<std::uint32_t>(*number)};
  else
    tell_("its owner wants " + presentable(wish.text) +
          " to be primary, which is no node's number");
}

// The same is said once in a reign.
void Wishes::cannot_hear(const SqlError& error) {
  if (told_of_.insert(error.what).second)
    tell_("cannot hear who is to be primary next, as PostgreSQL does not answer its own node: " +
          error.what);
}

// What comes of it may be that this is told to stop.
void Wishes::obey() {
  if (const auto heir = std::exchange(heir_, std::nullopt)) hand_over_(*heir);
}

}  // namespace muster::postgres

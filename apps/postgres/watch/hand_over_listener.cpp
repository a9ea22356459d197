#include "apps/postgres/watch/hand_over_listener.hpp"

#include "apps/base/text.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

#include <muster/values/text.hpp>

#include <limits>

namespace muster::postgres {
namespace {

constexpr Duration patience_with_answers = std::chrono::seconds(2);
constexpr Duration until_next_attempt = std::chrono::seconds(1);
/// The limit of pending requests. Further requests are dropped.
constexpr std::size_t most_requests = 64;

}  // namespace

HandOverListener::HandOverListener(const Executor& executor, InstanceOptions options,
                                   std::function<void(const std::string&)> tell,
                                   std::function<void(NodeId)> hand_over)
    : executor_(executor),
      options_(std::move(options)),
      tell_(std::move(tell)),
      hand_over_(std::move(hand_over)),
      pause_(executor) {}

void HandOverListener::begin() {
  Session::Parameters parameters = session_parameters(options_, options_.node);
  parameters.emplace_back("application_name", listener_name);
  session_.emplace(executor_, std::move(parameters));
  session_->connect(patience_with_answers, [this](const auto& connected) {
    if (connected) return listen();
    cannot_hear(connected.error());
    pause_.wait(until_next_attempt, [this] { begin(); });
  });
}

void HandOverListener::stop() {
  pause_.stop();
  session_.reset();
  interview_.reset();
  heir_.reset();
  hand_over_listener_.clear();
  told_of_.clear();
}

void HandOverListener::listen() {
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

void HandOverListener::hear(const Notification& wish) {
  if (hand_over_listener_.size() >= most_requests) return;
  hand_over_listener_.push_back(wish);
  if (!interview_) look_up_sender();
}

// The process id in a notification comes from the server and can be trusted. The text comes from
// the client and cannot be trusted.
void HandOverListener::look_up_sender() {
  const Notification wish = hand_over_listener_.front();
  interview_.emplace(executor_, session_parameters(options_, options_.node), patience_with_answers);
  interview_->add(
      "SELECT r.rolsuper, r.rolname FROM pg_stat_activity a JOIN pg_roles r ON r.oid = a.usesysid"
      " WHERE a.pid = $1",
      {std::to_string(wish.process)},
      [this, wish](const std::vector<Row>& asks) { judge(wish, asks); });
  interview_->begin([this](const auto& outcome) {
    if (!outcome) cannot_hear(outcome.error());
    interview_.reset();
    hand_over_listener_.pop_front();
    obey();
    if (!interview_ && !hand_over_listener_.empty()) look_up_sender();
  });
}

void HandOverListener::judge(const Notification& wish, const std::vector<Row>& asks) {
  if (asks.empty()) return;  // the client has disconnected
  const std::string role = text_in(asks[0], 1);
  if (!is_true(asks[0], 0)) {
    if (told_of_.insert(role).second)
      tell_("the role " + role +
            " asks for another primary and is ignored, because only a superuser may ask");
    return;
  }
  const auto number = apps::parse_number(wish.text);
  if (number && *number <= std::numeric_limits<std::uint32_t>::max())
    heir_ = NodeId{static_cast<std::uint32_t>(*number)};
  else
    tell_("a switch-over to " + presentable(wish.text) +
          " was requested and is ignored, because that is not the number of a node");
}

// The log mentions the same error only once while this node is primary.
void HandOverListener::cannot_hear(const SqlError& error) {
  if (told_of_.insert(error.what).second)
    tell_(
        "requests for a switch-over cannot be received, because PostgreSQL does not answer its own "
        "node: " +
        error.what);
}

// The callee may stop this object.
void HandOverListener::obey() {
  if (const auto heir = std::exchange(heir_, std::nullopt)) hand_over_(*heir);
}

}  // namespace muster::postgres

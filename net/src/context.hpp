#pragma once

#include "calls.hpp"

#include <muster/net/frame.hpp>
#include <muster/net/sessions.hpp>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace muster::net {

/// What the handlers of Sessions are to be told, in order.
struct LetterCame {
  Letter letter;
  std::uint64_t instance;  ///< of the life that sent it
};
struct CallUnanswered {
  NodeId by;
  CallNumber call;
};
/// No life is so many ahead of what was known of its node: who says so is not of this cluster.
inline constexpr std::uint64_t most_lives_ahead = std::uint64_t{1} << 20;

struct LifeOver {
  NodeId node;
  Incarnation life;
};
struct OutlivedBy {
  Voices voices;
};
struct Warning {
  std::string text;
};
using Notice = std::variant<LetterCame, CallUnanswered, LifeOver, OutlivedBy, Warning>;

/// The last warning about a matter.
struct Warned {
  std::string text;
  Clock::time_point when;
};

/// What listener and peers of one Sessions share. Handlers are never called in the midst of a
/// change: what they are to be told waits here until the turn ends.
struct Context {
  boost::asio::any_io_executor executor;
  Self self;
  Duration T{};
  SessionLimits limits;
  Counters counters;
  Calls calls;
  std::deque<Notice> notices;
  bool closed = false;
  std::uint64_t clock = 0;                            ///< orders calls and dials
  std::uint64_t hellos = 0;                           ///< said in this life
  std::map<std::string, Warned, std::less<>> warned;  ///< by matter: there are few
  std::map<NodeId, std::string> differing;            ///< Sessions::differing
  Voices voices;                                      ///< of this life

  std::function<void()> deliver;      ///< the turn ends: the handlers are told
  std::function<void()> read_hellos;  ///< what others have already said is taken note of

  void notify(Notice notice) {
    if (!closed) notices.push_back(std::move(notice));
  }

  [[nodiscard]] Duration hello_deadline() const {
    return limits.hello_deadline > Duration::zero() ? limits.hello_deadline : 2 * T;
  }
  [[nodiscard]] Duration frame_deadline() const {
    return limits.frame_deadline > Duration::zero() ? limits.frame_deadline : T;
  }

  /// The call will not be answered.
  void unanswered(Call& call) {
    call.decided = true;
    notify(CallUnanswered{call.to, call.number});
  }

  /// Warns, unless the last warning about that matter was the same, or came just before.
  void warn(const std::string& matter, std::string text) {
    warn_of(matter, [&] { return std::move(text); });
  }
  /// The same; the text is made only where it may be wanted.
  template <class MakeText>
  void warn_of(const std::string& matter, const MakeText& make_text) {
    Warned& last = warned[matter];
    const auto now = Clock::now();
    if (!last.text.empty() && now - last.when < std::chrono::seconds(1)) return;
    std::string text = make_text();
    if (last.text == text) return;
    last = {text, now};
    notify(Warning{std::move(text)});
  }
  void calm(const std::string& matter) {
    if (!warned.empty()) warned.erase(matter);
  }

  /// An incarnation of this node that somebody has seen. One that this life cannot be close to is
  /// no figure of this cluster; a life that is the first of its store is close to none. Either
  /// leaves as many lives to come.
  [[nodiscard]] bool plausible(Incarnation seen) const {
    const std::uint64_t most = self.incarnation.value == 1
                                   ? highest_number - most_lives_ahead
                                   : self.incarnation.value + most_lives_ahead;
    return seen.value <= most;
  }
  void outlived(NodeId voice, Incarnation seen) {
    if (seen < self.incarnation || !plausible(seen)) return;
    voices[voice] = seen;
    notify(OutlivedBy{voices});
  }

  /// A Hello of this life, but for what it says of a session.
  Hello hello(NodeId to) {
    Hello hello;
    hello.role = Role::node;
    hello.cluster = self.cluster;
    hello.from = self.id;
    hello.to = to;
    hello.incarnation = self.incarnation;
    hello.instance = self.instance;
    hello.number = ++hellos;
    return hello;
  }
};

}  // namespace muster::net

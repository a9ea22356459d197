// What a node tells by HTTP to whoever watches it, and that it counts for them.

#include "clock.hpp"
#include "node_impl.hpp"
#include "owner_words.hpp"

#include <muster/values/address.hpp>
#include <muster/values/json.hpp>
#include <muster/values/kinds.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::net {

using namespace std::chrono_literals;

namespace {

constexpr auto between_looks_at_the_loop = 1s;
constexpr const char* json = "application/json";
constexpr const char* json_lines = "application/jsonl";

http::Answer unavailable(std::string why, std::string headers = {}) {
  return {503, std::move(why) + '\n', "text/plain; charset=utf-8", std::move(headers)};
}

std::string last_line(const std::string& lines) {
  return lines.substr(lines.rfind('\n') + 1);  // npos + 1 is 0: there is one
}

}  // namespace

std::optional<std::string> Node::Impl::wrong_with(const HttpOptions& http) const {
  const auto address = parse_address(http.listen);
  if (!address || address->port == 0)
    return "http.listen has to be a host and a port from 1 to 65535, such as \"127.0.0.1:9100\"";
  if (!address->is_loopback() && !options_.tls && !http.insecure)
    return "http.listen has to be a loopback address, or tls beside it, or http.insecure = true: "
           "without it whoever can reach the port sees what the node tells";
  return std::nullopt;
}

Expected<> Node::Impl::listen_to_watchers() {
  if (!options_.http) return {};
  metrics_.emplace(monotonic_now());
  look_at_the_loop();
  return serve_http(*options_.http);
}

// In the place of what was served before; where that cannot be, it stays.
Expected<> Node::Impl::serve_http(const HttpOptions& at) {
  const bool is_plain = at.insecure || parse_address(at.listen)->is_loopback();
  const std::string own = options_.addresses.at(options_.config.self);
  auto server = std::make_unique<http::Server>(
      strand_, is_plain ? nullptr : tls_,
      http::Server::Handlers{[this](const http::Request& request) { return page(request); },
                             [listen = at.listen, own](const std::string& host) {
                               return http::is_own_host(host, listen, own);
                             }});
  if (http_ && http_at_.listen == at.listen) http_->close();
  if (Expected<> listening = server->listen(at.listen); !listening) {
    const auto port_of = [](const std::string& address) { return parse_address(address)->port; };
    if (http_ && port_of(at.listen) == port_of(http_at_.listen))
      return Failure{ExitCode::temporary, listening.error().what +
                                              "; it may be this node's own, at " + http_at_.listen +
                                              ": take another port, or restart the node"};
    return listening;
  }
  http_ = std::move(server);
  http_at_ = at;
  return {};
}

Expected<> Node::Impl::move_http(const HttpOptions& to) {
  if (to.listen == http_at_.listen && to.insecure == http_at_.insecure) return {};
  if (const auto wrong = wrong_with(to)) return Failure{ExitCode::bad_configuration, *wrong};
  return serve_http(to);
}

// A timer that is late tells how long others wait for this thread.
void Node::Impl::look_at_the_loop() {
  late_.expires_after(between_looks_at_the_loop);
  late_.async_wait([weak = weak_from_this()](auto error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->metrics_->late(std::chrono::steady_clock::now() - self->late_.expiry());
    self->look_at_the_loop();
  });
}

// --- Pages
// ----------------------------------------------------------------------------------------

http::Answer Node::Impl::page(const http::Request& request) const {
  struct Path {
    std::string_view path;
    std::string_view what;
    http::Answer (Impl::*make)(const http::Request&) const;
  };
  static constexpr Path paths[] = {
      {"/metrics", "what is counted, for Prometheus (docs/metrics.md)", &Impl::answer_metrics},
      {"/livez", "200: the node's thread turns", &Impl::answer_livez},
      {"/readyz", "200 while this node may work, else 503", &Impl::answer_readyz},
      {"/coordinator", "200 on the coordinator while it may work, else 503 with its address",
       &Impl::answer_coordinator},
      {"/status", "what muster status --json says", &Impl::answer_status},
      {"/history", "what muster history --json says; ?limit=20&before=NUMBER",
       &Impl::answer_history},
      {"/why", "the last of these", &Impl::answer_why},
  };
  static_assert(std::equal(
      std::begin(paths), std::end(paths), std::begin(own_paths), std::end(own_paths),
      [](const Path& each, std::string_view own) { return each.path.substr(1) == own; }));
  std::string all;
  for (const Path& each : paths) {
    if (request.path == each.path) return (this->*each.make)(request);
    ((all += each.path) += "  ") += each.what;
    all += '\n';
  }
  const Shown shown = present_shown();
  for (const auto& [role, has] : shown.roles) {
    if (request.path == '/' + role) return answer_role(role, has, shown.text);
    all += '/' + role + "  200 while the application has that role, else 503\n";
  }
  if (request.path == "/" || request.path == "*") return {200, all};
  return {404, "there is nothing at that path; there is at these:\n" + all};
}

http::Answer Node::Impl::answer_metrics(const http::Request& request) const {
  const bool is_open = request.accept.find("application/openmetrics-text") != std::string::npos;
  return {200, text_of(scrape(), is_open ? TextFormat::open_metrics : TextFormat::classic),
          std::string(is_open ? open_metrics_type : classic_type)};
}

http::Answer Node::Impl::answer_livez(const http::Request& /*unused*/) const {
  return {200, "ok\n"};
}

Shown Node::Impl::present_shown() const {
  const auto present = life();
  return present ? present->seen().shown : Shown{};
}

http::Answer Node::Impl::answer_role(const std::string& role, bool has,
                                     const std::string& text) const {
  if (has) return {200, text.empty() ? "ok\n" : text + '\n'};
  if (!may_work()) return unavailable(why_no_work());
  return unavailable("node " + to_text(options_.config.self) + " is not " + role +
                     (text.empty() ? "" : ": " + text));
}

std::string Node::Impl::why_no_work() const {
  const std::string node = "node " + std::to_string(options_.config.self.value);
  if (const auto why = out()) return node + " is out: " + std::string(enumerator_name(*why));
  return node + " may not work now: its status is " + std::string(enumerator_name(view().status));
}

bool Node::Impl::may_work() const {
  const auto present = life();
  return present && present->may_work();
}

// A node that two coordinators halt in turn works now and not in a moment.
http::Answer Node::Impl::answer_readyz(const http::Request& /*unused*/) const {
  if (const auto present = life()) {
    const NodeSet by = present->seen().halted_in_turn_by;
    if (!by.empty()) return unavailable(halted_in_turn_words(options_.config.self, by));
  }
  return may_work() ? http::Answer{200, "ok\n"} : unavailable(why_no_work());
}

http::Answer Node::Impl::answer_coordinator(const http::Request& /*unused*/) const {
  const auto coordinator = out() ? std::nullopt : view().coordinator;
  if (!coordinator) return unavailable(why_no_work());
  if (*coordinator == options_.config.self)
    return may_work() ? http::Answer{200, "ok\n"} : unavailable(why_no_work());
  const std::string& address = options_.addresses.at(*coordinator);
  return unavailable(
      "node " + std::to_string(coordinator->value) + " at " + address + " is the coordinator",
      "Muster-Coordinator: " + address + "\r\n");
}

http::Answer Node::Impl::answer_status(const http::Request& /*unused*/) const {
  return {200, fresh_status_json() + '\n', json};
}

http::Answer Node::Impl::answer_history(const http::Request& request) const {
  std::string limit(http::query_value(request.query, "limit"));
  const std::string before(http::query_value(request.query, "before"));
  if ((limit + before).find_first_not_of("0123456789") != std::string::npos)
    return {400, "limit and before have to be numbers, as in /history?limit=20&before=100\n"};
  if (limit.empty()) limit = std::to_string(history_page);
  const std::string lines = history_json(limit + ' ' + before);
  return {200, lines.empty() ? lines : lines + '\n', json_lines};
}

http::Answer Node::Impl::answer_why(const http::Request& /*unused*/) const {
  const std::string line = last_line(history_json("1"));
  if (line.empty()) return unavailable("the node was never in a group; see /status");
  return {200, line + '\n', json};
}

// --- What is counted
// ----------------------------------------------------------------------------------------

void Node::Impl::count_life() {
  if (metrics_ && life_ && life_->has_begun())
    metrics_->life_over(life_->counters(), life_->traffic());
}

void Node::Impl::count(const Event& event, const View& after, const std::vector<News>& news) {
  if (!metrics_) return;
  metrics_->stepped(event);
  const bool stands_still = after.procedure == Wait::Outvoted || after.procedure == Wait::Rejoining;
  for (const News& one : news)
    if (one.matter == "election" && !stands_still) metrics_->elected(news_->last_reason().trigger);
}

Scrape Node::Impl::scrape() const {
  Scrape seen{*metrics_, options_.config.self, options_.config.protocol};
  seen.out = out();
  seen.may_work = may_work();
  seen.without_work = seen.may_work ? Duration::zero() : metrics_->without_work(monotonic_now());
  seen.counters = metrics_->counters;
  seen.traffic = metrics_->traffic;
  if (const auto& credentials = tls_->credentials()) seen.expires = credentials->expires();
  if (journal_) {
    seen.journal_bytes = journal_->written();
    seen.journal_dropped = journal_->dropped();
  }
  const auto present = life();
  if (!present || !present->has_begun()) return seen;
  present->show_counters();
  const Life::Seen shown = present->seen();
  seen.incarnation = present->incarnation();
  seen.view = shown.view;
  if (shown.heard) seen.heard = std::max<Duration>(monotonic_now() - *shown.heard, {});
  seen.halted_in_turn = !shown.halted_in_turn_by.empty();
  seen.differing = shown.differing.size();
  seen.sessions = present->has_ended() ? 0 : present->sessions();
  add(seen.counters, present->counters());
  seen.traffic += present->traffic();
  return seen;
}

}  // namespace muster::net

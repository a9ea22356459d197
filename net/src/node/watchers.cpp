#include "node/watchers.hpp"

#include "base/clock.hpp"
#include "node/misfit.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/address.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::net {

using namespace std::chrono_literals;

namespace {

constexpr auto between_looks_at_the_loop = 1s;
constexpr const char* json_type = "application/json";
constexpr const char* json_lines_type = "application/jsonl";

http::Answer unavailable(std::string why, std::string headers = {}) {
  return {503, std::move(why) + '\n', "text/plain; charset=utf-8", std::move(headers)};
}

std::string last_line(const std::string& lines) {
  return lines.substr(lines.rfind('\n') + 1);  // if there is one line: npos + 1 is 0
}

}  // namespace

Watchers::Watchers(boost::asio::any_io_executor strand, Node node)
    : strand_(std::move(strand)),
      node_(std::move(node)),
      metrics_(monotonic_now()),
      late_(strand_) {}

Expected<> Watchers::listen() {
  look_at_the_loop();
  return serve(*node_.options.http);
}

void Watchers::close() {
  late_.cancel();
  if (server_) server_->close();
}

Expected<> Watchers::serve(const HttpOptions& at) {
  const bool is_plain = at.insecure || parse_address(at.listen)->is_loopback();
  const std::string own = node_.options.network.addresses.at(node_.options.config.self);
  auto server = std::make_unique<http::Server>(
      strand_, is_plain ? nullptr : node_.tls,
      http::Server::Handlers{[this](const http::Request& request) { return page(request); },
                             [listen = at.listen, own](const std::string& host) {
                               return http::is_own_host(host, listen, own);
                             }});
  if (server_ && at_.listen == at.listen) server_->close();
  if (Expected<> listening = server->listen(at.listen); !listening) {
    const auto port_of = [](const std::string& address) { return parse_address(address)->port; };
    if (server_ && port_of(at.listen) == port_of(at_.listen))
      return Failure{ExitCode::temporary,
                     listening.error().what + "; this node itself may be using it, at " +
                         at_.listen + ": choose another port, or restart the node"};
    return listening;
  }
  server_ = std::move(server);
  at_ = at;
  return {};
}

Expected<> Watchers::move(const HttpOptions& to) {
  if (to.listen == at_.listen && to.insecure == at_.insecure) return {};
  if (const auto why = misfit_of(to, node_.options.network.tls.has_value()))
    return Failure{ExitCode::bad_configuration, *why};
  return serve(to);
}

// A late timer shows how long others wait for this thread.
void Watchers::look_at_the_loop() {
  late_.after(between_looks_at_the_loop, [this] {
    metrics_.late(-late_.left());
    look_at_the_loop();
  });
}

// --- Pages

http::Answer Watchers::page(const http::Request& request) const {
  struct Path {
    std::string_view path;
    std::string_view what;
    http::Answer (Watchers::*make)(const http::Request&) const;
  };
  static constexpr Path paths[] = {
      {"/metrics", "the metrics, for Prometheus (docs/reference/metrics.md)",
       &Watchers::answer_metrics},
      {"/livez", "200 while the node's thread runs", &Watchers::answer_livez},
      {"/readyz", "200 while this node may work, else 503", &Watchers::answer_readyz},
      {"/coordinator", "200 on the coordinator while it may work, else 503 with its address",
       &Watchers::answer_coordinator},
      {"/status", "the output of muster status --json", &Watchers::answer_status},
      {"/history", "the output of muster history --json; ?limit=20&before=NUMBER",
       &Watchers::answer_history},
      {"/why", "the newest line of /history", &Watchers::answer_why},
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
  const Shown application = seen().shown;
  for (const auto& [role, has] : application.roles) {
    if (request.path == '/' + role) return answer_role(role, has, application.text);
    all += '/' + role + "  200 while the application has that role, else 503\n";
  }
  if (request.path == "/" || request.path == "*") return {200, all};
  return {404, "there is no page at this path. The pages are:\n" + all};
}

http::Answer Watchers::answer_metrics(const http::Request& request) const {
  const bool is_open = request.accept.find("application/openmetrics-text") != std::string::npos;
  return {200, text_of(scrape(), is_open ? TextFormat::open_metrics : TextFormat::classic),
          std::string(is_open ? open_metrics_type : classic_type)};
}

http::Answer Watchers::answer_livez(const http::Request& /*unused*/) const {
  return {200, "ok\n"};
}

Life::Seen Watchers::seen() const {
  const auto life = node_.lives.last();
  return life ? life->seen() : Life::Seen{};
}

std::string Watchers::name() const {
  return "node " + to_text(node_.options.config.self);
}

http::Answer Watchers::answer_role(const std::string& role, bool has,
                                   const std::string& text) const {
  if (has) return {200, text.empty() ? "ok\n" : text + '\n'};
  if (!may_work()) return unavailable(why_no_work());
  return unavailable(name() + " is not " + role + (text.empty() ? "" : ": " + text));
}

std::string Watchers::why_no_work() const {
  if (const auto why = node_.absence.out())
    return name() + " is out: " + std::string(enumerator_name(*why));
  return name() + " may not work now: its status is " +
         std::string(enumerator_name(seen().view.status));
}

bool Watchers::may_work() const {
  const auto life = node_.lives.last();
  return life && life->may_work();
}

// While two coordinators halt the node in turn, it is not ready even if it works now, because it
// will stop in a moment.
http::Answer Watchers::answer_readyz(const http::Request& /*unused*/) const {
  const NodeSet by = seen().halted_in_turn_by;
  if (!by.empty()) return unavailable(halted_in_turn_words(node_.options.config.self, by));
  return may_work() ? http::Answer{200, "ok\n"} : unavailable(why_no_work());
}

http::Answer Watchers::answer_coordinator(const http::Request& /*unused*/) const {
  const auto coordinator = node_.absence.out() ? std::nullopt : seen().view.coordinator;
  if (!coordinator) return unavailable(why_no_work());
  if (*coordinator == node_.options.config.self)
    return may_work() ? http::Answer{200, "ok\n"} : unavailable(why_no_work());
  const std::string& address = node_.options.network.addresses.at(*coordinator);
  return unavailable("node " + to_text(*coordinator) + " at " + address + " is the coordinator",
                     "Muster-Coordinator: " + address + "\r\n");
}

http::Answer Watchers::answer_status(const http::Request& /*unused*/) const {
  return {200, node_.status() + '\n', json_type};
}

http::Answer Watchers::answer_history(const http::Request& request) const {
  std::string limit(http::query_value(request.query, "limit"));
  const std::string before(http::query_value(request.query, "before"));
  if ((limit + before).find_first_not_of("0123456789") != std::string::npos)
    return {400, "limit and before have to be numbers, as in /history?limit=20&before=100\n"};
  if (limit.empty()) limit = std::to_string(history_page);
  const std::string lines = node_.history(parse_page(limit + ' ' + before));
  return {200, lines.empty() ? lines : lines + '\n', json_lines_type};
}

http::Answer Watchers::answer_why(const http::Request& /*unused*/) const {
  const std::string line = last_line(node_.history({.count = 1}));
  if (line.empty()) return unavailable("the node was never in a group; see /status");
  return {200, line + '\n', json_type};
}

// --- Counters

void Watchers::count_life(const Life& life) {
  if (life.has_begun()) metrics_.life_over(life.counters(), life.traffic());
}

void Watchers::count(const Event& event, const View& after, const Chronicle::Told& told) {
  if (told.reorganized) metrics_.reorganized(*told.reorganized);
  metrics_.stepped(event);
  const bool is_paused = after.procedure == Wait::Outvoted || after.procedure == Wait::Rejoining;
  for (const News& one : told.news)
    if (one.topic == "election" && !is_paused) metrics_.elected(told.cause);
}

Scrape Watchers::scrape() const {
  Scrape seen{metrics_, node_.options.config.self, node_.options.config.protocol};
  seen.out = node_.absence.out();
  seen.may_work = may_work();
  seen.without_work = seen.may_work ? Duration::zero() : metrics_.without_work(monotonic_now());
  seen.counters = metrics_.counters;
  seen.traffic = metrics_.traffic;
  if (const auto& credentials = node_.tls->credentials()) seen.expires = credentials->expires();
  if (node_.journal) {
    seen.journal_bytes = node_.journal->written();
    seen.journal_dropped = node_.journal->dropped();
  }
  const auto life = node_.lives.last();
  if (!life || !life->has_begun()) return seen;
  life->show_counters();
  const Life::Seen shown = life->seen();
  seen.incarnation = life->incarnation();
  seen.view = shown.view;
  if (shown.heard) seen.heard = std::max<Duration>(monotonic_now() - *shown.heard, {});
  seen.halted_in_turn = !shown.halted_in_turn_by.empty();
  seen.differing = shown.differing.size();
  seen.sessions = life->has_ended() ? 0 : life->sessions();
  add(seen.counters, life->counters());
  seen.traffic += life->traffic();
  return seen;
}

}  // namespace muster::net

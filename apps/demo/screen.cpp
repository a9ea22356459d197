#include "apps/demo/screen.hpp"

#include "apps/base/text.hpp"

#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

constexpr Duration redraw_period = 100ms;
constexpr std::size_t table_width = 79;

std::string state_of(const Cluster& cluster, NodeId node, const NodeSeen& seen) {
  if (cluster.paused().contains(node)) return "paused";
  if (!seen.up) return cluster.down().contains(node) ? "down" : "starting";
  return std::string(enumerator_name(seen.view.status));
}

std::string line_of(const Cluster& cluster, NodeId node) {
  const NodeSeen& seen = cluster.watch().node(node);
  std::uint32_t shards = 0;
  for (const auto& [shard, record] : cluster.resource().last()) {
    if (record.node == node && seen.works_for == record.group) ++shards;
  }
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%5s%6s  %-15s%-13s%-9s%-8s%-9s%-14s",
                number(node.value).c_str(),
                seen.incarnation.value > 0 ? number(seen.incarnation.value).c_str() : "-",
                state_of(cluster, node, seen).c_str(),
                seen.view.coordinator ? number(seen.view.coordinator->value).c_str() : "-",
                seen.view.group ? to_text(*seen.view.group).c_str() : "-", number(shards).c_str(),
                number(cluster.resource().accepted_of(node)).c_str(),
                seen.up ? std::string(enumerator_name(seen.view.procedure)).c_str() : "");
  return std::string(text.data()).substr(0, table_width);
}

}  // namespace

Showing showing_of_output() {
  if (isatty(STDOUT_FILENO) == 0) return Showing::lines;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || *terminal == '\0' || std::string_view(terminal) == "dumb")
    return Showing::lines;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 80) return Showing::lines;
  return Showing::table;
}

std::vector<std::string> table_of(const Cluster& cluster) {
  std::vector<std::string> lines{
      "", " node  life  status         coordinator  group    shards  records  procedure"};
  for (NodeId node : cluster.nodes()) lines.push_back(line_of(cluster, node));
  return lines;
}

void Screen::say(Duration at, const std::string& text) {
  if (showing_ == Showing::json) {
    std::string line = "{\"t_ns\":" + std::to_string(at.count()) + ",\"story\":";
    write_json(line, text);
    return write(line + "}\n");
  }
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%9s s  ", format_seconds(at - began_).c_str());
  say(time.data() + text);
}

void Screen::say(const std::string& text) {
  if (showing_ == Showing::json) return;
  const std::size_t drawn = drawn_;
  clear();
  std::string out = text + "\n";
  if (drawn > 0) {
    for (const std::string& line : table_) out += line + "\n";
    drawn_ = table_.size();
  }
  write(out);
}

void Screen::object(const std::string& json) {
  if (showing_ == Showing::json) write(json + "\n");
}

void Screen::refresh(const Cluster& cluster) {
  if (showing_ != Showing::table) return;
  const Duration now(monotonic_ns());
  if (now - drawn_at_ < redraw_period) return;
  drawn_at_ = now;
  auto table = table_of(cluster);
  if (drawn_ > 0 && table == table_) return;
  table_ = std::move(table);
  // Moves the cursor to the table's first line and writes over the table. Erasing it first would
  // flicker.
  std::string out = drawn_ > 0 ? "\x1b[" + std::to_string(drawn_) + "A" : "";
  for (const std::string& line : table_) out += line + "\x1b[K\n";
  drawn_ = table_.size();
  write(out);
}

void Screen::clear() {
  if (drawn_ == 0) return;
  write("\x1b[" + std::to_string(drawn_) + "A\x1b[J");
  drawn_ = 0;
}

void Screen::write(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t size = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (size <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
}

}  // namespace muster::apps

#include "bench/nodes/work.hpp"

#include "apps/base/process.hpp"
#include "apps/base/text.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

namespace muster::apps {

using namespace std::chrono_literals;

int work(const std::filesystem::path& pipe, Duration stop_for) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_BLOCK, &stop, nullptr);
  const Descriptor out(::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  const char* node = std::getenv("MUSTER_NODE");
  const char* group = std::getenv("MUSTER_GROUP");
  if (!out || node == nullptr || group == nullptr) return static_cast<int>(ExitCode::usage);
  // A whole line, for example: 812 3 17.5 123456789 at
  const std::string head = std::to_string(::getpid()) + ' ' + node + ' ' + group + ' ';
  const auto say = [&](const char* what) {
    const std::string line = head + std::to_string(monotonic_ns()) + ' ' + what + '\n';
    [[maybe_unused]] const auto written = ::write(out.fd(), line.data(), line.size());
  };
  say("begin");
  const timespec tick{0, work_tick / 1ns};
  while (sigtimedwait(&stop, nullptr, &tick) != SIGTERM) say("at");
  for (const Duration told(monotonic_ns()); Duration(monotonic_ns()) < told + stop_for;) {
    ::usleep(work_tick / 1us);
    say("at");
  }
  say("end");
  return 0;
}

void WorkRecord::take(std::string_view bytes) {
  rest_.append(bytes);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
    take_line(rest_.substr(begin, end - begin));
  rest_.erase(0, begin);
}

void WorkRecord::take_line(const std::string& line) {
  std::istringstream words(line);
  pid_t process{};
  GroupNumber group;
  std::uint32_t node{};
  std::int64_t at{};
  char dot{};
  std::string what;
  words >> process >> node >> group.counter >> dot >> group.coordinator.value >> at >> what;
  if (!words) return;
  if (what == "begin") {
    last_[process] = spans_.size();
    spans_.push_back({NodeId{node}, group, Duration(at), Duration(at)});
  }
  const auto span = last_.find(process);
  if (span == last_.end()) return;
  spans_[span->second].end = Duration(at);
  spans_[span->second].over = what == "end";
}

std::optional<GroupNumber> WorkRecord::one_group(const NodeSet& nodes, Duration now) const {
  std::map<NodeId, GroupNumber> groups;
  for (const WorkSpan& span : spans_)
    if (!span.over && span.end > now - 300ms && nodes.contains(span.node))
      groups[span.node] = span.group;
  if (groups.empty() || groups.size() != nodes.size()) return std::nullopt;
  const GroupNumber group = groups.begin()->second;
  const bool one = std::all_of(groups.begin(), groups.end(),
                               [&](const auto& each) { return each.second == group; });
  return one ? std::optional(group) : std::nullopt;
}

WorkShares WorkRecord::between(Duration from, Duration to, const NodeSet& nodes) const {
  WorkShares shares;
  for (NodeId node : nodes) shares.of[node] = 0;
  // Number of spans that begin (+) or end (-) at that time.
  std::map<Duration, std::map<GroupNumber, int>> edges;
  std::map<NodeId, std::vector<GroupNumber>> worked;
  std::set<GroupNumber> begun;
  std::set<GroupNumber> twice;
  for (const WorkSpan& span : spans_) {
    if (span.begin >= to) continue;
    auto& before = worked[span.node];
    const auto found = std::find(before.begin(), before.end(), span.group);
    if (found != before.end() && found != before.end() - 1) twice.insert(span.group);
    before.push_back(span.group);
    if (span.begin >= from) begun.insert(span.group);
    const Duration begin = std::max(span.begin, from);
    const Duration end = std::min(span.end, to);
    if (end <= begin) continue;
    ++edges[begin][span.group];
    --edges[end][span.group];
    if (nodes.contains(span.node))
      shares.of[span.node] +=
          static_cast<double>((end - begin) / 1ns) / static_cast<double>((to - from) / 1ns);
  }
  shares.groups = begun.size();
  shares.groups_given_twice = twice.size();
  std::map<GroupNumber, int> at_work;
  std::optional<Duration> since;
  for (const auto& [at, changes] : edges) {
    for (const auto& [group, change] : changes)
      if ((at_work[group] += change) == 0) at_work.erase(group);
    const bool apart = at_work.size() > 1;
    if (apart && !since) since = at;
    if (apart || !since) continue;
    shares.apart += at - *since;
    shares.longest_apart = std::max(shares.longest_apart, at - *since);
    since.reset();
  }
  return shares;
}

}  // namespace muster::apps

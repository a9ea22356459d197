#include "journals.hpp"

#include <base/clock.hpp>  // of net/src

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace muster::test {

std::filesystem::path journal_of(const std::filesystem::path& directory, NodeId node) {
  return directory / ("n" + std::to_string(node.value) + ".jsonl");
}

Journals::Journals(std::filesystem::path directory, Bell& bell)
    : directory_(std::move(directory)), bell_(bell) {
  watch_ = ::inotify_init1(IN_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  if (watch_ < 0 || wake_ < 0 ||
      ::inotify_add_watch(watch_, directory_.c_str(), IN_MODIFY | IN_CREATE) < 0)
    throw std::runtime_error("cannot watch " + directory_.string());
  thread_ = std::thread([this] { follow(); });
}

Journals::~Journals() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
  thread_.join();
  ::close(watch_);
  ::close(wake_);
}

void Journals::follow() {
  while (true) {
    pollfd ready[] = {{watch_, POLLIN, 0}, {wake_, POLLIN, 0}};
    ::poll(ready, 2, -1);
    if (ready[1].revents != 0) return;
    char events[4096];
    [[maybe_unused]] const ssize_t size = ::read(watch_, events, sizeof events);
    read_all();
  }
}

void Journals::read_all() {
  {
    const std::lock_guard lock(mutex_);
    read_locked();
  }
  bell_.ring();
}

// Reads the segments of a node in the order in which they were written.
void Journals::read_locked() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    if (entry.path().filename().string().find(".jsonl") != std::string::npos)
      found.push_back(entry.path());
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    const auto size = [](const std::filesystem::path& path) { return path.string().size(); };
    return size(a) != size(b) ? size(a) < size(b) : a < b;
  });
  for (const auto& path : found) read_file(path, files_[path]);
}

void Journals::read_file(const std::filesystem::path& path, File& file) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(file.read));
  const std::string fresh{std::istreambuf_iterator<char>(in), {}};
  file.read += fresh.size();
  file.rest += fresh;
  std::size_t begin = 0;
  for (std::size_t end; (end = file.rest.find('\n', begin)) != std::string::npos; begin = end + 1)
    take(std::string_view(file.rest).substr(begin, end - begin));
  file.rest.erase(0, begin);
}

std::optional<Writer> writer_of(const journal::Line& line) {
  return std::visit(
      [](const auto& kind) -> std::optional<Writer> {
        using Kind = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, journal::Fault> ||
                      std::is_same_v<Kind, journal::Finding>)
          return std::nullopt;
        else if constexpr (std::is_same_v<Kind, journal::Header>)
          return Writer{kind.node, kind.incarnation};
        else
          return Writer{kind.stamp.node, kind.stamp.incarnation};
      },
      line);
}

void Journals::take(std::string_view text) {
  auto line = journal::parse_line(text);
  const auto writer = line ? writer_of(*line) : std::nullopt;
  if (!writer) {
    unreadable_.emplace_back(text);
    return;
  }
  Node& node = nodes_[writer->node];
  if (node.life != writer->life) node.view.reset();
  node.life = writer->life;
  if (const auto* step = std::get_if<journal::Step>(&*line)) node.view = step->view;
  if (std::holds_alternative<journal::Ended>(*line)) node.view.reset();
  node.lines.push_back(std::move(*line));
}

void Journals::note(journal::FaultKind kind, NodeId node, std::optional<NodeSet> from) {
  const std::lock_guard lock(mutex_);
  faults_.emplace_back(journal::Fault{net::monotonic_now(), kind, node, std::move(from)});
  if (kind == journal::FaultKind::killed) nodes_[node].view.reset();
}

std::vector<journal::Line> Journals::lines(NodeId node, std::size_t from) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  return {found->second.lines.begin() + static_cast<std::ptrdiff_t>(from),
          found->second.lines.end()};
}

std::size_t Journals::count(NodeId node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? 0 : found->second.lines.size();
}

NodeSet Journals::nodes() const {
  const std::lock_guard lock(mutex_);
  NodeSet nodes;
  for (const auto& [id, node] : nodes_) nodes.insert(id);
  return nodes;
}

std::vector<std::string> Journals::unreadable() const {
  const std::lock_guard lock(mutex_);
  return unreadable_;
}

std::vector<journal::Line> Journals::merged() const {
  const std::lock_guard lock(mutex_);
  std::multimap<Duration, const journal::Line*> by_time;  // equal times keep their order
  for (const journal::Line& line : faults_) by_time.emplace(journal::time_of(line), &line);
  for (const auto& [id, node] : nodes_)
    for (const journal::Line& line : node.lines) by_time.emplace(journal::time_of(line), &line);
  std::vector<journal::Line> merged;
  for (const auto& [time, line] : by_time) merged.push_back(*line);
  return merged;
}

std::optional<View> Journals::view(NodeId node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::nullopt : found->second.view;
}

Incarnation Journals::life(NodeId node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? Incarnation{} : found->second.life;
}

}  // namespace muster::test

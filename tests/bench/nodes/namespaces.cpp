#include "bench/nodes/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace muster::apps {
namespace {

constexpr std::uint16_t port = 7100;

std::string address_of(NodeId node) {
  return "10.99.0." + std::to_string(node.value);
}

/// The name of the bridge's end of a host's cable.
std::string cable(NodeId node) {
  return "muster" + std::to_string(node.value);
}

Failure no_namespaces(const std::string& what) {
  return {ExitCode::temporary, "network namespaces cannot be made here: " + what +
                                   "; rows and faults that need no network still run"};
}

/// Runs a program to its end. `network` is the network namespace to run it in; -1 is the namespace
/// of this process.
Expected<> run(const std::vector<std::string>& words, int network = -1) {
  ProcessOptions options;
  options.program = "/usr/bin/env";
  options.arguments = words;
  options.output = "/dev/null";
  options.network = network;
  auto process = Process::launch(options);
  if (!process) return process.error();
  const int status = process->wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  std::string line;
  for (const std::string& word : words) line += word + " ";
  return no_namespaces("'" + line + "' " + describe_end(status));
}

/// Runs a line of words that are separated by single blanks.
Expected<> run(const std::string& line, int network) {
  std::vector<std::string> all;
  std::size_t begin = 0;
  while (begin < line.size()) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    all.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return run(all, network);
}

Expected<> ip(const std::string& words, int network = -1) {
  return run("ip " + words, network);
}

bool write_process_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace

Expected<> enter_own_namespaces() {
  const std::string user = std::to_string(::getuid());
  const std::string group = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) != 0)
    return no_namespaces(std::string("unshare: ") + std::strerror(errno));
  if (!write_process_file("/proc/self/setgroups", "deny") ||
      !write_process_file("/proc/self/uid_map", "0 " + user + " 1") ||
      !write_process_file("/proc/self/gid_map", "0 " + group + " 1"))
    return no_namespaces("the user map cannot be written");
  return ip("link set lo up");
}

Expected<std::unique_ptr<Hosts>> Hosts::make(std::size_t count) {
  auto hosts = std::make_unique<Hosts>();
  for (const char* words : {"link add bridge0 type bridge", "link set bridge0 up"})
    if (const Expected<> made = ip(words); !made) return made.error();
  for (std::uint32_t i = 1; i <= count; ++i) {
    const NodeId node{i};
    ProcessOptions options;
    options.program = "/usr/bin/env";
    options.arguments = {"unshare", "--net", "sleep", "infinity"};
    options.output = "/dev/null";
    auto holder = Process::launch(options);
    if (!holder) return holder.error();
    const std::string pid = std::to_string(holder->pid());
    const std::string path = "/proc/" + pid + "/ns/net";
    // After its launch the holder needs a moment until it has a network namespace of its own.
    std::error_code error;
    const auto ours = std::filesystem::read_symlink("/proc/self/ns/net", error);
    while (std::filesystem::read_symlink(path, error) == ours && !error) ::sched_yield();
    Descriptor network(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!network) return no_namespaces(path + ": " + std::strerror(errno));
    const int inside = network.fd();
    const std::string end = cable(node);
    for (const Expected<>& made :
         {ip("link add " + end + " type veth peer name eth0 netns " + pid),
          ip("link set " + end + " master bridge0 up"), ip("link set lo up", inside),
          ip("addr add " + address_of(node) + "/24 dev eth0", inside),
          ip("link set eth0 up", inside)})
      if (!made) return made.error();
    hosts->hosts_.emplace(node, Host{std::move(*holder), std::move(network)});
  }
  return hosts;
}

std::map<NodeId, Address> Hosts::addresses() const {
  std::map<NodeId, Address> addresses;
  for (const auto& [node, host] : hosts_) addresses[node] = {address_of(node), port};
  return addresses;
}

std::map<NodeId, int> Hosts::networks() const {
  std::map<NodeId, int> networks;
  for (const auto& [node, host] : hosts_) networks[node] = host.network.fd();
  return networks;
}

// The cable is detached from the bridge. Both ends of the cable stay up, so neither host notices
// the cut.
Expected<> Hosts::cut(NodeId node) {
  return ip("link set " + cable(node) + " nomaster");
}

Expected<> Hosts::heal(NodeId node) {
  return ip("link set " + cable(node) + " master bridge0");
}

Expected<> Hosts::lose(NodeId at, NodeId from, unsigned percent) {
  const std::string chance =
      percent < 100 ? "numgen random mod 100 < " + std::to_string(percent) + " " : "";
  for (const std::string& words :
       {std::string("add table ip muster"),
        std::string("add chain ip muster input { type filter hook input priority 0 ; }"),
        "add rule ip muster input ip saddr " + address_of(from) + " " + chance + "drop"})
    if (const Expected<> done = run("nft " + words, hosts_.at(at).network.fd()); !done) return done;
  return {};
}

Expected<> Hosts::lose_nothing(NodeId at) {
  return run("nft flush ruleset", hosts_.at(at).network.fd());
}

// Applies to both ends of the cable, one for each direction.
Expected<> Hosts::on_cable(NodeId node, const std::string& discipline) {
  if (const auto done = run("tc qdisc replace dev " + cable(node) + " root " + discipline, -1);
      !done)
    return done;
  return run("tc qdisc replace dev eth0 root " + discipline, hosts_.at(node).network.fd());
}

Expected<> Hosts::delay(NodeId node, Duration time) {
  return on_cable(node,
                  "netem delay " + std::to_string(time / std::chrono::milliseconds(1)) + "ms");
}

Expected<> Hosts::limit_rate(NodeId node, unsigned kilobits) {
  return on_cable(node, "tbf rate " + std::to_string(kilobits) + "kbit burst 1600 limit 100000");
}

}  // namespace muster::apps

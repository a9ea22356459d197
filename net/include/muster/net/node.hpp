#pragma once

#include <muster/application.hpp>
#include <muster/detail/host/wire_versions.hpp>
#include <muster/detail/net/one_boost.hpp>
#include <muster/journal/detail.hpp>
#include <muster/net/tls.hpp>
#include <muster/protocol/config.hpp>
#include <muster/protocol/view.hpp>
#include <muster/safe_storage.hpp>
#include <muster/values/failure.hpp>
#include <muster/values/log_level.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace MUSTER_EXPORT muster {
namespace net {

/// The journal of a node: its file, its size and its level of detail (docs/reference/journal.md).
struct JournalOptions {
  std::filesystem::path file;
  std::uint64_t limit = 64'000'000;  ///< bytes of a segment; the next segments are .1, .2, ...
  /// Bytes of all segments together. The oldest segments are deleted first, the present one never.
  std::uint64_t keep = 1'000'000'000;
  journal::Detail detail = journal::Detail::all;
};

/// Checks a file that is to be a journal. Returns the fault as a clause, such as "is a symbolic
/// link". Returns an empty string if the file does not exist. Also returns one for a regular file
/// of this user that has only one name and begins as a journal does.
std::string trouble_with_journal(const std::filesystem::path& file);

/// The HTTP server that shows the state and the counters of a node (docs/how-to/watching.md). It
/// only answers questions and changes nothing.
struct HttpOptions {
  std::string listen;  ///< the server's address, such as "127.0.0.1:9100"
  /// At a loopback address the server uses plain HTTP. At any other address it uses HTTPS by
  /// default, and a client needs a certificate of the cluster (`NetworkOptions::tls`). If
  /// `insecure` is true, the server uses plain HTTP for every client that can reach it.
  bool insecure = false;
};

/// The options that can be changed while a node runs (`Node::reload`).
struct Changes {
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
  std::optional<HttpOptions> http;           ///< used only if the node started with an HTTP server
  std::uint64_t journal_limit = 64'000'000;  ///< bytes, as in JournalOptions
  std::uint64_t journal_keep = 1'000'000'000;
  /// Other keys that have changed and that take effect at the next start: "cluster.T, node.listen".
  std::string at_next_start;
};

/// The addresses of the nodes, and how nodes prove their identity to each other.
struct NetworkOptions {
  /// The address at which each node of the cluster is dialled, including this one: "host:port". A
  /// name is resolved at each dial, outside the strand. If a name cannot be resolved, the log says
  /// so once, and the node of that name counts as silent until a dial resolves it.
  std::map<NodeId, std::string> addresses;
  /// The address at which this node listens, such as "0.0.0.0:7101". If this is empty, the node
  /// listens at the address at which the others dial it.
  std::string listen;
  /// Allows addresses outside this machine's loopback without `tls`. Connections are then neither
  /// encrypted nor authenticated. The only name that counts as loopback is "localhost".
  bool insecure = false;
  /// Encrypts connections, and makes each end prove its identity. Nodes with TLS and nodes without
  /// it do not speak with each other.
  std::optional<TlsOptions> tls;
  /// Whether a refused connection proves that the peer's life is over. With a refusal the peer's
  /// machine says that no process listens at the address. If `proofs` is false, only silence shows
  /// a crash, so the other nodes notice a crash as late as the protocol's timeouts. Set it to false
  /// in networks in which something else can refuse a connection, such as a firewall
  /// (docs/how-to/certificates.md).
  bool proofs = true;
  /// The wire versions that this node speaks. Two nodes use the newest version that both speak.
  /// Change the default only to test an upgrade.
  host::WireVersions wire{};
};

/// How the lives of this node follow one another. A life is one run of the process, or of the node
/// in it.
struct LifeOptions {
  /// Decides what happens if peers have seen a later life of this node than the last one in the
  /// node's store. Peers have seen a later life if the node's directory was emptied or restored
  /// from a copy. If `initialise` is true, the node starts a life that follows all lives that peers
  /// have seen. If it is false, the node ends with exit code 65.
  bool initialise = false;
  /// If a life lasted for less than 1 s, the next life waits for at least `hold_down` before it
  /// listens. The wait doubles after each further short life, up to 5 minutes. Zero: no life waits.
  Duration hold_down = std::chrono::seconds(1);
  /// For how long a coordinator suspends a member that is alive but has made the group reorganize
  /// twice within an hour. The time doubles after each further reorganization, up to sixty times
  /// this value (docs/explanation/options/calm.md). With a quorum the time is at least four times
  /// the cost of a silent loss. Zero: no node is suspended.
  ///
  /// This value replaces `config.options.calm`. It affects only the Bully with all its switches on.
  Duration calm = std::chrono::seconds(1);
};

/// The log of a node.
struct LogOptions {
  /// Lines of a less important level are left out. Each election (with its cause), each group, each
  /// refusal and each failed hook has a line. At most 10 lines about one subject are written in ten
  /// seconds. The next line then says how many were left out.
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;  ///< of the lines on standard error
  /// If set, receives each line of the log, which is a sentence. Standard error then receives none.
  /// The function is called on the protocol's strand, or on any thread when the process ends. It
  /// must neither block nor call the node.
  std::function<void(LogLevel level, const std::string& text)> line;
  /// Receives the fault that ends the process. At that moment the log already has the fault's line,
  /// and the journal does not have its last line yet. The function is called on any thread. The
  /// process ends when it returns, and at the latest T/8 after the call.
  std::function<void(const Failure& failure)> fatal;
};

/// The ways in which the owner of a node controls it while it runs.
struct AdminOptions {
  /// The path of the Unix socket that answers `muster status`, at most 107 bytes. If it is empty,
  /// there is no socket.
  std::filesystem::path socket;
  /// Called when the node has to reload its configuration. Reads the owner's configuration again
  /// and returns the changes, or the fault in the configuration. The function is called on the
  /// protocol's strand. It must neither block nor call the node.
  std::function<Expected<Changes>()> read_again;
};

/// The largest sizes that the application is allowed to use, in bytes. A larger value is refused,
/// never cut.
struct SizeLimits {
  std::size_t report = 32 * 1024;      ///< at most 60 KiB, as one letter carries the report
  std::size_t definition = 32 * 1024;  ///< at most 60 KiB too
  /// A question of a coordinator to a member, or the answer to it. Questions and answers are sent
  /// in pieces.
  std::size_t answer = 16 * 1024 * 1024;
};

/// The options of a node. `Node::start` checks all options, and its failure names the option at
/// fault.
///
///     muster::net::NodeOptions options{};
///     options.config.self = {1};
///     for (std::uint32_t i = 1; i <= 3; ++i) {
///       options.config.nodes.insert({i});
///       options.network.addresses[{i}] = "127.0.0.1:" + std::to_string(7100 + i);
///     }
struct NodeOptions {
  ProtocolConfig config;
  /// The settings that must be equal on every node, as canonical text: `key=value` lines. Nodes
  /// with different texts refuse each other and name the keys that differ. If the text is empty, it
  /// is made from `config` (muster/protocol/cluster_text.hpp). To add keys of your own, append them
  /// to the lines that are made from `config`.
  std::string cluster;
  NetworkOptions network;
  LifeOptions lives;
  SizeLimits limits;
  std::optional<JournalOptions> journal;  ///< none: no journal is written
  LogOptions log;
  AdminOptions admin;
  std::optional<HttpOptions> http;  ///< none: there is no HTTP server
};

/// One node of a cluster, as an object in a process. It performs the protocol's actions on sockets,
/// timers, safe storage and hooks, and gives events back to the protocol. The node itself decides
/// nothing.
///
///     boost::asio::io_context context;
///     boost::asio::thread_pool hooks(2);
///     const muster::storage::Identity identity{"demo", options.config.self};
///     auto store = muster::net::value_or_exit(
///         muster::storage::SqliteStorage::open("node-1", identity));
///     muster::net::Node node(context, options, std::move(store), make_my_application,
///                            hooks.get_executor());
///     muster::net::value_or_exit(node.start());
///     context.run();
///
/// Threads: the protocol runs on one strand of `context`. Commits to safe storage run on a thread
/// of their own, and so do the lines of the journal. Hooks run on the user's executor. `leave`,
/// `reload`, `status_json` and `view` may be called from any thread.
///
/// Errors: `start` returns the failures of a start. After that, a fault that the process cannot
/// survive ends the process (assumption 5). The log then has a line with the fault, the journal has
/// an `ended` line, and the exit code is one of muster/values/failure.hpp. An exception that leaves
/// a handler of the node ends the process in the same way, with exit code 70.
class Node {
 public:
  /// `storage` is an open and locked store; the node becomes its owner.
  ///
  /// `make_application` makes the application of each life. It is called on `hooks`. If it throws
  /// or returns null, the process ends with exit code 76 and a sentence that says so.
  ///
  /// `hooks` is the executor on which hooks run, one at a time with everything that the application
  /// posts. The executor has to belong to another context than `context`, because a hook can block
  /// until the protocol has done something. `start` refuses an executor of `context`.
  ///
  /// `context` has to outlive this object, and also the work that is still on `hooks` when this
  /// object is destroyed. So declare `context` before the threads that run the hooks.
  Node(boost::asio::io_context& context, NodeOptions options, std::unique_ptr<SafeStorage> storage,
       MakeApplication make_application, boost::asio::any_io_executor hooks);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// Closes everything at once, without leaving in order. Call it when `context` no longer runs.
  ~Node();

  /// Begins the node's life. Call it once. Durably raises the incarnation, listens, and recovers.
  /// Calls `listens` when the node listens.
  ///
  /// Fails, with a sentence to print, if the options do not fit, if the address or the admin socket
  /// cannot be used, or if the store cannot be read.
  ///
  /// If the life is held down (`LifeOptions::hold_down`), standard error says so. `start` then
  /// reads the store and opens the admin socket, and does everything else later. A failure in that
  /// later part ends the process.
  Expected<> start(std::function<void()> listens = {});

  /// Leaves in order: stops the application, closes the sessions and then the listener, and then
  /// calls `left` on the strand. May be called from any thread.
  void leave(std::function<void()> left);

  /// Applies the changes that `admin.read_again` returns, and reads the files of `network.tls`
  /// again. Connections that the new certificates affect are dialled again; no election follows. If
  /// something does not fit, the log says so, and the node keeps what it had. May be called from
  /// any thread. A node also looks at its TLS files by itself, once a second.
  void reload();

  /// The node's state after its last step, as `muster status --json` shows it. May be called from
  /// any thread.
  [[nodiscard]] std::string status_json() const;

  /// The view of the protocol from which that status is made. May be called from any thread.
  [[nodiscard]] View view() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace net
}  // namespace muster

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

/// Where a node writes its journal (docs/journal.md).
struct JournalOptions {
  std::filesystem::path file;
  std::uint64_t limit = 64'000'000;  ///< bytes of a segment; then a new one (.1, .2, ...) begins
  /// Bytes of all segments together: the oldest are deleted, never the present one.
  std::uint64_t keep = 1'000'000'000;
  journal::Detail detail = journal::Detail::all;
};

/// What is wrong with a file that is to be a journal, as a clause: "is a symbolic link". Empty
/// where it is not there, or is a regular file of this user's, of one name, that begins as a
/// journal does.
std::string trouble_with_journal(const std::filesystem::path& file);

/// Where a node tells by HTTP what it is and has counted (docs/watching.md). Nobody changes
/// anything there.
struct HttpOptions {
  std::string listen;  ///< such as "127.0.0.1:9100"
  /// Beyond this machine's loopback it is HTTPS, and who asks needs a certificate of the cluster
  /// (`NetworkOptions::tls`); with this it is plain HTTP for whoever can reach it.
  bool insecure = false;
};

/// What may change while a node runs (`Node::reload`).
struct Changes {
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
  std::optional<HttpOptions> http;           ///< heeded where the node began with one
  std::uint64_t journal_limit = 64'000'000;  ///< as in JournalOptions
  std::uint64_t journal_keep = 1'000'000'000;
  /// Keys that have changed too and count from the next start on: "cluster.T, node.listen".
  std::string at_next_start;
};

/// The addresses of the nodes, and the proofs that they ask of each other.
struct NetworkOptions {
  /// Where each node of the cluster is dialled, this one included: "host:port". A name is resolved
  /// each time, off the strand; one that cannot be is told once, and that node is silent meanwhile.
  std::map<NodeId, std::string> addresses;
  /// Where this one listens, such as "0.0.0.0:7101"; empty: where it is dialled.
  std::string listen;
  /// Allows addresses that are not of this machine's loopback without `tls`, though connections are
  /// neither encrypted nor authenticated then. Of names only "localhost" counts as loopback.
  bool insecure = false;
  /// By what connections are encrypted, and each end proves who it is. Without it they are neither:
  /// such nodes and those with it do not speak with each other.
  std::optional<TlsOptions> tls;
  /// Whether it proves that a life is over when its machine says that nobody listens there. Without
  /// that only silence tells, and each loss costs its bounds: for networks in which something else
  /// may say so (docs/certificates.md).
  bool proofs = true;
  /// The wire versions that it speaks: with each other node, the newest of both. Those of this
  /// build; a test of an upgrade says others.
  host::WireVersions wire{};
};

/// How its lives follow one another.
struct LifeOptions {
  /// Peers have seen a later life of this node than its store knows (a wiped or restored
  /// directory): go on as a life after those. Without it such a node ends with exit code 65.
  bool initialise = false;
  /// The shortest wait of a life whose predecessor lasted for less than 1 s, before it listens: it
  /// doubles with each such life, up to 5 minutes. Zero: none waits.
  Duration hold_down = std::chrono::seconds(1);
  /// How long a node is held that makes its group reorganize for the second time within an hour,
  /// though it lives: doubled with each time more, up to sixty times that (docs/options/calm.md);
  /// with a quorum four times what a silent loss costs, where that is more. Zero: none is held.
  /// Takes the place of `config.options.calm`; of the Bully with every switch alone.
  Duration calm = std::chrono::seconds(1);
};

/// The log of a node.
struct LogOptions {
  /// Lines of the log that matter less are not told. Each election and its cause, each group, each
  /// refusal and each hook that failed has one; of one matter 10 in ten seconds at most, and the
  /// next one says how many were left out.
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;  ///< of the lines on standard error
  /// Is given each line of the log, a sentence, and standard error is not. On the protocol's
  /// strand, or, when the process ends, on any thread: it may not wait, nor call the node.
  std::function<void(LogLevel level, const std::string& text)> line;
  /// Is given the fault that ends the process, after its line in the log and before the last of the
  /// journal. On any thread; the process ends when it returns, and at any rate T/8 later.
  std::function<void(const Failure& failure)> fatal;
};

/// The ways in which the owner of a node controls it while it runs.
struct AdminOptions {
  /// The Unix socket that answers `muster status`; none where empty. At most 107 bytes.
  std::filesystem::path socket;
  /// Gives what its owner has written since, or what is wrong with that, when the node is to read
  /// it again. On the protocol's strand: it may not wait, nor call the node.
  std::function<Expected<Changes>()> read_again;
};

/// The most bytes that the application may give. A larger value is refused, never cut.
struct SizeLimits {
  std::size_t report = 32 * 1024;      ///< at most 60 KiB: a letter has to carry it
  std::size_t definition = 32 * 1024;  ///< the same
  /// A question of a coordinator to a member, or its answer. They travel in pieces.
  std::size_t answer = 16 * 1024 * 1024;
};

/// The options of a node.
struct NodeOptions {
  ProtocolConfig config;
  /// The canonical text of what must be the same on every node: `key=value` lines. Nodes that
  /// differ refuse each other and name the keys. If it is empty, it is made of `config`
  /// (muster/protocol/cluster_text.hpp); to add to that, begin with its lines.
  std::string cluster;
  NetworkOptions network;
  LifeOptions lives;
  SizeLimits limits;
  std::optional<JournalOptions> journal;  ///< none: it writes none
  LogOptions log;
  AdminOptions admin;
  std::optional<HttpOptions> http;  ///< none: it tells nothing by HTTP
};

/// The host of one node: performs the protocol's actions and feeds it events, and decides nothing.
///
/// Everything of the protocol runs on one strand of `context`, saves on a thread of their own,
/// hooks on the user's executor. By assumption 5 a fault that this process cannot survive ends it:
/// one line in the log, an `ended` line in the journal, and the exit codes of failure.hpp.
class Node {
 public:
  /// `storage` is open and locked. Hooks, and what the application posts, run one at a time on
  /// `hooks`, an executor of another context: one of `context` itself is refused by `start`, for a
  /// hook may wait for what the protocol does. `context` outlives this, and what waits on `hooks`
  /// after it: declare it before the threads that run the hooks. `make_application` is called on
  /// `hooks`; where it throws or gives none the process ends with that sentence (exit code 76).
  Node(boost::asio::io_context& context, NodeOptions options, std::unique_ptr<SafeStorage> storage,
       MakeApplication make_application, boost::asio::any_io_executor hooks);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// Closes everything at once, without leaving in order. To be called when `context` no longer
  /// runs.
  ~Node();

  /// Begins a life, once: raises the incarnation durably, listens, and recovers. Fails with the
  /// sentence to print when the options do not fit, the address or the admin socket cannot be had,
  /// or the store cannot be read. Where the life is held down that is said on standard error, and
  /// all but the reading and the admin socket comes later; then a failure ends the process.
  /// `listens` is called when it does.
  Expected<> start(std::function<void()> listens = {});

  /// Leaves in order: the application is stopped, then sessions and listener close, then `left` is
  /// called on the strand. From any thread.
  void leave(std::function<void()> left);

  /// Heeds what `admin.read_again` gives, and reads the files of `network.tls` anew: whom
  /// connections stand with is dialled anew, and nobody elects. Where something does not fit, that
  /// is in the log, and what was read before stays. From any thread. Nodes look at the files by
  /// themselves once a second.
  void reload();

  /// The node's state as of the last step, as `muster status --json` shows it. From any thread.
  [[nodiscard]] std::string status_json() const;

  /// The view behind it. From any thread.
  [[nodiscard]] View view() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace net
}  // namespace muster

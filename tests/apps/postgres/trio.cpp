#include "apps/postgres/trio.hpp"

#include "apps/base/user.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/marker.hpp"

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace muster::postgres::tests {
namespace {

namespace fs = std::filesystem;

/// Runs the tests as another user than root, because PostgreSQL refuses to run as root.
struct AsPostgres {
  inline static const bool keeps = std::getenv("MUSTER_KEEP") != nullptr;  // of root's environment
  AsPostgres() {
    if (::geteuid() != 0) return;
    const auto user = apps::user_named("postgres");
    if (!user) throw std::runtime_error(user.error().what);
    if (const auto became = apps::become(*user); !became)
      throw std::runtime_error(became.error().what);
  }
};
BOOST_TEST_GLOBAL_FIXTURE(AsPostgres);

/// Makes a directory for one test, in memory if possible. A killed server makes all of its files
/// durable when it starts, which takes seconds if the files were just copied to a disk.
fs::path new_directory() {
  const bool in_memory = ::access("/dev/shm", W_OK) == 0;
  std::string name = std::string(in_memory ? "/dev/shm" : "/tmp") + "/muster-postgres-XXXXXX";
  BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
  return name;
}

std::map<NodeId, Address> free_addresses(unsigned nodes) {
  std::map<NodeId, Address> addresses;
  std::vector<apps::Descriptor> held;
  for (unsigned id = 1; id <= nodes; ++id) {
    held.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    BOOST_REQUIRE_EQUAL(::bind(held.back().fd(), generic, size), 0);
    BOOST_REQUIRE_EQUAL(::getsockname(held.back().fd(), generic, &size), 0);
    addresses[{id}] = {"127.0.0.1", ntohs(address.sin_port)};
  }
  return addresses;
}

void run_until(boost::asio::io_context& io, const std::function<bool()>& is_over, Duration bound) {
  const auto end = std::chrono::steady_clock::now() + bound;
  while (!is_over()) {
    BOOST_REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, "nothing happens any more");
    if (io.stopped()) io.restart();
    io.run_one_for(10ms);
  }
}

void copy_tree(const fs::path& from, const fs::path& to) {
  fs::copy(from, to, fs::copy_options::recursive);
  fs::permissions(to, fs::perms::owner_all);
}

/// The directory for databases of this build. This directory is not in the build directory, because
/// the user of the tests may be unable to enter that one.
fs::path databases() {
  const fs::path all =
      fs::temp_directory_path() / ("muster-databases-" + std::to_string(::geteuid()) + "-" +
                                   std::to_string(std::hash<std::string>()(MUSTER_DATABASES)));
  ::mkdir(all.c_str(), S_IRWXU);
  struct stat found {};
  BOOST_REQUIRE_EQUAL(::lstat(all.c_str(), &found), 0);
  BOOST_REQUIRE_MESSAGE(S_ISDIR(found.st_mode) && found.st_uid == ::geteuid(),
                        all << " belongs to another user: remove it");
  return all;
}

/// A new database that has never run. The database is made once for all tests, since making one
/// takes a second.
fs::path database(unsigned segment_megabytes) {
  const fs::path made = databases() / ("created-" + std::to_string(segment_megabytes));
  const apps::Descriptor lock(
      ::open((made.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  BOOST_REQUIRE_EQUAL(::flock(lock.fd(), LOCK_EX), 0);
  if (fs::exists(made)) return made;
  InstanceOptions options;
  options.node = n1;
  options.segment_megabytes = segment_megabytes;
  const fs::path root = new_directory();
  options.data = root / "data";
  boost::asio::io_context io;
  std::optional<Expected<>> outcome;
  const Creation creation(io.get_executor(), options,
                          [&](const Expected<>& created) { outcome = created; });
  run_until(
      io, [&] { return outcome.has_value(); }, 60s);
  BOOST_REQUIRE_MESSAGE(*outcome, outcome->error().what);
  fs::remove_all(made.string() + ".part");
  copy_tree(options.data, made.string() + ".part");
  fs::rename(made.string() + ".part", made);
  fs::remove_all(root);
  return made;
}

}  // namespace

boost::test_tools::assertion_result postgres_is_here(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result here(fs::exists(InstanceOptions().programs / "postgres"));
  here.message() << "PostgreSQL 15 not found";
  return here;
}

Client::Client(boost::asio::io_context& io, Session::Parameters parameters)
    : io_(io), parameters_(std::move(parameters)) {}

void Client::put(const std::string& statement) {
  outcome.reset();
  const auto take = [this](auto answer) { outcome.emplace(std::move(answer)); };
  if (session_ && session_->idle()) return session_->ask(statement, {}, std::nullopt, take);
  session_.reset();
  session_.emplace(io_.get_executor(), parameters_);
  session_->connect(10s, [this, statement, take](auto connected) {
    if (!connected) return take(SqlExpected<Answer>(connected.error()));
    session_->ask(statement, {}, std::nullopt, take);
  });
}

SqlExpected<Answer> Client::ask(const std::string& statement) {
  put(statement);
  run_until(
      io_, [this] { return outcome.has_value(); }, 60s);
  return *outcome;
}

std::string Client::value(const std::string& statement) {
  const auto answer = ask(statement);
  BOOST_REQUIRE_MESSAGE(answer, statement << ": " << answer.error().what);
  return answer->rows.empty() ? "" : text_in(answer->rows[0], 0);
}

Trio::Trio(unsigned nodes, std::map<std::string, std::string> settings, unsigned segment_megabytes,
           NodeSet witnesses)
    : addresses_(free_addresses(nodes)),
      settings_(std::move(settings)),
      witnesses_(std::move(witnesses)) {
  const fs::path whole = database(segment_megabytes);
  root_ = new_directory();
  BOOST_REQUIRE(write_durably(root_ / "marker.key", new_marker_key()));
  for (const auto& [id, address] : addresses_) {
    fs::create_directory(options(id).sockets);
    copy_tree(whole, options(id).data);
    BOOST_REQUIRE(write_known_terms(
        options(id), {*system_identifier_in(whole), true, {first_marker(options(n1), 1)}}));
    renew(id);
  }
}

Trio::~Trio() {
  instances_.clear();
  if (!AsPostgres::keeps) fs::remove_all(root_);
}

InstanceOptions Trio::options(NodeId node) const {
  InstanceOptions options;
  options.sockets = root_ / name_of(node);
  options.data = options.sockets / "data";
  options.node = node;
  options.nodes = addresses_;
  options.witnesses = witnesses_;
  options.longest_standstill = std::chrono::seconds(3);
  options.settings = settings_;
  options.cluster = "trio";
  const auto keys = MarkerKeys::read(root_ / "marker.key");
  BOOST_REQUIRE(keys);
  options.marker_keys = *keys;
  // Autovacuum is off: it starts by itself, and would disturb the tests.
  options.settings.try_emplace("autovacuum", "off");
  return options;
}

void Trio::renew(NodeId node) {
  instances_.erase(node);
  instances_[node] = std::make_unique<Instance>(
      io.get_executor(), options(node),
      [this, node](const KeeperEvent& event) {
        deaths[node].push_back(std::get<Died>(event.what).why);
      },
      [this, node](const std::string& sentence) { told[node] += sentence + "\n"; });
}

AnyEvent Trio::perform(NodeId node, What what) {
  std::optional<AnyEvent> result;
  const Round round{++round_};
  (*this)[node].perform({round, std::move(what)}, [&](const KeeperEvent& event) {
    BOOST_REQUIRE(event.round == round);
    result = event.what;
  });
  run_until([&] { return result.has_value(); });
  return *result;
}

void Trio::require(const AnyEvent& result, bool as_expected) {
  std::string what = std::visit([](const auto& each) { return muster::to_text(each); }, result);
  BOOST_REQUIRE_MESSAGE(as_expected, "ended with " << what);
}

void Trio::run_until(const std::function<bool()>& is_over, Duration bound) {
  tests::run_until(io, is_over, bound);
}

Session::Parameters Trio::of_client(NodeId node) const {
  return {{"host", options(node).sockets.string()},
          {"port", std::to_string(addresses_.at(node).port)},
          {"user", "postgres"},
          {"dbname", "postgres"},
          {"gssencmode", "disable"}};
}

Lsn Trio::lead(NodeId node, GroupNumber group) {
  expect<Promoted>(node, Promote{});
  return expect<MarkerWritten>(node, WriteMarker{group}).end;
}

void Trio::follow(NodeId node, NodeId primary, GroupNumber group) {
  expect<Configured>(node, Configure{{false, primary, true, group}});
}

void Trio::open(NodeId node, Lsn row) {
  expect<CopiesHold>(node, AwaitCopies{row});
  unseal(node);
}

void Trio::unseal(NodeId node) {
  expect<Configured>(node, Configure{{true, {}, false, {}}});
  expect<ConfShown>(node, ShowConf{});
}

Holding Trio::stop(NodeId node, bool primary) {
  expect<Configured>(node, Configure{});
  if (primary)
    expect<GateClosed>(node, CloseGate{});
  else
    expect<Replayed>(node, FinishReplay{});
  return expect<Seen>(node, Look{}).holding;
}

void Trio::begin_group(NodeId primary, GroupNumber group) {
  for (const auto& [node, address] : addresses_) {
    expect<Began>(node, Begin{});
    expect<Seen>(node, Look{});
  }
  const Lsn row = lead(primary, group);
  for (const auto& [node, address] : addresses_) {
    if (node == primary) continue;
    follow(node, primary, group);
    expect<MarkerHeld>(node, AwaitMarker{group, primary});
  }
  open(primary, row);
}

void Trio::let_catch_up(NodeId primary) {
  Client at = client(primary);
  const std::string end = at.value("SELECT pg_current_wal_flush_lsn()");
  const std::string those = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= ";
  run_until([&] { return at.value(those + "'" + end + "'") == "2"; });
}

void Trio::make_table(NodeId primary) {
  BOOST_REQUIRE(client(primary).ask("CREATE TABLE written (number bigint)"));
}

Writer::Writer(Trio& trio, NodeId node, std::uint64_t first)
    : session_(trio.io.get_executor(), trio.of_client(node)), next_(first) {
  session_.connect(10s, [this](auto connected) {
    if (!connected) {
      over_ = true;
      return;
    }
    session_.ask("SET default_transaction_read_only = off", {}, {},
                 [this](const auto&) { write(); });
  });
}

void Writer::write() {
  session_.ask("INSERT INTO written VALUES ($1)", {std::to_string(next_)}, {}, [this](auto answer) {
    // A warning means that the wait for copies was cancelled, so that commit does not count as
    // acknowledged.
    if (answer && answer->notices.empty()) acknowledged_.insert(next_);
    over_ = !answer;
    if (over_) return;
    ++next_;
    write();
  });
}

std::set<std::uint64_t> Writers::numbers() const {
  std::set<std::uint64_t> numbers;
  for (const auto& writer : all_)
    numbers.insert(writer->acknowledged().begin(), writer->acknowledged().end());
  return numbers;
}

std::size_t Writers::acknowledged() const {
  std::size_t count = 0;
  for (const auto& writer : all_) count += writer->acknowledged().size();
  return count;
}

bool Writers::any_over() const {
  return std::any_of(all_.begin(), all_.end(), [](const auto& writer) { return writer->over(); });
}

std::set<std::uint64_t> written_at(Trio& trio, NodeId node) {
  std::set<std::uint64_t> numbers;
  Client client = trio.client(node);
  const auto answer = client.ask("SELECT number FROM written");
  BOOST_REQUIRE_MESSAGE(answer, answer.error().what);
  for (const Row& row : answer->rows) numbers.insert(number_in(row, 0));
  return numbers;
}

}  // namespace muster::postgres::tests

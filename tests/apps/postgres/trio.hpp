#pragma once

#include "apps/postgres/perform/instance.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

/// Three real PostgreSQL servers on this machine, which perform orders step by step.

namespace muster::postgres::tests {

using namespace std::chrono_literals;

inline constexpr NodeId n1{1}, n2{2}, n3{3};

/// Skips a case, with a message, if PostgreSQL 15 is not installed.
boost::test_tools::assertion_result postgres_is_here(boost::unit_test::test_unit_id);
inline const boost::unit_test::precondition on_postgres(postgres_is_here);

/// A client of the test's own, which runs the event loop while it waits.
class Client {
 public:
  Client(boost::asio::io_context& io, Session::Parameters parameters);

  /// Sends a statement. Connects first if necessary.
  SqlExpected<Answer> ask(const std::string& statement);
  /// Sends a statement and does not wait. The result appears in `outcome`.
  void put(const std::string& statement);
  std::optional<SqlExpected<Answer>> outcome;
  /// The first column of the first row.
  std::string value(const std::string& statement);

 private:
  boost::asio::io_context& io_;
  Session::Parameters parameters_;
  std::optional<Session> session_;
};

class Trio {
 public:
  /// Three copies of one database, none of them running. Each server gets `settings` on its command
  /// line.
  explicit Trio(unsigned nodes = 3, std::map<std::string, std::string> settings = {},
                unsigned segment_megabytes = 1, NodeSet witnesses = {});
  ~Trio();

  boost::asio::io_context io;

  Instance& operator[](NodeId node) { return *instances_.at(node); }
  [[nodiscard]] InstanceOptions options(NodeId node) const;
  /// Ends the present life of the node, with its PostgreSQL, and starts another life.
  void renew(NodeId node);

  /// Performs an order to its end.
  AnyEvent perform(NodeId node, What what);
  /// Performs an order that should end with an event of type `Outcome`.
  template <class Outcome>
  Outcome expect(NodeId node, What what) {
    const AnyEvent result = perform(node, std::move(what));
    require(result, std::holds_alternative<Outcome>(result));
    return std::get<Outcome>(result);
  }
  /// Performs an order that should fail. Returns the reason of the failure.
  std::string expect_failure(NodeId node, What what) { return expect<Failed>(node, what).why; }

  void run_until(const std::function<bool()>& is_over, Duration bound = 60s);

  /// Makes an ordinary client of that node, over the node's socket and without Muster's settings.
  Client client(NodeId node) { return {io, of_client(node)}; }
  [[nodiscard]] Session::Parameters of_client(NodeId node) const;

  // --- Steps of a group
  /// Promotes the node and writes its row. Returns the position where the row ends.
  Lsn lead(NodeId node, GroupNumber group);
  void follow(NodeId node, NodeId primary, GroupNumber group = {});
  void open(NodeId node, Lsn row);  ///< waits until the row has copies, then does as unseal()
  void unseal(NodeId node);         ///< makes a primary writable by default
  Holding stop(NodeId node, bool primary);
  /// Starts all servers, makes `primary` the open primary, and makes the others its standbys.
  void begin_group(NodeId primary, GroupNumber group);

  /// Waits until both other nodes have all that the primary has committed so far.
  void let_catch_up(NodeId primary);

  /// Makes the table `written`, to which each writer writes.
  void make_table(NodeId primary);

  /// For each node: the reasons why its server ended without an order.
  std::map<NodeId, std::vector<std::string>> deaths;
  /// For each node: the sentences for its log.
  std::map<NodeId, std::string> told;

 private:
  static void require(const AnyEvent& result, bool as_expected);

  std::filesystem::path root_;
  std::map<NodeId, Address> addresses_;
  std::map<std::string, std::string> settings_;
  NodeSet witnesses_;
  std::map<NodeId, std::unique_ptr<Instance>> instances_;
  std::uint64_t round_ = 0;
};

/// Inserts numbers one after the other, and records which of them were acknowledged.
class Writer {
 public:
  /// Writes to the table `written`, from the number `first` on.
  Writer(Trio& trio, NodeId node, std::uint64_t first);

  [[nodiscard]] const std::set<std::uint64_t>& acknowledged() const { return acknowledged_; }
  /// True if the session of the writer has ended.
  [[nodiscard]] bool over() const { return over_; }

 private:
  void write();

  Session session_;
  std::uint64_t next_;
  std::set<std::uint64_t> acknowledged_;
  bool over_ = false;
};

/// Four writers at one primary.
class Writers {
 public:
  Writers(Trio& trio, NodeId node) {
    for (std::uint64_t i = 0; i < 4; ++i)
      all_.push_back(std::make_unique<Writer>(trio, node, i * 100'000'000));
  }
  [[nodiscard]] std::set<std::uint64_t> numbers() const;  ///< the acknowledged numbers
  [[nodiscard]] std::size_t acknowledged() const;
  [[nodiscard]] bool any_over() const;

 private:
  std::vector<std::unique_ptr<Writer>> all_;
};

/// The numbers in the table `written` of that node.
std::set<std::uint64_t> written_at(Trio& trio, NodeId node);

// --- States from which cases start

/// No server runs.
struct Down {
  Trio trio;
};
/// The first node is the primary, and the other nodes follow it.
struct Led : Down {
  Led() { trio.begin_group(n1, {1, n3}); }
};
struct WithTable : Led {
  WithTable() { trio.make_table(n1); }
};

}  // namespace muster::postgres::tests

#pragma once

#include "apps/postgres/perform/instance.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

/// Three real PostgreSQL on this machine, told what to do step by step.

namespace muster::postgres::tests {

using namespace std::chrono_literals;

inline constexpr NodeId n1{1}, n2{2}, n3{3};

/// Of a case that is skipped, which is said, where PostgreSQL 15 is not installed.
boost::test_tools::assertion_result postgres_is_here(boost::unit_test::test_unit_id);
inline const boost::unit_test::precondition on_postgres(postgres_is_here);

/// A client of one's own, who has a loop to run.
class Client {
 public:
  Client(boost::asio::io_context& io, Session::Parameters parameters);

  /// Connects where it is not.
  SqlExpected<Answer> ask(const std::string& statement);
  /// Does not wait: the outcome is in `outcome` when it is there.
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
  /// Three copies of one database, none running. What is in `settings` each has on its command
  /// line.
  explicit Trio(unsigned nodes = 3, std::map<std::string, std::string> settings = {},
                unsigned segment_megabytes = 1);
  ~Trio();

  boost::asio::io_context io;

  Instance& operator[](NodeId node) { return *instances_.at(node); }
  [[nodiscard]] InstanceOptions options(NodeId node) const;
  /// Another life of the node's process, which has ended PostgreSQL.
  void renew(NodeId node);

  /// Performs it to its end.
  HasHappened perform(NodeId node, What what);
  /// The same, which is to end so.
  template <class Outcome>
  Outcome expect(NodeId node, What what) {
    const HasHappened happened = perform(node, std::move(what));
    require(happened, std::holds_alternative<Outcome>(happened));
    return std::get<Outcome>(happened);
  }
  /// Why it failed, which it is to do.
  std::string expect_failure(NodeId node, What what) { return expect<Failed>(node, what).why; }

  void run_until(const std::function<bool()>& is_over, Duration bound = 60s);

  /// A client of that node by its socket, as anybody is one: nothing of it is set.
  Client client(NodeId node) { return {io, of_client(node)}; }
  [[nodiscard]] Session::Parameters of_client(NodeId node) const;

  // --- What groups do
  Lsn lead(NodeId node, GroupNumber group);  ///< from promotion to its row; where that ends
  void follow(NodeId node, NodeId primary, GroupNumber group = {});
  void open(NodeId node, Lsn row);  ///< from the wait for copies to the kick
  void unseal(NodeId node);         ///< from muster.conf to the kick
  Holding stop(NodeId node, bool primary);
  /// Begin, lead and open with the others as standbys.
  void begin_group(NodeId primary, GroupNumber group);

  /// Until what is committed there now is on both others.
  void let_catch_up(NodeId primary);

  /// The table `written`, which every writer writes to.
  void make_table(NodeId primary);

  /// What was said that nobody asked for.
  std::map<NodeId, std::vector<std::string>> deaths;

 private:
  static void require(const HasHappened& happened, bool as_expected);

  std::filesystem::path root_;
  std::map<NodeId, Address> addresses_;
  std::map<std::string, std::string> settings_;
  std::map<NodeId, std::unique_ptr<Instance>> instances_;
  std::uint64_t round_ = 0;
};

/// Inserts numbers one after the other, and knows which were acknowledged.
class Writer {
 public:
  /// Into the table `written`, from `first` on.
  Writer(Trio& trio, NodeId node, std::uint64_t first);

  [[nodiscard]] const std::set<std::uint64_t>& acknowledged() const { return acknowledged_; }
  /// Whether its session has ended.
  [[nodiscard]] bool over() const { return over_; }

 private:
  void write();

  Session session_;
  std::uint64_t next_;
  std::set<std::uint64_t> acknowledged_;
  bool over_ = false;
};

/// Four at one primary.
class Writers {
 public:
  Writers(Trio& trio, NodeId node) {
    for (std::uint64_t i = 0; i < 4; ++i)
      all_.push_back(std::make_unique<Writer>(trio, node, i * 100'000'000));
  }
  [[nodiscard]] std::set<std::uint64_t> numbers() const;  ///< acknowledged
  [[nodiscard]] std::size_t acknowledged() const;
  [[nodiscard]] bool any_over() const;

 private:
  std::vector<std::unique_ptr<Writer>> all_;
};

/// The numbers in the table `written` of that node.
std::set<std::uint64_t> written_at(Trio& trio, NodeId node);

// --- What cases begin with

/// None runs.
struct Down {
  Trio trio;
};
/// The first leads the others.
struct Led : Down {
  Led() { trio.begin_group(n1, {1, n3}); }
};
struct WithTable : Led {
  WithTable() { trio.make_table(n1); }
};

}  // namespace muster::postgres::tests

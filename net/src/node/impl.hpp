#pragma once

#include "base/guarded.hpp"
#include "node/absence.hpp"
#include "node/admin_words.hpp"
#include "node/certificates.hpp"
#include "node/chronicle.hpp"
#include "node/lives.hpp"
#include "node/watchers.hpp"

#include <muster/net/node.hpp>
#include <muster/net/storage_thread.hpp>
#include <muster/values/text.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::net {

/// The parts of a node, and the connections between them.
class Node::Impl : public std::enable_shared_from_this<Node::Impl> {
 public:
  Impl(boost::asio::io_context& context, NodeOptions options, std::unique_ptr<SafeStorage> storage,
       MakeApplication make_application, boost::asio::any_io_executor hooks);

  Expected<> start(std::function<void()> listens);
  void leave(std::function<void()> left);
  void close();
  void reload();
  std::string status_json() const;  // called from any thread, and so is `view`
  View view() const;

 private:
  Expected<> begin(std::function<void()> listens);
  Expected<> listen_to_people();
  Life::Handlers life_handlers(Incarnation incarnation);
  void stepped(Duration t, const Event& event, const View& after);
  void left(LeaveCause cause);
  bool may_go_on();
  void leave_in_time();
  void gone();
  void hear_nobody();
  void look_at_proof();
  void proof_is_renewed();
  [[noreturn]] void fatal(const Failure& failure);
  std::string fresh_status_json() const;
  [[nodiscard]] std::string history_json(const Page& page) const;
  [[nodiscard]] std::string name() const { return "node " + to_text(options_.config.self); }

  const NodeOptions options_;
  std::shared_ptr<Thrown> thrown_;
  boost::asio::execution_context& context_;
  /// The protocol's strand. An exception that leaves a handler on this strand ends the process.
  const boost::asio::any_io_executor strand_;
  const boost::asio::any_io_executor hooks_;
  const std::shared_ptr<NodeLog> log_;
  const MakeApplication make_application_;
  std::unique_ptr<SafeStorage> store_;
  std::optional<StorageThread> storage_;
  std::shared_ptr<JournalWriter> journal_;  ///< shared by all lives
  Certificates certificates_;
  Absence absence_;
  Chronicle chronicle_;
  const std::shared_ptr<Lives> lives_;
  std::unique_ptr<Watchers> watchers_;  ///< null: there is no HTTP server
  std::unique_ptr<AdminWords> admin_;   ///< null before the start
  bool started_ = false;
  Alarm left_in_time_;
  std::vector<std::function<void()>> left_;  ///< the callbacks of `leave`
};

}  // namespace muster::net

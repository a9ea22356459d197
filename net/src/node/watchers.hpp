#pragma once

#include "base/alarm.hpp"
#include "http/server.hpp"
#include "metrics/metrics.hpp"
#include "node/absence.hpp"
#include "node/chronicle.hpp"
#include "node/lives.hpp"
#include "record/journal_writer.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace muster::net {

/// Shows the state and the counters of a node by HTTP (docs/how-to/watching.md). Used on the
/// protocol's strand.
class Watchers {
 public:
  /// The parts that are shown. They outlive this object.
  struct Node {
    const NodeOptions& options;  ///< with `http`
    const Lives& lives;
    const Absence& absence;
    std::shared_ptr<const Tls> tls;
    std::shared_ptr<const JournalWriter> journal;
    std::function<std::string()> status;              ///< as JSON
    std::function<std::string(const Page&)> history;  ///< as JSON, one line each
  };
  Watchers(boost::asio::any_io_executor strand, Node node);

  Expected<> listen();
  /// Listens at another address. If that fails, the old address stays in use.
  Expected<> move(const HttpOptions& to);
  void close();

  [[nodiscard]] Metrics& metrics() { return metrics_; }
  /// Adds the counters of a life that has ended, before the next one begins.
  void count_life(const Life& life);
  void count(const Event& event, const View& after, const Chronicle::Told& told);

 private:
  Expected<> serve(const HttpOptions& at);
  void look_at_the_loop();
  http::Answer page(const http::Request& request) const;
  http::Answer answer_metrics(const http::Request& request) const;
  http::Answer answer_livez(const http::Request& request) const;
  http::Answer answer_readyz(const http::Request& request) const;
  http::Answer answer_coordinator(const http::Request& request) const;
  http::Answer answer_status(const http::Request& request) const;
  http::Answer answer_history(const http::Request& request) const;
  http::Answer answer_why(const http::Request& request) const;
  http::Answer answer_role(const std::string& role, bool has, const std::string& text) const;
  [[nodiscard]] Life::Seen seen() const;
  [[nodiscard]] bool may_work() const;
  [[nodiscard]] std::string why_no_work() const;
  [[nodiscard]] std::string name() const;
  [[nodiscard]] Scrape scrape() const;

  const boost::asio::any_io_executor strand_;
  const Node node_;
  std::unique_ptr<http::Server> server_;
  HttpOptions at_;  ///< the address of the server
  Metrics metrics_;
  Alarm late_;  ///< measures how late the loop is
};

}  // namespace muster::net

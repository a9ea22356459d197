#pragma once

#include "base/alarm.hpp"
#include "record/node_log.hpp"
#include "tls/tls.hpp"

#include <muster/net/node.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace muster::net {

/// The certificates of a node: its own, and those that it believes. They are read at the start, and
/// again when the files change. Without any, the node speaks in plain text and warns of that. Used
/// on the protocol's strand.
class Certificates {
 public:
  struct Handlers {
    std::function<void()> looked;   ///< once a second: time may have ended proofs
    std::function<void()> renewed;  ///< connections that stand were proven by what was before
  };
  /// `options` outlives this.
  Certificates(const boost::asio::any_io_executor& strand, const NodeOptions& options,
               std::shared_ptr<NodeLog> log, Handlers handlers);

  Expected<> begin();
  /// Reads the files again. If that fails, the log says so, and the earlier ones stay in use.
  Expected<> renew();
  void cancel() { look_.cancel(); }

  /// Why nobody believes this node, as in "its certificate is over"; none: they may.
  [[nodiscard]] std::optional<std::string> why_unproven() const;
  [[nodiscard]] bool is_taken_back() const;
  [[nodiscard]] const std::shared_ptr<Tls>& tls() const { return tls_; }

  /// How long its own still holds; negative: it has ended; none: it has none. From any thread.
  [[nodiscard]] std::optional<Duration> time_left() const;

 private:
  Expected<> read();
  void look();
  void tell_of_their_end();
  void tell_of_plain_text();

  const NodeOptions& options_;
  const std::shared_ptr<NodeLog> log_;
  const Handlers handlers_;
  const std::shared_ptr<Tls> tls_ = std::make_shared<Tls>();
  std::string in_use_;         ///< the stamps of the files that `tls_` was made of
  std::string seen_;           ///< the same as they were seen last
  int told_of_end_ = 0;        ///< of the certificate in use: at so many of the moments before it
  bool told_of_list_ = false;  ///< that the one of revocations is past its time
  std::atomic<std::chrono::system_clock::time_point> expires_{};
  Alarm look_;  ///< at the files, or for plain text to be told of again
};

}  // namespace muster::net

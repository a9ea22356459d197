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

/// The certificates of a node: its own and those of trusted authorities. They are read at the
/// start, and again when the files change. A node without certificates speaks in plain text and
/// warns about that. Used on the protocol's strand.
class Certificates {
 public:
  struct Handlers {
    std::function<void()> looked;   ///< called once a second, as certificates of peers can expire
    std::function<void()> renewed;  ///< the files are new; existing connections use the old ones
  };
  /// `options` outlives this object.
  Certificates(const boost::asio::any_io_executor& strand, const NodeOptions& options,
               std::shared_ptr<NodeLog> log, Handlers handlers);

  Expected<> begin();
  /// Reads the files again. If that fails, the log says so, and the earlier certificates stay in
  /// use.
  Expected<> renew();
  void cancel() { look_.cancel(); }

  /// The reason why no peer accepts this node's identity, as in "its certificate is over". None if
  /// there is no such reason.
  [[nodiscard]] std::optional<std::string> why_unproven() const;
  [[nodiscard]] bool is_revoked() const;
  [[nodiscard]] const std::shared_ptr<Tls>& tls() const { return tls_; }

  /// The time until the node's own certificate expires. Negative if it has expired; none if the
  /// node has no certificate. From any thread.
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
  std::string in_use_;         ///< the stamps of the files from which `tls_` was made
  std::string seen_;           ///< the stamps at the last check
  int told_of_end_ = 0;        ///< how many warnings about the certificate's expiry were given
  bool told_of_list_ = false;  ///< the warning about an outdated revocation list was given
  std::atomic<std::chrono::system_clock::time_point> expires_{};
  Alarm look_;  ///< for the next check of the files, or the next warning about plain text
};

}  // namespace muster::net

#pragma once

#include "node/absence.hpp"
#include "node/certificates.hpp"
#include "node/lives.hpp"
#include "node/watchers.hpp"
#include "record/journal_writer.hpp"

#include <muster/net/admin.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace muster::net {

/// Serves the owner of a node through its Unix socket. Used on the protocol's strand.
class AdminWords {
 public:
  /// The parts that the owner controls. They outlive this object.
  struct Node {
    const NodeOptions& options;
    const Lives& lives;
    Absence& absence;
    Certificates& certificates;
    NodeLog& log;
    JournalWriter* journal = nullptr;                 ///< null: no journal is written
    Watchers* watchers = nullptr;                     ///< null: there is no HTTP server
    std::function<std::string()> status;              ///< as JSON
    std::function<std::string(const Page&)> history;  ///< as JSON, one line each
  };
  AdminWords(const boost::asio::any_io_executor& strand, Node node);

  Expected<> listen();
  void close();

  /// Reports the step to the watchers if it has changed something that they see.
  void stepped(const View& after);
  /// Sends the status to the watchers.
  void tell();
  /// Reads the configuration again. Returns the keys that change only at the next start.
  Expected<std::string> read_again();

 private:
  Admin::Words words();
  std::optional<std::string> drain(std::string_view said);
  std::optional<std::string> step_down(std::string_view said);
  std::optional<std::string> elect(std::string_view said);
  std::string reload();
  Expected<> heed(const Changes& changes);
  [[nodiscard]] std::string cluster() const;

  const Node node_;
  std::unique_ptr<Admin> admin_;  ///< null: there is no socket
  View told_;                     ///< the view that was last sent to the watchers
};

}  // namespace muster::net

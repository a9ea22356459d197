#include "node/misfit.hpp"

#include <muster/protocol/misfit.hpp>
#include <muster/values/address.hpp>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <utility>

namespace muster::net {

namespace {

std::string sentence(const std::string& key, const std::string& expected) {
  return "the node's options: " + key + " has to be " + expected;
}

}  // namespace

std::optional<std::string> misfit_of(const NodeOptions& options) {
  constexpr std::size_t most_carried = 60 * 1024;
  if (const auto misfit = muster::misfit(options.config))
    return sentence(misfit->key, misfit->expected);
  if (const auto misfit =
          muster::misfit(options.network.addresses, options.config.nodes,
                         options.network.insecure || options.network.tls.has_value()))
    return sentence("the address of node " + misfit->key, misfit->expected);
  if (!options.network.listen.empty()) {
    const auto own = parse_address(options.network.listen);
    if (!own || own->port == 0)
      return sentence("network.listen",
                      "a host and a port from 1 to 65535, such as \"0.0.0.0:7101\"");
    if (!options.network.tls && !options.network.insecure && !own->is_loopback())
      return sentence("network.listen",
                      "a loopback address, or tls, or network.insecure = true: without TLS, "
                      "connections are neither encrypted nor authenticated");
  }
  if (options.http)
    if (const auto why = misfit_of(*options.http, options.network.tls.has_value()))
      return "the node's options: " + *why;
  if (options.journal)
    if (const std::string trouble = trouble_with_journal(options.journal->file); !trouble.empty())
      return sentence("journal", "a journal or a new file, but " + options.journal->file.string() +
                                     ' ' + trouble + ": name another file");
  if (options.cluster.size() > most_carried)
    return sentence("cluster", "at most " + std::to_string(most_carried) + " bytes");
  for (const auto& [key, limit] : {std::pair("limits.report", options.limits.report),
                                   std::pair("limits.definition", options.limits.definition)})
    if (limit > most_carried)
      return sentence(
          key,
          "at most " + std::to_string(most_carried) +
              ": it travels in a letter, which has room for 64 KiB; send larger data with ask");
  return std::nullopt;
}

std::optional<std::string> misfit_of(const SafeStorage* store,
                                     const MakeApplication& make_application,
                                     const boost::asio::any_io_executor& hooks,
                                     const boost::asio::execution_context& context) {
  if (!store) return sentence("storage", "an open store, such as SqliteStorage::open gives");
  if (!make_application)
    return sentence("make_application", "a function that makes an application");
  if (!hooks) return sentence("hooks", "an executor, such as a thread pool's");
  if (&boost::asio::query(hooks, boost::asio::execution::context) == &context)
    return sentence("hooks",
                    "an executor of another context than the protocol's, such as a thread pool's: "
                    "a hook that waits there would block the protocol");
  return std::nullopt;
}

std::optional<std::string> misfit_of(const HttpOptions& http, bool has_tls) {
  const auto address = parse_address(http.listen);
  if (!address || address->port == 0)
    return "http.listen has to be a host and a port from 1 to 65535, such as \"127.0.0.1:9100\"";
  if (!address->is_loopback() && !has_tls && !http.insecure)
    return "http.listen has to be a loopback address, or tls, or http.insecure = true: without "
           "TLS, anyone who can reach the port can read the node's pages";
  return std::nullopt;
}

}  // namespace muster::net

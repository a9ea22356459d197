#pragma once

#include "base/alarm.hpp"
#include "node/life.hpp"
#include "record/node_log.hpp"

#include <muster/host/hold_down.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace muster::net {

/// The lives of a node, one after the other. Each has the next incarnation, which is durable before
/// any peer hears of the life (assumptions 4 and 5). Used on the protocol's strand.
class Lives : public std::enable_shared_from_this<Lives> {
 public:
  /// The parts that all lives share. The references outlive this object.
  struct Parts {
    boost::asio::any_io_executor hooks;
    const MakeApplication& make_application;
    StorageThread& storage;
    std::shared_ptr<JournalWriter> journal;  ///< null: no journal is written
    std::shared_ptr<const Tls> tls;
    std::function<void()> listens;  ///< called for the first life that listens
  };
  struct Handlers {
    /// Returns the handlers of the life that begins now. `Lives` itself sets `outlived`.
    std::function<Life::Handlers(Incarnation)> begins;
    /// Called when another life could begin. Returns false if no life is to begin, because the node
    /// leaves or goes out.
    std::function<bool()> may_go_on;
    std::function<void(const Failure&)> fatal;
  };
  /// `options` outlives this object.
  Lives(boost::asio::any_io_executor strand, const NodeOptions& options,
        std::shared_ptr<NodeLog> log, Handlers handlers);

  /// Reads `storage`, makes the next incarnation durable, and returns zero. If earlier lives were
  /// too short, it changes nothing and returns the time for which the first life has to wait.
  Expected<Duration> load(SafeStorage& storage, Parts parts);
  /// Begins the first life, after `load`. A life that cannot listen does not count as a short life.
  Expected<> begin(SafeStorage& storage);
  /// Begins the next life, or a first life that has waited.
  void go_on();
  /// Ends the present life at once.
  void close();

  /// The sentence for the log if the first life has to wait.
  [[nodiscard]] std::string why_held(Duration time) const;
  /// The last life that has begun; null if none has. From any thread.
  [[nodiscard]] std::shared_ptr<Life> last() const;
  /// The last life, or null if it has ended.
  [[nodiscard]] std::shared_ptr<Life> present() const;

 private:
  void begin_held();
  /// Begins the next life, with an incarnation that is also greater than `above`.
  void follow(Incarnation above = {});
  Expected<> begin_life(const SafeState& safe);
  void note_that_it_lasts();
  void could_not_begin(const Failure& failure);
  void outlived(const LifeClaims& life_claims);
  void end_outlived(const Failure& why);
  void restart(Incarnation seen);

  /// Wraps a callback for the storage thread, so that it runs on the strand.
  template <class Act>
  auto then(Act act);

  const boost::asio::any_io_executor strand_;
  const NodeOptions& options_;
  const std::shared_ptr<NodeLog> log_;
  const Handlers handlers_;
  std::optional<Parts> parts_;      ///< set by `load`
  SafeState safe_;                  ///< the state with which the process began
  std::optional<HoldDown> before_;  ///< the times of earlier lives; none if hold_down is off
  Alarm lasts_;
  std::size_t restarted_ = 0;  ///< how often a life began because a peer had seen a later one
  mutable std::mutex mutex_;   // guards life_, the pointer
  std::shared_ptr<Life> life_;
};

}  // namespace muster::net

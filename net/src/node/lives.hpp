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

/// One life of a node after the other: each with the next incarnation, durable before anybody hears
/// of that life (assumptions 4 and 5). Used on the protocol's strand.
class Lives : public std::enable_shared_from_this<Lives> {
 public:
  /// The things that all lives share. The references outlive this object.
  struct Parts {
    boost::asio::any_io_executor hooks;
    const MakeApplication& make_application;
    StorageThread& storage;
    std::shared_ptr<JournalWriter> journal;  ///< null: they write none
    std::shared_ptr<const Tls> tls;
    std::function<void()> listens;  ///< is told of the first that does
  };
  struct Handlers {
    /// Gives the handlers of the life that begins now. `Lives` sets `outlived` itself.
    std::function<Life::Handlers(Incarnation)> begins;
    /// Another life could begin; false: none may, as the node leaves or goes out.
    std::function<bool()> may_go_on;
    std::function<void(const Failure&)> fatal;
  };
  /// `options` outlives this.
  Lives(boost::asio::any_io_executor strand, const NodeOptions& options,
        std::shared_ptr<NodeLog> log, Handlers handlers);

  /// Reads `storage`, and makes the next incarnation durable. Returns zero then. If earlier lives
  /// were too short, it changes nothing, and returns how long the first life has to wait.
  Expected<Duration> load(SafeStorage& storage, Parts parts);
  /// Begins the first life, after `load`. A life that cannot listen is not counted.
  Expected<> begin(SafeStorage& storage);
  /// Begins the next life, or the first, which has waited.
  void go_on();
  /// Ends the present life at once.
  void close();

  /// The sentence for the log when the first life has to wait.
  [[nodiscard]] std::string why_held(Duration time) const;
  /// The last life that has begun; null: none has. From any thread.
  [[nodiscard]] std::shared_ptr<Life> last() const;
  /// The same while it goes on.
  [[nodiscard]] std::shared_ptr<Life> present() const;

 private:
  void begin_held();
  /// The next life, with an incarnation above that one, too.
  void follow(Incarnation above = {});
  Expected<> begin_life(const SafeState& safe);
  void note_that_it_lasts();
  void could_not_begin(const Failure& failure);
  void outlived(const Voices& voices);
  void end_outlived(const Failure& why);
  void begin_anew(Incarnation seen);

  /// A callback for the storage thread.
  template <class Act>
  auto then(Act act);

  const boost::asio::any_io_executor strand_;
  const NodeOptions& options_;
  const std::shared_ptr<NodeLog> log_;
  const Handlers handlers_;
  std::optional<Parts> parts_;      ///< once they are loaded
  SafeState safe_;                  ///< with which the process began
  std::optional<HoldDown> before_;  ///< the lives before; none where nothing is held down
  Alarm lasts_;
  std::size_t begun_anew_ = 0;  ///< how often, above what a peer had seen
  mutable std::mutex mutex_;    // guards life_, the pointer
  std::shared_ptr<Life> life_;
};

}  // namespace muster::net

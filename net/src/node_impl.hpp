#pragma once

#include "guarded.hpp"
#include "history_store.hpp"
#include "http/server.hpp"
#include "life.hpp"
#include "metrics/metrics.hpp"
#include "node_log.hpp"
#include "tls/tls.hpp"

#include <muster/host/hold_down.hpp>
#include <muster/journal/history.hpp>
#include <muster/journal/news.hpp>
#include <muster/net/admin.hpp>
#include <muster/net/node.hpp>
#include <muster/net/status.hpp>
#include <muster/net/storage_thread.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::net {

/// One life after the other, and what the owner of the node wants between them. The lives are in
/// node.cpp, the owner's words and the status in owner.cpp, what is told by HTTP in watching.cpp.
class Node::Impl : public std::enable_shared_from_this<Node::Impl> {
 public:
  Impl(boost::asio::io_context& context, NodeOptions options, std::unique_ptr<SafeStorage> storage,
       MakeApplication make_application, boost::asio::any_io_executor hooks)
      : thrown_(std::make_shared<Thrown>(
            [this](const std::exception* error) { fatal(left_a_handler(error)); })),
        context_(context),
        strand_(Guarded(boost::asio::make_strand(context), thrown_)),
        given_executor_(std::move(hooks)),
        options_(completed(std::move(options))),
        log_(std::make_shared<NodeLog>(options_)),
        make_application_(std::move(make_application)),
        store_(std::move(storage)),
        wait_(strand_),
        lasts_(strand_),
        look_(strand_),
        late_(strand_) {}

  Expected<> start(std::function<void()> listens);
  void leave(std::function<void()> left);
  void close();
  std::string status_json() const;
  std::string fresh_status_json() const;  // on the strand
  View view() const;
  void reload();

 private:
  static NodeOptions completed(NodeOptions options);
  [[nodiscard]] std::optional<std::string> wrong() const;
  [[nodiscard]] Failure left_a_handler(const std::exception* error) const;
  Expected<> begin(std::function<void()> listens);
  Expected<> listen_to_owner();
  Expected<> begin_proving();
  void look_at_credentials();
  Expected<> take_credentials();
  Expected<> renew_tls();
  Expected<> heed(const Changes& changes);
  Expected<std::string> read_again();
  Expected<> move_http(const HttpOptions& to);
  void tell_of_their_end();
  void leave_where_it_proves_nothing();
  [[nodiscard]] bool proves_nothing() const;
  void tell_of_plain_text();
  void cancel_waits() {
    for (auto* wait : {&wait_, &lasts_, &look_, &late_}) wait->cancel();
  }
  void hold_down(Duration time);
  void begin_held_life();
  Expected<> begin_life(const SafeState& safe);
  void note_that_it_lasts();
  void begin_next_life(Incarnation above);
  void could_not_begin(const Failure& failure);
  std::shared_ptr<Life> life() const;
  std::optional<Out> out() const;
  void left(LeaveCause cause);
  void gone();
  void leave_in_time();
  void outlived(const Voices& voices);
  void end_outlived(const Failure& why);
  void begin_anew(Incarnation seen);
  void stand_back();
  void stay_away();
  void go_out();
  void come_back_after(Duration time);

  [[nodiscard]] std::optional<std::string> wrong_with(const HttpOptions& http) const;
  Expected<> serve_http(const HttpOptions& at);
  Expected<> listen_to_watchers();
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
  Shown present_shown() const;
  bool may_work() const;
  std::string why_no_work() const;
  void count_life();
  void count(const Event& event, const View& after, const std::vector<News>& news);
  Scrape scrape() const;

  void hear_nobody();
  std::string be_out(Out why, Duration back_after);
  std::string be_drained(std::string_view said);
  void come_back();
  std::string be_elected(std::string_view said);
  std::string be_reloaded();
  std::string cluster_json() const;
  std::string history_json(std::string_view said) const;
  void show_what_goes_on();
  void stepped(Duration t, const Event& event, const View& after);
  void tell();

  Life::Handlers life_handlers();
  [[noreturn]] void fatal(const Failure& failure);

  std::shared_ptr<Thrown> thrown_;
  boost::asio::execution_context& context_;
  boost::asio::any_io_executor
      strand_;  ///< of the protocol; what leaves a handler ends the process
  const boost::asio::any_io_executor given_executor_;
  boost::asio::any_io_executor hooks_;  ///< a strand of that
  const NodeOptions options_;
  const std::shared_ptr<NodeLog> log_;
  const MakeApplication make_application_;
  std::unique_ptr<SafeStorage> store_;
  std::optional<StorageThread> storage_;
  std::shared_ptr<JournalWriter> journal_;  ///< of all lives
  std::unique_ptr<Admin> admin_;
  std::unique_ptr<http::Server> http_;
  HttpOptions http_at_;             ///< where that listens
  std::optional<Metrics> metrics_;  ///< of all lives; none where nobody may ask
  boost::asio::steady_timer wait_;
  std::uint64_t waits_ = 0;  ///< so that the end of an earlier one is not taken for this one's
  mutable std::mutex life_mutex_;  // guards life_, the pointer, out_ and because_
  std::shared_ptr<Life> life_;
  SafeState safe_;                  ///< with which the process began
  std::optional<HoldDown> before_;  ///< the lives before; none where nothing is held down
  std::function<void()> listens_;   ///< to be told of the first that listens
  boost::asio::steady_timer lasts_;
  const std::shared_ptr<Tls> tls_ = std::make_shared<Tls>();
  std::string in_use_;         ///< the stamps of the files that `tls_` was made of
  std::string seen_;           ///< the same as they were seen last
  int told_of_end_ = 0;        ///< of the certificate in use: at so many of the moments before it
  bool told_of_list_ = false;  ///< that the one of revocations is past its time
  std::atomic<std::chrono::system_clock::time_point> proves_until_{};  ///< by its certificate
  boost::asio::steady_timer look_;  ///< at those files, or for plain text to be told of again
  boost::asio::steady_timer late_;  ///< tells how late it is
  bool started_ = false;
  std::size_t begun_anew_ = 0;  ///< how often, above what a peer had seen
  unsigned stood_back_ = 0;     ///< how often, since it was last Normal
  Unsteady unsteady_;           ///< how often it left for that within the hour
  bool leaving_ = false;        ///< the process is to end

  /// What its owner wants of a node that is to go out, or is.
  struct Order {
    Out why{};
    Duration back_after{};  ///< when it is out; no matter where it is drained
  };
  std::optional<Order> order_;
  std::optional<Out> out_;                     ///< set by the strand, under life_mutex_
  View told_;                                  ///< what those who watch were told last
  std::optional<history::Recorder> recorder_;  ///< of this life
  std::string because_;                        ///< NodeStatus::because; set by the strand
  std::optional<Newsreel> news_;               ///< of this life
  std::shared_ptr<HistoryStore> history_;
  std::vector<std::function<void()>> left_;  ///< who is to be told
};

}  // namespace muster::net

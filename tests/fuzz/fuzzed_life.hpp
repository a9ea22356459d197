#pragma once

#include "fuzz/liar.hpp"
#include "fuzz/peace.hpp"
#include "fuzz/scene.hpp"

#include <muster/host/host.hpp>
#include <muster/host/sessions.hpp>
#include <muster/net/frame.hpp>
#include <muster/values/archive.hpp>

#include <deque>
#include <set>

/// One life of a node, from the bytes of the network to the hooks of its application. The input
/// decides everything that the network, the clock, the disk and the application do. The peers send
/// any lies.

namespace muster::fuzz {

using host::ConnectionId;

/// The node's own counters may be a little above the limit for counters of peers.
inline constexpr Limits ours{.foreign = false};

class FuzzedLife final : host::Driver, HookHost {
 public:
  FuzzedLife(Input& input, const Config& config, const SafeState& safe)
      : input_(input),
        config_(config),
        session_config_(session_config(config.self, safe)),
        sessions_(host::Sessions::begin(session_config_, safe)),
        host_(config_, safe, 50ms, HookRunner::Limits{config_.timings}, *this, *this) {}

  ~FuzzedLife() { host_.end(); }

  void begin() {
    take(host::Greet{});
    host_.begin();
  }
  void live() {
    begin();
    while (!over_ && !input_.empty()) {
      happens();
      host_.turn();
      check();
    }
  }
  [[nodiscard]] const host::Sessions& sessions() const { return sessions_; }

  // --- After the lies

  [[nodiscard]] NodeId id() const { return config_.self; }
  [[nodiscard]] bool is_over() const { return over_; }
  /// Ends all connections and pending dials of this life, since their peers are gone. From now on
  /// it reaches other nodes over `network`.
  void reaches_others(Network& network) {
    while (!open_.empty()) closes(ConnectionId{*open_.begin()});
    while (!dials_.empty()) {
      const NodeId node = *dials_.begin();
      dials_.erase(node);
      take(host::DialFailed{node, host::DialEnd::refused});
    }
    network_ = &network;
  }
  [[nodiscard]] bool has_open(ConnectionId connection) const {
    return open_.contains(connection.value);
  }
  [[nodiscard]] bool is_dialling(NodeId node) const { return dials_.contains(node); }
  ConnectionId opens() {
    open_.insert(++last_connection_);
    return ConnectionId{last_connection_};
  }
  void reached(NodeId node, ConnectionId connection) {
    dials_.erase(node);
    was_dialled_.insert(node);
    take(host::Dialled{node, connection});
  }
  /// Does one thing that waits in this life. False if nothing waits.
  bool goes_on_by_itself() {
    if (std::exchange(saving_, false)) return host_.saved(), true;
    if (const auto returned = std::exchange(returned_, nullptr)) return returned(), true;
    if (!room_.empty()) return take(host::Writable{room_.extract(room_.begin()).value()}), true;
    if (waiting_.empty()) return false;
    goes_on();
    return true;
  }
  void turns() {
    host_.turn();
    check();
  }
  /// The time until the next timer or wake-up.
  [[nodiscard]] std::optional<Duration> waits_for() const {
    std::optional<Duration> next = wake_;
    for (const auto& [timer, armed] : timers_)
      next = std::min(next.value_or(armed.first), armed.first);
    return next ? std::optional(std::max(*next - now_, Duration{})) : std::nullopt;
  }
  void waits(Duration time) {
    now_ += time;
    if (wake_ && *wake_ <= now_) {
      wake_.reset();
      take(host::Due{});
    }
    const auto due = std::find_if(timers_.begin(), timers_.end(),
                                  [&](const auto& one) { return one.second.first <= now_; });
    if (due == timers_.end()) return;
    const auto [timer, armed] = *due;
    timers_.erase(due);
    host_.expired(timer, armed.second);
  }
  /// The group in which this node is Normal.
  [[nodiscard]] std::optional<GroupNumber> group() const {
    const View seen = view(config_, host_.protocol());
    return seen.status == Status::Normal ? seen.group : std::nullopt;
  }

  void closes(ConnectionId connection, host::ConnectionEnd end = host::ConnectionEnd::finished) {
    open_.erase(connection.value);
    room_.erase(connection);
    take(host::Closed{connection, end, "it ended"});
  }

  void take(host::SessionInput input) {
    host::SessionOutputs outputs;
    sessions_.take(session_config_, now_, std::move(input), outputs);
    for (auto& output : outputs) std::visit([this](auto& one) { perform(one); }, output);
  }

 private:
  // --- Events

  void happens() {
    switch (input_.below(16)) {
      case 0:
        return accept();
      case 1:
        if (!dials_.empty()) dial_ends(*dials_.begin());
        return;
      case 2:
        if (!dials_.empty()) dial_ends(*dials_.rbegin());
        return;
      case 3:
        if (!open_.empty()) closes(any_connection());
        return;
      case 4:
        return time_passes();
      case 5:
        if (room_.empty()) return;
        return take(host::Writable{room_.extract(room_.begin()).value()});
      case 6:
        if (std::exchange(saving_, false)) host_.saved();
        return;
      case 7:
      case 8:
        return goes_on();
      case 9:
        return owner_acts();
      case 10:
        return timer_expires();
      default:
        if (!open_.empty()) frame_comes(any_connection());
    }
  }

  void accept() {
    if (input_.one_in(16)) return take(host::Exhausted{});
    open_.insert(++last_connection_);
    take(host::Accepted{ConnectionId{last_connection_}});
  }

  void dial_ends(NodeId node) {
    dials_.erase(node);
    if (input_.one_in(4))
      return take(host::DialFailed{node, static_cast<host::DialEnd>(input_.below(3))});
    was_dialled_.insert(node);
    open_.insert(++last_connection_);
    take(host::Dialled{node, ConnectionId{last_connection_}});
  }

  void time_passes() {
    constexpr Duration steps[] = {0ms, 1ms, 10ms, 60ms, 1s, 1min, 2h};
    now_ += steps[input_.below(std::size(steps))];
    if (input_.one_in(4)) gap_ = 60ms;
    if (wake_ && input_.one_in(2)) now_ = std::max(now_, *wake_);
    if (!wake_ || *wake_ > now_) return;
    wake_.reset();
    take(host::Due{});
  }

  void goes_on() {
    if (waiting_.empty()) return;
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    next();
  }

  void timer_expires() {
    if (timers_.empty()) return;
    const auto at = std::next(timers_.begin(), static_cast<int>(input_.below(timers_.size())));
    const auto [timer, armed] = *at;
    timers_.erase(at);
    now_ = std::max(now_, armed.first);
    host_.expired(timer, armed.second);
  }

  void owner_acts() {
    const GroupNumber group = common(host_.protocol()).g.value_or(GroupNumber{});
    switch (input_.below(5)) {
      case 0:
        return host_.put(Leaving{});
      case 1:
        return host_.put(ElectionAsked{"why not"});
      case 2:
        if (const auto overrun = std::exchange(overrun_, nullptr)) overrun();
        return;
      case 3:
        if (const auto returned = std::exchange(returned_, nullptr)) returned();
        return;
      default:
        host_.asked({NodeId{3}, group, input_.one_in(2), Bytes{"how?"}}, [](const auto&) {});
    }
  }

  // --- Input from peers

  ConnectionId any_connection() {
    return ConnectionId{
        *std::next(open_.begin(), static_cast<std::ptrdiff_t>(input_.below(open_.size())))};
  }

  /// Every frame is encoded and decoded before it reaches the sessions.
  void frame_comes(ConnectionId connection) {
    const bool foreign = input_.one_in(8);
    net::FrameReader reader;
    const std::string bytes =
        foreign ? std::string(input_.bytes(input_.byte()))
                : net::encode_frame(others_.frame_on(connection, common(host_.protocol()).counter));
    if (bytes.size() > reader.room().size()) return;
    std::copy(bytes.begin(), bytes.end(), reader.room().begin());
    reader.filled(bytes.size());
    const auto frame = reader.next();
    if (!frame) return closes(connection, host::ConnectionEnd::garbage);
    if (*frame) take(host::Came{connection, **frame, bytes.size()});
  }

  // --- Actions for the sessions

  void perform(const host::Dial& dial) {
    require(dials_.insert(dial.node).second);
    if (network_) network_->dials(id(), dial.node);
  }
  void perform(const host::GiveUp& dial) { require(dials_.erase(dial.node) == 1); }
  // Checks that each frame that this life writes can be read.
  void perform(const host::Write& write) {
    require(open_.contains(write.connection.value));
    require(net::encode_frame(write.frame).size() <= net::frame_limit + 4);
    std::visit(
        [](const auto& body) {
          const auto same = decode<std::remove_cvref_t<decltype(body)>>(encode(body), ours);
          require(same && *same == body);
        },
        write.frame);
    if (network_) network_->writes(id(), write.connection, write.frame);
  }
  void perform(const host::TellRoom& room) { room_.insert(room.connection); }
  void perform(const host::Close& close) {
    require(open_.erase(close.connection.value) == 1);
    room_.erase(close.connection);
    if (network_) network_->closes(id(), close.connection);
  }
  void perform(const host::Drain& drain) {
    constexpr int deepest = 8;
    ++draining_;
    for (ConnectionId connection : drain.connections)
      if (draining_ < deepest && open_.contains(connection.value) && input_.one_in(4)) {
        if (input_.one_in(4))
          closes(connection);
        else
          frame_comes(connection);
      }
    if (drain.listener && draining_ < deepest && input_.one_in(4)) {
      open_.insert(++last_connection_);
      take(host::Accepted{ConnectionId{last_connection_}});
      frame_comes(ConnectionId{last_connection_});
    }
    --draining_;
    take(host::Drained{});
  }
  void perform(const host::Wake& wake) { wake_ = wake.at; }
  void perform(host::LetterCame& came) {
    require(came.letter.to == id() && sessions_.peers.contains(came.letter.from));
    host_.put(Received{std::move(came.letter), came.instance});
  }
  void perform(const host::CallUnanswered& call) {
    host_.put(Unanswered{call.by, call.call, call.how});
  }
  void perform(const host::LifeOver& over) { host_.put(Failed{over.node, over.life}); }
  void perform(host::OthersDiffer& others) {
    host_.put(Differing{std::move(others.differ), std::move(others.agree)});
  }
  // A single address never ends a life, and addresses that this node has not dialled do not count.
  void perform(const host::OutlivedBy& outlived) {
    for (const auto& [claimant, seen] : outlived.life_claims)
      require(was_dialled_.contains(claimant) && seen.value <= highest_number);
    if (!host::later_life(outlived.life_claims, session_config_.self.incarnation)) return;
    require(outlived.life_claims.size() >= 2);
    over_ = true;
  }
  void perform(const host::Warning& warning) { require_presentable(warning.text); }
  void perform(const host::HandOver& asker) { open_.erase(asker.connection.value); }
  void perform(const host::TellStatus&) {}

  // --- Actions for the host

  Duration now() override { return now_; }
  Duration paused_for() override { return std::exchange(gap_, {}); }
  void send(const Letter& letter, std::optional<Duration> bound) override {
    take(host::SendLetter{letter, bound, size_of_encoded(letter)});
  }
  void keep_only(const std::function<bool(CallNumber)>& awaited) override {
    sessions_.keep_only(awaited);
  }
  void arm(Timer timer, Duration period, Inbox::Arming arming) override {
    require(period >= Duration::zero());
    timers_[timer] = {now_ + period, arming};
  }
  void disarm(Timer timer) override { timers_.erase(timer); }
  void save(const SafeState& safe) override {
    require(safe.incarnation == session_config_.self.incarnation);
    require(safe.counter_limit >= limit_);
    limit_ = safe.counter_limit;
    saving_ = true;
  }
  void permit_work(Duration, std::optional<Moment>) override {}
  void save_performed() override {}
  void left(LeaveCause) override { over_ = true; }
  void stepped(const Event&, const Actions&, const View&) override {}

  void call(std::optional<Hook>, Call call, Ended on_ended) override {
    waiting_.emplace_back([this, call = std::move(call), on_ended = std::move(on_ended)] {
      call(application_, [this, on_ended](Outcome outcome) {
        waiting_.emplace_back([on_ended, outcome = std::move(outcome)] { on_ended(outcome); });
      });
    });
  }
  void tell(std::function<void()> work) override { waiting_.push_back(std::move(work)); }
  void request_stop(std::stop_source cancel) override { cancel.request_stop(); }
  void bound(Duration, std::function<void()> overrun) override { overrun_ = std::move(overrun); }
  void unbound() override { overrun_ = nullptr; }
  [[nodiscard]] Duration left() const override { return 1s; }
  void grant(GroupNumber group) override {
    require(group.counter <= limit_);
    granted_ = group;
  }
  std::optional<GroupNumber> revoke(std::function<void()> returned) override {
    if (granted_) returned_ = std::move(returned);
    return std::exchange(granted_, std::nullopt);
  }
  [[nodiscard]] PermitsOut permits_out() const override { return {}; }
  void event(Event event) override { host_.put(std::move(event)); }
  void note(Hook, journal::Edge, std::optional<GroupNumber>, Ticket, const Members*) override {}
  void note(journal::PermitsEdge, GroupNumber) override {}
  std::function<void(std::string)> new_listener() override { return {}; }
  std::function<void(std::function<void()>)> new_door() override {
    return [this](std::function<void()> work) { waiting_.push_back(std::move(work)); };
  }
  void ask(NodeId, Inquiry, Ended answered) override {
    waiting_.emplace_back([answered = std::move(answered)] { answered(Bytes{"so"}); });
  }
  void give_up_questions() override {}
  void fatal(HookFault, const std::string&) override { over_ = true; }

  // --- Invariants, whatever the peers have sent

  void check() const {
    const auto observers =
        std::count_if(sessions_.unknown_peers.begin(), sessions_.unknown_peers.end(),
                      [](const auto& one) { return one.observer; });
    const auto& limits = session_config_.limits;
    require(static_cast<std::size_t>(observers) <= limits.observers);
    require(sessions_.unknown_peers.size() <= limits.unknown_peers + limits.observers);
    require(sessions_.verdicts.empty());
    require(sessions_.warned.size() <= 16);
    for (const auto& unknown_peer : sessions_.unknown_peers)
      require(open_.contains(unknown_peer.connection.value));
    for (const auto& [connection, node] : sessions_.whose)
      require(open_.contains(connection.value));
    for (const auto& [node, peer] : sessions_.peers) {
      require(peer.seen.value <= highest_number && peer.session_count < 10'000);
      if (peer.session) check(*peer.session);
    }
    const Common& known = common(host_.protocol());
    require(known.counter <= highest_number + 10'000 && known.safe.counter_limit >= limit_);
    for (const auto& [node, seen] : known.seen)
      require(config_.nodes.contains(node) && seen.value <= highest_number);
  }

  void check(const host::Session& session) const {
    const auto& limits = session_config_.limits;
    std::size_t bytes = 0;
    for (const auto& queued : session.queue) bytes += queued.size;
    require(bytes == session.queued_bytes && bytes <= limits.queue_bytes);
    require(session.queue.size() <= limits.queue_letters);
    require(session.written <= session.queue.size());
    require(session.highest_written <= session.last_number && session.told <= session.received);
    require(session.last_number < 10'000);
  }

  Input& input_;
  const Config config_;
  const host::SessionConfig session_config_;
  host::Sessions sessions_;
  Liar others_{input_, session_config_.self, sessions_};
  Answering application_{input_};

  Network* network_ = nullptr;
  Duration now_ = 1h;
  Duration gap_{};
  std::optional<Duration> wake_;
  std::set<NodeId> dials_;
  std::set<NodeId> was_dialled_;
  std::set<std::uint64_t> open_;
  std::set<ConnectionId> room_;  ///< connections on which the sessions wait for room to write
  std::uint64_t last_connection_ = 0;
  int draining_ = 0;
  std::map<Timer, std::pair<Duration, Inbox::Arming>> timers_;
  /// Pending work: of the application, and of its questions.
  std::deque<std::function<void()>> waiting_;
  std::function<void()> overrun_;
  std::function<void()> returned_;
  std::optional<GroupNumber> granted_;
  std::uint64_t limit_ = 0;  ///< the limit of counters in safe storage
  bool saving_ = false;
  bool over_ = false;
  host::Host host_;
};

}  // namespace muster::fuzz

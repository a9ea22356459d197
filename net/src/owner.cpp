#include "clock.hpp"
#include "node_impl.hpp"
#include "owner_words.hpp"

#include <muster/values/json.hpp>
#include <muster/values/kinds.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

/// What the owner of a node says, through its Unix socket.

namespace muster::net {

namespace {

constexpr const char* taken = "{}";

/// An owner's word that is not followed, and why.
std::string refused(const std::string& why) {
  std::string out = "{\"refused\":";
  write_json(out, why);
  return out + '}';
}

/// What those who watch are told of; that it looks after its group is none of it.
View worth_telling(View view) {
  if (view.procedure == Wait::Checking) view.procedure = Wait::Idle;
  return view;
}

}  // namespace

Expected<> Node::Impl::listen_to_owner() {
  if (Expected<> listening = listen_to_watchers(); !listening) return listening;
  if (options_.admin_socket.empty()) return {};
  Admin::Words words;
  words["status"] = [this](auto) { return fresh_status_json(); };
  words["history"] = [this](std::string_view said) { return history_json(said); };
  words["cluster"] = [this](auto) { return cluster_json(); };
  words["elect"] = [this](std::string_view said) { return be_elected(said); };
  words["drain"] = [this](std::string_view said) { return be_drained(said); };
  words["step-down"] = [this](std::string_view said) {
    const auto time = parse_time(said);
    return time ? be_out(Out::stepped_down, *time) : refused("no time in nanoseconds");
  };
  words["reload"] = [this](auto) { return be_reloaded(); };
  words["break-connections"] = [this](auto) {
    if (const auto present = life()) present->break_connections();
    return std::string(taken);
  };
  admin_ = std::make_unique<Admin>(strand_, options_.admin_socket.string(), std::move(words));
  return admin_->listen();
}

void Node::Impl::hear_nobody() {
  if (admin_) admin_->close();
  if (http_) http_->close();
}

// Leaves in order and stays out for that time, or, where it is out already, for that time from now.
std::string Node::Impl::be_out(Out why, Duration back_after) {
  if (leaving_) return refused("the process is ending");
  if (!life() && !out_) return refused("it is beginning its life; ask again");
  const bool drained = order_ && order_->why == Out::drained;
  if (drained && why != Out::drained)
    return refused("it is drained; muster drain --undo brings it back");
  const bool on_its_way_out = order_.has_value();
  if (!on_its_way_out && life_->has_ended())
    return refused("it is beginning a new life; ask again");
  order_ = Order{why, back_after};
  if (out_)
    go_out();
  else if (!on_its_way_out)
    life_->leave();
  return taken;
}

std::string Node::Impl::be_drained(std::string_view said) {
  if (said != "undo") return be_out(Out::drained, {});
  if (leaving_) return refused("the process is ending");
  if (!order_ || order_->why != Out::drained) return refused("it is not drained");
  come_back();
  return taken;
}

void Node::Impl::come_back() {
  order_ = Order{Out::stepped_down, {}};
  if (out_) go_out();
}

std::string Node::Impl::be_elected(std::string_view said) {
  if (leaving_) return refused("the process is ending");
  if (order_)
    return refused("it is out, or on its way out: " + std::string(enumerator_name(order_->why)));
  if (!life() || life_->has_ended()) return refused("it is beginning a new life; ask again");
  if (life_->seen().view.status != Status::Normal)
    return refused("it is not Normal, and reorganizes already or will; ask again");
  life_->elect(std::string(said));
  return taken;
}

std::string Node::Impl::be_reloaded() {
  if (!options_.tls && !options_.read_again) return refused("nothing of it is read again");
  const Expected<std::string> at_next_start = read_again();
  if (!at_next_start) return refused(at_next_start.error().what);
  std::string out = "{\"at_next_start\":";
  write_json(out, *at_next_start);
  return out + '}';
}

std::string Node::Impl::cluster_json() const {
  std::string out;
  write_json(out, ClusterSeen{options_.cluster, options_.addresses, options_.tls});
  return out;
}

// "COUNT BEFORE": so many lines, of those below that number. Without it the last, and behind them
// the one that goes on, if one does.
std::string Node::Impl::history_json(std::string_view said) const {
  const Page page = parse_page(said);
  std::string out =
      history_->lines(page.count, page.before.value_or(static_cast<std::uint64_t>(-1)));
  if (page.before || !life()) return out;
  if (const auto entry = recorder_->going_on(monotonic_now()); entry && !out_) {
    if (!out.empty()) out += '\n';
    write_json(out, *entry);
  }
  return out;
}

void Node::Impl::show_what_goes_on() {
  const auto entry = recorder_->going_on({});
  const std::lock_guard lock(life_mutex_);
  because_ = entry ? entry->evidence : std::string();
}

void Node::Impl::stepped(Duration t, const Event& event, const View& after) {
  if (auto entry = recorder_->take(t, event, after)) {
    if (metrics_) metrics_->reorganized(*entry);
    history_->add(*std::move(entry));
  }
  show_what_goes_on();
  const std::vector<News> all_news = news_->take(event, after);
  for (const News& news : all_news) log_->tell(news.level, news.matter, news.text);
  count(event, after, all_news);
  if (View view = worth_telling(after); view != told_) {
    told_ = std::move(view);
    tell();
  }
  if (tls_->credentials() && tls_->credentials()->is_taken_back() && !order_)
    boost::asio::post(strand_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->leave_where_it_proves_nothing();
    });
}

void Node::Impl::tell() {
  if (admin_ && admin_->is_watched()) admin_->tell(fresh_status_json());
}

// --- What it is
// ---------------------------------------------------------------------------------------

std::optional<Out> Node::Impl::out() const {
  const std::lock_guard lock(life_mutex_);
  return out_;
}

View Node::Impl::view() const {
  const auto present = life();
  return present ? present->seen().view : View{};
}

std::string Node::Impl::fresh_status_json() const {
  if (const auto present = life()) present->show_counters();
  return status_json();
}

std::string Node::Impl::status_json() const {
  const auto present = life();
  const auto out_now = out();
  const auto [view, as_of, progress, shown, broken, journal_dropped, slow_saves, needed_T, counters,
              differing, wire, heard, halted_in_turn_by] = present ? present->seen() : Life::Seen{};
  const bool is_member = view.coordinator && view.coordinator != options_.config.self;
  const auto age =
      heard ? std::optional(std::max<Duration>(monotonic_now() - *heard, {})) : std::nullopt;
  const auto bound =
      is_member ? std::optional(longest_silence(options_.config.timings)) : std::nullopt;
  const auto certificate =
      options_.tls
          ? std::optional<Duration>(proves_until_.load() - std::chrono::system_clock::now())
          : std::nullopt;
  const auto time_left = [](const HeldNodes& held) {
    std::map<NodeId, Duration> left;
    for (const auto& [node, hold] : held.by_node)
      left[node] = std::max<Duration>(hold.until - boottime_now(), {});
    return left;
  };
  const std::string because = [&] {
    const std::lock_guard lock(life_mutex_);
    return out_ ? std::string() : because_;
  }();
  const NodeStatus status{options_.config.self,
                          view.status,
                          view.coordinator,
                          view.group,
                          view.halted_by,
                          view.up,
                          present ? present->incarnation() : Incarnation{},
                          view.definition,
                          options_.config.protocol,
                          as_of,
                          view.procedure,
                          view.application,
                          shown,
                          broken,
                          progress,
                          journal_dropped,
                          slow_saves,
                          needed_T,
                          out_now,
                          differing,
                          wire,
                          time_left(view.held),
                          age,
                          bound,
                          because,
                          halted_in_turn_by,
                          certificate,
                          counters};
  std::string out;
  write_json(out, status);
  return out;
}

std::string Node::status_json() const {
  return impl_->status_json();
}

View Node::view() const {
  return impl_->view();
}

}  // namespace muster::net

#include "node/impl.hpp"

#include "node/misfit.hpp"

#include <muster/protocol/cluster_text.hpp>
#include <muster/values/text.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <utility>

namespace muster::net {

namespace asio = boost::asio;

namespace {

NodeOptions completed(NodeOptions options) {
  options.config.options.calm =
      options.config.can_be_calm() ? options.lives.calm : Duration::zero();
  if (options.cluster.empty()) options.cluster = cluster_text(cluster_lines(options.config));
  return options;
}

}  // namespace

Node::Impl::Impl(asio::io_context& context, NodeOptions options,
                 std::unique_ptr<SafeStorage> storage, MakeApplication make_application,
                 asio::any_io_executor hooks)
    : options_(completed(std::move(options))),
      thrown_(std::make_shared<Thrown>(
          [this](const std::exception* error) { fatal(left_a_handler(name(), error)); })),
      context_(context),
      strand_(Guarded(asio::make_strand(context), thrown_)),
      hooks_(std::move(hooks)),
      log_(std::make_shared<NodeLog>(options_)),
      make_application_(std::move(make_application)),
      store_(std::move(storage)),
      certificates_(strand_, options_, log_,
                    {[this] { look_at_proof(); }, [this] { proof_is_renewed(); }}),
      absence_(strand_, {[this] { return lives_->present(); },
                         [this] {
                           chronicle_.flush();
                           admin_->tell();
                         },
                         [this] { lives_->go_on(); }}),
      chronicle_(options_.config.self, log_),
      lives_(std::make_shared<Lives>(
          strand_, options_, log_,
          Lives::Handlers{[this](Incarnation incarnation) { return life_handlers(incarnation); },
                          [this] { return may_go_on(); },
                          [this](const Failure& failure) { fatal(failure); }})),
      left_in_time_(strand_) {}

// --- The start

Expected<> Node::Impl::start(std::function<void()> listens) {
  if (std::exchange(started_, true))
    return Failure{ExitCode::bad_configuration,
                   "a Node can only be started once: make another Node"};
  for (const auto& why :
       {misfit_of(store_.get(), make_application_, hooks_, context_), misfit_of(options_)})
    if (why) return Failure{ExitCode::bad_configuration, *why};
  try {
    return begin(std::move(listens));
  } catch (const std::exception& error) {
    const auto missing = shortage(error);
    if (!missing) throw;
    return Failure{ExitCode::temporary, name() + ": " + missing->what};
  }
}

Expected<> Node::Impl::begin(std::function<void()> listens) {
  if (Expected<> proven = certificates_.begin(); !proven) return proven;
  storage_.emplace(*store_);
  if (options_.journal)
    journal_ =
        std::make_shared<JournalWriter>(*options_.journal, options_.config.timings.T / 8,
                                        [log = log_](const std::string& why) { log->warn(why); });
  const Expected<Duration> held =
      lives_->load(*store_, {asio::make_strand(hooks_), make_application_, *storage_, journal_,
                             certificates_.tls(), std::move(listens)});
  if (!held) return held.error();
  if (Expected<> loaded = chronicle_.load(strand_, *store_, *storage_,
                                          [this](const Failure& failure) { fatal(failure); });
      !loaded)
    return loaded;
  if (Expected<> listening = listen_to_people(); !listening) return listening;
  if (*held == Duration::zero()) return lives_->begin(*store_);
  // The node does not listen while it waits, so a peer that dials it gets the proof that no life of
  // this node runs. The admin socket still answers the owner.
  log_->warn(lives_->why_held(*held));
  asio::post(strand_, [weak = weak_from_this(), time = *held] {
    if (const auto self = weak.lock(); self && !self->absence_.is_closed())
      self->absence_.begin(Out::held_down, time);
  });
  return {};
}

Expected<> Node::Impl::listen_to_people() {
  const auto status = [this] { return fresh_status_json(); };
  const auto history = [this](const Page& page) { return history_json(page); };
  if (options_.http) {
    watchers_ = std::make_unique<Watchers>(
        strand_, Watchers::Node{options_, *lives_, absence_, certificates_.tls(), journal_, status,
                                history});
    if (Expected<> listening = watchers_->listen(); !listening) return listening;
  }
  admin_ = std::make_unique<AdminWords>(
      strand_, AdminWords::Node{options_, *lives_, absence_, certificates_, *log_, journal_.get(),
                                watchers_.get(), status, history});
  return admin_->listen();
}

// --- A life

Life::Handlers Node::Impl::life_handlers(Incarnation incarnation) {
  if (const auto before = lives_->last(); before && watchers_) watchers_->count_life(*before);
  chronicle_.begin_life(incarnation);
  absence_.is_over();
  Life::Handlers handlers;
  handlers.left = [weak = weak_from_this()](LeaveCause cause) {
    if (const auto self = weak.lock()) self->left(cause);
  };
  handlers.step_down = [this](Duration back_after) {
    absence_.order(Out::stepped_down, back_after);
  };
  handlers.fatal = [this](const Failure& failure) { fatal(failure); };
  handlers.status = [this] { return fresh_status_json(); };
  handlers.warn = [this](const std::string& sentence) { log_->warn(sentence); };
  handlers.broken = [log = log_, name = name()](const std::string& what) {
    log->tell(LogLevel::warning, "broken",
              name + ": its application reports a broken invariant: " + what);
  };
  handlers.metrics = watchers_ ? &watchers_->metrics() : nullptr;
  handlers.stepped = [this](Duration t, const Event& event, const View& after) {
    stepped(t, event, after);
  };
  return handlers;
}

void Node::Impl::stepped(Duration t, const Event& event, const View& after) {
  const Chronicle::Told told = chronicle_.take(t, event, after);
  if (watchers_) watchers_->count(event, after, told);
  admin_->stepped(after);
  if (certificates_.is_revoked() && !absence_.ordered())
    asio::post(strand_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look_at_proof();
    });
}

// A life has left in order: the process ends, or the node stays out for a while.
void Node::Impl::left(LeaveCause cause) {
  if (absence_.is_closed()) return gone();
  if (absence_.ordered()) return absence_.begin();
  if (cause == LeaveCause::unsteady) {
    const Duration time = absence_.stay_away(holds(options_.config));
    log_->warn(name() + " takes no part for " + to_text(time) +
               ": the groups that it coordinated did not last (calm)");
    return absence_.begin(Out::unsteady, time);
  }
  // Hooks failed again and again. The node stays out for a while and answers nobody.
  const Duration time = absence_.back_off(lives_->last()->was_normal());
  log_->warn(name() + " stands back: its hooks failed repeatedly, the last time " +
             chronicle_.last_failure() + "; fix the application: a new life begins in " +
             std::to_string(time / std::chrono::seconds(1)) + " s");
  absence_.begin(Out::stood_back, time);
}

// Returns true if another life is to begin, and false if the node leaves for good or goes out.
bool Node::Impl::may_go_on() {
  if (absence_.is_closed())
    gone();
  else if (absence_.ordered())
    absence_.begin();
  else
    return true;
  return false;
}

}  // namespace muster::net

#include "clock.hpp"
#include "node_impl.hpp"

#include <muster/protocol/cluster_text.hpp>
#include <muster/protocol/misfit.hpp>
#include <muster/values/address.hpp>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;

// --- A life, and the next
// -----------------------------------------------------------------------------

NodeOptions Node::Impl::completed(NodeOptions options) {
  options.config.options.calm = options.config.can_be_calm() ? options.calm : Duration::zero();
  if (options.cluster.empty()) options.cluster = cluster_text(cluster_lines(options.config));
  return options;
}

// What keeps this node from beginning, as one sentence.
std::optional<std::string> Node::Impl::wrong() const {
  constexpr std::size_t most_carried = 60 * 1024;
  const auto sentence = [](const std::string& key, const std::string& expected) {
    return "the node's options: " + key + " has to be " + expected;
  };
  if (started_) return "a node is started once: make another one for what is to come";
  if (!store_) return sentence("storage", "an open store, such as SqliteStorage::open gives");
  if (!make_application_) return sentence("make_application", "a function that makes one");
  if (!given_executor_) return sentence("hooks", "an executor, such as a thread pool's");
  if (&asio::query(given_executor_, asio::execution::context) == &context_)
    return sentence("hooks",
                    "an executor of another context than the protocol's, such as a thread pool's: "
                    "a hook that waits there would hold up the protocol");
  if (const auto misfit = muster::misfit(options_.config))
    return sentence(misfit->key, misfit->expected);
  if (const auto misfit = muster::misfit(options_.addresses, options_.config.nodes,
                                         options_.insecure || options_.tls.has_value()))
    return sentence("the address of node " + misfit->key, misfit->expected);
  if (!options_.listen.empty()) {
    const auto own = parse_address(options_.listen);
    if (!own || own->port == 0)
      return sentence("listen", "a host and a port from 1 to 65535, such as \"0.0.0.0:7101\"");
    if (!options_.tls && !options_.insecure && !own->is_loopback())
      return sentence("listen",
                      "a loopback address, or tls beside it, or insecure = true: connections "
                      "without it are neither encrypted nor authenticated");
  }
  if (options_.http)
    if (const auto why = wrong_with(*options_.http)) return "the node's options: " + *why;
  if (options_.journal)
    if (const std::string trouble = trouble_with_journal(options_.journal->file); !trouble.empty())
      return sentence("journal", "a journal, or not there yet: " + options_.journal->file.string() +
                                     ' ' + trouble);
  if (options_.cluster.size() > most_carried)
    return sentence("cluster", "at most " + std::to_string(most_carried) + " bytes");
  for (const auto& [key, limit] : {std::pair("report_limit", options_.report_limit),
                                   std::pair("definition_limit", options_.definition_limit)})
    if (limit > most_carried)
      return sentence(key, "at most " + std::to_string(most_carried) +
                               ": a letter has to carry that, and has 64 KiB; move more by ask");
  return std::nullopt;
}

// By assumptions 4 and 5: the incarnation is durable before anybody hears of this life.
Expected<> Node::Impl::start(std::function<void()> listens) {
  if (const auto why = wrong()) return Failure{ExitCode::bad_configuration, *why};
  started_ = true;
  try {
    return begin(std::move(listens));
  } catch (const std::exception& error) {
    const auto missing = shortage(error);
    if (!missing) throw;
    return Failure{ExitCode::temporary,
                   "node " + std::to_string(options_.config.self.value) + ": " + missing->what};
  }
}

Expected<> Node::Impl::begin(std::function<void()> listens) {
  if (Expected<> proven = begin_proving(); !proven) return proven.error();
  hooks_ = asio::make_strand(given_executor_);
  storage_.emplace(*store_);
  if (options_.journal)
    journal_ =
        std::make_shared<JournalWriter>(*options_.journal, options_.config.timings.T / 8,
                                        [log = log_](const std::string& why) { log->warn(why); });
  listens_ = std::move(listens);
  Expected<SafeState> safe = store_->load();
  if (!safe) return safe.error();
  if (const auto misfit = muster::misfit(*safe))
    return Failure{ExitCode::storage_refused,
                   "the node's store: " + misfit->key + " has to be " + misfit->expected};
  const auto short_lives = store_->read(HoldDown::cell);
  if (!short_lives) return short_lives.error();
  const HoldDown before(*short_lives);
  const Duration held = before.wait(options_.hold_down);
  if (options_.hold_down > Duration::zero()) before_ = before;
  if (held == Duration::zero()) {
    ++safe->incarnation.value;
    if (Expected<> saved = store_->save(*safe); !saved) return saved.error();
    const CellBatch count = before_ ? before_->begins() : HoldDown::has_lasted();
    const bool counts = before_ || before.short_lives() > 0;
    if (Expected<> counted = counts ? store_->write(count) : Expected<>(); !counted)
      return counted.error();
  }
  safe_ = *safe;
  auto history = HistoryStore::load(strand_, *store_, *storage_,
                                    {[this] { return recorder_ && !recorder_->going_on({}); },
                                     [this](const Failure& failure) { fatal(failure); }});
  if (!history) return history.error();
  history_ = std::move(*history);
  if (Expected<> listening = listen_to_owner(); !listening) return listening.error();
  if (held > Duration::zero()) {
    hold_down(held);
    return {};
  }
  const Expected<> begun = begin_life(safe_);
  if (!begun && before_)
    if (Expected<> put = store_->write(before_->as_before()); !put) return put.error();
  return begun;
}

// Nothing listens meanwhile: whoever calls has the proof that no life is there. The owner is
// answered.
void Node::Impl::hold_down(Duration time) {
  log_->warn(before_->sentence(options_.config.self, time));
  asio::post(strand_, [weak = weak_from_this(), time] {
    const auto self = weak.lock();
    if (!self || self->leaving_) return;
    self->order_ = Order{Out::held_down, time};
    self->go_out();
  });
}

// A life that was held down counts when it is about to listen.
void Node::Impl::begin_held_life() {
  storage_->write_own(before_->begins(),
                      [weak = weak_from_this(), strand = strand_](Expected<> counted) {
                        asio::post(strand, [weak, counted] {
                          const auto self = weak.lock();
                          if (!self || self->leaving_) return;
                          if (!counted) self->fatal(counted.error());
                          self->begin_next_life({});
                        });
                      });
}

Expected<> Node::Impl::begin_life(const SafeState& safe) {
  count_life();
  recorder_.emplace(options_.config.self, safe.incarnation);
  news_.emplace(options_.config.self);
  auto life = std::make_shared<Life>(strand_, hooks_, options_, make_application_, *storage_,
                                     journal_, tls_, safe, life_handlers());
  {
    const std::lock_guard lock(life_mutex_);
    life_ = life;
    out_.reset();
  }
  if (Expected<> listening = life->listen(); !listening) {
    life->end(listening.error());
    return listening.error();
  }
  asio::post(strand_, [life] { life->recover(); });
  if (const auto tell = std::exchange(listens_, nullptr)) tell();
  if (before_) note_that_it_lasts();
  return {};
}

// Once is enough: what follows a life within a process has waited, or comes once.
void Node::Impl::note_that_it_lasts() {
  lasts_.expires_after(HoldDown::short_life);
  lasts_.async_wait([weak = weak_from_this()](auto error) {
    const auto self = weak.lock();
    if (error || !self || self->life_->has_ended()) return;
    self->before_.reset();
    self->storage_->write_own(HoldDown::has_lasted(),
                              [weak, strand = self->strand_](Expected<> written) {
                                if (written) return;
                                asio::post(strand, [weak, failure = written.error()] {
                                  if (const auto there = weak.lock()) there->fatal(failure);
                                });
                              });
  });
}

std::shared_ptr<Life> Node::Impl::life() const {
  const std::lock_guard lock(life_mutex_);
  return life_;
}

void Node::Impl::begin_next_life(Incarnation above) {
  SafeState safe = life_ ? life_->safe() : safe_;
  safe.incarnation = {std::max(safe.incarnation.value, above.value) + 1};
  storage_->save(safe, [weak = weak_from_this(), strand = strand_, safe](Expected<> saved) {
    asio::post(strand, [weak, safe, saved] {
      const auto self = weak.lock();
      if (!self || self->leaving_) return;
      if (!saved) self->fatal(saved.error());
      if (Expected<> begun = self->begin_life(safe); !begun) self->could_not_begin(begun.error());
    });
  });
}

void Node::Impl::could_not_begin(const Failure& failure) {
  if (!before_) fatal(failure);
  storage_->write_own(before_->as_before(),
                      [weak = weak_from_this(), strand = strand_, failure](Expected<>) {
                        asio::post(strand, [weak, failure] {
                          if (const auto self = weak.lock()) self->fatal(failure);
                        });
                      });
}

// One voice may be a stranger's, which listens at the address of a node that is down: it ends
// nobody. Whoever is to begin anew follows it, as its owner wants that, once for each other node:
// they may have seen different lives, and no more is there to be heard.
void Node::Impl::outlived(const Voices& voices) {
  const NodeId self = options_.config.self;
  const Incarnation own = life_->incarnation();
  if (options_.initialise && begun_anew_ + 1 < options_.config.nodes.size()) {
    const Incarnation latest = host::latest_life(voices);
    if (latest >= own) begin_anew(latest);
    return;
  }
  const auto seen = host::later_life(voices, own);
  if (!seen) return;
  const std::string they_saw =
      *seen == own ? "another process of that one" : std::to_string(seen->value);
  end_outlived({ExitCode::storage_refused,
                "node " + std::to_string(self.value) +
                    ": its safe storage is younger than what peers have seen (incarnation " +
                    std::to_string(own.value) + ", they saw " + they_saw +
                    "): restore it, or run this node with --initialise to begin anew"});
}

// Its number is not used up: the next start is refused as this one was, where the number above
// would be taken for the next life.
void Node::Impl::end_outlived(const Failure& why) {
  asio::post(strand_, [weak = weak_from_this(), why] {
    const auto self = weak.lock();
    if (!self || self->life_->has_ended()) return;
    self->life_->end(why);
    SafeState safe = self->life_->safe();
    --safe.incarnation.value;
    self->storage_->save(safe, [weak, strand = self->strand_, why](Expected<>) {
      asio::post(strand, [weak, why] {
        if (const auto there = weak.lock()) there->fatal(why);
      });
    });
  });
}

void Node::Impl::begin_anew(Incarnation seen) {
  asio::post(strand_, [weak = weak_from_this(), seen] {
    const auto self = weak.lock();
    if (!self || self->life_->has_ended()) return;
    ++self->begun_anew_;
    self->log_->warn("node " + std::to_string(self->options_.config.self.value) +
                     " begins anew above life " + std::to_string(seen.value) +
                     ", which a peer has seen (--initialise)");
    self->life_->end({ExitCode::ok, "peers have seen a later life; a new one begins"});
    if (self->leaving_) return self->gone();
    if (self->order_) return self->go_out();
    self->begin_next_life(seen);
  });
}

Life::Handlers Node::Impl::life_handlers() {
  Life::Handlers handlers;
  handlers.left = [weak = weak_from_this()](LeaveCause cause) {
    if (const auto self = weak.lock()) self->left(cause);
  };
  handlers.step_down = [this](Duration back_after) { be_out(Out::stepped_down, back_after); };
  handlers.outlived = [this](const Voices& voices) { outlived(voices); };
  handlers.fatal = [this](const Failure& failure) { fatal(failure); };
  handlers.status = [this] { return fresh_status_json(); };
  handlers.warn = [this](const std::string& sentence) { log_->warn(sentence); };
  handlers.broken = [log = log_, self = options_.config.self](const std::string& what) {
    log->tell(LogLevel::warning, "broken",
              "node " + std::to_string(self.value) +
                  ": its application says that this is broken: " + what);
  };
  handlers.metrics = metrics_ ? &*metrics_ : nullptr;
  handlers.stepped = [this](Duration t, const Event& event, const View& after) {
    stepped(t, event, after);
  };
  return handlers;
}

void Node::Impl::close() {
  hear_nobody();
  cancel_waits();
  if (life_) life_->end({ExitCode::ok, "closed"});
  *thrown_ = [log = log_](const std::exception* error) {
    log->fatal(std::string("a handler of a node that is gone threw: ") +
               (error ? error->what() : "no std::exception"));
    ::_exit(static_cast<int>(ExitCode::impossible_state));
  };
}

namespace {

/// Ends the process when that time is over, whatever its other threads wait for. False where there
/// is no thread to be had for it.
bool exit_after(Duration time, int code) noexcept {
  try {
    std::thread([time, code] {
      std::this_thread::sleep_for(time);
      ::_exit(code);
    }).detach();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

// Fail-stop: one line, no goodbye, nothing that could still act (assumption 5). The journal may be
// on the disk that hangs, or the memory be used up: neither keeps the process.
void Node::Impl::fatal(const Failure& failure) {
  const int code = static_cast<int>(failure.code);
  const bool ends = exit_after(options_.config.timings.T / 8, code);
  try {
    log_->fatal(failure.what + " (exit code " + std::to_string(code) + ")");
    if (options_.fatal && ends) options_.fatal(failure);
    if (life_ && ends) life_->note_end(failure);
  } catch (...) {  // it ends without a word
  }
  ::_exit(code);
}

Failure Node::Impl::left_a_handler(const std::exception* error) const {
  const std::string name = "node " + std::to_string(options_.config.self.value) + ": ";
  if (auto missing = error ? shortage(*error) : std::nullopt)
    return {missing->code, name + missing->what};
  return {
      ExitCode::impossible_state,
      name + "a handler threw: " + (error ? error->what() : "something that is no std::exception") +
          "; please report it with the end of its journal"};
}

// --- Node
// ---------------------------------------------------------------------------------------------

Node::Node(asio::io_context& context, NodeOptions options, std::unique_ptr<SafeStorage> storage,
           MakeApplication make_application, asio::any_io_executor hooks)
    : impl_(std::make_shared<Impl>(context, std::move(options), std::move(storage),
                                   std::move(make_application), std::move(hooks))) {}

Node::~Node() {
  impl_->close();
}

Expected<> Node::start(std::function<void()> listens) {
  return impl_->start(std::move(listens));
}

void Node::leave(std::function<void()> left) {
  impl_->leave(std::move(left));
}

}  // namespace muster::net

#include "node/lives.hpp"

#include "base/on_strand.hpp"

#include <muster/protocol/misfit.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;

Lives::Lives(asio::any_io_executor strand, const NodeOptions& options, std::shared_ptr<NodeLog> log,
             Handlers handlers)
    : strand_(std::move(strand)),
      options_(options),
      log_(std::move(log)),
      handlers_(std::move(handlers)),
      lasts_(strand_) {}

template <class Act>
auto Lives::then(Act act) {
  return on_strand(strand_, weak_from_this(), std::move(act));
}

Expected<Duration> Lives::load(SafeStorage& storage, Parts parts) {
  parts_.emplace(std::move(parts));
  Expected<SafeState> safe = storage.load();
  if (!safe) return safe.error();
  if (const auto misfit = muster::misfit(*safe))
    return Failure{ExitCode::storage_refused,
                   "the node's store: " + misfit->key + " has to be " + misfit->expected};
  const auto short_lives = storage.read(HoldDown::cell);
  if (!short_lives) return short_lives.error();
  const HoldDown before(*short_lives);
  const Duration shortest = options_.lives.hold_down;
  if (shortest > Duration::zero()) before_ = before;
  const Duration held = before.wait(shortest);
  if (held == Duration::zero()) {
    ++safe->incarnation.value;
    if (Expected<> saved = storage.save(*safe); !saved) return saved.error();
    const CellBatch count = before_ ? before_->begins() : HoldDown::has_lasted();
    const bool counts = before_ || before.short_lives() > 0;
    if (Expected<> counted = counts ? storage.write(count) : Expected<>(); !counted)
      return counted.error();
  }
  safe_ = *safe;
  return held;
}

Expected<> Lives::begin(SafeStorage& storage) {
  const Expected<> begun = begin_life(safe_);
  if (!begun && before_)
    if (Expected<> put = storage.write(before_->as_before()); !put) return put.error();
  return begun;
}

void Lives::go_on() {
  if (life_)
    follow();
  else
    begin_held();
}

// A life that is held down counts as a short life from the moment at which it is about to listen.
void Lives::begin_held() {
  parts_->storage.write_own(before_->begins(), then([](Lives& self, const Expected<>& counted) {
                              if (!self.handlers_.may_go_on()) return;
                              if (!counted) return self.handlers_.fatal(counted.error());
                              self.follow();
                            }));
}

void Lives::follow(Incarnation above) {
  SafeState safe = life_ ? life_->safe() : safe_;
  safe.incarnation = {std::max(safe.incarnation.value, above.value) + 1};
  parts_->storage.save(safe, then([safe](Lives& self, const Expected<>& saved) {
                         if (!self.handlers_.may_go_on()) return;
                         if (!saved) return self.handlers_.fatal(saved.error());
                         if (Expected<> begun = self.begin_life(safe); !begun)
                           self.could_not_begin(begun.error());
                       }));
}

Expected<> Lives::begin_life(const SafeState& safe) {
  Life::Handlers handlers = handlers_.begins(safe.incarnation);
  handlers.outlived = [this](const LifeClaims& life_claims) { outlived(life_claims); };
  auto life = std::make_shared<Life>(strand_, parts_->hooks, options_, parts_->make_application,
                                     parts_->storage, parts_->journal, parts_->tls, safe,
                                     std::move(handlers));
  {
    const std::lock_guard lock(mutex_);
    life_ = life;
  }
  if (Expected<> listening = life->listen(); !listening) {
    life->end(listening.error());
    return listening.error();
  }
  asio::post(strand_, [life] { life->recover(); });
  if (const auto tell = std::exchange(parts_->listens, nullptr)) tell();
  if (before_) note_that_it_lasts();
  return {};
}

// Done once in a process. Later lives of the process need no hold-down: before each of them the
// node has waited, or has had a reason that occurs only once.
void Lives::note_that_it_lasts() {
  lasts_.after(HoldDown::short_life, [this] {
    if (!present()) return;
    before_.reset();
    parts_->storage.write_own(HoldDown::has_lasted(),
                              then([](Lives& self, const Expected<>& written) {
                                if (!written) self.handlers_.fatal(written.error());
                              }));
  });
}

void Lives::could_not_begin(const Failure& failure) {
  if (!before_) return handlers_.fatal(failure);
  parts_->storage.write_own(before_->as_before(), then([failure](Lives& self, const Expected<>&) {
                              self.handlers_.fatal(failure);
                            }));
}

// Peers say that they have seen a later life of this node. An unknown peer can listen at the
// address of a node that is down, so the statement of a single node ends no life. With --initialise
// the owner wants the node to begin a later life, so a single statement is enough. This happens at
// most once for each other node, as each can have seen a different life.
void Lives::outlived(const LifeClaims& life_claims) {
  const Incarnation own = life_->incarnation();
  if (options_.lives.initialise && restarted_ + 1 < options_.config.nodes.size()) {
    const Incarnation latest = host::latest_life(life_claims);
    if (latest >= own) restart(latest);
    return;
  }
  const auto seen = host::later_life(life_claims, own);
  if (!seen) return;
  const std::string they_saw =
      *seen == own ? "another process with that incarnation" : to_text(*seen);
  end_outlived({ExitCode::storage_refused,
                "node " + to_text(options_.config.self) +
                    ": its safe storage is older than what peers have seen (incarnation " +
                    to_text(own) + ", they saw " + they_saw +
                    "): restore its newest copy, or run this node with --initialise"});
}

// Stores the earlier incarnation again. Otherwise the next start would have an incarnation above
// the one that peers have seen, and peers would accept the start as the next life. With the earlier
// incarnation, the next start is refused as this one was.
void Lives::end_outlived(const Failure& why) {
  asio::post(strand_, [weak = weak_from_this(), why] {
    const auto self = weak.lock();
    const auto life = self ? self->present() : nullptr;
    if (!life) return;
    life->end(why);
    SafeState safe = life->safe();
    --safe.incarnation.value;
    self->parts_->storage.save(
        safe, self->then([why](Lives& there, const Expected<>&) { there.handlers_.fatal(why); }));
  });
}

void Lives::restart(Incarnation seen) {
  asio::post(strand_, [weak = weak_from_this(), seen] {
    const auto self = weak.lock();
    const auto life = self ? self->present() : nullptr;
    if (!life) return;
    ++self->restarted_;
    self->log_->warn("node " + to_text(self->options_.config.self) +
                     " starts again with an incarnation above " + to_text(seen) +
                     ", which a peer has seen (--initialise)");
    life->end({ExitCode::ok, "peers have seen a later life; a new one begins"});
    if (self->handlers_.may_go_on()) self->follow(seen);
  });
}

void Lives::close() {
  lasts_.cancel();
  if (life_) life_->end({ExitCode::ok, "closed"});
}

std::string Lives::why_held(Duration time) const {
  return before_->sentence(options_.config.self, time);
}

std::shared_ptr<Life> Lives::last() const {
  const std::lock_guard lock(mutex_);
  return life_;
}

std::shared_ptr<Life> Lives::present() const {
  auto life = last();
  return life && !life->has_ended() ? life : nullptr;
}

}  // namespace muster::net

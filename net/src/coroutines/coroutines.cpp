#include "coroutines/coroutine_context.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>

namespace muster::net {

namespace asio = boost::asio;

// --- The context of coroutines

void CoroutineContext::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (!services_) return;
  ready_.push_back(std::move(work));
  services_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->run_next();
  });
}

void CoroutineContext::run_next() {
  std::function<void()> work;
  {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) return;
    work = std::move(ready_.front());
    ready_.pop_front();
  }
  work();
}

std::uint64_t CoroutineContext::await(Continue go_on) {
  const std::lock_guard lock(mutex_);
  awaited_.emplace(++last_, std::move(go_on));
  return last_;
}

void CoroutineContext::arrived(std::uint64_t awaited, const Error& error, Cells cells) {
  Continue go_on;
  {
    const std::lock_guard lock(mutex_);
    const auto found = awaited_.find(awaited);
    if (found == awaited_.end()) return;
    go_on = std::move(found->second);
    awaited_.erase(found);
  }
  go_on(error, std::move(cells));
}

// Destroying a coroutine can post work. It is dropped, as `services_` is null by then.
void CoroutineContext::close() {
  std::deque<std::function<void()>> ready;
  std::map<std::uint64_t, Continue> awaited;
  {
    const std::lock_guard lock(mutex_);
    services_ = nullptr;
    ready.swap(ready_);
    awaited.swap(awaited_);
  }
  awaited.clear();
  ready.clear();
  shutdown();  // destroys the timers and sockets of this context
}

// --- Operations of Services that a coroutine can await

namespace {

using Error = CoroutineContext::Error;
using Cells = Coroutines::Cells;

/// Starts an operation of Services, and resumes the coroutine when it has ended.
struct Ask {
  std::shared_ptr<CoroutineContext> context;
  std::function<void(std::function<void(Cells)>)> ask;
  bool cancellable = false;

  template <class Handler>
  void operator()(Handler handler) const {
    auto slot = asio::get_associated_cancellation_slot(handler);
    const auto kept = std::make_shared<Handler>(std::move(handler));
    const std::uint64_t awaited = context->await([kept](const Error& error, Cells cells) {
      Handler go_on = std::move(*kept);
      std::move(go_on)(error, std::move(cells));
    });
    if (cancellable && slot.is_connected())
      slot.assign([weak = std::weak_ptr(context), awaited](asio::cancellation_type) {
        const auto there = weak.lock();
        if (!there) return;
        there->post([weak, awaited] {
          if (const auto self = weak.lock())
            self->arrived(awaited, asio::error::operation_aborted, {});
        });
      });
    ask([weak = std::weak_ptr(context), awaited](Cells cells) {
      if (const auto self = weak.lock()) self->arrived(awaited, {}, std::move(cells));
    });
  }
};

Coroutines::awaitable<Cells> answer_to(Ask ask) {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(Error, Cells)>(
      std::move(ask), asio::use_awaitable);
}

Coroutines::awaitable<> end_of(Coroutines::awaitable<Cells> operation) {
  co_await std::move(operation);
}

using AnswerToCome = std::shared_ptr<std::optional<Done<Bytes>::Outcome>>;

Coroutines::awaitable<Bytes> answer_after(Coroutines::awaitable<Cells> operation,
                                          AnswerToCome answered) {
  co_await std::move(operation);
  Done<Bytes>::Outcome& outcome = **answered;
  if (!outcome) throw std::runtime_error(outcome.error());
  co_return std::move(*outcome);
}

}  // namespace

Coroutines::Coroutines(Services& services)
    : services_(services), context_(std::make_shared<CoroutineContext>(services)) {}

Coroutines::~Coroutines() = default;

Coroutines::awaitable<> Coroutines::wait_for(Duration delay) {
  return end_of(answer_to({context_,
                           [this, delay](std::function<void(Cells)> there) {
                             services_.post_after(delay, [there = std::move(there)] { there({}); });
                           },
                           true}));
}

Coroutines::awaitable<> Coroutines::write(CellBatch batch) {
  return end_of(
      answer_to({context_, [this, batch = std::move(batch)](std::function<void(Cells)> there) {
                   services_.write(batch, [there = std::move(there)] { there({}); });
                 }}));
}

Coroutines::awaitable<Coroutines::Cells> Coroutines::scan(std::string prefix) {
  return answer_to({context_, [this, prefix = std::move(prefix)](std::function<void(Cells)> there) {
                      services_.scan(prefix, std::move(there));
                    }});
}

Coroutines::awaitable<Bytes> Coroutines::ask(const AskingContext& context, NodeId member,
                                             Bytes question) {
  const AnswerToCome answered = std::make_shared<std::optional<Done<Bytes>::Outcome>>();
  Ask ask{context_,
          [context, member, question = std::move(question),
           answered](std::function<void(Cells)> there) {
            context.ask(member, question,
                        [answered, there = std::move(there)](Done<Bytes>::Outcome outcome) {
                          *answered = std::move(outcome);
                          there({});
                        });
          },
          true};
  return answer_after(answer_to(std::move(ask)), answered);
}

Coroutines::awaitable<Bytes> Coroutines::answer(Question) {
  throw std::runtime_error("its application answers no questions");
  co_return Bytes{};
}

// --- The application

namespace {

std::string why(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return std::string("it threw: ") + error.what();
  } catch (...) {
    return "it threw something that is no std::exception";
  }
}

/// Cancels one hook: forwards its stop token to the coroutine, on the coroutine's executor.
class Cancellation : public std::enable_shared_from_this<Cancellation> {
 public:
  [[nodiscard]] asio::cancellation_slot slot() { return signal_.slot(); }

  void follow(const std::stop_token& token, const std::weak_ptr<CoroutineContext>& context) {
    follows_.emplace(token, [weak = weak_from_this(), context] {
      const auto there = context.lock();
      if (!there) return;
      there->post([weak, context] {
        const auto self = weak.lock();
        if (!self) return;
        self->signal_.emit(asio::cancellation_type::terminal);
        // The signal's receiver is posted and refers to the signal by its address. This keeps the
        // signal until then.
        if (const auto still_there = context.lock()) still_there->post([self] {});
      });
    });
  }

 private:
  asio::cancellation_signal signal_;
  std::optional<std::stop_callback<std::function<void()>>> follows_;
};

}  // namespace

class CoroutineApplication final : public Application {
 public:
  explicit CoroutineApplication(std::unique_ptr<Coroutines> user) : user_(std::move(user)) {}
  ~CoroutineApplication() override { user_->context_->close(); }

  void stop(StopContext context, Done<Report> done) override {
    const std::stop_token cancelled = context.cancelled;
    spawn(user_->stop(std::move(context)), cancelled, std::move(done));
  }
  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    const std::stop_token cancelled = reorganization.cancelled;
    spawn(user_->reorganize(std::move(reorganization)), cancelled, std::move(done));
  }
  void start(Assignment assignment, Done<> done) override {
    const std::stop_token cancelled = assignment.cancelled;
    spawn(user_->start(std::move(assignment)), cancelled, std::move(done));
  }
  void answer(Question question, Done<Bytes> done) override {
    const std::stop_token cancelled = question.cancelled;
    spawn(user_->answer(std::move(question)), cancelled, std::move(done));
  }

 private:
  template <class Value, class Result>
  void spawn(Coroutines::awaitable<Value> hook, const std::stop_token& cancelled,
             Done<Result> done) {
    const auto cancellation = std::make_shared<Cancellation>();
    cancellation->follow(cancelled, user_->context_);
    const auto kept = std::make_shared<Done<Result>>(std::move(done));
    auto ended = [kept, cancellation](const std::exception_ptr& thrown, auto... value) {
      if (thrown)
        kept->fail(why(thrown));
      else
        (*kept)(std::move(value)...);
    };
    asio::co_spawn(asio::any_io_executor(CoroutineExecutor(user_->context_)), std::move(hook),
                   asio::bind_cancellation_slot(cancellation->slot(), std::move(ended)));
  }

  std::unique_ptr<Coroutines> user_;
};

std::unique_ptr<Application> make_application(std::unique_ptr<Coroutines> coroutines) {
  return std::make_unique<CoroutineApplication>(std::move(coroutines));
}

}  // namespace muster::net

// Expressions around co_await that g++ 12 miscompiles: it destroys temporaries twice. These are
// marked `bad`. The others compile correctly. The test of coroutines.py checks that it reports
// exactly the bad ones.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::awaitable;
using asio::co_spawn;
using asio::use_awaitable;

struct Held {
  std::string text;
};
struct Pair {
  Held held;
  int number = 0;
};
struct Built {
  explicit Built(Held h) : held(std::move(h)) {}
  Held held;
};

awaitable<int> take(Held) {
  co_return 1;
}
awaitable<int> take_pair(Pair) {
  co_return 1;
}
awaitable<int> take_built(Built) {
  co_return 1;
}
awaitable<int> take_text(std::string) {
  co_return 1;
}
awaitable<int> take_function(std::function<int()>) {
  co_return 1;
}
awaitable<int> take_texts(std::vector<std::string>) {
  co_return 1;
}
awaitable<Held> give() {
  co_return Held();
}
template <class F>
awaitable<int> call(F f) {
  co_return f();
}

awaitable<void> broken(std::string text, bool yes) {
  co_await take_function([text] { return 1; });  // bad
  co_await call([text] { return 1; });           // bad
  auto on = co_await asio::this_coro::executor;
  co_await co_spawn(  // bad
      on, [text]() -> awaitable<void> { co_return; }, use_awaitable);
  co_await take_pair(Pair{Held(), 1});                            // bad
  co_await take_pair({Held(), 1});                                // bad
  co_await take_pair({.held = Held(), .number = 1});              // bad
  co_await take_text(yes ? std::string("a") : std::string("b"));  // bad
  Pair pair{co_await give(), 1};                                  // bad
  std::vector<Pair> pairs;
  pairs.push_back(Pair{co_await give(), 1});                               // bad
  pairs.push_back({co_await give(), 1});                                   // bad
  co_await take_texts({text, text});                                       // bad
  if (int got = co_await call([text] { return 1; }); got == 2) co_return;  // bad
  throw std::runtime_error(std::to_string(co_await take(Held())));         // bad
}

awaitable<void> sound(std::string text, bool yes) {
  auto function = [text] { return 1; };
  co_await call(function);
  co_await call(std::move(function));
  co_await take(Held());
  co_await take_built(Built(co_await give()));
  co_await take_text(text + "suffix");
  std::string chosen = yes ? text : std::string("b");
  co_await take_text(chosen);
  Pair pair{Held(), 1};
  co_await take_pair(pair);
  co_await take_pair(std::move(pair));
  auto owned = std::make_unique<Held>(co_await give());
  if (yes && co_await take(*owned) == 1) co_return;
  std::vector<Held> all;
  all.push_back(co_await give());
  std::string why = std::to_string(co_await take(Held()));
  throw std::runtime_error(why);
}

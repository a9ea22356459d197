#include <node/permits.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

// The cost of acquiring and returning a permit while other threads do so too. It is measured in ns
// of processor time, as the median over many batches of all threads.
//
//     bench_permits [BATCHES]

namespace muster {
namespace {

using namespace std::chrono_literals;

int batches = 201;
constexpr int in_a_batch = 20'000;

double processor_now() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <class Work>
double nanoseconds_of(unsigned threads, Work work) {
  std::barrier together(threads);
  std::vector<std::vector<double>> times(threads);
  std::vector<std::thread> workers;
  for (auto& own : times)
    workers.emplace_back([&together, &own, &work] {
      together.arrive_and_wait();
      for (int batch = 0; batch < batches; ++batch) {
        const double begin = processor_now();
        for (int i = 0; i < in_a_batch; ++i) work();
        own.push_back((processor_now() - begin) / in_a_batch);
      }
    });
  for (std::thread& worker : workers) worker.join();
  std::vector<double> all;
  for (const auto& own : times) all.insert(all.end(), own.begin(), own.end());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace
}  // namespace muster

int main(int count, char** arguments) {
  using namespace muster;
  if (count > 1) batches = std::max(1, std::atoi(arguments[1]));
  boost::asio::io_context hooks;
  net::LifePermits permits(24h, hooks.get_executor());
  permits.grant({1, NodeId{1}});
  const Permits& door = permits.door();
  const auto acquire = [&](std::string_view name) {
    if (!door.try_acquire(name)) std::abort();
  };
  std::printf("threads  acquire + return  with a name  valid()\n");
  for (const unsigned threads : {1U, 2U, 4U, 8U}) {
    const auto held = door.try_acquire();
    std::printf("%7u  %13.0f ns  %8.0f ns  %4.0f ns\n", threads,
                nanoseconds_of(threads, [&] { acquire({}); }),
                nanoseconds_of(threads, [&] { acquire("copy of shard 7"); }),
                nanoseconds_of(threads, [&] {
                  if (!held->valid()) std::abort();
                }));
  }
}

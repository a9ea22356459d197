#include <muster/net/frame.hpp>
#include <muster/protocol/bully.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

// The cost of turning values into bytes and back, in nanoseconds: the median of many batches.
//
//     bench_codec

namespace muster {
namespace {

// The result is never used. This function keeps the compiler from removing the computation of it.
template <class T>
void use(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

template <class Work>
double nanoseconds_of(Work work) {
  using Clock = std::chrono::steady_clock;
  constexpr int batches = 101;
  int batch = 1;
  const auto time_batch = [&] {
    const auto begin = Clock::now();
    for (int i = 0; i < batch; ++i) work();
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  };
  while (time_batch() < 200'000) batch *= 2;
  std::vector<double> times;
  for (int i = 0; i < batches; ++i) times.push_back(time_batch() / batch);
  std::nth_element(times.begin(), times.begin() + batches / 2, times.end());
  return times[batches / 2];
}

void print(const char* what, std::size_t bytes, double write, double read) {
  std::printf("%-28s %6zu bytes  write %8.0f ns  read %8.0f ns  both %8.0f ns\n", what, bytes,
              write, read, write + read);
}

template <class T>
void measure_archive(const char* what, const T& value) {
  const std::string bytes = encode(value);
  print(what, bytes.size(), nanoseconds_of([&] { use(encode(value)); }),
        nanoseconds_of([&] { use(decode<T>(bytes)); }));
}

void measure_frame(const char* what, const net::Frame& frame) {
  const std::string bytes = net::encode_frame(frame);
  net::FrameReader reader;
  const auto read = [&] {
    for (std::string_view left = bytes; !left.empty();) {
      const std::span<char> room = reader.room();
      const std::size_t size = std::min(room.size(), left.size());
      std::memcpy(room.data(), left.data(), size);
      reader.filled(size);
      left.remove_prefix(size);
      use(reader.next());
    }
  };
  print(what, bytes.size(), nanoseconds_of([&] { use(net::encode_frame(frame)); }),
        nanoseconds_of(read));
}

Letter letter(Message message) {
  return {NodeId{5}, Incarnation{3}, NodeId{2}, CallNumber{17}, std::move(message)};
}

void measure_others(const std::string& definition) {
  const Event event = Received{letter(Ready{{}, {}, {}, {definition}})};
  std::string out;
  const auto line = [&](const char* what, double time) {
    std::printf("%-28s %6zu bytes  %8.0f ns\n", what, definition.size(), time);
  };
  line("checksum", nanoseconds_of([&] { use(checksum(definition)); }));
  line("digest", nanoseconds_of([&] { use(digest(definition)); }));
  line("JSON of a Ready", nanoseconds_of([&] {
         out.clear();
         write_json(out, event);
         use(out);
       }));
  bully::State state;
  for (std::uint32_t i = 1; i <= 5; ++i) state.up.push_back({NodeId{i}, Incarnation{i}, {}});
  std::printf("hash of a State              %8.0f ns\n", nanoseconds_of([&] { use(hash(state)); }));
}

}  // namespace
}  // namespace muster

int main() {
  using namespace muster;
  const ElectionId election{NodeId{5}, Incarnation{3}, 7};
  const std::string definition(32 * 1024, 'x');
  const Letter halt = letter(Halt{election});
  const Letter ready = letter(Ready{election, Incarnation{2}, {17, NodeId{5}}, {definition}});
  measure_archive("letter: Halt", halt);
  measure_archive("letter: Ready of 32 KiB", ready);
  measure_frame("frame: Halt", net::Carried{1, 1, halt});
  measure_frame("frame: Ready of 32 KiB", net::Carried{1, 1, ready});
  measure_others(definition);
}

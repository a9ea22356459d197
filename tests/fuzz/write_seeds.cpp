#include "fuzz/types.hpp"
#include "generate.hpp"
#include "net/frames/golden.hpp"

#include <muster/journal/journal.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/json.hpp>

#include <filesystem>
#include <fstream>

/// write_seeds DIRECTORY: the inputs that the fuzz targets begin with, under DIRECTORY/TARGET/.

namespace muster::test {
namespace {

class Seeds {
 public:
  explicit Seeds(std::filesystem::path directory) : directory_(std::move(directory)) {}
  void add(const std::string& target, const std::string& name, const std::string& input) const {
    std::filesystem::create_directories(directory_ / target);
    std::ofstream(directory_ / target / name, std::ios::binary) << input;
  }

 private:
  std::filesystem::path directory_;
};

void frames(const Seeds& seeds) {
  std::string all;
  for (const auto& [name, frame, bytes] : golden_frames()) {
    all += bytes;
    seeds.add("fuzz_frame", name, '\xff' + bytes);
  }
  seeds.add("fuzz_frame", "all", '\x40' + all);
}

void values(const Seeds& seeds) {
  boost::mp11::mp_for_each<boost::mp11::mp_iota<boost::mp11::mp_size<fuzz::Types>>>(
      [&](auto index) {
        using T = boost::mp11::mp_at_c<fuzz::Types, index>;
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
          const T value = generate<T>(seed);
          const std::string name = "type" + std::to_string(index) + '_' + std::to_string(seed);
          const std::string choice(1, static_cast<char>(index));
          seeds.add("fuzz_archive", name, choice + encode(value));
          seeds.add("fuzz_json", name, choice + to_json(value));
        }
      });
}

void journal_lines(const Seeds& seeds) {
  Generator generator(1);
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<std::variant_size_v<journal::Line>>>(
      [&](auto index) {
        std::string line;
        journal::append_line(line,
                             generator.make<std::variant_alternative_t<index, journal::Line>>());
        line.pop_back();
        seeds.add("fuzz_journal", "line" + std::to_string(index), line);
      });
}

}  // namespace
}  // namespace muster::test

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const muster::test::Seeds seeds(arguments[1]);
  muster::test::frames(seeds);
  muster::test::values(seeds);
  muster::test::journal_lines(seeds);
}

#include "core/journal/journal_builder.hpp"
#include "storage/temporary_directory.hpp"

#include <apps/base/text.hpp>
#include <apps/journals/verify.hpp>

#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>

/// The speed of `muster verify` on journals, and the memory that it needs: `bench_verify_journals
/// [MEGABYTES]`.

namespace {

using namespace muster;

/// Journals of five nodes, of which one fails and comes back again and again. There is one journal
/// for each node, and one journal of the faults.
class Journals {
 public:
  explicit Journals(std::filesystem::path directory) : directory_(std::move(directory)), story_(5) {
    for (std::uint32_t id = 1; id <= 5; ++id) story_.recovers(id);
    story_.form({1, 2, 3, 4, 5});
  }

  std::uint64_t write(std::uint64_t bytes) {
    while (written_ < bytes) {
      for (int beat = 0; beat < 2000; ++beat)
        for (std::uint32_t id = 1; id <= 5; ++id) story_.step(id, Expired{Timer::check});
      story_.fault(journal::FaultKind::killed, 5);
      reform({1, 2, 3, 4});
      story_.recovers(5);
      reform({1, 2, 3, 4, 5});
      append();
    }
    return written_;
  }

  [[nodiscard]] std::vector<std::filesystem::path> paths() const {
    std::vector<std::filesystem::path> all;
    for (std::uint32_t id = 0; id <= 5; ++id) all.push_back(path(id));
    return all;
  }

 private:
  void reform(const std::vector<std::uint32_t>& members) {
    for (std::uint32_t id : members)
      if (story_[id].started) story_.is_halted(id);
    story_.form(members);
  }

  void append() {
    std::map<std::uint32_t, std::string> texts;
    for (const journal::Line& line : story_.lines) journal::append_line(texts[owner(line)], line);
    story_.lines.clear();
    for (const auto& [id, text] : texts) {
      std::ofstream(path(id), std::ios::app | std::ios::binary) << text;
      written_ += text.size();
    }
  }

  static std::uint32_t owner(const journal::Line& line) {
    return std::visit(
        [](const auto& kind) -> std::uint32_t {
          if constexpr (requires { kind.stamp; })
            return kind.stamp.node.value;
          else if constexpr (requires { kind.config; })
            return kind.node.value;
          else
            return 0;
        },
        line);
  }

  [[nodiscard]] std::filesystem::path path(std::uint32_t id) const {
    return directory_ / ("n" + std::to_string(id) + ".jsonl");
  }

  std::filesystem::path directory_;
  test::JournalBuilder story_;
  std::uint64_t written_ = 0;
};

double most_megabytes_used() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

template <class Command, class Options>
int measure(const char* name, Command command, const Options& options, double megabytes) {
  const auto begin = std::chrono::steady_clock::now();
  const int code = command(options, std::cout, std::cerr);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << name << ": " << megabytes << " MB in " << took.count() << " s, "
            << megabytes / took.count() << " MB/s, " << most_megabytes_used() << " MB of memory\n";
  return code;
}

}  // namespace

int main(int count, char** words) {
  const auto asked = count > 1 ? muster::apps::parse_number(words[1]) : std::uint64_t{200};
  if (!asked) {
    std::cerr << "usage: bench_verify_journals [MEGABYTES]\n";
    return 2;
  }
  const muster::test::TemporaryDirectory directory;
  Journals journals(directory.path());
  const auto bytes = journals.write(*asked * 1'000'000);
  const double megabytes = static_cast<double>(bytes) / 1e6;
  std::cout << "before: " << most_megabytes_used() << " MB of memory\n";
  return measure("verify", muster::apps::verify,
                 muster::apps::VerifyOptions{journals.paths(), false}, megabytes);
}

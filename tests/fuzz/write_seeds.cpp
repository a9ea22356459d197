#include "fuzz/types.hpp"
#include "generate.hpp"
#include "net/frames/golden.hpp"
#include "storage/values.hpp"

#include <muster/journal/journal.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/json.hpp>

#include <filesystem>
#include <fstream>

/// write_seeds DIRECTORY: writes the first inputs of the fuzz targets, under DIRECTORY/TARGET/.

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

// Random choices of various lengths.
void choices(const Seeds& seeds) {
  Generator generator(1);
  for (std::size_t size = 64; size <= 512; size *= 2) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(generator.below_or_at(255));
    seeds.add("fuzz_sessions", "choices" + std::to_string(size), bytes);
  }
}

void configurations(const Seeds& seeds) {
  const auto file = [&](const char* name, const std::string& rest) {
    seeds.add("fuzz_config", name,
              "\x01[node]\nid = 3\ndata = \"n3\"\nlisten = \"0.0.0.0:7103\"\n[cluster]\n"
              "name = \"demo\"\ninsecure = true\nT = \"100ms\"\n" +
                  rest + "[cluster.nodes]\n1 = \"db1.example:7101\"\n3 = \"[::1]:7103\"\n");
  };
  file("options", "quorum = \"majority\"\nclock_drift = \"100ppm\"\npreempt = \"never\"\n");
  file("textbook", "protocol = \"textbook\"\nimportance = { 1 = 7, 3 = 0 }\n");
  file("parts",
       "[journal]\nfile = \"j\"\nlimit = \"1MB\"\nkeep = \"1GB\"\ndetail = \"changes\"\n[log]\n"
       "level = \"error\"\nformat = \"json\"\n[hooks]\nstart = [\"./a\", \"b\"]\n");
  file("socket", "[application]\nkind = \"socket\"\nprogram = [\"./a\"]\n");
  file("nested", "a.b.'c' = [[1, 2.5], {x = 1979-05-27T07:32:00Z}]\n\"\\u001b\\n\" = '''\n'''\n");
  seeds.add("fuzz_config", "script",
            std::string(1, '\0') +
                "wait normal within 10s\nkill coordinator 3 # dead\npause all for 1s\nrun 2s\n");
}

void said(const Seeds& seeds) {
  seeds.add("fuzz_program", "hooks",
            "\x01{\"done\":1,\"report\":{\"base64\":\"aGVsZA==\"}}\n"
            "{\"done\":2,\"definition\":\"x\",\"parts\":{\"1\":\"y\"}}\n"
            "{\"progress\":3,\"text\":\"1/2\"}\n{\"failed\":3,\"why\":\"no\\u001b\\n\"}\n"
            "{\"done\":4,\"answer\":\"so\"}\n");
  seeds.add("fuzz_program", "asks",
            "\x01{\"ask\":1,\"member\":1,\"question\":\"how?\"}\n{\"x\":1}\n");
  seeds.add("fuzz_program", "wishes",
            "\x01{\"elect\":\"the disk\\nis new\"}\n{\"step_down_ns\":1000000}\n"
            "{\"show\":{\"primary\":true,\"replica\":false},\"text\":\"open\"}\n");
  seeds.add("fuzz_program", "registers", "\x07{\"register\":2}\n");
  for (const std::string word : {"status", "watch", "history 10 7", "elect why not", "step-down 9"})
    seeds.add("fuzz_admin", word.substr(0, 4),
              std::string("\0\3\0", 3) + static_cast<char>(word.size() + 1) + word + "\n\1\1");
}

void requests(const Seeds& seeds) {
  seeds.add("fuzz_http", "old", "OPTIONS / HTTP/1.0");
  seeds.add("fuzz_http", "scrape",
            "GET /metrics?x=1 HTTP/1.1\r\nHost: 127.0.0.1:9100\r\nAccept: "
            "application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
  seeds.add("fuzz_http", "page",
            "GET /history?limit=20&before=7 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7");
  seeds.add("fuzz_http", "hosts",
            "HEAD * HTTP/1.1\r\nHost: [::1]:1\r\nHost: one\r\nTransfer-Encoding: chunked");
}

// A record of each format, and an edit of each kind to the files.
void stores(const Seeds& seeds) {
  const SafeState safe = safe_state(7);
  const std::string record = encode(safe);
  seeds.add("fuzz_store", "record", '\3' + record);
  seeds.add("fuzz_store", "record1",
            '\2' + record.substr(0, record.size() - encode(safe.instances).size()));
  // Inputs that once found errors. These errors are fixed.
  seeds.add("fuzz_store", "database_as_log", "\x85\xe6\xea\x40\x5a");
  seeds.add("fuzz_store", "another_s_log_and_half_a_file",
            std::string("\0\0\1\x0d\0\0\x86\0\0\0\xf4\xf2\xff\xff", 14));
  for (char kind = 0; kind < 14; kind += 2)
    seeds.add("fuzz_store", "edit" + std::to_string(kind),
              std::string("\1\0", 2) + static_cast<char>(kind + 1) +
                  std::string("\0\0\x10\x20", 4) + "\7x");
}

}  // namespace
}  // namespace muster::test

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const muster::test::Seeds seeds(arguments[1]);
  muster::test::frames(seeds);
  muster::test::values(seeds);
  muster::test::journal_lines(seeds);
  muster::test::choices(seeds);
  muster::test::configurations(seeds);
  muster::test::said(seeds);
  muster::test::requests(seeds);
  muster::test::stores(seeds);
}

#include "apps/cluster/script.hpp"
#include "apps/muster/config/config.hpp"
#include "fuzz/input.hpp"

/// Property: reading a configuration, or the script of a demo, gives a value or an error of one
/// sentence. Such a value can be written and read back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  fuzz::Input input(data, size);
  if (input.byte() % 8 == 0) {
    const auto script = apps::parse_script(input.bytes(size), "demo.script");
    if (!script) fuzz::require_presentable(script.error().what);
    return 0;
  }
  const auto config = apps::parse_config(input.bytes(size), "/muster/node.toml");
  if (!config) {
    fuzz::require_presentable(config.error().what);
    return 0;
  }
  const std::string written = apps::write_config(*config);
  const auto again = apps::parse_config(written, "/muster/node.toml");
  fuzz::require(again && apps::write_config(*again) == written);
  fuzz::require(again->cluster.canonical() == config->cluster.canonical());
  return 0;
}

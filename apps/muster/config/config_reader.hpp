#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/protocol/misfit.hpp>

#include <toml++/toml.h>

#include <set>

/// Reads a configuration file, key by key.

namespace muster::apps {

/// Reads one file. After the first refusal, which is kept, every read returns its default.
class Reader {
 public:
  Reader(const std::filesystem::path& file, Look look) : file_(file), look_(look) {}

  /// Whether the files that the configuration names have to exist.
  [[nodiscard]] bool looks_at_files() const { return look_ == Look::at_files; }

  void refuse(std::size_t line, const std::string& why);
  void refuse(const toml::node& at, std::string_view key, const std::string& expected);
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }

  static std::size_t line_of(const toml::node& node) { return node.source().begin.line; }
  /// The value, as a refusal shows it.
  static std::string value_text(const toml::node& node);

  /// The table of that name. Null if there is none, which is refused if it is required.
  const toml::table* table(const toml::table& parent, std::string_view name, bool required);
  /// Refuses keys that are not in `known`.
  void only(const toml::table& table, std::string_view where,
            const std::vector<std::string_view>& known);

  std::string text(const toml::table& table, std::string_view key, std::string otherwise);
  bool flag(const toml::table& table, std::string_view key, bool otherwise);
  std::uint32_t number(const toml::table& table, std::string_view key, std::uint32_t otherwise,
                       std::uint32_t least, std::uint32_t most);
  Duration duration(const toml::table& table, std::string_view key, Duration otherwise,
                    Duration least = Duration(1), Duration most = longest_time);

 private:
  std::filesystem::path file_;
  Look look_;
  std::optional<Failure> failure_;
};

/// Reads the addresses at which others dial the nodes, by id. Skips `other_keys`, which the caller
/// reads.
void read_addresses(Reader& reader, const toml::table& table, const std::string& where,
                    std::map<NodeId, Address>& to,
                    const std::set<std::string_view>& other_keys = {});

}  // namespace muster::apps

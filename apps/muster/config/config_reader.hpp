#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/protocol/misfit.hpp>

#include <toml++/toml.h>

#include <set>

/// How a configuration file is read, key by key.

namespace muster::apps {

/// Reads one file: keeps the first refusal, after which every read gives its default.
class Reader {
 public:
  Reader(const std::filesystem::path& file, Look look) : file_(file), look_(look) {}

  /// True where what the file names is to be there.
  [[nodiscard]] bool looks_at_files() const { return look_ == Look::at_files; }

  void refuse(std::size_t line, const std::string& why);
  void refuse(const toml::node& at, std::string_view key, const std::string& expected);
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }

  static std::size_t line_of(const toml::node& node) { return node.source().begin.line; }
  /// The value as a refusal shows it.
  static std::string value_text(const toml::node& node);

  /// The table of that name; none where it is absent (refused where it is required).
  const toml::table* table(const toml::table& parent, std::string_view name, bool required);
  /// Refuses keys that are not among the known.
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

/// Where others dial the nodes of a cluster, by id; other keys are for the caller.
void read_addresses(Reader& reader, const toml::table& table, const std::string& where,
                    std::map<NodeId, Address>& to,
                    const std::set<std::string_view>& other_keys = {});

}  // namespace muster::apps

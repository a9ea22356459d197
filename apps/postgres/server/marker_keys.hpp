#pragma once

#include <muster/values/types.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The keys by which the nodes of a cluster sign markers (marker.hpp).

namespace muster::postgres {

/// The keys of a cluster: usually one. While the key is being changed there are two, the newer one
/// first, and the last one signs until all nodes have both. A marker counts if any of them has
/// signed it.
class MarkerKeys {
 public:
  /// Reads the file with the keys: one key in each line, of 64 hexadecimal digits. If there is no
  /// such file, there are no keys. Fails if other users may read the file.
  static Expected<MarkerKeys> read(const std::filesystem::path& file);

  [[nodiscard]] bool empty() const { return keys_.empty(); }
  /// Names each key without telling it.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The names, separated by blanks, as one node shows them to another.
  [[nodiscard]] std::string shown() const;
  /// True if one of these keys is among those that another node shows.
  [[nodiscard]] bool have_one_of(const std::string& shown) const;

  /// Signs with the key of that name, or with the last one if there is none of that name.
  [[nodiscard]] std::string mac_of(std::string_view text, const std::string& name = {}) const;
  [[nodiscard]] bool have_signed(std::string_view text, std::string_view mac) const;

 private:
  std::vector<std::string> keys_;
};

/// True if the key of that name is among those that a node shows.
bool shows_key(const std::string& shown, const std::string& name);

/// SHA-256 in hexadecimal digits.
std::string digest_of(std::string_view bytes);

/// A new key, as a line of the file.
std::string new_marker_key();

}  // namespace muster::postgres

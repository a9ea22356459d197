#pragma once

#include <muster/values/failure.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

/// The settings of a database that is adopted, as its own files have them.

namespace muster::postgres {

struct OwnSettings {
  /// Of all its files in one, as they stand; what is left out is a comment.
  std::string text;
  /// What was left out: the last value of each.
  std::map<std::string, std::string> left_out;
};

/// Reads what that file includes, too. The failure names the file that cannot be read.
Expected<OwnSettings> read_settings(
    const std::filesystem::path& file,
    const std::function<bool(const std::string& name)>& is_left_out);

/// A line of such a file; none where it sets nothing.
struct Setting {
  std::string name;  ///< in small letters
  std::string value;
};
std::optional<Setting> setting_in(std::string_view line);

}  // namespace muster::postgres

#pragma once

#include <muster/values/failure.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

/// For a database that is being adopted: reads its settings from its own files.

namespace muster::postgres {

struct OwnSettings {
  /// The text of all settings files of the database as one file. Settings that are not taken over
  /// become comments.
  std::string text;
  /// The settings that were left out, with their last values.
  std::map<std::string, std::string> left_out;
};

/// Reads the settings files of a database, and the files that they include. The error names the
/// file that cannot be read.
Expected<OwnSettings> read_settings(
    const std::filesystem::path& file,
    const std::function<bool(const std::string& name)>& is_left_out);

/// A line of a settings file. None: the line sets nothing.
struct Setting {
  std::string name;  ///< in lower case
  std::string value;
};
std::optional<Setting> setting_in(std::string_view line);

}  // namespace muster::postgres

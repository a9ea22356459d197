#include "apps/postgres/server/own_settings.hpp"

#include "apps/postgres/server/durable.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

constexpr unsigned deepest_include = 10;  // the limit of PostgreSQL

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::string_view without_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  return text;
}

/// The value up to the closing quote. Inside the value, two quotes stand for one quote, and a
/// backslash escapes the next character.
std::string quoted_value(std::string_view text) {
  std::string value;
  for (std::size_t at = 1; at < text.size(); ++at) {
    const bool two = text[at] == '\'' && at + 1 < text.size() && text[at + 1] == '\'';
    if (text[at] == '\'' && !two) break;
    if ((two || text[at] == '\\') && at + 1 < text.size()) ++at;
    value += text[at];
  }
  return value;
}

class SettingsReader {
 public:
  explicit SettingsReader(const std::function<bool(const std::string&)>& is_left_out)
      : is_left_out_(is_left_out) {}

  Expected<> read(const fs::path& file, unsigned depth) {
    if (depth > deepest_include) return refuse(file, "the settings files include each other");
    const auto text = read_text(file);
    if (!text) return text.error();
    if (!*text) return refuse(file, "this settings file does not exist");
    std::istringstream lines(**text);
    for (std::string line; std::getline(lines, line);)
      if (const auto taken = take(line, file, depth); !taken) return taken;
    return {};
  }

  OwnSettings settings;

 private:
  static Failure refuse(const fs::path& file, const std::string& why) {
    return {ExitCode::bad_configuration, file.string() + ": " + why};
  }

  Expected<> take(const std::string& line, const fs::path& file, unsigned depth) {
    const auto setting = setting_in(line);
    if (!setting) {
      settings.text += line + "\n";
      return {};
    }
    const auto& [name, value] = *setting;
    const fs::path named = file.parent_path() / value;
    if (name == "include_dir") return read_all(named, depth + 1);
    if (name == "include" || name == "include_if_exists") {
      std::error_code error;
      if (name == "include_if_exists" && !fs::exists(named, error)) return {};
      return read_one(named, depth + 1);
    }
    const bool left_out = is_left_out_(name);
    if (left_out) settings.left_out[name] = value;
    settings.text += (left_out ? "# left out by muster: " : "") + line + "\n";
    return {};
  }

  Expected<> read_one(const fs::path& file, unsigned depth) {
    settings.text += "# " + file.string() + ":\n";
    return read(file, depth);
  }

  Expected<> read_all(const fs::path& directory, unsigned depth) {
    std::set<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with('.') && name.ends_with(".conf")) files.insert(entry.path());
    }
    if (error) return refuse(directory, "cannot be read: " + error.message());
    for (const fs::path& file : files)
      if (const auto done = read_one(file, depth); !done) return done;
    return {};
  }

  const std::function<bool(const std::string&)>& is_left_out_;
};

}  // namespace

std::optional<Setting> setting_in(std::string_view line) {
  line = without_space(line);
  const auto end = std::find_if_not(line.begin(), line.end(), is_of_name) - line.begin();
  Setting setting{std::string(line.substr(0, static_cast<std::size_t>(end))), ""};
  if (setting.name.empty()) return std::nullopt;
  std::transform(setting.name.begin(), setting.name.end(), setting.name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  line = without_space(line.substr(static_cast<std::size_t>(end)));
  if (line.starts_with('=')) line = without_space(line.substr(1));
  if (line.starts_with('\''))
    setting.value = quoted_value(line);
  else
    setting.value = line.substr(0, line.find_first_of(" \t\r#"));
  return setting;
}

Expected<OwnSettings> read_settings(const fs::path& file,
                                    const std::function<bool(const std::string&)>& is_left_out) {
  SettingsReader reading(is_left_out);
  if (const auto read = reading.read(file, 0); !read) return read.error();
  return std::move(reading.settings);
}

}  // namespace muster::postgres

#include "apps/demo/directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace muster::apps {
namespace {

constexpr const char* marker = "muster-run";

Failure refused(const std::filesystem::path& path, const std::string& why) {
  return {ExitCode::usage, path.string() + ": " + why};
}

/// Moves the journals and logs of an earlier run into earlier/1, earlier/2 and so on.
void put_aside(const std::filesystem::path& path) {
  unsigned number = 1;
  while (std::filesystem::exists(path / "earlier" / std::to_string(number))) ++number;
  const auto aside = path / "earlier" / std::to_string(number);
  std::filesystem::create_directories(aside);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    const auto relative = std::filesystem::relative(entry.path(), path);
    if (*relative.begin() == "earlier" || !entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();
    if (name.find(".jsonl") == std::string::npos && !name.ends_with(".log")) continue;
    std::string flat = relative.string();
    for (char& c : flat) {
      if (c == '/') c = '-';
    }
    std::filesystem::rename(entry.path(), aside / flat);
  }
}

}  // namespace

Expected<RunDirectory> RunDirectory::make(const std::string& dir, unsigned nodes) {
  if (dir.empty()) {
    std::string name = (std::filesystem::temp_directory_path() / "muster-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return refused(name, std::strerror(errno));
    return RunDirectory(name, true);
  }
  const auto path = std::filesystem::absolute(dir).lexically_normal();
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return refused(path, error.message() + "; name another directory");
  const auto mark = path / marker;
  unsigned made_for = 0;
  if (std::filesystem::exists(mark)) {
    std::ifstream(mark) >> made_for;
    if (made_for != nodes) {
      return refused(path, "an earlier run made it for " + std::to_string(made_for) +
                               " nodes; give --nodes " + std::to_string(made_for) +
                               " or another directory");
    }
    put_aside(path);
  } else if (!std::filesystem::is_empty(path, error)) {
    return refused(path, "is not empty, and no earlier demo made it; name a new directory");
  }
  std::ofstream(mark) << nodes << '\n';
  if (!std::filesystem::exists(mark))
    return refused(path, "cannot be written to; name another directory");
  return RunDirectory(path, false);
}

void RunDirectory::remove() const {
  std::error_code error;
  if (temporary_) std::filesystem::remove_all(path_, error);
}

}  // namespace muster::apps

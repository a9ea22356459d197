// One life of a node saves its state, and the next life loads that state.
#include <muster/storage/sqlite_storage.hpp>

#include <cstdio>
#include <filesystem>

int main() {
  const std::filesystem::path directory = "store-of-the-consumer";
  std::filesystem::remove_all(directory);
  const muster::storage::Identity identity{"consumer", {1}};
  muster::SafeState safe;
  safe.incarnation = {7};
  for (const bool first : {true, false}) {
    auto store = muster::storage::SqliteStorage::open(directory, identity);
    if (!store) {
      std::fprintf(stderr, "%s\n", store.error().what.c_str());
      return static_cast<int>(store.error().code);
    }
    if (first && !(*store)->save(safe)) return static_cast<int>(muster::ExitCode::io_error);
    if (const auto loaded = (*store)->load(); !loaded || loaded->incarnation != safe.incarnation)
      return 1;
  }
  return 0;
}

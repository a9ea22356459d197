#include "opening.hpp"

#include <muster/storage/inspect.hpp>

namespace muster::storage {

namespace {

using Visit = std::function<void(std::string_view, const Bytes&)>;

Expected<Inspection> read(const std::filesystem::path& directory, const Visit& visit,
                          const Identity* wanted, bool for_a_node, const OpenOptions& options) {
  Files& files = options.files ? *options.files : system_files();
  auto absolute = files.absolute(directory);
  if (!absolute) return step_failure("find", directory, absolute.error());
  Opening opening(files, *absolute, options);
  if (auto done = opening.claim_to_read(for_a_node); !done) return done.error();
  auto database = opening.look(wanted);
  if (!database) return database.error();
  auto format = read_format(*database);
  if (!format) return format.error();
  Inspection found{opening.found(), *format, {}};
  auto record = database->prepare(select_record);
  if (!record) return record.error();
  auto safe = read_record(*database, *record, *format);
  if (!safe) return safe.error();
  found.safe = std::move(*safe);
  auto cells = database->prepare(select_cells);
  if (!cells) return cells.error();
  cells->bind(1, std::string_view());
  int code = 0;
  while ((code = cells->step()) == SQLITE_ROW)
    visit(cells->blob(0), Bytes{std::string(cells->blob(1))});
  if (code != SQLITE_DONE) return database->failure("read");
  return found;
}

}  // namespace

Expected<Inspection> inspect(const std::filesystem::path& directory, const Visit& visit,
                             const OpenOptions& options) {
  return read(directory, visit, nullptr, false, options);
}

Expected<Inspection> verify(const std::filesystem::path& directory, const Visit& visit,
                            const Identity* wanted, const OpenOptions& options) {
  return read(directory, visit, wanted, true, options);
}

}  // namespace muster::storage

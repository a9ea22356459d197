#include "apps/postgres/adopting/adopt.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/own_settings.hpp"
#include "apps/postgres/server/tools.hpp"

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

/// The path of `file` now. A file in the data directory has moved with that directory to `to`.
fs::path moved(const fs::path& file, const Whereabouts& from, const fs::path& to) {
  const fs::path within = file.lexically_relative(from.data);
  if (file.is_relative()) return to / file;
  return within.empty() || *within.begin() == ".." ? file : to / within;
}

/// Takes over pg_hba.conf or pg_ident.conf: the file that `setting` names, or else the one in the
/// directory of postgresql.conf.
Expected<> bring_file(const InstanceOptions& options, const Whereabouts& from,
                      const OwnSettings& settings, const char* setting, const char* name) {
  const fs::path to = adopted_path(options, false);
  const auto named = settings.left_out.find(setting);
  const fs::path its = named == settings.left_out.end() ? from.settings.parent_path() / name
                                                        : fs::path(named->second);
  const auto text = read_text(moved(its, from, to));
  if (!text) return text.error();
  return *text ? write_durably(to / name, **text) : Expected<>();
}

}  // namespace

fs::path adopted_path(const InstanceOptions& options, bool lost) {
  return options.data.string() + (lost ? ".lost" : ".adopted");
}

Expected<> bring_settings(const InstanceOptions& options, const Whereabouts& from) {
  const fs::path to = adopted_path(options, false);
  const fs::path file = moved(from.settings, from, to);
  if (file == to / "postgresql.conf" && is_kept({to, {}, {}}))
    return {};  // the settings have come already
  const auto settings = read_settings(
      file, [&options](const std::string& name) { return is_left_out(options, name); });
  if (!settings) return settings.error();
  if (options.hba.empty()) {
    for (const auto& [setting, name] :
         {std::pair("hba_file", "pg_hba.conf"), std::pair("ident_file", "pg_ident.conf")})
      if (const auto brought = bring_file(options, from, *settings, setting, name); !brought)
        return brought;
  }
  return write_durably(to / "postgresql.conf",
                       "# As it was in " + from.settings.string() +
                           " when muster adopted this database.\n" + settings->text +
                           "\n# The next file takes precedence over the settings above:\n" +
                           include_line + "\n");
}

Expected<> begin_history(const InstanceOptions& options, const fs::path& meanwhile) {
  InstanceOptions there = options;
  there.data = meanwhile;
  const auto control = read_control_file(meanwhile);
  if (!control) return control.error();
  const Marker first = first_marker(options, control->timeline);
  if (auto known = write_known_terms(options, {control->system, first.rows_ended, {first}}); !known)
    return known;
  if (const auto said = in_single_user(there, statements_of_first_row(first)); !said)
    return said.error();
  return rename_durably(meanwhile, options.data);
}

}  // namespace muster::postgres

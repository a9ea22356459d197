#include "apps/postgres/adopting/adopt.hpp"

#include "apps/base/text.hpp"
#include "apps/base/user.hpp"
#include "apps/postgres/adopting/survivor.hpp"
#include "apps/postgres/commands/commands.hpp"

#include <muster/values/text.hpp>

#include <unistd.h>

#include <iostream>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t megabyte = 1 << 20;

/// Formats a holding, such as "group 7.3, WAL until 0/3000148".
template <class Held>
std::string held_text(const Held& held) {
  const bool written = held.term.group != GroupNumber{};
  return (written ? "group " + to_text(held.term.group) : std::string("no group")) +
         ", WAL until " + to_text(held.lsn);
}

/// Performs one adoption, from the first examination until the database is in the node's data
/// directory.
class Adoption {
 public:
  Adoption(InstanceOptions options, Whereabouts place, bool lost)
      : options_(std::move(options)),
        place_(std::move(place)),
        lost_(lost),
        here_(adopted_path(options_, lost)) {}

  Expected<> adopt() {
    if (::access(place_.data.c_str(), X_OK) != 0)
      if (const auto own = look_at_owner(place_.data); !own) return own;
    std::error_code error;
    const bool there = fs::exists(place_.data / "PG_VERSION", error);
    const bool here = fs::exists(here_, error);
    if (there && here)
      return Failure{ExitCode::bad_configuration,
                     here_.string() +
                         " is another database, whose adoption has not finished: finish that "
                         "adoption first, or move that database back to where it was"};
    if (there) {
      if (const auto moved = look_and_move(); !moved) return moved;
    } else if (!here) {
      return Failure{ExitCode::bad_configuration,
                     place_.data.string() +
                         ": there is no database here, because there is no PG_VERSION: pass the "
                         "data directory, or the directory of its postgresql.conf, to --adopt"};
    } else if (const auto seen = look_again({here_, {}, {}}, options_)) {
      existing_ = *seen;
      std::cout << "continues the adoption of " << here_.string() << '\n';
    } else {
      return seen.error();
    }
    const auto made = lost_ ? make_of_survivor() : make_ready();
    if (!made)
      return Failure{made.error().code, made.error().what + "; the database is now at " +
                                            here_.string() +
                                            ": run the same command again to continue from there"};
    return {};
  }

  [[nodiscard]] const Existing& existing() const { return existing_; }

 private:
  Expected<> look_and_move() {
    if (const auto kept = look_up_owner(); !kept) return kept;
    const auto found = lost_ ? look_at_survivor(place_, options_) : look_at(place_, options_);
    if (!found) return found.error();
    existing_ = *found;
    if (const auto may = may_move_it(); !may) return may;
    std::cout << place_.data.string() << " becomes the database of node " << to_text(options_.node)
              << ": it is moved to " << options_.data.string()
              << ", not copied, so that there are never two copies that could be started\n"
              << std::flush;
    if (lost_) tell_what_is_remembered();
    return rename_durably(place_.data, here_);
  }

  Expected<> may_move_it() {
    const fs::path from = place_.data.parent_path();
    if (::access(from.c_str(), W_OK) == 0) return {};
    const std::string user = apps::name_of(::geteuid());
    return Failure{ExitCode::bad_configuration,
                   place_.data.string() + " has to be moved out of " + from.string() +
                       ", but the user " + user +
                       " may not write there: as root, mv it into a directory of " + user +
                       " on the same file system, and pass the new path to --adopt"};
  }

  Expected<> look_up_owner() {
    const bool kept = is_kept(place_);
    if (kept && !lost_)
      return Failure{ExitCode::bad_configuration,
                     place_.data.string() +
                         " is the database of a Muster node, and may lack acknowledged commits: "
                         "start a new cluster from it with --force only if so many nodes are "
                         "lost for ever that the others cannot write"};
    if (!kept && lost_)
      return Failure{ExitCode::bad_configuration,
                     place_.data.string() +
                         " is not a database that Muster has run: adopt it without --force"};
    return {};
  }

  void tell_what_is_remembered() const {
    const auto remembered = remembered_beside(options_, place_.data);
    if (!remembered) {
      std::cout << remembered.error().what
                << ": the database may once have held more than it does now\n";
      return;
    }
    if (const auto& note = remembered->note)
      std::cout
          << "a rewind or clone of this database had not finished; before it, the database held "
          << (note->held ? held_text(*note->held) : "an amount that is not known")
          << ": commits that it no longer has are lost, unless " << place_.data.string()
          << ".old exists, which has the data of that time\n";
    if (remembered->held)
      std::cout << "shortly before it stopped, the database held " << held_text(*remembered->held)
                << '\n';
  }

  Expected<> make_ready() {
    if (auto brought = bring_settings(options_, place_); !brought) return brought;
    return begin_history(options_, here_);
  }

  Expected<> make_of_survivor() {
    InstanceOptions meanwhile = options_;
    meanwhile.data = here_;
    if (!takes_new_identity(meanwhile)) {
      const auto held = recover_alone(meanwhile);
      if (!held) return held.error();
      std::cout << "the database has " << held_text(*held)
                << ": commits that the lost nodes acknowledged after that position are lost\n";
    }
    if (auto other = take_new_identity(meanwhile); !other) return other;
    return begin_history(options_, here_);
  }

  const InstanceOptions options_;
  const Whereabouts place_;
  const bool lost_;
  const fs::path here_;  ///< the place of the database during the adoption
  Existing existing_;
};

bool is_everywhere(const std::string& locales) {
  return locales.empty() || locales == "C" || locales == "POSIX" || locales == "C, POSIX";
}

/// Tells the user how the adopted database differs from one that Muster creates.
void tell_costs(const InstanceOptions& options, const Existing& existing) {
  if (existing.segment_bytes > megabyte)
    std::cout << "its WAL segments keep their size of " << existing.segment_bytes / megabyte
              << " MB: each promotion copies the last segment, which takes 84 to 157 ms with 16 "
                 "MB, and 16 to 50 ms with the 1 MB of a new database\n";
  if (!existing.checksums)
    std::cout << "it has no checksums: a page that a disk has damaged is not noticed, and rewinds "
                 "rely on wal_log_hints alone, which is on from now on; to add checksums, run "
              << (options.programs / "pg_checksums").string() << " --enable -D "
              << options.data.string() << " before the first start of this node\n";
  if (!is_everywhere(existing.locales))
    std::cout << "its databases use the locales " << existing.locales
              << ": each node's machine needs them, with the same version of the C library, which "
                 "orders text indexes\n";
}

void tell_allowed_peers(const InstanceOptions& options, const Whereabouts& place) {
  if (options.hba.empty())
    std::cout << "client access: the database's own pg_hba.conf, now in " << options.data.string()
              << ", must admit the role " << options.role
              << " through the local socket and from each other node, also for replication\n";
  else
    std::cout << "client access: " << options.hba.string()
              << "; copy the lines for clients there from the old pg_hba.conf, which "
              << place.settings.string() << " used\n";
}

}  // namespace

int adopt(const Flags& flags, const apps::NodeConfig& config) {
  const auto place = whereabouts_of(flags.adopt);
  if (!place) return apps::failed(place.error());
  auto options = empty_place(config, flags);
  if (!options) return apps::failed(options.error());
  if (const auto made = make_marker_key(config, *options, false); !made)
    return apps::failed(made.error());
  Adoption adoption(*options, *place, flags.force);
  if (const auto adopted = adoption.adopt(); !adopted) return apps::failed(adopted.error());
  std::cout << "the database is now at " << options->data.string() << ", and no longer at "
            << place->data.string() << '\n';
  tell_costs(*options, adoption.existing());
  if (flags.force)
    std::cout << "the new cluster is called " << config.cluster.name
              << ": the lost cluster must have another name, or its nodes would be taken for nodes "
                 "of the new one when they come back\n";
  else
    tell_allowed_peers(*options, *place);
  std::cout << "next: run this node, join the others (muster postgres join), then run them\n";
  return 0;
}

}  // namespace muster::postgres

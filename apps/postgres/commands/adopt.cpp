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

/// "group 7.3, its log until 0/3000148".
template <class Held>
std::string held_text(const Held& held) {
  const bool written = held.term.group != GroupNumber{};
  return (written ? "group " + to_text(held.term.group) : std::string("no group")) +
         ", its log until " + to_text(held.lsn);
}

/// One adoption, from the first look to the node's database.
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
                         " is another database that is being adopted: go on with that one, or move "
                         "it back to where it was"};
    if (there) {
      if (const auto moved = look_and_move(); !moved) return moved;
    } else if (!here) {
      return Failure{
          ExitCode::bad_configuration,
          place_.data.string() +
              ": there is no database, as it has no PG_VERSION: name its data directory, "
              "or that of its postgresql.conf, with --adopt"};
    } else if (const auto seen = look_again({here_, {}, {}}, options_)) {
      existing_ = *seen;
      std::cout << "goes on with " << here_.string() << '\n';
    } else {
      return seen.error();
    }
    const auto made = lost_ ? make_of_survivor() : make_ready();
    if (!made)
      return Failure{made.error().code, made.error().what + "; the database is at " +
                                            here_.string() +
                                            " now: the same command goes on from there"};
    return {};
  }

  [[nodiscard]] const Existing& existing() const { return existing_; }

 private:
  Expected<> look_and_move() {
    if (const auto kept = look_whose_it_is(); !kept) return kept;
    const auto found = lost_ ? look_at_survivor(place_, options_) : look_at(place_, options_);
    if (!found) return found.error();
    existing_ = *found;
    if (const auto may = may_move_it(); !may) return may;
    std::cout << place_.data.string() << " becomes the database of node " << to_text(options_.node)
              << ": it is moved to " << options_.data.string()
              << ", never copied, so that there is one as before\n"
              << std::flush;
    if (lost_) tell_what_is_remembered();
    return rename_durably(place_.data, here_);
  }

  Expected<> may_move_it() {
    const fs::path from = place_.data.parent_path();
    if (::access(from.c_str(), W_OK) == 0) return {};
    const std::string user = apps::name_of(::geteuid());
    return Failure{ExitCode::bad_configuration,
                   place_.data.string() + " is to be moved out of " + from.string() + ", and " +
                       user + " may not write there: as root, mv it into a directory of " + user +
                       "'s, on the same file system, and name that with --adopt"};
  }

  Expected<> look_whose_it_is() {
    const bool kept = is_kept(place_);
    if (kept && !lost_)
      return Failure{
          ExitCode::bad_configuration,
          place_.data.string() +
              " is what a node of muster's has: commits that the other nodes have acknowledged may "
              "be missing in it; only where so many of them are lost for ever that the rest "
              "cannot go on, begin a new cluster with it by --force"};
    if (!kept && lost_)
      return Failure{
          ExitCode::bad_configuration,
          place_.data.string() + " is no database that muster kept: adopt it without --force"};
    return {};
  }

  void tell_what_is_remembered() const {
    const auto remembered = remembered_beside(options_, place_.data);
    if (!remembered) {
      std::cout << remembered.error().what << ": it may have held more once\n";
      return;
    }
    if (const auto& note = remembered->note)
      std::cout << "it was being mended, and held "
                << (note->held ? held_text(*note->held) : "what is not known any more")
                << " before: what it has not any more is lost, unless " << place_.data.string()
                << ".old is there, which is what it was then\n";
    if (remembered->held)
      std::cout << "not long before its end it held " << held_text(*remembered->held) << '\n';
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
      std::cout << "it has " << held_text(*held)
                << ": what the lost nodes had acknowledged behind that is lost\n";
    }
    if (auto other = take_new_identity(meanwhile); !other) return other;
    return begin_history(options_, here_);
  }

  const InstanceOptions options_;
  const Whereabouts place_;
  const bool lost_;
  const fs::path here_;  ///< meanwhile
  Existing existing_;
};

bool is_everywhere(const std::string& locales) {
  return locales.empty() || locales == "C" || locales == "POSIX" || locales == "C, POSIX";
}

/// What is different from one that is made here.
void tell_costs(const InstanceOptions& options, const Existing& existing) {
  if (existing.segment_bytes > megabyte)
    std::cout
        << "its segments of log have " << existing.segment_bytes / megabyte
        << " MB, which stays so: each promotion copies the last one, which takes 84 to 157 ms "
           "with 16 MB, and 16 to 50 with the 1 MB of a new database\n";
  if (!existing.checksums)
    std::cout << "it has no checksums: a page that a disk has damaged is not noticed, and rewinds "
                 "rest on wal_log_hints alone, which is on from now on; before the first run, "
              << (options.programs / "pg_checksums").string() << " --enable -D "
              << options.data.string() << " makes them\n";
  if (!is_everywhere(existing.locales))
    std::cout << "its databases are in " << existing.locales
              << ": each node's machine needs these locales, of the same version of the C library, "
                 "which orders the indexes of texts\n";
}

void tell_who_may_connect(const InstanceOptions& options, const Whereabouts& place) {
  if (options.hba.empty())
    std::cout << "who may connect: its own pg_hba.conf, now in " << options.data.string()
              << "; it has to let the nodes in as " << options.role
              << ", by the socket and from each other, for replication too\n";
  else
    std::cout << "who may connect: " << options.hba.string()
              << "; what clients need of its own, which was that of " << place.settings.string()
              << ", is to be taken over there\n";
}

}  // namespace

int adopt(const Flags& flags, const apps::NodeConfig& config) {
  const auto place = whereabouts_of(flags.adopt);
  if (!place) return apps::failed(place.error());
  const auto options = empty_place(config, flags);
  if (!options) return apps::failed(options.error());
  Adoption adoption(*options, *place, flags.force);
  if (const auto adopted = adoption.adopt(); !adopted) return apps::failed(adopted.error());
  std::cout << "the database is at " << options->data.string() << ", and no longer at "
            << place->data.string() << '\n';
  tell_costs(*options, adoption.existing());
  if (flags.force)
    std::cout << "this cluster is " << config.cluster.name
              << ": the lost one has to have another name, or its nodes are taken for this one's "
                 "when they come back\n";
  else
    tell_who_may_connect(*options, *place);
  std::cout << "run this node, let the others join, then run them\n";
  return 0;
}

}  // namespace muster::postgres

#include "storage/power_trial.hpp"

#include <muster/values/text.hpp>

#include <sqlite3.h>

#include <sstream>

namespace muster::test {

namespace {

// The log is small, so that it is checkpointed several times in a life.
constexpr std::uint32_t log_pages = 12;
constexpr std::size_t losses_kept = 8;

storage::OpenOptions options_on(const PowerCutVfs& vfs, DiskFiles& files) {
  storage::OpenOptions options;
  options.vfs = vfs.name();
  options.files = &files;
  options.log_pages = log_pages;
  return options;
}

std::string short_text(const Held& held) {
  std::ostringstream text;
  text << "incarnation " << held.safe.incarnation.value << " and " << held.cells.size()
       << " cells (";
  for (const auto& [key, value] : held.cells) text << key << ":" << value.substr(0, 8) << " ";
  text << ")";
  return text.str();
}

}  // namespace

Trial::Trial(std::uint64_t seed) : disk_(seed), vfs_(disk_), files_(disk_) {
  // File systems differ in this, so the seed chooses.
  disk_.syncs_only_own_name = seed % 2 == 0;
  // The log's salts are random. With this seed a trial takes the same course each time.
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, static_cast<int>(seed % 1000 + 1), nullptr);
}

Trial::Trial(const Trial& other)
    : disk_(other.disk_),
      vfs_(disk_),
      files_(disk_),
      held_(other.held_),
      attempted_(other.attempted_),
      step_(other.step_),
      acknowledged_(other.acknowledged_) {}

// Saves and batches take turns. Cells grow, shrink and are erased, and definitions have one page or
// many.
Held Trial::next() const {
  Held wanted = held_;
  const std::uint64_t number = step_ + 1;
  if (number % 2 == 1) {
    wanted.safe = safe_state(number, number % 5 == 0 ? 9000 : 40);
    return wanted;
  }
  const std::string mark = std::to_string(number);
  wanted.cells["a"] = mark;
  wanted.cells["b" + std::to_string(number % 4)] = mark + std::string(number % 3 * 900, '.');
  if (number % 8 == 0) wanted.cells.erase("b2");
  return wanted;
}

Expected<> Trial::commit(SafeStorage& store, const Held& wanted) const {
  if (!(wanted.safe == held_.safe)) return store.save(wanted.safe);
  CellBatch batch;
  for (const auto& [key, value] : wanted.cells) {
    const auto before = held_.cells.find(key);
    if (before == held_.cells.end() || before->second != value) batch.write(key, value);
  }
  for (const auto& [key, value] : held_.cells)
    if (!wanted.cells.contains(key)) batch.erase(key);
  return store.write(batch);
}

Verdict Trial::look(SafeStorage& store) {
  Held found;
  auto safe = store.load();
  if (!safe) return disk_.off() || disk_.failed() ? Verdict() : safe.error().what;
  found.safe = *safe;
  const auto scanned = store.scan({}, [&](std::string_view key, const Bytes& value) {
    found.cells.emplace(std::string(key), value.data);
  });
  if (!scanned) return disk_.off() || disk_.failed() ? Verdict() : scanned.error().what;
  if (!(found == held_) && !(attempted_ && found == *attempted_)) {
    std::string what = "found " + short_text(found) + ", acknowledged was " + short_text(held_);
    if (attempted_) what += ", attempted was " + short_text(*attempted_);
    return what;
  }
  // This life has read this data, so from now on it counts as acknowledged.
  held_ = found;
  attempted_.reset();
  return {};
}

Verdict Trial::stop(SafeStorage& store) {
  stopped_ = true;
  if (disk_.off()) return {};
  const auto counts = disk_.counts();
  const bool answers = store.load() || store.save(held_.safe) ||
                       store.write(batch_of({{"a", "again"}})) || store.read("a") ||
                       store.scan({}, [](std::string_view, const Bytes&) {});
  if (answers) return "a store that failed gave an answer afterwards";
  if (disk_.counts() != counts) return "a store that failed touched the disk again";
  return {};
}

Verdict Trial::live(int commits) {
  stopped_ = false;
  auto opened =
      storage::SqliteStorage::open("/disk/n3", {"trial", NodeId{3}}, options_on(vfs_, files_));
  if (!opened) {
    stopped_ = true;
    if (disk_.off()) return {};
    if (!disk_.failed()) return "does not open: " + opened.error().what;
    return opened.error().code == ExitCode::io_error
               ? Verdict()
               : "an I/O error at opening is taken for something else: " + opened.error().what;
  }
  SafeStorage& store = **opened;
  if (Verdict verdict = look(store); !verdict.empty()) return verdict;
  for (int i = 0; i < commits; ++i) {
    const Held wanted = next();
    attempted_ = wanted;
    if (!commit(store, wanted)) return stop(store);
    held_ = wanted;
    attempted_.reset();
    ++step_;
    ++acknowledged_;
    if (step_ % 3 == 0) store.tend();  // the next commit reports an error of this step
  }
  return {};
}

void Tally::note(const Verdict& verdict, const std::string& where) {
  if (verdict.empty()) return;
  ++lost;
  if (losses.size() < losses_kept) losses.push_back(where + ": " + verdict);
}

void Tally::add(const Tally& other) {
  cuts += other.cuts;
  for (std::size_t i = 0; i < by_cut.size(); ++i) by_cut[i] += other.by_cut[i];
  failures += other.failures;
  acknowledged += other.acknowledged;
  lost += other.lost;
  for (const std::string& loss : other.losses)
    if (losses.size() < losses_kept) losses.push_back(loss);
}

std::string name_of(const Cut& cut) {
  return "content " + to_text(cut.content) + ", names " + to_text(cut.names);
}

std::uint64_t changes_of_a_life(int commits) {
  Trial trial(1);
  const Verdict verdict = trial.live(commits);
  return verdict.empty() ? trial.disk().changes() : 0;
}

Tally cut_power_in(std::uint64_t number, int commits, int more, const Mutate& mutate) {
  Tally tally;
  Trial first(number);
  if (mutate) mutate(first.disk());
  first.disk().cut_power_in(number);
  const std::string where = "cut in I/O " + std::to_string(number);
  tally.note(first.live(commits), where);
  tally.acknowledged += first.acknowledged();
  for (std::size_t i = 0; i < std::size(cuts); ++i) {
    Trial trial(first);
    trial.disk().reseed(number * 1000 + i);
    std::mt19937_64 random(number * 1000 + i);
    std::size_t kind = i;
    std::string path = where;
    for (int again = 0; again <= more; ++again) {
      trial.disk().power_on(cuts[kind].content, cuts[kind].names);
      path += ", " + name_of(cuts[kind]);
      ++tally.cuts;
      ++tally.by_cut[kind];
      const std::uint64_t before = trial.acknowledged();
      const bool last = again == more;
      const std::uint64_t next_cut = last ? 0 : random() % 40 + 1;
      if (!last) path += "; cut in I/O " + std::to_string(next_cut);
      trial.disk().cut_power_in(next_cut);
      const Verdict verdict = trial.live(last ? 3 : commits);
      tally.acknowledged += trial.acknowledged() - before;
      tally.note(verdict, path);
      if (!verdict.empty()) break;
      kind = random() % std::size(cuts);
    }
  }
  return tally;
}

Tally fail_io(const SimulatedDisk::Failing& failing, WhichLife life, int commits, bool& reached) {
  Tally tally;
  Trial first(failing.number);
  if (life == WhichLife::later) {
    tally.note(first.live(5), "a life without a fault");
    first.disk().restart_process();
  }
  first.disk().fail(failing);
  const std::string where = "failing I/O " + std::to_string(failing.number);
  tally.note(first.live(commits), where);
  tally.acknowledged += first.acknowledged();
  reached = first.disk().failed();
  if (!reached) return tally;
  ++tally.failures;
  // The failure has ended the node. The node's next life starts, with or without a power cut
  // before. That life could still read the cache, so one more power cut and one more life follow.
  for (const bool power_first : {false, true}) {
    for (std::size_t i = 0; i < std::size(cuts); ++i) {
      Trial trial(first);
      trial.disk().reseed(failing.number * 1000 + i);
      if (power_first) trial.disk().power_on(cuts[i].content, cuts[i].names);
      std::string path = where + (power_first ? ", power cut, " : ", ") + name_of(cuts[i]);
      for (int again = 0; again < 2; ++again) {
        const std::uint64_t before = trial.acknowledged();
        const Verdict verdict = trial.live(again == 0 ? 4 : 2);
        tally.acknowledged += trial.acknowledged() - before;
        tally.note(verdict, path + " (life " + std::to_string(again + 2) + ")");
        if (!verdict.empty()) break;
        trial.disk().power_on(cuts[i].content, cuts[i].names);
        ++tally.cuts;
        ++tally.by_cut[i];
      }
      if (Verdict verdict = trial.live(1); tally.lost == 0) tally.note(verdict, path + " (end)");
    }
  }
  return tally;
}

}  // namespace muster::test

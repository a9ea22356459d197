#include "storage/damage_trial.hpp"

#include "storage/whole_files.hpp"

#include <algorithm>

namespace muster::test {

namespace {

constexpr std::size_t lost_at_once = 4096;
constexpr int lives = 2;
constexpr std::uint64_t commits_of_a_life = 14;
const storage::Identity identity{"demo", NodeId{3}};

std::string name_of(bool of_log) {
  return of_log ? "the log" : "the file";
}

}  // namespace

// The files are small, so that damage is likely to hit data. The log is checkpointed several times.
DamageTrials::DamageTrials() {
  options_.log_pages = 40;
  own_ = live(3, "own");
  namesake_s_ = live(3, "namesake");
  another_s_ = live(1, "another");
  std::filesystem::create_directory(directory_);
  std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
}

std::vector<DamageTrials::Moment> DamageTrials::live(std::uint32_t node,
                                                     const std::string& name) const {
  const std::filesystem::path directory = temporary_.path() / name;
  std::vector<Moment> moments;
  std::uint64_t number = 0;
  for (int life = 0; life < lives; ++life) {
    const auto store =
        storage::SqliteStorage::open(directory, {identity.cluster, NodeId{node}}, options_).value();
    const auto note = [&] {
      moments.push_back(
          {{bytes_of(directory / "safe.sqlite"), bytes_of(directory / "safe.sqlite-wal")},
           {store->load().value(), cells_of(*store)}});
    };
    note();
    const std::uint64_t end = number + commits_of_a_life;
    while (++number <= end) {
      const std::string n = std::to_string(number);
      if (number % 3 != 0)
        store->save(safe_state(number, number % 4 * 900)).value();
      else
        store->write(batch_of({{"cell/" + n.substr(0, 1), std::string(300, 'c') + n}})).value();
      note();
    }
    --number;
  }
  return moments;
}

std::size_t DamageTrials::sectors(bool of_log) const {
  const Files& files = own_.back().files;
  return ((of_log ? files.log : files.file).size() + lost_at_once - 1) / lost_at_once;
}

DamageTrials::Result DamageTrials::with_a_lost_sector(bool of_log, std::size_t sector, char fill) {
  now_ = own_.size() - 1;
  Files files = own_[now_].files;
  std::string& bytes = of_log ? files.log : files.file;
  const std::size_t at = sector * lost_at_once;
  const std::size_t size = std::min(lost_at_once, bytes.size() - at);
  bytes.replace(at, size, size, fill);
  return opened(DamageKind::sector, files,
                "sector " + std::to_string(sector) + " of " + name_of(of_log));
}

DamageTrials::Result DamageTrials::damaged(std::uint64_t seed) {
  random_.seed(seed);
  now_ = 1 + random_() % (own_.size() - 1);
  const auto kind = static_cast<DamageKind>(random_() % damage_kinds);
  const std::uint64_t which = random_() % 3;
  Files files = own_[now_].files;
  std::string what = "seed " + std::to_string(seed) + ", at moment " + std::to_string(now_);
  if (which != 1) what += ", " + damage(kind, false, files);
  if (which != 0) what += ", " + damage(kind, true, files);
  return opened(kind, files, what);
}

std::string DamageTrials::damage(DamageKind kind, bool of_log, Files& files) {
  std::string& bytes = of_log ? files.log : files.file;
  const std::size_t at = random_() % bytes.size();
  const std::string where = " at " + std::to_string(at) + " of " + name_of(of_log);
  switch (kind) {
    case DamageKind::bit:
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << random_() % 8);
      return "a bit" + where;
    case DamageKind::bytes: {
      const std::size_t end = std::min(bytes.size(), at + 1 + random_() % 100);
      for (std::size_t i = at; i < end; ++i) bytes[i] = static_cast<char>(random_());
      return std::to_string(end - at) + " bytes" + where;
    }
    case DamageKind::sector: {
      const std::size_t begin = at / lost_at_once * lost_at_once;
      const std::size_t end = std::min(bytes.size(), begin + lost_at_once);
      const std::uint64_t fill = random_() % 3;
      for (std::size_t i = begin; i < end; ++i)
        bytes[i] = static_cast<char>(fill == 0 ? 0 : fill == 1 ? 0xff : random_());
      return "a sector" + where;
    }
    case DamageKind::truncated:
      bytes.resize(at);
      return "the end" + where;
    case DamageKind::older: {
      const std::size_t then = random_() % now_;
      bytes = of_log ? own_[then].files.log : own_[then].files.file;
      return name_of(of_log) + " of moment " + std::to_string(then);
    }
    case DamageKind::another_s:
      break;
  }
  const auto& other = random_() % 2 == 0 ? namesake_s_ : another_s_;
  const Files& theirs = other[random_() % other.size()].files;
  bytes = of_log ? theirs.log : theirs.file;
  return name_of(of_log) + (&other == &another_s_ ? " of another node" : " of a namesake");
}

DamageTrials::Result DamageTrials::opened(DamageKind kind, const Files& damaged, std::string what) {
  const std::filesystem::path file = directory_ / "safe.sqlite";
  const std::filesystem::path log = directory_ / "safe.sqlite-wal";
  put_bytes(file, damaged.file);
  put_bytes(log, damaged.log);
  const auto is_as_at = [&](const Held& held, const Moment& moment) { return held == moment.held; };
  Held held;
  {
    const auto store = storage::SqliteStorage::open(directory_, identity, options_);
    if (!store) {
      if (store.error().code != ExitCode::storage_refused)
        return {kind, DamageOutcome::wrong, what + ": " + store.error().what};
      if (Files{bytes_of(file), bytes_of(log)} != damaged)
        return {kind, DamageOutcome::wrong, what + ": refused, and touched"};
      return {kind, DamageOutcome::refused, {}};
    }
    const auto safe = (*store)->load();
    if (!safe) return {kind, DamageOutcome::wrong, what + ": " + safe.error().what};
    held = {*safe, cells_of(**store)};
  }
  if (is_as_at(held, own_[now_])) return {kind, DamageOutcome::exact, {}};
  const Files& now = own_[now_].files;
  const bool both_are_old = (kind == DamageKind::older || kind == DamageKind::another_s) &&
                            damaged.file != now.file && damaged.log != now.log;
  for (const auto* moments : {&own_, &namesake_s_})
    for (const Moment& moment : *moments)
      if ((both_are_old || damaged == moment.files) && is_as_at(held, moment))
        return {kind, DamageOutcome::restored, {}};
  if (is_as_at(held, own_[now_ - 1])) return {kind, DamageOutcome::without_the_last, {}};
  for (std::size_t i = 0; i < own_.size(); ++i)
    if (is_as_at(held, own_[i])) what += ": as at moment " + std::to_string(i);
  return {kind, DamageOutcome::wrong, what};
}

}  // namespace muster::test

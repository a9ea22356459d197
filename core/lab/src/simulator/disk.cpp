#include "disk.hpp"

#include <utility>

namespace muster::lab::simulated {

namespace {

constexpr std::size_t longest_key = 512;
constexpr std::size_t largest_value = 1024 * 1024;

}  // namespace

// --- Cells

std::unique_ptr<Cells> Cells::copy() const {
  auto copy = std::make_unique<Cells>();
  copy->safe_ = safe_;
  copy->cells_ = cells_;
  return copy;
}

Expected<> Cells::save(const SafeState& safe) {
  safe_ = safe;
  return {};
}

Expected<> Cells::write(const CellBatch& batch) {
  for (const CellBatch::Write& write : batch.writes)
    if (write.key.size() > longest_key || (write.value && write.value->data.size() > largest_value))
      return Failure{ExitCode::hook_failed,
                     "the application wrote a cell whose key or value is too long: at most 512 "
                     "bytes and 1 MiB can be kept"};
  for (const CellBatch::Write& write : batch.writes) {
    if (write.value)
      cells_.insert_or_assign(write.key, *write.value);
    else
      cells_.erase(write.key);
  }
  return {};
}

Expected<std::optional<Bytes>> Cells::read(std::string_view key) {
  const auto cell = cells_.find(key);
  if (cell == cells_.end()) return std::optional<Bytes>();
  return std::optional<Bytes>(cell->second);
}

Expected<> Cells::scan(std::string_view prefix,
                       const std::function<void(std::string_view, const Bytes&)>& visit) {
  for (auto cell = cells_.lower_bound(prefix);
       cell != cells_.end() && cell->first.starts_with(prefix); ++cell)
    visit(cell->first, cell->second);
  return {};
}

// --- Disk

void Disk::save(const SafeState& safe, Work durable) {
  saves_.push_back({safe, std::move(durable)});
  begin_next();
}

void Disk::write(CellBatch batch, Work durable) {
  for (const CellBatch::Write& write : batch.writes)
    if (write.key.starts_with(own_cells))
      return handlers_.fatal(
          {ExitCode::hook_failed, "the application wrote a cell whose key begins with \"" +
                                      std::string(own_cells) + "\": those are the node's own"});
  cells_.push_back({std::move(batch), std::move(durable)});
  begin_next();
}

void Disk::scan(std::string prefix, std::function<void(Found)> done) {
  cells_.push_back({Scan{std::move(prefix), std::move(done)}, {}});
  begin_next();
}

void Disk::begin_next() {
  if (present_ || process_->over()) return;
  std::deque<Commit>& from = saves_.empty() ? cells_ : saves_;
  if (from.empty()) return;
  present_ = std::move(from.front());
  from.pop_front();
  if (std::holds_alternative<SafeState>(present_->what)) handlers_.point("a Save begins");
  if (std::holds_alternative<CellBatch>(present_->what)) handlers_.point("a write begins");
  // The disk works on when the process is paused.
  process_->world.agenda.after(handlers_.commit_time(), [this, process = process_] {
    if (!process->over()) finish();
  });
}

void Disk::finish() {
  Commit commit = *std::exchange(present_, std::nullopt);
  if (auto performed = perform(commit); !performed) return handlers_.fatal(performed.error());
  if (std::holds_alternative<SafeState>(commit.what)) handlers_.point("a Save is durable");
  if (std::holds_alternative<CellBatch>(commit.what)) handlers_.point("a write is durable");
  if (process_->over()) return;
  if (commit.durable) process_->run(std::move(commit.durable));
  begin_next();
}

Expected<> Disk::perform(Commit& commit) {
  if (const auto* safe = std::get_if<SafeState>(&commit.what)) return storage_.save(*safe);
  if (const auto* batch = std::get_if<CellBatch>(&commit.what)) return storage_.write(*batch);
  Scan& scan = std::get<Scan>(commit.what);
  Found found;
  auto scanned = storage_.scan(scan.prefix, [&](std::string_view key, const Bytes& value) {
    if (!key.starts_with(own_cells)) found.emplace_back(key, value);
  });
  if (!scanned) return scanned;
  commit.durable = [done = std::move(scan.done), found = std::move(found)] { done(found); };
  return {};
}

void Disk::end(bool in_the_store) {
  if (present_ && in_the_store && !std::holds_alternative<Scan>(present_->what))
    (void)perform(*present_);
  present_.reset();
}

}  // namespace muster::lab::simulated

#pragma once

#include <muster/safe_storage.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace muster::test {

/// A SafeState. For different numbers all its fields have different values.
inline SafeState safe_state(std::uint64_t number, std::size_t definition_size = 40) {
  SafeState safe;
  safe.incarnation.value = number;
  safe.counter_limit = number + 16;
  safe.assigned = Assigned{{std::string(definition_size, static_cast<char>('a' + number % 26))},
                           {number, NodeId{5}}};
  safe.vector.s = number % 2 == 0 ? Status::Normal : Status::Reorganization;
  safe.vector.c = NodeId{5};
  safe.vector.h = NodeId{static_cast<std::uint32_t>(number % 5 + 1)};
  safe.vector.up = {NodeId{1}, NodeId{static_cast<std::uint32_t>(number % 7 + 2)}};
  safe.seen = {{NodeId{2}, Incarnation{number * 3}}, {NodeId{4}, Incarnation{7}}};
  safe.instances = {{NodeId{2}, Instance{number * 5 + 1}}};
  return safe;
}

inline CellBatch batch_of(std::vector<std::pair<std::string, std::string>> cells) {
  CellBatch batch;
  for (auto& [key, value] : cells) batch.write(std::move(key), std::move(value));
  return batch;
}

using Cells = std::map<std::string, std::string>;

/// All cells whose key begins with `prefix`. If the storage fails, throws that failure.
inline Cells cells_of(SafeStorage& storage, std::string_view prefix = {}) {
  Cells cells;
  storage
      .scan(prefix, [&](std::string_view key,
                        const Bytes& value) { cells.emplace(std::string(key), value.data); })
      .value();
  return cells;
}

}  // namespace muster::test

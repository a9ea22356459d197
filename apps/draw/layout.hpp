#pragma once

#include "apps/draw/chart.hpp"

/// Where everything stands in the diagram. Time goes down, a lane for each node. The axis is true
/// to order and only roughly to time: where nothing happens for long it is broken, so that letters
/// stay readable beside it. All in whole units, so that equal charts give equal bytes.

namespace muster::apps::drawing {

struct Layout {
  /// Nothing happens here for long.
  struct Break {
    int y{};
    Duration length{};
  };
  /// A time at the axis.
  struct Tick {
    int y{};
    Duration t{};  ///< since the first line of the journals
  };

  int width{};
  int height{};
  int axis{};          ///< x of the axis
  int lane{};          ///< between two lanes
  int notes{};         ///< x of the notes
  int head{};          ///< y at which the names of the nodes end
  int top{};           ///< y at which the lanes begin
  int bottom{};        ///< y at which they end
  std::vector<int> y;  ///< of each moment
  std::vector<Break> breaks;
  std::vector<Tick> ticks;

  /// Of the lane of a node.
  [[nodiscard]] int x_of(NodeId node) const;
  /// Of an edge: beyond those that are drawn it is the top or the bottom.
  [[nodiscard]] int y_of(const Edge& edge) const;
  /// Of a time between moments.
  [[nodiscard]] int y_at(Duration t) const;

  const Chart* chart = nullptr;
};

/// The chart has to outlive it.
Layout lay_out(const Chart& chart);

}  // namespace muster::apps::drawing

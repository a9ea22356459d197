#pragma once

#include "apps/draw/chart.hpp"

/// The places of all parts of the diagram. Time runs downwards, and each node has a lane. The axis
/// keeps the order of moments, and only roughly their times. The axis is broken at places at which
/// nothing happens for long, so that the letters elsewhere stay readable. All numbers are integers,
/// so equal charts give equal bytes.

namespace muster::apps::drawing {

struct Layout {
  /// A place on the axis at which nothing happens for long.
  struct Break {
    int y{};
    Duration length{};
  };
  /// A time that is written at the axis.
  struct Tick {
    int y{};
    Duration t{};  ///< time since the first line of the journals
  };

  int width{};
  int height{};
  int axis{};          ///< x of the axis
  int lane{};          ///< distance of two lanes
  int notes{};         ///< x of the notes
  int head{};          ///< y at which the names of the nodes end
  int top{};           ///< y at which lanes begin
  int bottom{};        ///< y at which lanes end
  std::vector<int> y;  ///< y of each moment
  std::vector<Break> breaks;
  std::vector<Tick> ticks;

  /// The x of a node's lane.
  [[nodiscard]] int x_of(NodeId node) const;
  /// The y of an edge. For an edge outside the drawn time this is `top` or `bottom`.
  [[nodiscard]] int y_of(const Edge& edge) const;
  /// The y of a time between moments.
  [[nodiscard]] int y_at(Duration t) const;

  const Chart* chart = nullptr;
};

/// The chart has to outlive the layout.
Layout lay_out(const Chart& chart);

}  // namespace muster::apps::drawing

#pragma once

#include <muster/values/describe.hpp>

namespace MUSTER_EXPORT muster {
namespace journal {

/// Which steps a journal has: all, or none that is idle.
enum class Detail { all, changes };
MUSTER_DESCRIBE_ENUM(Detail, all, changes)

}  // namespace journal
}  // namespace muster

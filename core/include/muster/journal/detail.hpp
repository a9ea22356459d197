#pragma once

#include <muster/values/describe.hpp>

namespace MUSTER_EXPORT muster {
namespace journal {

/// The steps that a journal contains: all of them, or all except idle ones.
enum class Detail { all, changes };
MUSTER_DESCRIBE_ENUM(Detail, all, changes)

}  // namespace journal
}  // namespace muster

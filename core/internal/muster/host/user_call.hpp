#pragma once

#include <muster/application.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

/// Calls of the user's code, and what leaves it, as a sentence; the same on every host.

namespace MUSTER_EXPORT muster {

/// What stands behind "threw" of a call; none where it returned.
template <class Call>
std::optional<std::string> thrown_by(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return std::string(": ") + error.what();
  } catch (...) {
    return " something that is no std::exception";
  }
  return std::nullopt;
}

/// Calls what an application had posted, or wanted to be told by. What leaves it goes to `thrown`,
/// as a sentence: what was to come after is not done, and nobody could know what that was.
inline void call_user(const std::function<void()>& work,
                      const std::function<void(const std::string&)>& thrown) {
  if (const auto why = thrown_by(work))
    thrown("what the application had posted, or was to be told by, threw (catch it there)" + *why);
}

/// Makes the application of a life, where there is none yet. Why there is none, in words: nobody
/// could say then what the node holds.
inline std::optional<std::string> make_once(std::unique_ptr<Application>& application,
                                            const MakeApplication& make, Services& services) {
  if (application) return std::nullopt;
  if (const auto why = thrown_by([&] { application = make(services); }))
    return "make_application threw" + *why;
  if (!application) return "make_application gave no application";
  return std::nullopt;
}

}  // namespace muster

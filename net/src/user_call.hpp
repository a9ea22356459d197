#pragma once

#include <exception>
#include <functional>
#include <string>

namespace muster::net {

/// Calls what an application had posted, or wanted to be told by. What leaves it goes to `thrown`,
/// as a sentence: what was to come after is not done, and nobody could know what that was.
inline void call_user(const std::function<void()>& work,
                      const std::function<void(const std::string&)>& thrown) {
  constexpr const char* what = "what the application had posted, or was to be told by, threw ";
  try {
    work();
  } catch (const std::exception& error) {
    thrown(std::string(what) + "(catch it there): " + error.what());
  } catch (...) {
    thrown(std::string(what) + "what is no std::exception (catch it there)");
  }
}

}  // namespace muster::net

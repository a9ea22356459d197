#pragma once

#include <muster/application.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

/// Calls of the user's code. Every host turns an exception that leaves such a call into the same
/// sentence.

namespace MUSTER_EXPORT muster {

/// The text that follows "threw" in an error message about this call; none if the call returned.
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

/// Runs a task that an application has posted, or one of its callbacks. If an exception leaves it,
/// `thrown` gets a sentence. The host then ends the process, because the remaining work of that
/// task would be missing.
inline void call_user(const std::function<void()>& work,
                      const std::function<void(const std::string&)>& thrown) {
  if (const auto why = thrown_by(work))
    thrown("a task or a callback of the application threw (catch it there)" + *why);
}

/// Makes the application of a life unless there is one already. Returns a sentence if it could not
/// be made. The host then ends the process, because without an application nobody could report the
/// node's holdings.
inline std::optional<std::string> make_once(std::unique_ptr<Application>& application,
                                            const MakeApplication& make, Services& services) {
  if (application) return std::nullopt;
  if (const auto why = thrown_by([&] { application = make(services); }))
    return "make_application threw" + *why;
  if (!application) return "make_application gave no application";
  return std::nullopt;
}

}  // namespace muster

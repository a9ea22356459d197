#include <muster/timings.hpp>

#include <muster/text.hpp>

namespace muster {

std::optional<Misfit> misfit(const Timings& timings) {
  std::optional<Misfit> nothing;
  for_each_field(timings, [&](const char* name, Duration length) {
    if (!nothing && length <= Duration::zero()) nothing = {name, "longer than 0"};
  });
  if (nothing) return nothing;
  const Duration period = timings.check_every;
  if (timings.coordinator_timeout <= period)
    return Misfit{"coordinator_timeout",
                  "longer than check_every = " + to_text(period) +
                      ", best check_every + T = " + to_text(period + timings.T)};
  if (timings.coordinator_timeout < timings.T)
    return Misfit{"coordinator_timeout",
                  "at least T = " + to_text(timings.T) +
                      ": a coordinator that is slow within T would be suspected"};
  if (timings.reorganize_deadline < timings.T)
    return Misfit{"reorganize_deadline",
                  "at least T = " + to_text(timings.T) + ", which a question to a member may take"};
  return std::nullopt;
}

}  // namespace muster

#include "apps/base/text.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/protocol/misfit.hpp>
#include <muster/values/text.hpp>

/// Reads the options of docs/explanation/options.md, from a configuration or from `--option`.

namespace muster::apps {

namespace {

constexpr std::string_view after = "after ";

template <class E>
bool read_name(std::string_view text, E& to) {
  const auto named = enumerator_named<E>(text);
  if (named) to = *named;
  return named.has_value();
}

bool read_preempt(std::string_view text, Options& options) {
  Preempt named{};
  if (read_name(text, named) && named != Preempt::after) {
    options.preempt = named;
    options.preempt_after = {};
    return true;
  }
  if (!text.starts_with(after)) return false;
  const auto length = parse_duration(text.substr(after.size()));
  if (!length || *length <= Duration::zero() || *length > longest_time) return false;
  options.preempt = Preempt::after;
  options.preempt_after = *length;
  return true;
}

bool read_drift(std::string_view text, Options& options) {
  constexpr std::string_view unit = "ppm";
  if (!text.ends_with(unit)) return false;
  const auto number = parse_number(text.substr(0, text.size() - unit.size()));
  if (!number || *number > 1'000'000) return false;
  options.clock_drift = {static_cast<std::uint32_t>(*number)};
  return true;
}

bool read_duration(std::string_view text, Duration longest, Duration& to) {
  const auto length = parse_duration(text);
  if (!length || *length < Duration::zero() || *length > longest) return false;
  to = *length;
  return true;
}

}  // namespace

std::optional<std::string> read_option(std::string_view name, std::string_view text,
                                       Options& options) {
  if (name == "preempt")
    return read_preempt(text, options)
               ? std::nullopt
               : std::optional<std::string>(
                     "\"paper\", \"never\" or \"after DURATION\", such as \"after 5m\"");
  if (name == "clock_drift")
    return read_drift(text, options)
               ? std::nullopt
               : std::optional<std::string>("parts per million, such as \"10000ppm\"");
  if (name == "quorum")
    return read_name(text, options.quorum) ? std::nullopt
                                           : std::optional<std::string>("\"off\" or \"majority\"");
  if (name == "resume")
    return read_name(text, options.resume) ? std::nullopt
                                           : std::optional<std::string>("\"ready\" or \"all\"");
  if (name == "settle")
    return read_duration(text, longest_time, options.settle)
               ? std::nullopt
               : std::optional<std::string>("a duration up to 1440min, such as \"5s\", or \"0s\"");
  if (name == "calm")
    return read_duration(text, longest_calm, options.calm)
               ? std::nullopt
               : std::optional<std::string>("a duration up to 5min, such as \"1s\", or \"0s\"");
  return "one of calm, clock_drift, preempt, quorum, resume, settle";
}

}  // namespace muster::apps

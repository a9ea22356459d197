#include <muster/claims/verify.hpp>
#include <muster/values/json.hpp>

#include <algorithm>

namespace muster::verify {

namespace {

template <class T>
void append_field(std::string& out, std::string_view key, const T& value) {
  out += key;
  write_json(out, value);
}

struct AppendVerdict {
  std::string& out;

  void operator()(const Holds& verdict) const {
    append_field(out, "{\"assertion\":", verdict.assertion);
    append_field(out, ",\"holds\":true,\"checked\":", verdict.checked);
    finish(verdict.bound);
  }

  void operator()(const Violated& verdict) const {
    append_field(out, "{\"assertion\":", verdict.assertion);
    append_field(out, ",\"holds\":false,\"at\":{\"t_ns\":", verdict.t);
    append_field(out, ",\"nodes\":", verdict.disagreement.nodes);
    append_field(out, "},\"why\":", verdict.disagreement.why);
    append_field(out, ",\"journal\":", verdict.place.journal);
    append_field(out, ",\"line\":", verdict.place.line);
    append_field(out, ",\"checked\":", verdict.checked);
    append_field(out, ",\"violations\":", verdict.violations);
    finish(verdict.bound);
  }

  void operator()(const NotClaimed& verdict) const {
    append_field(out, "{\"assertion\":", verdict.assertion);
    append_field(out, ",\"holds\":null,\"from_ns\":", verdict.from);
    append_field(out, ",\"to_ns\":", verdict.to);
    append_field(out, ",\"why\":", verdict.why);
    finish(verdict.bound);
  }

  void finish(const std::optional<Duration>& bound) const {
    if (bound) append_field(out, ",\"bound_ns\":", *bound);
    out += "}\n";
  }
};

}  // namespace

void verdict_line(std::string& out, const Verdict& verdict) {
  std::visit(AppendVerdict{out}, verdict);
}

bool Outcome::is_empty() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return std::holds_alternative<NotClaimed>(verdict);
  });
}

bool Outcome::holds() const {
  return undecided.empty() &&
         std::none_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
           return std::holds_alternative<Violated>(verdict);
         });
}

}  // namespace muster::verify

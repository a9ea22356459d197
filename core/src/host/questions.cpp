#include <muster/host/questions.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <utility>

namespace muster {

namespace {

HookHost::Outcome failed(std::string why) {
  return {boost::system::in_place_error, std::move(why)};
}

std::string too_large(const std::string& what, std::size_t size, std::size_t limit) {
  return what + " of " + std::to_string(size) + " bytes is larger than the limit of " +
         std::to_string(limit);
}

constexpr const char* over = "the time to ask is over: it was halted, or has ended";
constexpr const char* too_late = "it was halted, or assigned something, meanwhile";

}  // namespace

// --- The node that asks

std::uint64_t Asking::begin(NodeSet members) {
  members_ = std::move(members);
  return number_;
}

void Asking::ask(std::uint64_t number, NodeId member, Inquiry inquiry, Answered answered) {
  if (!members_ || number != number_) return tell(std::move(answered), failed(over));
  const std::string name = "node " + to_text(member);
  if (!members_->contains(member))
    return tell(std::move(answered), failed(name + " is no member of the group"));
  const std::size_t size = inquiry.bytes.data.size();
  if (size > limits_.bytes)
    return tell(std::move(answered), failed(too_large("the question", size, limits_.bytes)));
  auto& waiting = waiting_[member];
  if (waiting.size() >= limits_.waiting)
    return tell(std::move(answered), failed(std::to_string(limits_.waiting) + " questions to " +
                                            name + " are not answered yet"));
  waiting.push_back({std::move(inquiry), std::move(answered)});
  if (waiting.size() == 1) ask_next(member);
}

void Asking::ask_next(NodeId member) {
  take_(member, std::move(waiting_[member].front().inquiry),
        [this, member, number = number_](HookHost::Outcome answer) {
          if (number == number_) on_answer(member, std::move(answer));
        });
}

void Asking::on_answer(NodeId member, HookHost::Outcome answer) {
  auto& waiting = waiting_[member];
  tell(std::move(waiting.front().answered), std::move(answer));
  waiting.pop_front();
  if (!waiting.empty()) ask_next(member);
}

void Asking::end() {
  ++number_;
  members_.reset();
  auto waiting = std::exchange(waiting_, {});
  if (waiting.empty()) return;
  host_.give_up_questions();
  for (auto& [member, questions] : waiting)
    for (Waiting& one : questions) tell(std::move(one.answered), failed(over));
}

void Asking::tell(Answered answered, HookHost::Outcome answer) {
  host_.tell([answered = std::move(answered), answer = std::move(answer)] { answered(answer); });
}

// --- The node that is asked

std::uint64_t Answering::asked(Question question, Answered answered) {
  Asked asked{++last_, std::move(question), std::move(answered)};
  asked.question.cancelled = asked.cancelled.get_token();
  if (works_ || !asked.question.working)
    put(std::move(asked));
  else if (held_.size() < limits_.waiting)
    held_.push_back(std::move(asked));
  else
    asked.answered(failed("it has not started yet, and too many questions wait for that"));
  return last_;
}

void Answering::put(Asked asked) {
  asked_.push_back(std::move(asked));
  if (asked_.size() == 1) answer_first();
}

void Answering::started() {
  works_ = true;
  for (Asked& asked : std::exchange(held_, {})) put(std::move(asked));
}

void Answering::stopping() {
  works_ = false;
  for (const Asked& asked : std::exchange(held_, {})) asked.answered(failed(too_late));
}

void Answering::answer_first() {
  Asked& first = asked_.front();
  host_.call(
      std::nullopt,
      [question = std::move(first.question)](Application& application, HookHost::Ended on_ended) {
        application.answer(question, Done<Bytes>(std::move(on_ended)));
      },
      [this, number = first.number](HookHost::Outcome answer) {
        on_answered(number, std::move(answer));
      });
}

void Answering::on_answered(std::uint64_t number, HookHost::Outcome answer) {
  if (asked_.empty() || asked_.front().number != number) return;
  const Asked answered = std::move(asked_.front());
  asked_.pop_front();
  if (answer && answer->data.size() > limits_.bytes)
    answer = failed(too_large("its answer", answer->data.size(), limits_.bytes));
  if (!asked_.empty()) answer_first();
  answered.answered(std::move(answer));  // the callback of the caller may ask its next question
  if (asked_.empty()) quiet_();
}

void Answering::give_up(std::uint64_t question) {
  const auto is_it = [question](const Asked& one) { return one.number == question; };
  std::erase_if(held_, is_it);
  const auto found = std::find_if(asked_.begin(), asked_.end(), is_it);
  if (found == asked_.end()) return;
  if (found == asked_.begin())
    host_.request_stop(found->cancelled);
  else
    asked_.erase(found);
}

void Answering::cancel() {
  if (asked_.empty()) return;
  for (std::size_t i = 1; i < asked_.size(); ++i) asked_[i].answered(failed(too_late));
  asked_.erase(asked_.begin() + 1, asked_.end());
  host_.request_stop(asked_.front().cancelled);
}

void Answering::abandon() {
  if (!asked_.empty()) host_.request_stop(asked_.front().cancelled);
  asked_.clear();
  held_.clear();
}

}  // namespace muster

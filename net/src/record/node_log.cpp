#include "record/node_log.hpp"

#include "base/utc.hpp"

#include <muster/net/say.hpp>
#include <muster/values/json.hpp>
#include <muster/values/one_line.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace muster::net {

namespace {

constexpr std::chrono::seconds log_window{10};
/// The subjects are few, except for sentences that other nodes cause.
constexpr std::size_t most_topics = 256;
/// The most bytes of a text, so that its line fits into one write to a pipe; fewer if many bytes
/// have to be escaped.
constexpr std::size_t longest_text = 3000;
constexpr std::size_t longest_escaped_text = 600;
constexpr std::size_t longest_line = 4000;

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return std::string(text.substr(0, most)) + "...";
}

std::string json_line(LogLevel level, NodeId node, const std::string& text) {
  const boost::json::object line{
      {"time", utc_now()}, {"level", enumerator_name(level)}, {"node", node.value}};
  std::string out = boost::json::serialize(line);
  out.back() = ',';
  out += "\"text\":";
  write_json(out, text);  // works for any bytes
  return out + "}\n";
}

bool standard_error_is_a_journal() {
  const char* const named = std::getenv("JOURNAL_STREAM");
  struct stat about {};
  return named != nullptr && ::fstat(STDERR_FILENO, &about) == 0 &&
         std::to_string(about.st_dev) + ':' + std::to_string(about.st_ino) == named;
}

}  // namespace

std::string utc(std::chrono::system_clock::time_point moment) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(moment);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
      moment - std::chrono::system_clock::from_time_t(seconds));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(ms.count()));
  return text.data();
}
std::string utc_now() {
  return utc(std::chrono::system_clock::now());
}

std::string log_line(LogFormat format, LogLevel level, NodeId node, std::string_view text) {
  if (format == LogFormat::json) {
    const std::string line = json_line(level, node, cut(text, longest_text));
    return line.size() <= longest_line ? line
                                       : json_line(level, node, cut(text, longest_escaped_text));
  }
  return utc_now() + ' ' + std::string(enumerator_name(level)) +
         " muster: " + one_line(text, longest_text) + '\n';
}

std::string_view journal_priority(LogLevel level) {
  static const bool is_a_journal = standard_error_is_a_journal();
  if (!is_a_journal) return {};
  if (level == LogLevel::error) return "<3>";
  return level == LogLevel::warning ? "<4>" : "<6>";
}

void say_in_log(LogFormat format, LogLevel level, NodeId node, std::string_view text) {
  say(STDERR_FILENO, std::string(journal_priority(level)) + log_line(format, level, node, text));
}

void NodeLog::tell(LogLevel level, const std::string& topic, std::string text, unsigned most) {
  if (level > level_) return;
  std::uint64_t left_out = 0;
  if (!may_tell(topic, most, left_out)) return;
  if (left_out > 0)
    text += " (" + std::to_string(left_out) + " lines like this one were left out before it)";
  put(level, text);
}

bool NodeLog::may_tell(const std::string& topic, unsigned most, std::uint64_t& left_out) {
  const std::lock_guard lock(mutex_);
  const auto now = now_();
  if (topics_.size() > most_topics)
    std::erase_if(topics_, [&](const auto& each) { return now - each.second.since > log_window; });
  if (topics_.size() > most_topics) topics_.clear();
  const auto [at, is_new] = topics_.try_emplace(topic, Topic{now, 0, 0});
  Topic& its = at->second;
  if (now - its.since > log_window) its = {now, 0, its.left_out};
  if (its.told++ < most) {
    left_out = std::exchange(its.left_out, 0);
    return true;
  }
  ++its.left_out;
  return false;
}

// An exception of the owner's function is ignored: it must not end the node.
void NodeLog::put(LogLevel level, const std::string& text) const {
  if (!log_) return say_in_log(format_, level, node_, text);
  try {
    log_(level, text);
  } catch (...) {  // there is no place to report it
  }
}

}  // namespace muster::net

#pragma once

#include <muster/net/node.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace muster::net {

/// Writes the log of a node, and limits repetitions. From any thread.
class NodeLog {
 public:
  using Clock = std::chrono::steady_clock;

  explicit NodeLog(
      const NodeOptions& options,
      std::function<Clock::time_point()> now = [] { return Clock::now(); })
      : now_(std::move(now)),
        node_(options.config.self),
        level_(options.log.level),
        format_(options.log.format),
        log_(options.log.line) {}

  /// Writes at most `most` lines about one subject in ten seconds. The next line then says how many
  /// were left out.
  void tell(LogLevel level, const std::string& topic, std::string text, unsigned most = 10);
  /// Writes a warning, but the same sentence at most once in ten seconds.
  void warn(const std::string& sentence) { tell(LogLevel::warning, sentence, sentence, 1); }
  /// Changes level and format from now on.
  void heed(LogLevel level, LogFormat format) {
    level_ = level;
    format_ = format;
  }
  /// Writes the last line of the process, whatever the level is.
  void fatal(const std::string& sentence) { put(LogLevel::error, sentence); }

 private:
  struct Topic {
    Clock::time_point since;
    unsigned told = 0;
    std::uint64_t left_out = 0;
  };
  bool may_tell(const std::string& topic, unsigned most, std::uint64_t& left_out);
  void put(LogLevel level, const std::string& text) const;

  const std::function<Clock::time_point()> now_;
  const NodeId node_;
  std::atomic<LogLevel> level_;
  std::atomic<LogFormat> format_;
  const std::function<void(LogLevel, const std::string&)> log_;
  std::mutex mutex_;  // guards topics_
  std::map<std::string, Topic> topics_;
};

}  // namespace muster::net

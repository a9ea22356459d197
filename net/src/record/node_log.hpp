#pragma once

#include <muster/net/node.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace muster::net {

/// Where the lines of a node's log go. From any thread.
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

  /// At most `most` lines of a matter in ten seconds; the next one then tells how many were left
  /// out.
  void tell(LogLevel level, const std::string& matter, std::string text, unsigned most = 10);
  /// The same sentence once in ten seconds.
  void warn(const std::string& sentence) { tell(LogLevel::warning, sentence, sentence, 1); }
  /// From now on.
  void heed(LogLevel level, LogFormat format) {
    level_ = level;
    format_ = format;
  }
  /// The last line of the process: always told.
  void fatal(const std::string& sentence) { put(LogLevel::error, sentence); }

 private:
  struct Matter {
    Clock::time_point since;
    unsigned told = 0;
    std::uint64_t left_out = 0;
  };
  bool may_tell(const std::string& matter, unsigned most, std::uint64_t& left_out);
  void put(LogLevel level, const std::string& text) const;

  const std::function<Clock::time_point()> now_;
  const NodeId node_;
  std::atomic<LogLevel> level_;
  std::atomic<LogFormat> format_;
  const std::function<void(LogLevel, const std::string&)> log_;
  std::mutex mutex_;  // guards matters_
  std::map<std::string, Matter> matters_;
};

}  // namespace muster::net

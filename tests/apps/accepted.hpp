#pragma once

#include "apps/muster/config/config.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

/// Helpers for tests that check whether the text of a configuration is accepted.

namespace muster::apps {

inline NodeConfig accepted(const Expected<NodeConfig>& config) {
  BOOST_REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().what));
  return *config;
}

inline NodeConfig accepted(const std::string& text) {
  return accepted(parse_config(text, "/c/n.toml"));
}

inline NodeConfig written_and_read(const NodeConfig& config,
                                   const std::string& file = "/elsewhere/m.toml") {
  return accepted(parse_config(write_config(config), file));
}

inline void refused(const Expected<NodeConfig>& config, const std::string& what) {
  BOOST_TEST_REQUIRE(config.has_error());
  BOOST_TEST(config.error().code == ExitCode::bad_configuration);
  BOOST_TEST(config.error().what.find(what) != std::string::npos, config.error().what);
}

}  // namespace muster::apps

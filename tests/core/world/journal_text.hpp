#pragma once

#include "world.hpp"

#include <string>

/// A step of the test world as one short line for people: node, event, actions, view.

namespace muster::test {

std::string journal_line(const TestNode& node, const Event& event, const Actions& actions);

std::string short_text(const Letter& letter);
std::string short_text(const Event& event);
std::string short_text(const Action& action);

}  // namespace muster::test

#include "apps/postgres/server/tools.hpp"

#include "apps/postgres/server/children.hpp"
#include "apps/postgres/server/conf.hpp"

#include <boost/asio/io_context.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace muster::postgres {
namespace {

Failure no_memory_file() {
  return {ExitCode::io_error,
          "cannot make a temporary file in memory: " + std::generic_category().message(errno)};
}

Expected<std::string> text_of(const apps::Descriptor& file) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t size =
        ::pread(file.fd(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (size < 0) return no_memory_file();
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

apps::ProcessOptions program_of(const InstanceOptions& options, const std::string& name,
                                std::vector<std::string> arguments) {
  apps::ProcessOptions process;
  const auto program = options.programs / name;
  process.program = std::filesystem::exists(program) ? program : apps::find_program(name);
  process.name = process.program.string();  // PostgreSQL's programs find each other by this path
  process.arguments = std::move(arguments);
  process.inherits = [](std::string_view variable) {
    return !variable.starts_with("PG") && !variable.starts_with("MUSTER_");
  };
  process.environment = {"LC_ALL=C"};  // Muster parses the output
  return process;
}

ToolOutput::ToolOutput(const Executor& executor, apps::ProcessOptions program,
                       std::function<void(Expected<std::string>)> then)
    : said_(::memfd_create("output", MFD_CLOEXEC)), then_(std::move(then)) {
  program.standard[1] = said_.fd();
  tool_.emplace(executor, std::move(program), [this](const Expected<>& ended) {
    const auto call = std::exchange(then_, nullptr);  // the callee may destroy this object
    if (!ended) return call(ended.error());
    call(text_of(said_));
  });
}

namespace {

Expected<std::string> output_of(apps::ProcessOptions program) {
  boost::asio::io_context context(1);
  Expected<std::string> outcome = no_memory_file();
  const ToolOutput output(context.get_executor(), std::move(program),
                          [&](const Expected<std::string>& said) { outcome = said; });
  context.run();
  return outcome;
}

}  // namespace

Expected<std::string> output_of(const InstanceOptions& options, const std::string& program,
                                std::vector<std::string> arguments) {
  return output_of(program_of(options, program, std::move(arguments)));
}

Expected<std::string> in_single_user(const InstanceOptions& options, const std::string& statements,
                                     const std::vector<std::string>& more_arguments) {
  // An adopted database may have a setting that makes its sessions read-only.
  const auto input = as_input("SET default_transaction_read_only = off\n" + statements);
  if (!input) return input.error();
  std::vector<std::string> arguments{"--single"};
  for (const std::string& argument : postmaster_arguments(options)) arguments.push_back(argument);
  for (const char* setting : {"exit_on_error=on", "synchronous_standby_names="}) {
    arguments.emplace_back("-c");
    arguments.emplace_back(setting);
  }
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  arguments.push_back(options.database);
  auto program = program_of(options, "postgres", std::move(arguments));
  program.standard[0] = input->fd();
  return output_of(std::move(program));
}

Expected<apps::Descriptor> as_input(const std::string& text) {
  apps::Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file || ::write(file.fd(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::lseek(file.fd(), 0, SEEK_SET) != 0)
    return no_memory_file();
  return file;
}

}  // namespace muster::postgres

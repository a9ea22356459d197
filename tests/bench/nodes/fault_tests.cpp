#include "bench/nodes/fault_tests.hpp"

#include "apps/base/interrupt.hpp"
#include "apps/base/text.hpp"
#include "apps/base/verdict.hpp"
#include "apps/demo/directory.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <fcntl.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

constexpr Duration fault_test_patience = 20s;
constexpr Duration reading_work = 20ms;
constexpr uid_t nobody = 65534;

Failure system_says(const std::string& what) {
  return {ExitCode::temporary, what + ": " + std::strerror(errno)};
}

void write_as(const Descriptor& pipe, std::size_t most) {
  const std::string much(4096, 'x');
  for (std::size_t size = 0; size < most; size += much.size())
    if (::write(pipe.fd(), much.data(), much.size()) < 0) return;
}

/// The last line that is not empty.
std::string last_line_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) last = line;
  return last;
}

}  // namespace

FaultTest::FaultTest(const FaultTestOptions& options, const FaultRow& row,
                     std::filesystem::path directory)
    : options_(options),
      row_(row),
      call_bound_(options.T.value_or(row.T)),
      directory_(std::move(directory)) {}

FaultTest::~FaultTest() = default;

NodeSet FaultTest::others() const {
  NodeSet others = cluster_->nodes();
  for (NodeId node : row_.bad) others.erase(node);
  return others;
}

std::filesystem::path FaultTest::delay_file(NodeId node) const {
  return directory_ / ("n" + std::to_string(node.value) + ".delay");
}

std::filesystem::path FaultTest::program_of(NodeId node) const {
  if (!row_.own_programs.contains(node)) return program_beside("muster-bench");
  return directory_ / ("n" + std::to_string(node.value) + ".program");
}

Expected<> FaultTest::prepare() {
  if (const Expected<> entered = enter_own_namespaces(); !entered) return entered;
  auto hosts = Hosts::make(fault_test_nodes);
  if (!hosts) return hosts.error();
  hosts_ = std::move(*hosts);
  const auto pipe = directory_ / "work";
  if (::mkfifo(pipe.c_str(), 0600) != 0) return system_says(pipe.string());
  record_ = Descriptor(::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!record_) return system_says(pipe.string());
  fcntl(record_.fd(), F_SETPIPE_SZ, 1 << 20);
  if (row_.unread) {
    auto unread = make_pipe();
    if (!unread) return unread.error();
    unread_ = std::move(*unread);
    fcntl(unread_.write.fd(), F_SETFL, O_NONBLOCK);
    write_as(unread_.write, 1 << 24);
    fcntl(unread_.write.fd(), F_SETFL, 0);  // writes block again, as in a shell's pipe
  }
  ClusterOptions cluster;
  cluster.directory = directory_;
  cluster.cluster.name = "fault_tests";
  cluster.cluster.insecure = true;
  cluster.cluster.nodes = hosts_->addresses();
  cluster.cluster.timings.T = call_bound_;
  cluster.cluster.timings.check_every = call_bound_ / 2;
  cluster.cluster.timings.coordinator_timeout = call_bound_ / 2 + call_bound_;
  cluster.cluster.options.quorum = options_.quorum;
  cluster.cluster.protocol = options_.protocol;
  cluster.cluster.calm = options_.calm;
  cluster.networks = hosts_->networks();
  cluster.program = program_beside("muster");
  cluster.application = {};
  cluster.configure = row_.configure;
  cluster.launch = [this](NodeId node, ProcessOptions& process) { launch(node, process); };
  auto made = Cluster::make(std::move(cluster));
  if (!made) return made.error();
  cluster_ = std::move(*made);
  cluster_->listen(this);
  // If the library is missing, the dynamic linker only warns, and the disk stays fast. So the bench
  // checks.
  if (const auto library = program_beside("libslow_disk.so");
      !row_.disks.empty() && !std::filesystem::exists(library))
    return Failure{
        ExitCode::usage,
        library.string() + " does not exist: ./dev bench fault_tests in a working copy builds it"};
  for (NodeId node : row_.disks)
    if (const Expected<> quick = disk(node, 0ms); !quick) return quick;
  for (NodeId node : row_.own_programs) {
    std::error_code error;
    std::filesystem::create_symlink(program_beside("muster-bench"), program_of(node), error);
    if (error)
      return Failure{ExitCode::io_error, program_of(node).string() + ": " + error.message()};
  }
  for (NodeId node : row_.small_disks) {
    const auto data = cluster_->data(node);
    if (::mkdir(data.c_str(), 0700) != 0 ||
        ::mount("tmpfs", data.c_str(), "tmpfs", 0, "size=8m,mode=0700") != 0)
      return system_says("a disk of its own at " + data.string());
  }
  return {};
}

void FaultTest::launch(NodeId node, ProcessOptions& process) const {
  process.arguments.front() = "run";
  for (const std::string& word :
       {std::string("--"), program_of(node).string(), std::string("work"),
        (directory_ / "work").string(), std::to_string(row_.stop_for / 1ms)})
    process.arguments.push_back(word);
  if (row_.unread) process.standard = {-1, unread_.write.fd(), unread_.write.fd()};
  if (!row_.disks.contains(node)) return;
  process.environment.push_back("LD_PRELOAD=" + program_beside("libslow_disk.so").string());
  process.environment.push_back("MUSTER_BENCH_DISK=" + cluster_->data(node).string());
  process.environment.push_back("MUSTER_BENCH_DISK_DELAY=" + delay_file(node).string());
}

Expected<> FaultTest::form() {
  for (NodeId node : all())
    if (const Expected<> started = cluster_->start(node); !started) return started;
  const NodeSet wanted = row_.from_start ? others() : all();
  const auto formed = [&] { return work_.one_group(wanted, Duration(monotonic_ns())).has_value(); };
  if (!turn_until(Duration(monotonic_ns()) + fault_test_patience, formed))
    return Failure{ExitCode::timed_out, "no group of " + format_nodes(wanted) +
                                            " was at work within 20 s; see " + directory_.string()};
  turn_until(Duration(monotonic_ns()) + 1s, [] { return false; });
  return {};
}

bool FaultTest::turn_until(Duration end, const std::function<bool()>& done) {
  std::array<char, 1 << 16> buffer;
  while (!done()) {
    if (Duration(monotonic_ns()) >= end || caught_signal() != 0) return false;
    cluster_->run(std::min(reading_work, std::max<Duration>(1ms, end - Duration(monotonic_ns()))));
    for (ssize_t size = 0; (size = ::read(record_.fd(), buffer.data(), buffer.size())) > 0;)
      work_.take({buffer.data(), static_cast<std::size_t>(size)});
  }
  return true;
}

Expected<> FaultTest::run() {
  if (const Expected<> prepared = prepare(); !prepared) return prepared;
  if (const Expected<> formed = form(); !formed) return formed;
  const Watch::Counts before = cluster_->watch().counts();
  began_ = Duration(monotonic_ns());
  for (unsigned second = 0; second < options_.time / 1s && caught_signal() == 0; ++second) {
    if (const Expected<> done = row_.act(*this, second); !done) return done;
    turn_until(began_ + (second + 1) * Duration(1s), [] { return false; });
  }
  if (caught_signal() != 0) return Failure{interrupted, "interrupted"};
  shares_ = work_.between(began_, Duration(monotonic_ns()), others());
  cluster_->catch_up();
  elections_ = cluster_->watch().counts().elections - before.elections;
  pauses_ = cluster_->watch().counts().paused - before.paused;
  kept_.clear();
  if (const auto twice = shares_.groups_given_twice)
    notes_.push_back(counted(twice, "group number") + " worked for, left and worked for again");
  cluster_->terminate_all();
  return {};
}

void FaultTest::ended_unasked(NodeId node, int wait_status) {
  std::string note = "node " + std::to_string(node.value) + ' ' + describe_end(wait_status);
  if (began_ > Duration::zero() && notes_.size() < 12)
    note += ", " + format_seconds(Duration(monotonic_ns()) - began_) + " s after the row began";
  const std::string line = row_.unread ? "" : last_line_of(cluster_->output(node));
  notes_.push_back(line.empty() ? note : note + ": " + line);
}

// --- Faults

Expected<> FaultTest::cut(const NodeSet& side, const NodeSet& other) {
  for (NodeId left : side) {
    for (NodeId right : other) {
      if (const Expected<> done = hosts_->lose(left, right); !done) return done;
      if (const Expected<> done = hosts_->lose(right, left); !done) return done;
    }
  }
  return {};
}

Expected<> FaultTest::disk(NodeId node, std::chrono::milliseconds delay) {
  const std::int64_t number = delay.count();
  const Descriptor file(::open(delay_file(node).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file || ::pwrite(file.fd(), &number, sizeof number, 0) != sizeof number)
    return system_says(delay_file(node).string());
  return {};
}

Expected<> FaultTest::fill_disk(NodeId node) {
  const auto filler = cluster_->data(node) / "filler";
  const Descriptor file(::open(filler.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return system_says(filler.string());
  write_as(file, 1 << 30);
  return {};
}

Expected<> FaultTest::remove_program(NodeId node) {
  std::error_code error;
  std::filesystem::remove(program_of(node), error);
  if (error) return Failure{ExitCode::io_error, program_of(node).string() + ": " + error.message()};
  return {};
}

void FaultTest::go_on_for(Duration time) {
  turn_until(Duration(monotonic_ns()) + time, [] { return false; });
}

Expected<> FaultTest::limit(NodeId node, int resource) {
  const pid_t process = cluster_->pid(node);
  const std::filesystem::path proc = "/proc/" + std::to_string(process);
  rlim_t most = 1;
  std::error_code error;
  if (resource == RLIMIT_NOFILE)  // finds the lowest free descriptor
    for (most = 0; std::filesystem::exists(
             std::filesystem::symlink_status(proc / "fd" / std::to_string(most), error));)
      ++most;
  if (resource == RLIMIT_AS) {
    std::ifstream pages(proc / "statm");
    pages >> most;
    most *= static_cast<rlim_t>(::getpagesize());
  }
  const rlimit limit{most, most};
  if (::prlimit(process, static_cast<__rlimit_resource>(resource), &limit, nullptr) != 0)
    return system_says("prlimit");
  return {};
}

Expected<> FaultTest::copy_store(NodeId node, bool back) {
  const auto data = cluster_->data(node);
  const auto copy = directory_ / "older";
  std::error_code error;
  std::filesystem::create_directory(copy, error);
  for (const auto& entry : std::filesystem::directory_iterator(back ? copy : data, error)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file(error) || name.starts_with("journal")) continue;
    std::filesystem::copy_file(entry.path(), (back ? data : copy) / name,
                               std::filesystem::copy_options::overwrite_existing, error);
    if (error) return Failure{ExitCode::io_error, entry.path().string() + ": " + error.message()};
  }
  return {};
}

Expected<> FaultTest::restart(NodeId node) {
  cluster_->kill(node);
  return cluster_->start(node);
}

// --- Output

void FaultTest::print() const {
  std::vector<double> shares;
  for (const auto& [node, share] : shares_.of) shares.push_back(100 * share);
  const auto ms = [](Duration time) { return static_cast<double>(time / 1us) / 1000; };
  if (options_.json) {
    boost::json::object of;
    for (const auto& [node, share] : shares_.of) of[std::to_string(node.value)] = share;
    boost::json::array notes;
    for (const std::string& note : notes_) notes.emplace_back(note);
    std::cout << boost::json::serialize(boost::json::object{
                     {"system", "muster"},
                     {"row", row_.name},
                     {"protocol", std::string(enumerator_name(options_.protocol))},
                     {"quorum", options_.quorum == Quorum::off ? "off" : "majority"},
                     {"calm_ns", options_.calm.count()},
                     {"T_ns", call_bound_.count()},
                     {"seconds", options_.time / 1s},
                     {"share", std::move(of)},
                     {"groups", shares_.groups},
                     {"elections", elections_},
                     {"paused", pauses_},
                     {"two_groups_ms", ms(shares_.apart)},
                     {"two_groups_longest_ms", ms(shares_.longest_apart)},
                     {"notes", std::move(notes)}})
              << std::endl;
    return;
  }
  std::ostringstream line;
  line << std::left << std::setw(22) << row_.name << std::setw(7) << format_duration(call_bound_)
       << std::setw(11) << format_nodes(others()) << std::right << std::fixed
       << std::setprecision(1) << std::setw(6) << quantile(shares, 0) << std::setw(7)
       << quantile(shares, 0.5) << std::setw(8) << shares_.groups << std::setw(7) << elections_
       << std::setw(8) << pauses_ << std::setw(11) << ms(shares_.apart) << std::setw(10)
       << ms(shares_.longest_apart);
  for (const std::string& note : notes_) line << "\n    " << note;
  std::cout << line.str() << std::endl;
}

namespace {

void say_not_run(const FaultTestOptions& options, const FaultRow& row, const std::string& why) {
  if (options.json)
    std::cout << boost::json::serialize(
                     boost::json::object{{"system", "muster"}, {"row", row.name}, {"not_run", why}})
              << std::endl;
  else
    std::cout << std::left << std::setw(22) << row.name << "NOT RUN: " << why << std::endl;
}

/// Runs the row in a child process. The namespaces of the row, and everything in them, end with the
/// child process, however that process ends.
int run_row(const FaultTestOptions& options, const FaultRow& row,
            const std::filesystem::path& place) {
  if (row.as_nobody && ::geteuid() == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(nobody, nobody, nobody) != 0 ||
        ::setresuid(nobody, nobody, nobody) != 0 || ::prctl(PR_SET_DUMPABLE, 1) != 0)
      return failed(system_says("becoming nobody"));
  }
  FaultTest test(options, row, place);
  const Expected<> done = test.run();
  if (done)
    test.print();
  else if (caught_signal() == 0)
    say_not_run(options, row, done.error().what);
  return done ? 0 : static_cast<int>(done.error().code);
}

/// True when the row was run.
Expected<bool> row_in_child(const FaultTestOptions& options, const FaultRow& row) {
  const auto directory = RunDirectory::make("", fault_test_nodes);
  if (!directory) return directory.error();
  if (row.as_nobody && ::geteuid() == 0 && ::chown(directory->path().c_str(), nobody, nobody) != 0)
    return system_says(directory->path().string());
  std::cout << std::flush;
  const pid_t child = ::fork();
  if (child < 0) return system_says("fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int code = run_row(options, row, directory->path());
    std::cout << std::flush;
    ::_exit(code);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (options.keep)
    std::cerr << "all of " << row.name << " is in " << directory->path().string() << std::endl;
  else
    directory->remove();
  if (WIFSIGNALED(status))
    return Failure{ExitCode::impossible_state,
                   std::string("bench fault_tests: ") + row.name + ' ' + describe_end(status)};
  return WEXITSTATUS(status) == 0;
}

}  // namespace

int bench_fault_tests(const FaultTestOptions& options) {
  catch_signals();
  if (!options.json)
    std::cout
        << enumerator_name(options.protocol) << ", quorum "
        << (options.quorum == Quorum::off ? "off" : "majority") << ", calm "
        << format_duration(options.calm) << ", " << options.time / 1s
        << " s each. Work: the share of the time in which a node's program "
        << "ran,\nin percent, over the nodes that should work: the least and the median. Two "
        << "groups: how long\nprograms of different groups ran at once, in ms: in all, and the "
        << "longest.\n"
        << "row                   T      should work  least median  groups elect. "
        << "pauses two groups   longest" << std::endl;
  bool all_run = true;
  for (const FaultRow& row : fault_rows()) {
    const bool wanted = options.rows.empty() || std::count(options.rows.begin(), options.rows.end(),
                                                           std::string(row.name)) > 0;
    if (!wanted || caught_signal() != 0) continue;
    const Expected<bool> run = row_in_child(options, row);
    if (!run) return failed(run.error());
    all_run = all_run && *run;
  }
  if (caught_signal() != 0)
    return failed({interrupted, "bench fault_tests: interrupted; the rows above are complete"});
  if (!all_run) return failed({not_decided, "bench fault_tests: a row was not run, see above"});
  return 0;
}

}  // namespace muster::apps

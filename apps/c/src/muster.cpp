#include <muster/muster.h>
#include <muster/net/node.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <muster/detail/values/kinds.hpp>
#include <muster/protocol/cluster_text.hpp>
#include <muster/protocol/misfit.hpp>
#include <muster/values/text.hpp>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <mutex>
#include <variant>

using namespace muster;

/// A hook that runs. The call that completes the hook also frees this object.
struct muster_end {
  std::variant<Done<Report>, Done<>> done;  // definitions and answers are bytes too, as reports are
  HookContext context;
  std::optional<Reorganization> all{};
};

struct muster_permit {
  Permit permit;
};

namespace {

muster_group to_c(const std::optional<GroupNumber>& group) {
  return group ? muster_group{group->counter, group->coordinator.value} : muster_group{};
}

muster_bytes to_c(const Bytes& bytes) {
  return {bytes.data.data(), bytes.data.size()};
}

std::uint64_t to_c(Duration duration) {
  return static_cast<std::uint64_t>(std::max(duration, Duration::zero()).count());
}

Bytes bytes_of(const void* data, std::size_t size) {
  return {size == 0 ? std::string() : std::string(static_cast<const char*>(data), size)};
}

std::size_t copy(const std::string& text, char* to, std::size_t size) {
  if (to != nullptr && size > 0) {
    const std::size_t length = std::min(text.size(), size - 1);
    std::memcpy(to, text.data(), length);
    to[length] = '\0';
  }
  return text.size();
}

int failed(const Failure& failure, char* why, std::size_t size) {
  copy(failure.what, why, size);
  return static_cast<int>(failure.code);
}

Failure bad(const std::string& what) {
  return {ExitCode::bad_configuration, "muster_open: " + what};
}

Expected<net::NodeOptions> options_of(const muster_config& from) {
  net::NodeOptions options;
  if (from.directory == nullptr || from.cluster == nullptr)
    return bad("directory and cluster have to be given");
  options.config.self = NodeId{from.node};
  for (std::size_t at = 0; at < from.node_count; ++at) {
    const auto& [node, address] = from.nodes[at];
    const NodeId id{node};
    if (address == nullptr || !options.network.addresses.emplace(id, address).second)
      return bad("node " + std::to_string(node) + ": expected an address, and each id once");
    options.config.nodes.insert(id);
  }
  Timings& timings = options.config.timings;
  const auto set = [](Duration& to, std::uint64_t nanoseconds) {
    if (nanoseconds != 0) to = Duration(nanoseconds);
  };
  set(timings.T, from.T_ns);
  set(timings.stop_deadline, from.stop_deadline_ns);
  set(timings.start_deadline, from.start_deadline_ns);
  set(timings.reorganize_deadline, from.reorganize_deadline_ns);
  set(timings.check_every, from.check_every_ns);
  timings.coordinator_timeout = timings.check_every + timings.T;
  set(timings.coordinator_timeout, from.coordinator_timeout_ns);
  options.network.insecure = from.insecure != 0;
  if (const auto wrong = misfit(options.config))
    return bad(wrong->key + ": expected " + wrong->expected);
  if (const auto wrong =
          misfit(options.network.addresses, options.config.nodes, options.network.insecure))
    return bad("node " + wrong->key + ": its address has to be " + wrong->expected);
  ClusterLines lines = cluster_lines(options.config);
  if (options.network.insecure) lines["insecure"] = "true";
  lines["name"] = from.cluster;
  for (const auto& [id, address] : options.network.addresses)
    lines["nodes." + to_text(id)] = address;
  options.cluster = cluster_text(lines);
  options.admin.socket = std::filesystem::path(from.directory) / "admin.sock";
  if (from.journal != nullptr) options.journal = net::JournalOptions{from.journal};
  options.lives.initialise = from.initialise != 0;
  return options;
}

}  // namespace

struct muster_node {
  muster_node(const muster_config& config, const muster_hooks& application, void* its_user,
              net::NodeOptions options, std::unique_ptr<SafeStorage> storage);

  const muster_hooks hooks;
  void* const user;
  std::mutex mutex;                   // guards the two below
  Services* services = nullptr;       ///< of the present life
  std::optional<AskingContext> asks;  ///< the hook or group that may ask a member now
  boost::asio::io_context context{1};
  boost::asio::thread_pool pool{1};
  std::optional<boost::asio::signal_set> signals;
  std::optional<net::Node> node;
};

namespace {

/// The application of one life: passes each hook on to the C functions.
class OfC final : public Application {
 public:
  OfC(muster_node& node, Services& services) : node_(node) { present(&services); }
  ~OfC() override { present(nullptr); }

  void stop(StopContext context, Done<Report> done) override {
    asks(std::nullopt);
    if (node_.hooks.stop == nullptr) return done();
    const std::string reason(enumerator_name(context.cause.reason));
    const muster_stop told{to_c(context.group), reason.c_str(),
                           context.cause.by ? context.cause.by->value : 0, to_c(context.deadline)};
    node_.hooks.stop(node_.user, &told, new muster_end{std::move(done), std::move(context)});
  }

  void reorganize(Reorganization context, Done<Definition> done) override {
    asks(context);
    if (node_.hooks.reorganize == nullptr) return done();
    std::vector<muster_member> members;
    for (const Member& member : context.members) {
      const Holdings& held = member.holdings;
      members.push_back({member.node.value, to_c(held.report), to_c(held.group)});
    }
    const Member* last = context.last_assigned();
    const muster_member* last_assigned =
        last ? members.data() + (last - context.members.data()) : nullptr;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // `freshest` is still filled in
    const muster_reorganization told{to_c(context.group), members.data(),         members.size(),
                                     last_assigned,       to_c(context.deadline), last_assigned};
#pragma GCC diagnostic pop
    auto* const end = new muster_end{std::move(done), context, context};
    node_.hooks.reorganize(node_.user, &told, end);
  }

  void start(Assignment context, Done<> done) override {
    asks(context);
    if (node_.hooks.start == nullptr) return done();
    std::vector<std::uint32_t> members;
    for (NodeId member : context.members) members.push_back(member.value);
    const muster_assignment told{to_c(context.group),  to_c(context.definition),
                                 to_c(context.part()), members.data(),
                                 members.size(),       to_c(context.deadline)};
    node_.hooks.start(node_.user, &told, new muster_end{std::move(done), context});
  }

  void answer(Question question, Done<Bytes> done) override {
    if (node_.hooks.answer == nullptr) return Application::answer(question, std::move(done));
    const muster_question told{question.from.value, to_c(question.group), question.working ? 1 : 0,
                               to_c(question.bytes), to_c(question.deadline)};
    node_.hooks.answer(node_.user, &told, new muster_end{std::move(done), std::move(question)});
  }

 private:
  void present(Services* services) {
    const std::lock_guard lock(node_.mutex);
    node_.services = services;
  }
  void asks(std::optional<AskingContext> context) {
    const std::lock_guard lock(node_.mutex);
    node_.asks = std::move(context);
  }

  muster_node& node_;
};

}  // namespace

muster_node::muster_node(const muster_config& config, const muster_hooks& application,
                         void* its_user, net::NodeOptions options,
                         std::unique_ptr<SafeStorage> storage)
    : hooks(application), user(its_user) {
  const auto make = [this](Services& its) { return std::make_unique<OfC>(*this, its); };
  if (hooks.log != nullptr)
    options.log.line = [this](LogLevel level, const std::string& text) {
      hooks.log(user, std::string(enumerator_name(level)).c_str(), text.c_str());
    };
  if (hooks.fatal != nullptr)
    options.log.fatal = [this](const Failure& failure) {
      hooks.fatal(user, static_cast<int>(failure.code), failure.what.c_str());
    };
  node.emplace(context, std::move(options), std::move(storage), make, pool.get_executor());
  if (config.leave_on_signals == 0) return;
  signals.emplace(context, SIGTERM, SIGINT);
  signals->async_wait([this](auto error, int) {
    if (!error) muster_leave(this);
  });
}

// --- Hooks

void muster_done(muster_end* end, const void* data, size_t size) {
  const std::unique_ptr<muster_end> owned(end);
  if (auto* bytes = std::get_if<Done<Report>>(&owned->done))
    (*bytes)(bytes_of(data, size));
  else
    std::get<Done<>>(owned->done)();
}

void muster_fail(muster_end* end, const char* why) {
  const std::unique_ptr<muster_end> owned(end);
  std::visit([why](auto& done) { done.fail(why); }, owned->done);
}

void muster_give_part(muster_end* end, uint32_t member, const void* data, size_t size) {
  if (end->all) end->all->give_part(NodeId{member}, bytes_of(data, size));
}

void muster_progress(const muster_end* end, const char* how_far) {
  end->context.progress(how_far);
}

int muster_cancelled(const muster_end* end) {
  return end->context.stop_requested() ? 1 : 0;
}

void muster_ask(muster_node* node, uint32_t member, const void* data, size_t size,
                muster_answered answered, void* with) {
  std::optional<AskingContext> asks;
  {
    const std::lock_guard lock(node->mutex);
    asks = node->asks;
  }
  if (!asks) return answered(with, nullptr, "the node neither reorganizes nor works");
  asks->ask(NodeId{member}, bytes_of(data, size), [answered, with](const auto& answer) {
    if (!answer) return answered(with, nullptr, answer.error().c_str());
    const muster_bytes bytes = to_c(*answer);
    answered(with, &bytes, nullptr);
  });
}

// --- Requests to the node

void muster_elect(muster_node* node, const char* why) {
  const std::lock_guard lock(node->mutex);
  if (node->services) node->services->elect(why);
}

void muster_step_down(muster_node* node, uint64_t back_after_ns) {
  const std::lock_guard lock(node->mutex);
  if (node->services)
    node->services->step_down(
        Duration(std::min<std::uint64_t>(back_after_ns, Duration::max().count())));
}

void muster_show(muster_node* node, const muster_role* roles, size_t role_count, const char* text) {
  Shown shown;
  for (size_t i = 0; i < role_count; ++i) shown.roles[roles[i].name] = roles[i].has != 0;
  if (text != nullptr) shown.text = text;
  const std::lock_guard lock(node->mutex);
  if (node->services) node->services->show(std::move(shown));
}

void muster_broken(muster_node* node, const char* what) {
  const std::lock_guard lock(node->mutex);
  if (node->services) node->services->broken(what != nullptr ? what : "");
}

void muster_note(muster_node* node, const char* what) {
  const std::lock_guard lock(node->mutex);
  if (node->services) node->services->note(what != nullptr ? what : "");
}

// --- Permits

muster_permit* muster_acquire(muster_node* node, muster_group* group) {
  const std::lock_guard lock(node->mutex);
  auto permit = node->services ? node->services->permits().try_acquire() : std::nullopt;
  if (!permit) return nullptr;
  if (group != nullptr) *group = to_c(permit->group());
  return new muster_permit{std::move(*permit)};
}

int muster_permit_valid(const muster_permit* permit) {
  return permit->permit.valid() ? 1 : 0;
}

void muster_return(muster_permit* permit) {
  delete permit;
}

// --- The node

int muster_open(const muster_config* config, const muster_hooks* hooks, void* user,
                muster_node** node, char* why, size_t why_size) {
  *node = nullptr;
  auto options = options_of(*config);
  if (!options) return failed(options.error(), why, why_size);
  auto storage =
      storage::SqliteStorage::open(config->directory, {config->cluster, options->config.self});
  if (!storage) return failed(storage.error(), why, why_size);
  *node = new muster_node(*config, *hooks, user, std::move(*options), std::move(*storage));
  return 0;
}

int muster_run(muster_node* node, char* why, size_t why_size) {
  if (const auto started = node->node->start(); !started)
    return failed(started.error(), why, why_size);
  node->context.run();
  return 0;
}

void muster_leave(muster_node* node) {
  node->node->leave([node] { node->context.stop(); });
}

size_t muster_status(const muster_node* node, char* json, size_t size) {
  return copy(node->node->status_json(), json, size);
}

void muster_close(muster_node* node) {
  delete node;
}

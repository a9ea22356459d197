#include "apps/postgres/perform/order_task.hpp"

#include "apps/postgres/server/data_on_disk.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/tools.hpp"

#include <boost/asio/post.hpp>

#include <type_traits>

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;

/// A server that does not answer within this time counts as failed.
constexpr Duration usual_bound = 5s;
/// The pause between two questions to a server. A question takes about as long as this pause, so
/// asking more often would tell nothing new.
constexpr Duration short_pause = 2ms;
/// The same for a server whose files are read instead. That takes 2 ms to 250 ms, by the size of
/// the files of the log.
constexpr Duration pause_between_files = 100ms;

}  // namespace

OrderTask::~OrderTask() {
  // If the kept session has a question open, it is destroyed: the answer would call this object
  // after its end.
  if (core_.kept && !core_.kept->idle()) core_.kept.reset();
}

void OrderTask::done(AnyEvent what) {
  if (const auto tell = std::exchange(tell_, nullptr)) tell(std::move(what));
}

bool OrderTask::holds(const Expected<>& outcome) {
  if (!outcome) fail(outcome.error().what);
  return outcome.has_value();
}

void OrderTask::ask(const std::string& statement, std::vector<std::string> parameters, Then then,
                    Otherwise otherwise) {
  if (!core_.kept || !core_.kept->idle())
    return ask_on_new_connection(statement, std::move(parameters), std::move(then),
                                 std::move(otherwise));
  put(*core_.kept,
      {statement, std::move(parameters), usual_bound, std::move(then), std::move(otherwise)});
}

void OrderTask::ask_on_new_connection(const std::string& statement,
                                      std::vector<std::string> parameters, Then then,
                                      Otherwise otherwise) {
  if (!core_.postmaster) return fail("PostgreSQL does not run");
  connect(core_.kept, core_.options.node,
          {statement, std::move(parameters), usual_bound, std::move(then), std::move(otherwise)});
}

void OrderTask::ask_there(NodeId node, const std::string& statement, Then then,
                          Otherwise otherwise) {
  put_there(node, {statement, {}, usual_bound, std::move(then), std::move(otherwise)});
}

void OrderTask::checkpoint_there(NodeId node, Then then) {
  put_there(node, {"CHECKPOINT", {}, std::nullopt, std::move(then), nullptr});
}

void OrderTask::put_there(NodeId node, Question question) {
  if (there_ && there_->idle()) return put(*there_, std::move(question));
  connect(there_, node, std::move(question));
}

void OrderTask::connect(std::optional<Session>& session, NodeId to, Question question) {
  session.reset();
  session.emplace(core_.executor, session_parameters(core_.options, to));
  session->connect(usual_bound, [this, &session, question = std::move(question)](auto connected) {
    if (!tell_) return;
    if (connected && &session == &core_.kept) admits();
    if (connected) return put(*session, question);
    session.reset();
    if (question.otherwise) return question.otherwise(connected.error());
    fail("cannot ask PostgreSQL: " + connected.error().what);
  });
}

void OrderTask::admits() {
  if (std::exchange(core_.refused_because, {}).empty()) return;
  core_.log("PostgreSQL admits sessions of its node again");
}

void OrderTask::put(Session& session, Question question) {
  const std::string statement = question.statement;
  const std::vector<std::string> parameters = question.parameters;
  const auto bound = question.bound;
  session.ask(statement, parameters, bound, [this, question = std::move(question)](auto answer) {
    if (!tell_) return;
    if (answer) return question.then(*answer);
    if (question.otherwise) return question.otherwise(answer.error());
    fail("PostgreSQL refuses \"" + question.statement + "\": " + answer.error().what);
  });
}

void OrderTask::look_at_own_log(std::function<void(const OwnLog&)> then, Otherwise otherwise) {
  if (!core_.refused_because.empty()) {
    const auto disk = read_data_on_disk(options().data);
    if (!disk && otherwise) return otherwise({{}, disk.error().what});
    if (!disk) return fail(disk.error().what);
    return then(
        {disk->system, true, streams(options().data), disk->timeline, disk->end, disk->end});
  }
  ask(
      "SELECT system_identifier, pg_is_in_recovery(), status = 'streaming', received_tli,"
      " flushed_lsn, greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())"
      " FROM pg_control_system() LEFT JOIN pg_stat_wal_receiver ON true",
      {},
      [then = std::move(then)](const Answer& answer) {
        const Row& row = answer.rows.at(0);
        const auto lsn = [&row](std::size_t at) {
          return parse_lsn(text_in(row, at)).value_or(Lsn{});
        };
        then({number_in(row, 0), is_true(row, 1), is_true(row, 2),
              static_cast<std::uint32_t>(number_in(row, 3)), lsn(4), lsn(5)});
      },
      std::move(otherwise));
}

Expected<> OrderTask::write_conf(const Conf& conf) {
  // The include line is not needed for a seal, so a file that cannot be repaired prevents none.
  const auto was_lost = include_again(core_.options);
  if (!was_lost) core_.log(was_lost.error().what);
  if (was_lost && *was_lost)
    core_.log("postgresql.conf did not include muster.conf any more: \"" +
              std::string(include_line) + "\" is its last line again");
  auto written = write_durably(conf_path(core_.options), conf_text(core_.options, conf));
  if (written) core_.conf = conf;
  return written;
}

void OrderTask::look_for_errors_in_files(const std::function<void()>& then) {
  ask(errors_in_files, {}, [this, then](const Answer& answer) {
    if (answer.rows.empty()) return then();
    fail("PostgreSQL reads no new settings because of " + text_in(answer.rows[0], 0) +
         "; correct that line");
  });
}

Expected<> OrderTask::record_term(std::uint64_t system, const Marker& marker) {
  const auto held = read_held(core_.options);
  if (!held) return held.error();
  if (*held && (*held)->system == system && marker.term.group <= (*held)->term.group) return {};
  return write_held(core_.options, {system, marker.term, marker.term.lsn, marker.copies});
}

Expected<> OrderTask::learn_news() {
  if (core_.news.markers.empty()) return {};
  const auto learned = learn_terms(core_.options, core_.news);
  if (!learned) return learned.error();
  core_.news = {};
  return {};
}

void OrderTask::again(std::function<void()> what) {
  pause_.wait(core_.refused_because.empty() ? short_pause : pause_between_files,
              [this, what = std::move(what)] {
                if (tell_) what();
              });
}

void OrderTask::run(const std::string& program, std::vector<std::string> arguments,
                    std::function<void()> then) {
  tool_.reset();
  tool_.emplace(core_.executor, program_of(core_.options, program, std::move(arguments)),
                [this, then = std::move(then)](const Expected<>& outcome) {
                  if (tell_ && holds(outcome)) then();
                });
}

std::unique_ptr<OrderTask> task_for(const What& what, Core& core, Tell tell) {
  return std::visit(
      [&](const auto& order) -> std::unique_ptr<OrderTask> {
        using Kind = std::decay_t<decltype(order)>;
        if constexpr (boost::mp11::mp_contains<Performed, Kind>::value)
          return make_task(order, core, std::move(tell));
        else
          return nullptr;
      },
      what);
}

}  // namespace muster::postgres

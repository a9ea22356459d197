#include "node/admin_words.hpp"

#include "admin/parse.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/json.hpp>

#include <utility>

namespace muster::net {

namespace {

/// The answer to a word that is refused.
std::string refused(const std::string& why) {
  std::string out = "{\"refused\":";
  write_json(out, why);
  return out + '}';
}

std::string answer(const std::optional<std::string>& why_not) {
  return why_not ? refused(*why_not) : "{}";
}

/// The view that is reported to watchers. It hides a Check of the group, which is no news.
View worth_telling(View view) {
  if (view.procedure == Wait::Checking) view.procedure = Wait::Idle;
  return view;
}

}  // namespace

AdminWords::AdminWords(const boost::asio::any_io_executor& strand, Node node)
    : node_(std::move(node)) {
  if (const auto& path = node_.options.admin.socket; !path.empty())
    admin_ = std::make_unique<Admin>(strand, path.string(), words());
}

Expected<> AdminWords::listen() {
  return admin_ ? admin_->listen() : Expected<>();
}

void AdminWords::close() {
  if (admin_) admin_->close();
}

Admin::Words AdminWords::words() {
  Admin::Words words;
  words["status"] = [this](auto) { return node_.status(); };
  words["history"] = [this](std::string_view said) { return node_.history(parse_page(said)); };
  words["cluster"] = [this](auto) { return cluster(); };
  words["elect"] = [this](std::string_view said) { return answer(elect(said)); };
  words["drain"] = [this](std::string_view said) { return answer(drain(said)); };
  words["step-down"] = [this](std::string_view said) { return answer(step_down(said)); };
  words["reload"] = [this](auto) { return reload(); };
  words["break-connections"] = [this](auto) {
    if (const auto life = node_.lives.last()) life->break_connections();
    return answer(std::nullopt);
  };
  return words;
}

std::optional<std::string> AdminWords::drain(std::string_view said) {
  return said == "undo" ? node_.absence.undo_drain() : node_.absence.order(Out::drained, {});
}

std::optional<std::string> AdminWords::step_down(std::string_view said) {
  const auto time = parse_time(said);
  if (!time) return "expected a time in nanoseconds";
  return node_.absence.order(Out::stepped_down, *time);
}

std::optional<std::string> AdminWords::elect(std::string_view said) {
  if (node_.absence.is_closed()) return "the process is ending";
  if (const auto out = node_.absence.ordered())
    return "it has left its group, or is about to (" + std::string(enumerator_name(*out)) +
           "); ask again when it is back";
  const auto life = node_.lives.present();
  if (!life) return "it is starting a new life; ask again";
  if (life->seen().view.status != Status::Normal)
    return "it is not Normal: it reorganizes already, or soon will; ask again";
  life->elect(std::string(said));
  return std::nullopt;
}

std::string AdminWords::reload() {
  if (!node_.options.network.tls && !node_.options.admin.read_again)
    return refused("it has no configuration file and no certificates that it could reload");
  const Expected<std::string> at_next_start = read_again();
  if (!at_next_start) return refused(at_next_start.error().what);
  std::string out = "{\"at_next_start\":";
  write_json(out, *at_next_start);
  return out + '}';
}

Expected<std::string> AdminWords::read_again() {
  std::string at_next_start;
  if (node_.options.admin.read_again) {
    const Expected<Changes> changes = node_.options.admin.read_again();
    Expected<> heeded = changes ? heed(*changes) : changes.error();
    if (!heeded) {
      node_.log.warn(heeded.error().what + "; the settings read before stay in use");
      return heeded.error();
    }
    at_next_start = changes->at_next_start;
  }
  if (node_.options.network.tls)
    if (Expected<> made = node_.certificates.renew(); !made) return made.error();
  return at_next_start;
}

// Applies all changes or none. The step that can fail comes first.
Expected<> AdminWords::heed(const Changes& changes) {
  if (node_.watchers && changes.http)
    if (Expected<> moved = node_.watchers->move(*changes.http); !moved) return moved;
  node_.log.heed(changes.log_level, changes.log_format);
  if (node_.journal) node_.journal->heed(changes.journal_limit, changes.journal_keep);
  return {};
}

std::string AdminWords::cluster() const {
  return to_json(ClusterSeen{node_.options.cluster, node_.options.network.addresses,
                             node_.options.network.tls});
}

void AdminWords::stepped(const View& after) {
  View view = worth_telling(after);
  if (view == told_) return;
  told_ = std::move(view);
  tell();
}

void AdminWords::tell() {
  if (admin_ && admin_->is_watched()) admin_->tell(node_.status());
}

}  // namespace muster::net

#include "made.hpp"
#include "net/src/tls/tls.hpp"
#include "words.hpp"

#include <array>

// Which peers TLS accepts, and the reasons for which it refuses others. The test carries the bytes
// between two ends of TLS.

namespace muster::test {
namespace {

using net::Channel;
using net::ChannelEnd;
using net::Side;
using net::TlsOptions;

const NodeSet nodes{NodeId{1}, NodeId{2}, NodeId{3}};
constexpr NodeId first{1};
constexpr NodeId second{2};

std::string uri(std::uint32_t id) {
  return "URI:muster://demo/node/" + std::to_string(id);
}

/// An authority, and node 1, which accepts certificates of this authority only.
struct Channels {
  Channels() { believes = options_of("own", own, {}); }

  TlsOptions options_of(const std::string& name, const Made& made,
                        std::vector<const Made*> between) const {
    between.insert(between.begin(), &made);
    return {files.write("ca.pem", {&authority}), files.write(name + ".pem", between),
            files.write_key(name + ".key", made), "", "demo"};
  }
  [[nodiscard]] net::Tls tls(const TlsOptions& options) const {
    net::Tls made;
    made.renew(net::Credentials::load(options, nodes, std::nullopt).value());
    return made;
  }
  /// TLS with any files, as an attacker might use it: the files are not checked first.
  [[nodiscard]] net::Tls unchecked(const TlsOptions& options) const {
    net::Tls made;
    made.renew(net::Credentials::read(options, nodes).value());
    return made;
  }

  Files files;
  Made authority = made({.authority = true});
  Made own = made({.alternative_names = {uri(1)}}, &authority);
  const Made other = made({.alternative_names = {uri(2)}}, &authority);
  TlsOptions believes;
};

/// The two ends of a connection. They record the bytes that each end has received, and how each has
/// ended.
struct Ends {
  /// Runs both ends. The dialling end sends `says`.
  Ends(const net::Tls& dials, const net::Tls& accepts, std::string_view says = {},
       std::optional<NodeId> wanted = first)
      : dialled(dials.credentials(), Side::dialled, wanted),
        accepted(accepts.credentials(), Side::accepted) {
    if (!says.empty()) dialled.write(says);
    talk();
  }

  /// Runs until neither end has bytes to send.
  Ends& talk() {
    while (!dialled.out().empty() || !accepted.out().empty()) {
      const std::string to_accepted = std::exchange(dialled.out(), {});
      const std::string to_dialled = std::exchange(accepted.out(), {});
      pass(to_accepted, accepted, heard_by_accepted);
      pass(to_dialled, dialled, heard_by_dialled);
    }
    return *this;
  }
  static void pass(const std::string& bytes, Channel& to, std::string& heard) {
    to.on_bytes(bytes);
    std::array<char, 100> room{};
    while (const std::size_t size = to.read(room)) heard.append(room.data(), size);
  }

  Channel dialled;
  Channel accepted;
  std::string heard_by_dialled;
  std::string heard_by_accepted;
};

std::string why(const Channel& channel) {
  return channel.end() ? channel.end()->why : "no end";
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls, Channels)

BOOST_AUTO_TEST_CASE(each_end_proves_who_it_is_and_what_was_said_before_goes_then) {
  const Made two =
      made({.alternative_names = {"DNS:two.example", uri(2), "IP:10.0.0.2"}}, &authority);
  Ends ends(tls(options_of("2", two, {})), tls(believes), "hello");
  BOOST_TEST(ends.accepted.proven() == second);
  BOOST_TEST(ends.dialled.proven() == first);
  BOOST_TEST(ends.heard_by_accepted == "hello");
  const std::string much(100'000, 'x');
  ends.accepted.write(much);
  BOOST_TEST(ends.talk().heard_by_dialled == much);
  BOOST_TEST(!ends.accepted.end().has_value());
}

BOOST_AUTO_TEST_CASE(both_ends_know_when_the_first_certificate_ends_that_they_rest_on) {
  const Made between = made({.to = Days(3), .authority = true}, &authority);
  const Made directly = made({.alternative_names = {uri(2)}, .to = Days(5)}, &authority);
  const Made below = made({.alternative_names = {uri(2)}, .to = Days(5)}, &between);
  for (const auto& [its, days] : {std::pair(tls(options_of("2", directly, {})), Days(5)),
                                  std::pair(tls(options_of("2", below, {&between})), Days(3))}) {
    const Ends ends(its, tls(believes));
    for (const Channel* end : {&ends.dialled, &ends.accepted}) {
      const auto left = end->expires() - std::chrono::system_clock::now();
      BOOST_TEST(std::chrono::round<Days>(left) == days);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_heard_of_who_is_not_believed) {
  const Made foreign_authority = made({.authority = true});
  const Made between = made({.authority = true}, &authority);
  const Made below = made({.authority = true}, &between);
  const Made lowest = made({.authority = true}, &below);
  struct Case {
    const char* name;
    Wish wish;
    const Made* by;
    const char* why;
    std::vector<const Made*> shown = {};
  };
  const Wish two{.alternative_names = {uri(2)}};
  const Case cases[] = {
      {"other authority", two, &foreign_authority, "unable to get local issuer certificate"},
      {"self-signed", two, nullptr, "self-signed certificate"},
      {"expired",
       {.alternative_names = {uri(2)}, .from = Days(-9), .to = Days(-1)},
       &authority,
       "certificate has expired"},
      {"not yet",
       {.alternative_names = {uri(2)}, .from = Days(1)},
       &authority,
       "certificate is not yet valid"},
      {"no id", {}, &authority, "has 0 URIs"},
      {"no URI", {.alternative_names = {"DNS:two"}}, &authority, "has 0 URIs"},
      {"two ids", {.alternative_names = {uri(2), uri(3)}}, &authority, "has 2 URIs"},
      {"unknown id", {.alternative_names = {uri(4)}}, &authority, "muster://demo/node/4"},
      {"wrong cluster",
       {.alternative_names = {"URI:muster://other/node/2"}},
       &authority,
       "muster://other/node/2, which is not in this cluster"},
      {"server only",
       {.alternative_names = {uri(2)}, .usage = "serverAuth"},
       &authority,
       "unsuitable certificate purpose"},
      {"client only",
       {.alternative_names = {uri(2)}, .usage = "clientAuth"},
       &authority,
       "not for client and server use"},
      {"no usage",
       {.alternative_names = {uri(2)}, .usage = ""},
       &authority,
       "not for client and server use"},
      {"long chain", two, &lowest, "certificate chain too long", {&lowest, &below, &between}},
  };
  const net::Tls mine = tls(believes);
  for (const Case& tried : cases) {
    BOOST_TEST_CONTEXT(tried.name) {
      const Made its = made(tried.wish, tried.by);
      const Ends ends(unchecked(options_of("its", its, tried.shown)), mine, "hello");
      BOOST_TEST(ends.heard_by_accepted.empty());
      BOOST_TEST(!ends.accepted.proven().has_value());
      BOOST_TEST(says(why(ends.accepted), tried.why));
      // For the dialler the handshake is complete, so its peer has proven to be node 1. The peer
      // then tells the dialler why it refuses the dialler.
      BOOST_TEST(why(ends.dialled).starts_with("it says: "), why(ends.dialled));
      BOOST_TEST(ends.dialled.end()->kind == ChannelEnd::Kind::refused);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_said_to_who_is_not_believed) {
  const Made only_looks = made({.alternative_names = {"URI:muster://demo/observer"}}, &authority);
  const net::Tls mine = tls(believes);
  // If the dialler wants no particular node, as for a status question, any node may answer. An
  // observer may not.
  for (const auto& [answers, wanted, said] :
       {std::tuple(&other, std::optional(NodeId{3}), "is for node 2, but node 3 was dialled"),
        std::tuple(&only_looks, std::optional(second),
                   "is for an observer, but node 2 was dialled"),
        std::tuple(&only_looks, std::optional<NodeId>(),
                   "for an observer, which answers no calls")}) {
    const Ends ends(mine, tls(options_of("its", *answers, {})), "secret", wanted);
    BOOST_TEST(ends.heard_by_accepted.empty());
    BOOST_TEST(says(why(ends.dialled), said));
    BOOST_TEST(ends.dialled.end()->kind == ChannelEnd::Kind::unproven);
    BOOST_TEST(ends.accepted.end()->kind == ChannelEnd::Kind::unproven);
  }
}

BOOST_AUTO_TEST_CASE(who_shows_no_certificate_is_told_that_it_has_to) {
  const Ends ends(unchecked({believes.ca, "", "", "", "demo"}), tls(believes));
  BOOST_TEST(says(why(ends.accepted), "peer did not return a certificate"));
  BOOST_TEST(says(why(ends.dialled), "certificate required"));
}

BOOST_AUTO_TEST_CASE(an_older_tls_is_refused) {
  const net::Tls its = unchecked(believes);
  SSL_CTX_set_min_proto_version(its.credentials()->context(), TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(its.credentials()->context(), TLS1_2_VERSION);
  const Ends ends(its, tls(believes));
  BOOST_TEST(says(why(ends.accepted), "unsupported protocol"));
}

BOOST_AUTO_TEST_CASE(a_revoked_peer_is_refused_though_the_list_is_old) {
  const Made third = made({.alternative_names = {uri(3)}}, &authority);
  const net::Tls its = tls(options_of("2", other, {}));
  for (const Days until : {Days(10), Days(-1)}) {
    believes.crl = files.write_list("crl.pem", authority, {&other}, until);
    const net::Tls mine = tls(believes);
    const Ends ends(its, mine);
    BOOST_TEST(says(why(ends.accepted), "certificate revoked"));
    BOOST_TEST(why(ends.dialled) == "it says: certificate revoked");
    const Ends others(tls(options_of("3", third, {})), mine);
    BOOST_TEST((others.accepted.proven() == NodeId{3}), why(others.accepted));
  }
}

BOOST_AUTO_TEST_CASE(who_speaks_without_tls_is_known_by_it) {
  const net::Tls mine = tls(believes);
  for (const Side side : {Side::dialled, Side::accepted}) {
    Channel channel(mine.credentials(), side);
    channel.on_bytes(std::string("\0\0\0\x20zz", 6));
    BOOST_TEST(channel.end()->kind == ChannelEnd::Kind::plain);
    std::array<char, 10> room{};
    BOOST_TEST(channel.read(room) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(that_it_will_send_no_more_proves_nothing) {
  Ends ends(tls(options_of("2", other, {})), tls(believes));
  BOOST_TEST(SSL_shutdown(ends.dialled.tls()) == 0);
  ends.dialled.write("");
  BOOST_TEST(!ends.talk().accepted.end().has_value());
  ends.accepted.write("still here");
  BOOST_TEST(ends.talk().heard_by_dialled == "still here");
}

BOOST_AUTO_TEST_CASE(a_byte_that_is_changed_on_its_way_ends_it) {
  Ends ends(tls(options_of("2", other, {})), tls(believes));
  ends.dialled.write("hello");
  ends.dialled.out()[8] ^= 1;
  ends.talk();
  BOOST_TEST(ends.heard_by_accepted.empty());
  BOOST_TEST(why(ends.accepted) == "decryption failed or bad record mac");
}

BOOST_AUTO_TEST_CASE(files_that_do_not_fit_are_refused_with_the_key_that_names_them) {
  const Made foreign = made({.alternative_names = {uri(1)}});
  const auto said = [&](const TlsOptions& options) {
    const auto loaded = net::Credentials::load(options, nodes, first);
    return loaded ? "taken" : loaded.error().what;
  };
  BOOST_TEST(said(believes) == "taken");
  const auto with = [&](std::string TlsOptions::*key, const std::string& file) {
    TlsOptions options = believes;
    options.*key = file;
    return said(options);
  };
  BOOST_TEST(says(with(&TlsOptions::ca, "/nowhere"),
                  "[tls] ca = \"/nowhere\" has no certificates in PEM"));
  BOOST_TEST(says(with(&TlsOptions::certificate, believes.key), "[tls] cert = "));
  BOOST_TEST(
      says(with(&TlsOptions::key, files.write_key("other.key", other)), "key values mismatch"));
  BOOST_TEST(says(with(&TlsOptions::crl, believes.ca), "has no list of revocations in PEM"));
  BOOST_TEST(says(said(options_of("2", other, {})),
                  "is not for this node: expected the certificate of muster://demo/node/1"));
  BOOST_TEST(says(said(options_of("foreign", foreign, {})), "is not trusted by ca = "));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
